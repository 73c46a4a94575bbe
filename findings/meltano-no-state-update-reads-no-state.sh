#!/bin/sh
# Meltano 4.4.1 from PyPI: `meltano run --no-state-update TAP LOADER` in an environment
# where earlier runs have stored a state. Its help says "Run without state saving".
#
# Guess: the tap gets the stored state, loads what is new, and only the new state is not
# stored. So a run can be tried without a trace.
# What happens: the tap gets no state at all, so it loads everything from its start, as
# with --full-refresh. The only hint is the warning "No active environment, proceeding
# with stateless run!", although an environment is active. The stored state is kept.
#
# Seen: first run:             no state
#       second run:            {"bookmarks":{"t":{"last":1}}}
#       with --no-state-update: no state
#       after it, stored:      {"singer_state":{"bookmarks":{"t":{"last":1}}}}
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
meltano() { "$folder/environment/bin/meltano" --environment=dev "$@" 2> log; }
mkdir project
cd project
cat > tap.py <<'END'
#!/usr/bin/env python3
# A tap that notes which state it gets: --config FILE [--state FILE]
import json
import sys

state = "no state"
if "--state" in sys.argv:
    file = sys.argv[sys.argv.index("--state") + 1]
    state = json.dumps(json.load(open(file)), separators=(",", ":"))
with open("got", "w") as got:
    got.write(state)
schema = {"type": "object", "properties": {"id": {"type": "string"}}}
for message in (
    {"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": schema},
    {"type": "RECORD", "stream": "t", "record": {"id": "1"}},
    {"type": "STATE", "value": {"bookmarks": {"t": {"last": 1}}}},
):
    print(json.dumps(message))
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
{
  meltano run tap-example target-example
  echo "first run:              $(cat got)"
  meltano run tap-example target-example
  echo "second run:             $(cat got)"
  meltano run --no-state-update tap-example target-example
  echo "with --no-state-update: $(cat got)"
  grep -q 'No active environment, proceeding with stateless run!' log
  grep -q "Environment 'dev' is active" log
  echo "after it, stored:       $(meltano state get dev:tap-example-to-target-example)"
} > seen
cat seen
cat > expected <<'END'
first run:              no state
second run:             {"bookmarks":{"t":{"last":1}}}
with --no-state-update: no state
after it, stored:       {"singer_state":{"bookmarks":{"t":{"last":1}}}}
END
cmp seen expected
