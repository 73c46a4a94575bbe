#!/usr/bin/env bash
# Guess: if a stream gets one more column in the middle of its messages (another SCHEMA,
#   which Singer allows), a loader of CSV begins another file, or fails, as a file has one
#   header. Rows that it has written stay where they are.
# Version: meltanolabs-target-csv 0.5.0 with singer-sdk 0.54.9.
# Behaviour: the new SCHEMA opens the same file again, and empties it for the new header.
#   So the batches that were written before are gone. Rows that still waited are written
#   under the new header, whose columns are not theirs: a name stands below "email". The
#   exit code is 0, and the STATE that covers all rows is printed. Without the setting
#   batch_size_rows, all rows wait in memory, so they are only misplaced.
# Output seen, for "id,name" of three rows, then "id,email,name" of one:
#   batch_size_rows 2:
#   id,email,name
#   3,Ann
#   4,bob@example.com,Bob
#   exit code 0, state {"last": 4}
#   not set:
#   id,email,name
#   1,Ann
#   2,Ann
#   3,Ann
#   4,bob@example.com,Bob
#   exit code 0, state {"last": 4}
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet loader
uv pip install --quiet --python loader/bin/python meltanolabs-target-csv==0.5.0 singer-sdk==0.54.9
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "name": "Ann"}}
{"type": "RECORD", "stream": "t", "record": {"id": "2", "name": "Ann"}}
{"type": "RECORD", "stream": "t", "record": {"id": "3", "name": "Ann"}}
{"type": "STATE", "value": {"last": 3}}
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "email": {"type": "string"}, "name": {"type": "string"}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "4", "email": "bob@example.com", "name": "Bob"}}
{"type": "STATE", "value": {"last": 4}}
END
load() {
  # Arguments: the folder of the file, and further settings.
  mkdir "$1"
  echo "{\"output_path\": \"$1\", \"file_naming_scheme\": \"{stream_name}.csv\"$2}" > config.json
  code=0
  loader/bin/target-csv --config config.json < messages.jsonl > states 2> log || code=$?
  tr -d '\r' < "$1/t.csv"
  echo "exit code $code, state $(tail -n 1 states)"
}
{
  echo 'batch_size_rows 2:'
  load batches ', "batch_size_rows": 2'
  echo 'not set:'
  load one ''
} > seen
cat seen
cat > expected <<'END'
batch_size_rows 2:
id,email,name
3,Ann
4,bob@example.com,Bob
exit code 0, state {"last": 4}
not set:
id,email,name
1,Ann
2,Ann
3,Ann
4,bob@example.com,Bob
exit code 0, state {"last": 4}
END
cmp seen expected
