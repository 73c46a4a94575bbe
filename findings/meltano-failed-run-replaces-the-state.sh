#!/bin/sh
# Meltano 4.4.1 from PyPI: a run that fails after a STATE that names fewer streams than the
# stored state, as of a tap that only names those which it has read so far. The option
# `--state-strategy` is `auto`, its default.
#
# Guess: what a failed run leaves is partial, so Meltano merges it into the state of the
# last complete run, as its documentation of `meltano state get` says.
# What happens: it takes the place of the state. A stream that the failed run had not
# reached has no bookmark any more, and is loaded from its start again. It is merged with
# --full-refresh, which ignores the state that is then kept, so a stream that a failed
# refresh had not reached goes on from its old bookmark, as if it had been refreshed.
# `--state-strategy=merge` merges always.
#
# Seen, the stored state after runs that print the state on the left:
#   a=1 b=1, complete:      a=1 b=1
#   a=2, failed:            a=2
#   a=1 b=1, complete:      a=1 b=1
#   a=2, failed, refresh:   a=2 b=1
#   a=1 b=1, complete:      a=1 b=1
#   a=2, failed, merge:     a=2 b=1
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
meltano() { "$folder/environment/bin/meltano" "$@" 2> log; }
mkdir project
cd project
cat > tap.py <<'END'
#!/usr/bin/env python3
# A tap that prints the state in STATE, and ends with CODE: --config FILE [--state FILE]
import json
import os
import sys

schema = {"type": "object", "properties": {"id": {"type": "string"}}}
bookmarks = {}
for bookmark in os.environ["STATE"].split():
    stream, last = bookmark.split("=")
    bookmarks[stream] = {"last": last}
for message in (
    {"type": "SCHEMA", "stream": "a", "key_properties": ["id"], "schema": schema},
    {"type": "STATE", "value": {"bookmarks": bookmarks}},
):
    print(json.dumps(message))
sys.exit(int(os.environ["CODE"]))
END
cat > loader.py <<'END'
#!/usr/bin/env python3
# A loader that loads nothing, and prints each state.
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "STATE":
        print(json.dumps(message["value"]))
END
chmod +x tap.py loader.py
cat > meltano.yml <<END
project_id: an-example
default_environment: dev
environments: [{name: dev}]
plugins:
  extractors:
  - name: tap-example
    namespace: tap_example
    executable: $PWD/tap.py
    capabilities: [state]
  loaders:
  - {name: target-example, namespace: target_example, executable: $PWD/loader.py}
END
run() {
  # Arguments: a label, the state, the exit code of the tap, and an option.
  code=0
  STATE="$2" CODE="$3" meltano run ${4:+"$4"} tap-example target-example || code=$?
  [ "$code" -eq "$3" ]
  meltano state get dev:tap-example-to-target-example > state.json
  python3 -c 'import json, sys
bookmarks = json.load(open("state.json"))["singer_state"]["bookmarks"]
pairs = [f"{stream}={kept['"'last'"']}" for stream, kept in sorted(bookmarks.items())]
print(sys.argv[1].ljust(23), *pairs)' "$1"
}
{
  run 'a=1 b=1, complete:' 'a=1 b=1' 0
  run 'a=2, failed:' 'a=2' 1
  run 'a=1 b=1, complete:' 'a=1 b=1' 0
  run 'a=2, failed, refresh:' 'a=2' 1 --full-refresh
  run 'a=1 b=1, complete:' 'a=1 b=1' 0
  run 'a=2, failed, merge:' 'a=2' 1 --state-strategy=merge
} > seen
cat seen
cat > expected <<'END'
a=1 b=1, complete:      a=1 b=1
a=2, failed:            a=2
a=1 b=1, complete:      a=1 b=1
a=2, failed, refresh:   a=2 b=1
a=1 b=1, complete:      a=1 b=1
a=2, failed, merge:     a=2 b=1
END
cmp seen expected
