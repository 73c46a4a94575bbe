#!/usr/bin/env bash
# Guess: if one load of dlt's "merge" has several rows of a key, the last one wins, as it
#   does with Singer loaders, and as it would if each row were a load of its own. At the
#   latest, "upsert" leaves one row of a key.
# Versions: dlt 1.31.0, duckdb 2.0.1.
# Behaviour: which row wins is arbitrary without a column that is marked `dedup_sort`,
#   and on DuckDB it is the first one, so an older version stays in the table until the
#   row changes again. With the strategy "upsert", all rows of a new key are inserted, and
#   the next load overwrites each of them, so they become the same row three times.
#   Nothing is logged. With a number that grows and `dedup_sort: desc`, the last one wins.
# Output seen, for the versions 1, 2, 3 of a key in one load, and 4 in the next:
#   delete-insert: [1] then [4]
#   upsert: [1, 2, 3] then [4, 4, 4]
#   delete-insert with dedup_sort: [3] then [4]
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python dlt==1.31.0 duckdb==2.0.1
cat > load.py <<'END'
import dlt


def versions_after(pipeline, strategy, columns, *versions):
    rows = []
    for version in versions:
        rows.append({"id": "a", "version": version})
    resource = dlt.resource(
        rows,
        name="leads",
        primary_key="id",
        write_disposition={"disposition": "merge", "strategy": strategy},
        columns=columns,
    )
    pipeline.run(resource)
    with pipeline.sql_client() as client:
        found = client.execute_sql("SELECT version FROM leads ORDER BY version")
    return [version for (version,) in found]


SORTED = {"version": {"dedup_sort": "desc"}}
for number, (label, strategy, columns) in enumerate(
    (
        ("delete-insert", "delete-insert", {}),
        ("upsert", "upsert", {}),
        ("delete-insert with dedup_sort", "delete-insert", SORTED),
    )
):
    pipeline = dlt.pipeline(
        f"example_{number}",
        destination=dlt.destinations.duckdb(f"{number}.duckdb"),
        pipelines_dir="pipelines",
    )
    first = versions_after(pipeline, strategy, columns, 1, 2, 3)
    then = versions_after(pipeline, strategy, columns, 4)
    print(f"{label}: {first} then {then}")
END
export DLT_DATA_DIR="$folder" RUNTIME__DLTHUB_TELEMETRY=false
environment/bin/python load.py > seen
cat seen
cat > expected <<'END'
delete-insert: [1] then [4]
upsert: [1, 2, 3] then [4, 4, 4]
delete-insert with dedup_sort: [3] then [4]
END
cmp seen expected
