#!/usr/bin/env bash
# Guess: a loader that cannot store a file ends with another exit code than 0, and does
#   not print the STATE that covers its rows, as the next run begins there.
# Versions: target-s3-jsonl 2.0.1, moto 5.2.5 in place of S3.
# Behaviour: if the upload is refused, such as with 404 as the bucket does not exist, the
#   loader logs nothing, prints the STATE, and ends with 0. The rows are only in its
#   working folder, and no later run loads them.
# Output seen:
#   exit code 0, state: {"last": "1"}, 0 bytes in the log
#   asked of S3: PUT /no-such-bucket/t.jsonl 404
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet loader && uv venv --quiet moto
uv pip install --quiet --python loader/bin/python target-s3-jsonl==2.0.1
uv pip install --quiet --python moto/bin/python 'moto[s3,server]==5.2.5'
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
moto/bin/moto_server -H 127.0.0.1 -p "$port" > moto.log 2>&1 &
server=$!
until python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/moto-api/')" 2>/dev/null; do sleep 1; done
cat > config.json <<END
{"s3_bucket": "no-such-bucket", "aws_access_key_id": "any", "aws_secret_access_key": "any",
 "aws_endpoint_url": "http://127.0.0.1:$port", "aws_region": "us-east-1",
 "path_template": "{stream}.jsonl", "local": false, "work_dir": "$folder/work"}
END
mkdir work
cat > messages.jsonl <<'END'
{"type": "SCHEMA", "stream": "t", "key_properties": ["id"], "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
{"type": "RECORD", "stream": "t", "record": {"id": "1"}}
{"type": "STATE", "value": {"last": "1"}}
END
code=0
loader/bin/target-s3-jsonl --config config.json < messages.jsonl > states 2> log || code=$?
printf 'exit code %s, state: %s, %s bytes in the log\n' "$code" "$(tail -n 1 states)" "$(wc -c < log)"
asked=$(sed -nE 's/.*(PUT [^ ]+) .* ([0-9]+) -$/\1 \2/p' moto.log)
echo "asked of S3: $asked"
[ "$code" = 0 ] && [ "$(tail -n 1 states)" = '{"last": "1"}' ] && [ "$asked" = "PUT /no-such-bucket/t.jsonl 404" ]
