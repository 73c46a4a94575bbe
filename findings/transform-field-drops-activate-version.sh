#!/usr/bin/env bash
# Guess: a mapper between tap and loader that hashes some fields passes on all other
#   messages, such as ACTIVATE_VERSION, by which a loader learns that a table has been
#   read completely, and that rows of older versions are gone from the source.
# Version: pipelinewise-transform-field 2.3.0 (its newest on 28 November 2026).
# Behaviour: it takes ACTIVATE_VERSION into its batch, and writes only the records of the
#   batch. So the loader never marks or deletes a row. Records keep their version,
#   time_extracted and the digits of numbers. Of several STATEs in a batch, it passes on
#   the last.
# Output seen:
#   read:    SCHEMA ACTIVATE_VERSION RECORD STATE RECORD ACTIVATE_VERSION STATE
#   written: SCHEMA RECORD RECORD STATE
#   records as they were but for the hash: True
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet mapper
uv pip install --quiet --python mapper/bin/python pipelinewise-transform-field==2.3.0
cat > config.json <<'END'
{"transformations": [{"tap_stream_name": "accounts", "field_id": "email", "type": "HASH"}]}
END
cat > read.jsonl <<'END'
{"type": "SCHEMA", "stream": "accounts", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "email": {"type": ["string", "null"]}, "score": {"type": ["number", "null"]}}}}
{"type": "ACTIVATE_VERSION", "stream": "accounts", "version": 5}
{"type": "RECORD", "stream": "accounts", "record": {"id": "1", "email": "a@example.com", "score": 1.10}, "version": 5, "time_extracted": "2026-01-02T03:04:05.000000Z"}
{"type": "STATE", "value": {"last": "1"}}
{"type": "RECORD", "stream": "accounts", "record": {"id": "2", "email": null, "score": 12345678901234567890.12}, "version": 5, "time_extracted": "2026-01-02T03:04:05.000000Z"}
{"type": "ACTIVATE_VERSION", "stream": "accounts", "version": 5}
{"type": "STATE", "value": {"last": "2"}}
END
mapper/bin/transform-field --config config.json < read.jsonl > written.jsonl 2> log
python3 - <<'END' > seen
import json
from decimal import Decimal
from hashlib import sha256


def messages(name):
    return [json.loads(line, parse_float=Decimal) for line in open(name)]


def records(found):
    return [message for message in found if message["type"] == "RECORD"]


read = messages("read.jsonl")
written = messages("written.jsonl")
assert written[-1] == read[-1]
print("read:   ", *[message["type"] for message in read])
print("written:", *[message["type"] for message in written])
expected = records(read)
expected[0]["record"]["email"] = sha256(b"a@example.com").hexdigest()
print("records as they were but for the hash:", records(written) == expected)
END
cat seen
cat > expected <<'END'
read:    SCHEMA ACTIVATE_VERSION RECORD STATE RECORD ACTIVATE_VERSION STATE
written: SCHEMA RECORD RECORD STATE
records as they were but for the hash: True
END
cmp seen expected
