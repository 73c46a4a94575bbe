#!/usr/bin/env bash
# Guess: a program that runs a Singer tap by its state (INCREMENTAL) and writes files of
#   Parquet adds files, as each run brings only what is new. It reads times as Singer
#   taps write them, with an offset or Z.
# Versions: dataspoc-pipe 0.2.0, pyarrow 26.0.1 (newest on 28 November 2026).
# Behaviour: with `incremental`, each run counts its files from 0 in the folder of the
#   day. So the second run of a day replaces the file of the first, and its own state says
#   that both have been loaded. The exit code is 0. A column of the format date-time ends
#   the run with 1, unless its values have no offset, although RFC 3339 demands one.
# Output seen:
#   after the first run: rows [1], state {"last": 1}
#   after the second run: rows [2], state {"last": 2}
#   with the time 2026-01-02T03:04:05Z: exit code 1
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet pipe
uv pip install --quiet --python pipe/bin/python dataspoc-pipe==0.2.0 pyarrow==26.0.1
cat > tap-example <<'END'
#!/usr/bin/env python3
import json
import sys

state = {"last": 0}
if "--state" in sys.argv:
    state = json.load(open(sys.argv[sys.argv.index("--state") + 1]))
settings = json.load(open(sys.argv[sys.argv.index("--config") + 1]))
number = state["last"] + 1
columns = {"id": {"type": "integer"}}
record = {"id": number}
if "time" in settings:
    columns["time"] = {"type": ["string", "null"], "format": "date-time"}
    record["time"] = settings["time"]
schema = {"type": "object", "properties": columns}
for message in (
    {"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": schema},
    {"type": "RECORD", "stream": "t", "record": record},
    {"type": "STATE", "value": {"last": number}},
):
    print(json.dumps(message))
END
chmod +x tap-example
cat > show.py <<'END'
import json
import sys
from pathlib import Path

from pyarrow.parquet import read_table

rows = []
for file in sorted(Path("lake").rglob("*.parquet")):
    rows += read_table(file, partitioning=None)["id"].to_pylist()
state = next(Path("lake").rglob("state.json")).read_text()
print(f"after the {sys.argv[1]} run: rows {rows}, state {json.dumps(json.loads(state))}")
END
pipe() { HOME="$folder" PATH="$folder:$PATH" "$folder/pipe/bin/dataspoc-pipe" "$@"; }
pipeline() {
  cat > ".dataspoc-pipe/pipelines/$1.yaml" <<END
source: {tap: tap-example, config: $2}
destination: {bucket: "file://$folder/$3"}
incremental: {enabled: true}
END
}
pipe init > log
pipeline numbers '{}' lake
pipeline times '{time: "2026-01-02T03:04:05Z"}' other
loads() {
  rm -rf lake
  pipe run numbers >> log
  pipe/bin/python show.py first
  pipe run numbers >> log
  pipe/bin/python show.py second
}
# Both runs must be on the same day.
day=
until [ "$day" = "$(date +%F)" ]; do
  day=$(date +%F)
  loads > seen
done
code=0
pipe run times >> log || code=$?
echo "with the time 2026-01-02T03:04:05Z: exit code $code" >> seen
cat seen
cat > expected <<'END'
after the first run: rows [1], state {"last": 1}
after the second run: rows [2], state {"last": 2}
with the time 2026-01-02T03:04:05Z: exit code 1
END
cmp seen expected
