#!/usr/bin/env bash
# Guess: a target of the SDK passes the records of a stream to its sink in the order of the
#   messages, also if the stream gets one more column (another SCHEMA). So a row that comes
#   twice has its newer version in the table.
# Version: singer-sdk 0.54.9, with a target of 20 lines that replaces rows by key.
# Behaviour: another SCHEMA begins another sink, and what the first one still holds waits
#   until all sinks are drained, which is mostly the end of the run. If the new sink is
#   full before that, its batch is written first. So the older version of a row is written
#   last, and stays. The exit code is 0, and the STATE says that all is loaded.
# Output seen, for the row 1 that is "open", then "closed", with batches of two:
#   batches: ['1 closed', '2 new'], ['1 open']
#   table: 1 open, 2 new
#   exit code 0, state {"last": 3}
# and with the same records, but one SCHEMA for both:
#   batches: ['1 open', '1 closed'], ['2 new']
#   table: 1 closed, 2 new
#   exit code 0, state {"last": 3}
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python singer-sdk==0.54.9
cat > target.py <<'END'
import json

from singer_sdk import BatchSink, Target

BATCHES = []
TABLE = {}


class Rows(BatchSink):
    max_size = 2

    def process_batch(self, context):
        batch = []
        for record in context["records"]:
            TABLE[record["id"]] = record["status"]
            batch.append(f"{record['id']} {record['status']}")
        BATCHES.append(str(batch))


class Example(Target):
    name = "target-example"
    config_jsonschema = {"type": "object", "properties": {}}
    default_sink_class = Rows


Example.cli(standalone_mode=False)
rows = [f"{key} {status}" for key, status in sorted(TABLE.items())]
with open("seen", "a") as seen:
    print(f"batches: {', '.join(BATCHES)}", file=seen)
    print(f"table: {', '.join(rows)}", file=seen)
END
narrow='{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}}}'
wide='{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}, "email": {"type": "string"}}}}'
load() {
  # Arguments: the first and the second SCHEMA.
  cat > messages.jsonl <<END
$1
{"type": "RECORD", "stream": "t", "record": {"id": "1", "status": "open"}}
$2
{"type": "RECORD", "stream": "t", "record": {"id": "1", "status": "closed"}}
{"type": "RECORD", "stream": "t", "record": {"id": "2", "status": "new"}}
{"type": "STATE", "value": {"last": 3}}
END
  code=0
  environment/bin/python -W ignore target.py < messages.jsonl > states 2> log || code=$?
  echo "exit code $code, state $(tail -n 1 states)" >> seen
}
load "$narrow" "$wide"
load "$wide" "$wide"
cat seen
cat > expected <<'END'
batches: ['1 closed', '2 new'], ['1 open']
table: 1 open, 2 new
exit code 0, state {"last": 3}
batches: ['1 open', '1 closed'], ['2 new']
table: 1 closed, 2 new
exit code 0, state {"last": 3}
END
cmp seen expected
