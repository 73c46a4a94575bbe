#!/usr/bin/env bash
# Guess: a runner gives a tap the last STATE that its target has printed, as the tap wrote
#   it. So what the tap has taken out of its state is gone.
# Versions: singer-alto 0.2.21 with dynaconf 3.1.12.
# Behaviour: alto merges all lines that the target prints into the state of the run before,
#   key by key, so nothing is ever removed. A tap that notes an offset while it reads a
#   list, and takes it out at its end (singer-python has clear_offset for that), gets the
#   offset back: it goes on behind the end of the list. So each later run loads nothing,
#   and the exit code is 0.
# Output seen, for a list of three rows that is to be read whole in each run:
#   first run: given {}, loaded 0 1 2, exit code 0, last state {"a": {"runs": 1}}
#   second run: given {"a": {"offset": 3, "runs": 1}}, loaded nothing, exit code 0, last state {"a": {"runs": 2}}
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet --python 3.11 environment
# This dynaconf imports pkg_resources, which newer versions of setuptools lack.
uv pip install --quiet --python environment/bin/python singer-alto==0.2.21 \
  dynaconf==3.1.12 setuptools==80.9.0
# alto builds each plugin from a package.
for plugin in tap target; do
  mkdir "$plugin"
  cat > "$plugin/setup.py" <<END
from setuptools import setup

setup(
    name="$plugin-example",
    version="1",
    py_modules=["${plugin}_example"],
    entry_points={"console_scripts": ["$plugin-example=${plugin}_example:main"]},
)
END
done
cat > tap/tap_example.py <<'END'
import json
import sys

SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}}


def send(**message):
    print(json.dumps(message))


def main():
    if "--discover" in sys.argv:
        stream = {"tap_stream_id": "a", "stream": "a", "key_properties": ["id"]}
        metadata = [{"breadcrumb": [], "metadata": {"selected": True}}]
        print(json.dumps({"streams": [stream | {"schema": SCHEMA, "metadata": metadata}]}))
        return
    state = {}
    if "--state" in sys.argv:
        with open(sys.argv[sys.argv.index("--state") + 1]) as file:
            state = json.load(file)
    with open("given", "w") as file:
        json.dump(state, file, sort_keys=True)
    stream = state.get("a", {})
    runs = stream.get("runs", 0)
    send(type="SCHEMA", stream="a", schema=SCHEMA, key_properties=["id"])
    for row in range(stream.get("offset", 0), 3):
        send(type="RECORD", stream="a", record={"id": row})
        # A run that is stopped here goes on with the next row.
        send(type="STATE", value={"a": {"runs": runs, "offset": row + 1}})
    send(type="STATE", value={"a": {"runs": runs + 1}})
END
cat > target/target_example.py <<'END'
import json
import sys


def main():
    with open("loaded", "w") as rows, open("printed", "w") as states:
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "RECORD":
                print(message["record"]["id"], file=rows)
            if message["type"] == "STATE":
                for file in (sys.stdout, states):
                    print(json.dumps(message["value"]), file=file)
END
cat > alto.toml <<END
[default]
project_name = "example"
load_path = "raw"

[default.taps.tap-example]
pip_url = "$folder/tap"
capabilities = ["state", "catalog"]
select = ["*.*"]
config = {}

[default.targets.target-example]
pip_url = "$folder/target"
config = {}
END
# Its state is below the home directory.
export HOME="$folder"
{
  for run in first second; do
    code=0
    environment/bin/alto tap-example:target-example > log 2>&1 || code=$?
    rows=$(tr '\n' ' ' < loaded)
    echo "$run run: given $(cat given), loaded ${rows:-nothing }" |
      sed "s/ $/, exit code $code, last state $(tail -n 1 printed)/"
  done
} > seen
cat seen
cat > expected <<'END'
first run: given {}, loaded 0 1 2, exit code 0, last state {"a": {"runs": 1}}
second run: given {"a": {"offset": 3, "runs": 1}}, loaded nothing, exit code 0, last state {"a": {"runs": 2}}
END
cmp seen expected
