#!/usr/bin/env bash
# Guess: a loader of CSV that flattens objects writes each value under its own header,
#   or fails if a record has other nested fields than the first one.
# Versions: pipelinewise-target-s3-csv 2.0.0, moto 5.2.5 in place of S3.
# Behaviour: the loader writes the header from the first record, and each later row with
#   the columns of its own record only (persist_messages takes headers from the file only
#   if the stream has none yet, which is never so after the first record). A record that
#   lacks a nested field of the first one has its values one column too far to the left.
#   The exit code is 0, and the STATE is printed. Objects of free form, where fields come
#   and go, are usual in Singer taps.
# Output seen, for {"id": "1", "o": {"a": "A", "b": "B"}} and {"id": "2", "o": {"b": "B"}}:
#   id,o__a,o__b
#   1,A,B
#   2,B
#   exit code 0
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet loader && uv venv --quiet moto
uv pip install --quiet --python loader/bin/python pipelinewise-target-s3-csv==2.0.0
uv pip install --quiet --python moto/bin/python 'moto[s3,server]==5.2.5' boto3
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
moto/bin/moto_server -H 127.0.0.1 -p "$port" > moto.log 2>&1 &
server=$!
cat > s3.py <<'END'
import sys, boto3
command, port = sys.argv[1:]
client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
                      aws_access_key_id="any", aws_secret_access_key="any")
if command == "create":
    client.create_bucket(Bucket="lake")
else:
    (found,) = client.list_objects_v2(Bucket="lake")["Contents"]
    print(client.get_object(Bucket="lake", Key=found["Key"])["Body"].read().decode().replace("\r", ""), end="")
END
until moto/bin/python s3.py create "$port" 2>/dev/null; do sleep 1; done
cat > config.json <<END
{"s3_bucket": "lake", "aws_access_key_id": "any", "aws_secret_access_key": "any",
 "aws_endpoint_url": "http://127.0.0.1:$port", "temp_dir": "$folder/files"}
END
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}, "o": {"type": ["object", "null"]}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "1", "o": {"a": "A", "b": "B"}}}
{"type": "RECORD", "stream": "t", "record": {"id": "2", "o": {"b": "B"}}}
{"type": "STATE", "value": {"last": "2"}}
END
code=0
loader/bin/target-s3-csv --config config.json < messages.jsonl > states 2> log || code=$?
csv=$(moto/bin/python s3.py show "$port")
printf '%s\nexit code %s\n' "$csv" "$code"
[ "$csv" = $'id,o__a,o__b\n1,A,B\n2,B' ] && [ "$code" = 0 ]
