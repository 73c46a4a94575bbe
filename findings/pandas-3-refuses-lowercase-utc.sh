#!/usr/bin/env bash
# Guess: pandas reads a Parquet file whose times have the zone "utc" as it reads "UTC";
#   the loader plinxore-target-s3 0.1.7 writes all its times with "utc" in lower case.
# Versions: pandas 3.1.1, pyarrow 26.0.1, tzdata 2026.6 (all newest on 28 November 2026).
# Behaviour: pandas.read_parquet and pyarrow's own to_pylist fail on "utc" with
#   ArrowInvalid: The zoneinfo module or pytz package must be installed.
#   The message misleads: zoneinfo is there, and even tzdata is. pyarrow looks the zone up
#   with zoneinfo, whose names are those of files, so lower case is not found; then it
#   asks pytz, which pandas 2 installed and pandas 3 does not. Installing pytz is the
#   cure. polars and DuckDB read the same file.
# Output seen:
#   without pytz: UTC datetime64[ms, UTC] | utc ArrowInvalid The zoneinfo module or pytz package must be installed.
#   polars: Datetime(time_unit='ms', time_zone='UTC')
#   with pytz: UTC datetime64[ms, UTC] | utc datetime64[ms, UTC]
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > try.py <<'END'
import datetime
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

found = []
for zone in ("UTC", "utc"):
    times = pa.array([datetime.datetime(2026, 3, 1, 12)], pa.timestamp("ms", tz=zone))
    pq.write_table(pa.table({"t": times}), f"{zone}.parquet")
    try:
        found.append(f"{zone} {pd.read_parquet(f'{zone}.parquet').dtypes['t']}")
    except pa.ArrowInvalid as error:
        found.append(f"{zone} {type(error).__name__} {error}")
print(" | ".join(found))
END
run() { uv run --quiet --no-project --with pandas==3.1.1 --with pyarrow==26.0.1 --with tzdata==2026.6 "$@"; }
without=$(run python try.py)
with=$(run --with pytz==2026.6 python try.py)
polars=$(run --with polars==2.1.0 python -c 'import polars; print(polars.read_parquet("utc.parquet").schema["t"])')
printf 'without pytz: %s\npolars: %s\nwith pytz: %s\n' "$without" "$polars" "$with"
[ "$without" = "UTC datetime64[ms, UTC] | utc ArrowInvalid The zoneinfo module or pytz package must be installed." ]
[ "$polars" = "Datetime(time_unit='ms', time_zone='UTC')" ]
[ "$with" = "UTC datetime64[ms, UTC] | utc datetime64[ms, UTC]" ]
