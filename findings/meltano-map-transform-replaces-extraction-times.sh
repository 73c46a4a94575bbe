#!/usr/bin/env bash
# Guess: a mapper between tap and loader passes on what it does not map as it is, such as
#   the field time_extracted, by which loaders say when a row was read from its source
#   (_sdc_extracted_at).
# Versions: meltano-map-transform 0.12.3, singer-sdk 0.54.9.
# Behaviour: each RECORD leaves the mapper with the mapper's own time in time_extracted,
#   also of a stream that no map names. Where the mapper comes after a queue or a file,
#   that may be hours after the row was read, and rows of one run cannot be told from
#   those of another. The version, large integers and the digits of numbers are kept.
# Output seen:
#   mapped: time_extracted kept: False
#   not mapped: time_extracted kept: False
#   version kept: True, digits kept: True
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet mapper
uv pip install --quiet --python mapper/bin/python meltano-map-transform==0.12.3 singer-sdk==0.54.9
echo '{"stream_maps": {"mapped": {"copy": "n"}}}' > config.json
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "mapped", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": ["number", "null"]}}}}
{"type": "RECORD", "stream": "mapped", "record": {"id": "1", "n": 1.10}, "time_extracted": "2026-01-02T03:04:05Z", "version": 5}
{"type": "SCHEMA", "stream": "other", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": ["number", "null"]}}}}
{"type": "RECORD", "stream": "other", "record": {"id": "1", "n": 12345678901234567890}, "time_extracted": "2026-01-02T03:04:05Z", "version": 5}
END
mapper/bin/meltano-map-transform --config config.json < messages.jsonl > mapped.jsonl 2> log
python3 - <<'END'
import json

lines = [line for line in open("mapped.jsonl") if '"RECORD"' in line]
mapped, other = map(json.loads, lines)
kept = [record["time_extracted"].startswith("2026-01-02T03:04:05") for record in (mapped, other)]
version = mapped["version"] == other["version"] == 5
digits = "1.10" in lines[0] and "12345678901234567890" in lines[1]
print(f"mapped: time_extracted kept: {kept[0]}")
print(f"not mapped: time_extracted kept: {kept[1]}")
print(f"version kept: {version}, digits kept: {digits}")
raise SystemExit(kept != [False, False] or not version or not digits)
END
