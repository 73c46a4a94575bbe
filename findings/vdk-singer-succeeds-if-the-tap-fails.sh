#!/usr/bin/env bash
# Guess: a program that runs Singer taps as data sources fails if the tap fails, and gives
#   the next run the STATE that it has stored, as its framework has a store for it.
# Versions: vdk-singer, vdk-data-sources and vdk-sqlite 0.1.1431637373,
#   vdk-properties-fs 0.0.1431637373, vdk-core 0.3.1466514302.
# Behaviour: nothing asks for the tap's exit code. If it ends with 1 after a page of
#   records, these are loaded, and the data job ends with 0 and SUCCESS. The STATE is
#   stored, but the tap never gets it: each run loads everything again. The tap is started
#   once for each stream of its catalog, all at the same time.
# Output seen, in two runs of a tap that ends with 1:
#   first run: exit code 0, 10_load.py - SUCCESS
#   second run: exit code 0, 10_load.py - SUCCESS
#   stored: {"a": {"last": "1"}, "b": {"last": "1"}}
#   starts of the tap: 4, with --state: 0
#   rows: [('1',), ('1',)]
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet --python 3.11 vdk
install() { uv pip install --quiet --python vdk/bin/python "$@"; }
# Its packages are built with pkg_resources, which newer versions of setuptools lack.
install setuptools==80.9.0
install --no-build-isolation vdk-core==0.3.1466514302 vdk-singer==0.1.1431637373 \
  vdk-data-sources==0.1.1431637373 vdk-sqlite==0.1.1431637373 \
  vdk-properties-fs==0.0.1431637373
cat > tap-example <<'END'
#!/usr/bin/env python3
import json
import sys

schema = {"type": "object", "properties": {"id": {"type": "string"}}}
if "--discover" in sys.argv:
    streams = []
    for name in ("a", "b"):
        streams.append(
            {"tap_stream_id": name, "stream": name, "key_properties": ["id"], "schema": schema}
        )
    print(json.dumps({"streams": streams}))
    sys.exit()
with open("starts", "a") as starts:
    starts.write(" ".join(sys.argv[1::2]) + "\n")
catalog = json.load(open(sys.argv[sys.argv.index("--catalog") + 1]))
for stream in catalog["streams"]:
    name = stream["stream"]
    for message in (
        {"type": "SCHEMA", "stream": name, "key_properties": ["id"], "schema": schema},
        {"type": "RECORD", "stream": name, "record": {"id": "1"}},
        {"type": "STATE", "value": {"last": "1"}},
    ):
        print(json.dumps(message))
sys.exit(1)
END
chmod +x tap-example
mkdir job
cat > job/config.ini <<'END'
[owner]
team = example
END
cat > job/10_load.py <<'END'
from vdk.plugin.data_sources.mapping.data_flow import DataFlowInput
from vdk.plugin.data_sources.mapping.definitions import DataFlowMappingDefinition
from vdk.plugin.data_sources.mapping.definitions import DestinationDefinition
from vdk.plugin.data_sources.mapping.definitions import SourceDefinition


def run(job_input):
    source = SourceDefinition(
        id="example",
        name="singer-tap",
        config={"tap_name": "tap-example", "tap_config": {}},
    )
    destination = DestinationDefinition(id="database", method="sqlite")
    with DataFlowInput(job_input) as flow:
        flow.start(DataFlowMappingDefinition(source, destination))
END
export HOME="$folder" PATH="$folder:$PATH"
export VDK_DB_DEFAULT_TYPE=SQLITE
export VDK_SQLITE_FILE="$folder/rows.db"
export VDK_INGEST_TARGET_DEFAULT="$folder/rows.db"
export VDK_PROPERTIES_DEFAULT_TYPE=fs-properties-client
export VDK_FS_PROPERTIES_DIRECTORY="$folder"
{
  for run in first second; do
    code=0
    vdk/bin/vdk run job > log 2>&1 || code=$?
    echo "$run run: exit code $code, $(grep -o '10_load.py - [A-Z]*' log)"
  done
  python3 - <<'END'
import json
import sqlite3

properties = json.load(open("vdk_data_jobs.json"))["example_job__"]
stored = properties[".vdk.data_sources.state"]["example"]["streams"]
starts = open("starts").read().splitlines()
with_state = [start for start in starts if "--state" in start]
rows = sqlite3.connect("rows.db").execute("SELECT id FROM a").fetchall()
print(f"stored: {json.dumps(stored, sort_keys=True)}")
print(f"starts of the tap: {len(starts)}, with --state: {len(with_state)}")
print(f"rows: {rows}")
END
} > seen
cat seen
cat > expected <<'END'
first run: exit code 0, 10_load.py - SUCCESS
second run: exit code 0, 10_load.py - SUCCESS
stored: {"a": {"last": "1"}, "b": {"last": "1"}}
starts of the tap: 4, with --state: 0
rows: [('1',), ('1',)]
END
cmp seen expected
