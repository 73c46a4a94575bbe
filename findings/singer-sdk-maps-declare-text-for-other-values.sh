#!/bin/sh
# singer-sdk 0.54.9 from PyPI: stream maps that make columns by expressions.
#
# Guess: the new columns have the types of their values, or the values become texts.
# What happens: a type is declared only by how the expression begins. `score > 50` is
# declared as a string, and its records carry true and false; `int(score) > 50` is
# declared as an integer, and carries the same. So SCHEMA and RECORD contradict each
# other, and a loader that checks records refuses them. `bool(...)` around all of it
# helps.
#
# Seen: {'high': 'string', 'more': 'integer', 'right': 'boolean'}
#       {'id': '1', 'score': 60, 'high': True, 'more': True, 'right': True}
#
# Exits with 1 if the SDK does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python singer-sdk==0.54.9
cat > tap.py <<'END'
from singer_sdk import Stream, Tap


class Things(Stream):
    name = "things"
    primary_keys = ("id",)
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "score": {"type": "integer"}},
    }

    def get_records(self, context):
        yield {"id": "1", "score": 60}


class Example(Tap):
    name = "tap-example"
    config_jsonschema = {"type": "object", "properties": {}}

    def discover_streams(self):
        return [Things(self)]


MAPS = {
    "high": "score > 50",
    "more": "int(score) > 50",
    "right": "bool(score > 50)",
}
Example(config={"stream_maps": {"things": MAPS}}).sync_all()
END
environment/bin/python -W ignore tap.py > messages 2> log
cat > show.py <<'END'
import json

for line in open("messages"):
    message = json.loads(line)
    if message["type"] == "SCHEMA":
        columns = message["schema"]["properties"]
        print({name: columns[name]["type"][0] for name in ("high", "more", "right")})
    if message["type"] == "RECORD":
        print(message["record"])
END
environment/bin/python show.py > seen
cat seen
cat > expected <<'END'
{'high': 'string', 'more': 'integer', 'right': 'boolean'}
{'id': '1', 'score': 60, 'high': True, 'more': True, 'right': True}
END
cmp seen expected
