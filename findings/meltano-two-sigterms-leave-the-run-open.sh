#!/usr/bin/env bash
# Guess: a second SIGTERM while Meltano ends a run changes nothing, so a supervisor may
#   send SIGTERM to a whole process group (`stopasgroup` of supervisord, the default
#   `KillMode` of systemd) although a script in it passes the signal on to Meltano as well.
# Version: meltano 4.4.1 (its newest on 28 November 2026).
# Behaviour: after one SIGTERM, also to the whole group, Meltano closes the run, and the
#   next one starts. Several within a fifth of a second leave the run open in about one of
#   two tries, and then the next run is refused for five minutes with "Another '...'
#   pipeline is already running".
# Output seen:
#   once: the next run exits with 0, refused: 0
#   group: the next run exits with 0, refused: 0
#   several: the next run exits with 1, refused: 1 (after at most ten tries)
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
program=$folder/environment/bin/meltano
mkdir project && cd project
cat > meltano.yml <<'END'
version: 1
default_environment: dev
send_anonymous_usage_stats: false
project_id: any
environments: [{name: dev}]
plugins:
  extractors:
    - {name: tap-any, namespace: tap_any, executable: ./tap.sh, capabilities: [state]}
  loaders:
    - {name: target-any, namespace: target_any, executable: ./target.sh}
END
cat > tap.sh <<'END'
#!/bin/sh
echo '{"type":"STATE","value":{"bookmarks":{}}}'
touch began
exec sleep 8
END
printf '#!/bin/sh\nexec cat\n' > target.sh
chmod +x tap.sh target.sh
stop_and_start_again() { # NAME, and a command that stops the process $pid
  rm -rf .meltano began
  setsid "$program" run --no-install tap-any target-any > ../stopped.log 2>&1 &
  pid=$!
  until [ -e began ]; do sleep 0.2; done
  sleep 1
  eval "$2"
  wait "$pid" || true
  code=0
  "$program" run --no-install tap-any target-any > ../next.log 2>&1 || code=$?
  refused=$(grep -c 'level=error.*already running\|pipeline is already running' ../next.log || true)
  echo "$1: the next run exits with $code, refused: $((refused > 0))"
}
once=$(stop_and_start_again once 'kill -TERM $pid')
echo "$once"
group=$(stop_and_start_again group 'kill -TERM -- -$pid')
echo "$group"
for try in 1 2 3 4 5 6 7 8 9 10; do
  several=$(stop_and_start_again several 'for n in 1 2 3 4 5 6 7 8 9 10; do kill -TERM $pid 2>/dev/null || true; sleep 0.02; done')
  echo "$several (try $try)"
  [ "$several" = "several: the next run exits with 1, refused: 1" ] && break
done
[ "$once" = "once: the next run exits with 0, refused: 0" ]
[ "$group" = "group: the next run exits with 0, refused: 0" ]
[ "$several" = "several: the next run exits with 1, refused: 1" ]
