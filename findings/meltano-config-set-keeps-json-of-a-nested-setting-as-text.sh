#!/bin/sh
# Meltano 4.4.1 from PyPI: `meltano config set PLUGIN SETTING VALUE` where SETTING is an
# object, and where it is a path into that object.
#
# Guess: a value that is JSON is decoded in both cases, as the setting has the kind
# `object`, so the path is only a shorter way to change a part of the object.
# What happens: the whole object is decoded. A value at a path is stored as a text, so an
# extractor gets the text '["string", "null"]' in place of a list.
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
cat > meltano.yml <<END
project_id: an-example
plugins:
  extractors:
  - name: tap-example
    namespace: tap_example
    executable: tap-example
    settings: [{name: columns, kind: object}]
END
meltano config set tap-example columns '{"a": {"type": ["string", "null"]}}'
meltano config set tap-example columns b type '["string", "null"]'
meltano config print tap-example | "$folder/environment/bin/python" -c '
import json, sys
columns = json.load(sys.stdin)["columns"]
print(columns)
assert columns["a"]["type"] == ["string", "null"], columns
assert columns["b"]["type"] == "[\"string\", \"null\"]", columns
'
