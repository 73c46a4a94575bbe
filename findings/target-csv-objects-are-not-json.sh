#!/usr/bin/env bash
# Guess: a loader of CSV writes an object or a list as JSON, as there is no other usual
#   text for it, and true as true.
# Version: meltanolabs-target-csv 0.5.0.
# Behaviour: it writes what Python's str() returns: objects with single quotes and None,
#   which no JSON parser reads, and True. A NULL and an empty text are the same.
# Output seen, for {"a": null, "b": ["c"]}, true, "" and null, false, null:
#   id,o,yes,text
#   1,"{'a': None, 'b': ['c']}",True,
#   2,,False,
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet loader
uv pip install --quiet --python loader/bin/python meltanolabs-target-csv==0.5.0
mkdir out
echo '{"output_path_prefix": "out/"}' > config.json
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "o": {"type": ["object", "null"]}, "yes": {"type": "boolean"}, "text": {"type": ["string", "null"]}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "o": {"a": null, "b": ["c"]}, "yes": true, "text": ""}}
{"type": "RECORD", "stream": "t", "record": {"id": "2", "o": null, "yes": false, "text": null}}
END
loader/bin/target-csv --config config.json < messages.jsonl > states 2> log || { tail -3 log; exit 2; }
csv=$(find out -name '*.csv' -exec cat {} + | tr -d '\r')
echo "$csv"
[ "$csv" = "$(printf '%s\n' id,o,yes,text "1,\"{'a': None, 'b': ['c']}\",True," '2,,False,')" ]
