#!/usr/bin/env bash
# Guess: a target of hotglue-singer-sdk, which began as a copy of the Singer SDK, stores the
#   last version of a row, prints the STATE of the tap, and fails if a row is refused.
# Version: hotglue-singer-sdk 1.0.51, with a target of a few lines that replaces rows by key.
# Behaviour: a row that has the values of one that was stored before, at any time in the
#   run, is skipped as existing. So a row that is open, closed, and open again, stays
#   closed. A row that is refused is noted, and the exit code is 0. The only STATE that is
#   printed lists the rows of the target, under `bookmarks`; that of the tap is left out.
#   A runner such as Meltano gives it to the tap in the next run.
# Output seen, for row 1 that is open, closed, open, and row 2 that is refused:
#   table: 1 closed
#   exit code 0, states: 1
#   of the tap: nothing
#   bookmarks: t: 1 True, 1 True, 1 True, 2 False
#   summary: {"existing": 1, "fail": 1, "success": 2, "updated": 0}
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The package looks for files in ../.secrets.
mkdir "$folder/work"
cd "$folder/work"
unset JOB_ID STREAMING_JOB
uv venv --quiet --python 3.11 environment
uv pip install --quiet --python environment/bin/python hotglue-singer-sdk==1.0.51
cat > target.py <<'END'
from hotglue_singer_sdk.target_sdk.client import HotglueSink
from hotglue_singer_sdk.target_sdk.target import TargetHotglue

TABLE = {}


class Rows(HotglueSink):
    name = "t"
    base_url = ""
    endpoint = ""
    unified_schema = None

    def preprocess_record(self, record, context):
        return record

    def upsert_record(self, record, context):
        if record["status"] == "refused":
            raise ValueError("The destination refuses the row")
        TABLE[record["id"]] = record["status"]
        return record["id"], True, {}


class Example(TargetHotglue):
    name = "target-example"
    config_jsonschema = {"type": "object", "properties": {}}
    SINK_TYPES = [Rows]

    def get_sink_class(self, stream_name):
        return Rows


try:
    Example.cli()
finally:
    with open("seen", "w") as seen:
        rows = [f"{key} {status}" for key, status in TABLE.items()]
        print(f"table: {', '.join(rows)}", file=seen)
END
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "status": "open"}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "status": "closed"}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "status": "open"}}
{"type": "RECORD", "stream": "t", "record": {"id": "2", "status": "refused"}}
{"type": "STATE", "value": {"last": 4}}
END
echo '{}' > config.json
code=0
environment/bin/python -W ignore target.py --config config.json \
  < messages.jsonl > states 2> log || code=$?
cat > show.py <<'END'
import json

with open("states") as lines:
    states = [json.loads(line) for line in lines]
state = states[-1]
rows = []
for row in state["bookmarks"]["t"]:
    rows.append(f"{row['id']} {row['success']}")
print(f"states: {len(states)}")
print(f"of the tap: {state.get('last', 'nothing')}")
print(f"bookmarks: t: {', '.join(rows)}")
print(f"summary: {json.dumps(state['summary']['t'], sort_keys=True)}")
END
{
  printf 'exit code %s, ' "$code"
  python3 show.py
} >> seen
cat seen
cat > expected <<'END'
table: 1 closed
exit code 0, states: 1
of the tap: nothing
bookmarks: t: 1 True, 1 True, 1 True, 2 False
summary: {"existing": 1, "fail": 1, "success": 2, "updated": 0}
END
cmp seen expected
