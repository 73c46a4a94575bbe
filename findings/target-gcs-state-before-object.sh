#!/usr/bin/env bash
# Guess: a loader prints a STATE only when what it covers is stored, as the Singer
#   specification asks, so a loader that is killed loses nothing: the next run begins
#   at the last printed STATE.
# Versions: target-gcs 1.2.3 (singer-sdk as resolved below), gcp-storage-emulator 2026.7.19.
# Behaviour: target-gcs streams each stream into one object that exists only when the
#   upload is closed, at the end of the run. Every five minutes the Meltano SDK "drains"
#   the sinks and prints the STATE; target-gcs does nothing then. If the loader is killed
#   after that (or the machine is), the bucket is empty, and the STATE covers rows that
#   are nowhere: the next run does not load them again. A run of less than five minutes
#   prints its only STATE at the end, so small tests never show it.
# Output seen:
#   STATE printed before the kill: {"bookmarks": {"t": {"last": 1}}}
#   objects in the bucket after the kill: 0
# Exits with 1 if the behaviour changes. Needs uv and PyPI, and five and a half minutes
# (the five minutes of the SDK are not shortened).
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $emulator 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet loader && uv venv --quiet emulator
uv pip install --quiet --python loader/bin/python target-gcs==1.2.3 'setuptools<81'
uv pip install --quiet --python emulator/bin/python gcp-storage-emulator==2026.7.19 'setuptools<81'
port=$(loader/bin/python -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
emulator/bin/gcp-storage-emulator --data-dir "$folder/data" start --host 127.0.0.1 --port "$port" --default-bucket lake > emulator.log 2>&1 &
emulator=$!
until loader/bin/python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/storage/v1/b/lake')" 2>/dev/null; do sleep 1; done
cat > try.py <<'END'
import json, os, select, subprocess, sys, time, urllib.request

port = sys.argv[1]
url = f"http://127.0.0.1:{port}"
json.dump({"bucket_name": "lake"}, open("config.json", "w"))
environment = {**os.environ, "STORAGE_EMULATOR_HOST": url, "GOOGLE_CLOUD_PROJECT": "any"}
loader = subprocess.Popen(
    ["loader/bin/target-gcs", "--config", "config.json"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("log", "w"),
    env=environment, text=True, bufsize=1,
)
def send(**message):
    loader.stdin.write(json.dumps(message) + "\n")
    loader.stdin.flush()
schema = {"properties": {"id": {"type": "string"}}}
send(type="SCHEMA", stream="t", schema=schema, key_properties=["id"])
send(type="RECORD", stream="t", record={"id": "1"})
send(type="STATE", value={"bookmarks": {"t": {"last": 1}}})
time.sleep(290)
ready = []
while not ready:
    send(type="RECORD", stream="t", record={"id": "2"})
    ready, _, _ = select.select([loader.stdout], [], [], 5)
state = loader.stdout.readline().strip()
loader.kill()
loader.wait()
objects = json.load(urllib.request.urlopen(f"{url}/storage/v1/b/lake/o")).get("items", [])
print("STATE printed before the kill:", state)
print("objects in the bucket after the kill:", len(objects))
sys.exit(not (json.loads(state) == {"bookmarks": {"t": {"last": 1}}} and not objects))
END
loader/bin/python try.py "$port"
