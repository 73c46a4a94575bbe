#!/usr/bin/env bash
# Guess: to_singer, which writes a table as Singer messages, writes times that have an
#   offset or a time zone in UTC, as its write_record does with the time of extraction.
# Versions: gluestick 3.0.21 with pandas 3.1.1 and polars 1.44.2.
# Behaviour: it writes what a clock there shows, and Z behind it. So each time is wrong by
#   its offset, and a loader stores another instant. That is so with pandas and polars, and
#   with an offset, as pandas reads it in the rows of a tap, or a time zone. Times in UTC
#   are right.
# Output seen, for 2026-07-01T10:00:00Z:
#   pandas, offset: 2026-07-01T12:00:00.000000Z
#   pandas, Europe/Berlin: 2026-07-01T12:00:00.000000Z
#   pandas, UTC: 2026-07-01T10:00:00.000000Z
#   polars, Europe/Berlin: 2026-07-01T12:00:00.000000Z
#   polars, UTC: 2026-07-01T10:00:00.000000Z
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet --python 3.11 environment
uv pip install --quiet --python environment/bin/python gluestick==3.0.21 pandas==3.1.1 \
  polars==1.44.2 tzdata==2026.6
cat > write.py <<'END'
import json

import gluestick
import pandas
import polars

ROWS = [{"id": "1", "at": "2026-07-01T12:00:00+02:00"}]
WITH_OFFSET = pandas.DataFrame(ROWS)
WITH_OFFSET["at"] = pandas.to_datetime(WITH_OFFSET["at"])


def show(label, table):
    gluestick.to_singer(table, "leads", ".", keys=["id"], filename="messages")
    with open("messages") as lines:
        messages = [json.loads(line) for line in lines]
    # Each call appends to the file.
    records = [message for message in messages if message["type"] == "RECORD"]
    print(f"{label}: {records[-1]['record']['at']}")


def moved(zone):
    return WITH_OFFSET.assign(at=WITH_OFFSET["at"].dt.tz_convert(zone))


show("pandas, offset", WITH_OFFSET)
for zone in ("Europe/Berlin", "UTC"):
    show(f"pandas, {zone}", moved(zone))
for zone in ("Europe/Berlin", "UTC"):
    show(f"polars, {zone}", polars.from_pandas(moved(zone)))
END
environment/bin/python -W ignore write.py > seen
cat seen
cat > expected <<'END'
pandas, offset: 2026-07-01T12:00:00.000000Z
pandas, Europe/Berlin: 2026-07-01T12:00:00.000000Z
pandas, UTC: 2026-07-01T10:00:00.000000Z
polars, Europe/Berlin: 2026-07-01T12:00:00.000000Z
polars, UTC: 2026-07-01T10:00:00.000000Z
END
cmp seen expected
