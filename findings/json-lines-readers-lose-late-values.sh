#!/usr/bin/env bash
# Guess: a reader of JSON Lines that infers columns from the first lines reads what
#   comes later, or stops with an error where it does not match.
# Versions: duckdb 2.0.1 and 1.4.4, polars 2.1.0 (newest on 28 November 2026 but 1.4.4).
# Behaviour: DuckDB infers from 20,480 lines. Where a field is null in all of them,
#   2.0.1 reads each later value as NULL, without an error. 1.4.4 reads the values, as it
#   calls such a column JSON. polars infers from 100 lines, and leaves out each field that
#   first comes later, in a record or in an object. Both read everything if they infer
#   from all lines (sample_size = -1, infer_schema_length=None). Singer loaders of JSON
#   Lines append each run to one file, so a field that the API adds is always late.
# Output seen, values found of the one in the file:
#   DuckDB 2.0.1: score 0, of all lines 1
#   DuckDB 1.4.4: score 1, of all lines 1
#   polars 2.1.0: email 0, company.city 0, of all lines 1 1
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 - <<'END_OF_FILES'
import json

with open("nulls.jsonl", "w") as file:
    for number in range(30_000):
        file.write(json.dumps({"id": number, "score": None}) + "\n")
    file.write(json.dumps({"id": 30_000, "score": 1.5}) + "\n")
with open("fields.jsonl", "w") as file:
    for number in range(200):
        file.write(json.dumps({"id": number, "company": {"name": "A"}}) + "\n")
    late = {"id": 200, "company": {"name": "A", "city": "B"}, "email": "c"}
    file.write(json.dumps(late) + "\n")
END_OF_FILES
cat > with_duckdb.py <<'END_OF_FILE'
import duckdb

query = "SELECT count(score) FROM read_json('nulls.jsonl', sample_size = {})"
found = [duckdb.sql(query.format(size)).fetchall()[0][0] for size in (20_480, -1)]
default = duckdb.sql("SELECT count(score) FROM 'nulls.jsonl'").fetchall()[0][0]
assert default == found[0]
print(f"DuckDB {duckdb.__version__}: score {found[0]}, of all lines {found[1]}")
END_OF_FILE
cat > with_polars.py <<'END_OF_FILE'
import polars


def found(**options):
    rows = polars.read_ndjson("fields.jsonl", **options).to_dicts()
    emails = sum(row.get("email") is not None for row in rows)
    cities = sum(row["company"].get("city") is not None for row in rows)
    return emails, cities


emails, cities = found()
everything = found(infer_schema_length=None)
print(f"polars {polars.__version__}: email {emails}, company.city {cities},", end=" ")
print("of all lines", *everything)
END_OF_FILE
for version in 2.0.1 1.4.4; do
  uv run --quiet --no-project --with "duckdb==$version" python with_duckdb.py
done > seen
uv run --quiet --no-project --with polars==2.1.0 python with_polars.py >> seen
cat seen
cat > expected <<'END_OF_FILE'
DuckDB 2.0.1: score 0, of all lines 1
DuckDB 1.4.4: score 1, of all lines 1
polars 2.1.0: email 0, company.city 0, of all lines 1 1
END_OF_FILE
cmp seen expected
