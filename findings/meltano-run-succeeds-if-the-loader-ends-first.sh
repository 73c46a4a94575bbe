#!/bin/sh
# Meltano 4.4.1 from PyPI: `meltano run` with a loader that ends with 0 before the tap.
#
# Guess: the run fails, because the tap was stopped in its middle.
# What happens: Meltano kills the tap, which cannot say so, logs "Block run completed"
# with success, and exits with 0. A loader that ends with another code fails the run.
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
meltano() { "$folder/environment/bin/meltano" --log-format=json "$@" 2> log; }
mkdir project
cd project
cat > tap.sh <<'END'
#!/bin/sh
echo '{"type": "SCHEMA", "stream": "a", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "key_properties": ["id"]}'
for id in $(seq 60); do
  echo "{\"type\": \"RECORD\", \"stream\": \"a\", \"record\": {\"id\": \"$id\"}}"
  sleep 1
done
touch tap-has-ended
END
cat > loader.sh <<'END'
#!/bin/sh
head -n 3 > /dev/null
exit "$LOADER_CODE"
END
chmod +x tap.sh loader.sh
cat > meltano.yml <<END
project_id: an-example
default_environment: dev
environments: [{name: dev}]
plugins:
  extractors:
  - {name: tap-example, namespace: tap_example, executable: $PWD/tap.sh}
  loaders:
  - {name: target-example, namespace: target_example, executable: $PWD/loader.sh}
END
LOADER_CODE=0 meltano run tap-example target-example
[ ! -e tap-has-ended ]
grep -q '"success": true.*"event": "Block run completed"' log
code=0
LOADER_CODE=7 meltano run tap-example target-example || code=$?
[ "$code" -eq 1 ]
echo "exit code 0 after a loader that ended first with 0, and 1 after one with 7"
