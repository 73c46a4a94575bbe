#!/usr/bin/env bash
# Guess: the op `meltano_run_op("tap target")` does what `meltano run tap target` does, as
#   its docstring says. So it fails while another run of the pipeline is going on.
# Versions: elt-dagster-meltano 1.0.1 with dagster 1.13.29 (and by reading,
#   dagster-meltano 1.5.5); Meltano 4.4.1.
# Behaviour: it adds --force, which skips this check, and there is no setting against it.
#   Both runs read and load, and the one that ends last stores its state, also if it began
#   first. So the bookmark goes back, and rows are loaded twice.
# Output seen, while a slow run is going on that had begun before:
#   meltano run: exit code 1
#   op: success True, stored state {"last": "newer"}
#   after the slow run: stored state {"last": "older"}
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
slow=
cleanup() {
  # The slow run ends by itself as soon as it finds this file.
  touch "$folder/go"
  if [ -n "$slow" ]; then wait "$slow" || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"
uv venv --quiet --python 3.11 meltano
uv pip install --quiet --python meltano/bin/python meltano==4.4.1
uv venv --quiet --python 3.11 dagster
uv pip install --quiet --python dagster/bin/python elt-dagster-meltano==1.0.1 dagster==1.13.29
mkdir bin dagster-home project
# The op calls `meltano` by its name.
ln -s "$folder/meltano/bin/meltano" bin/meltano
export PATH="$folder/bin:$PATH" DAGSTER_HOME="$folder/dagster-home"
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false DAGSTER_DISABLE_TELEMETRY=1
cat > tap-example <<'END'
#!/usr/bin/env bash
if [ -n "${SLOW:-}" ]; then
  touch has-begun
  for second in $(seq 300); do
    if [ -e go ]; then break; fi
    sleep 1
  done
fi
echo '{"type": "SCHEMA", "stream": "a", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "key_properties": ["id"]}'
echo "{\"type\": \"STATE\", \"value\": {\"last\": \"${SLOW:-newer}\"}}"
END
sed -i "2i cd '$folder'" tap-example
cat > target-example <<'END'
#!/usr/bin/env python3
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "STATE":
        print(json.dumps(message["value"]))
END
chmod +x tap-example target-example
cat > project/meltano.yml <<END
project_id: an-example
default_environment: dev
environments: [{name: dev}]
plugins:
  extractors:
  - {name: tap-example, namespace: tap_example, executable: $folder/tap-example, capabilities: [state]}
  loaders:
  - {name: target-example, namespace: target_example, executable: $folder/target-example}
END
cat > run_op.py <<'END'
import dagster
from dagster_meltano import meltano_resource, meltano_run_op


@dagster.job(resource_defs={"meltano": meltano_resource})
def load():
    meltano_run_op("tap-example target-example")()


config = {"resources": {"meltano": {"config": {"project_dir": "project"}}}}
result = load.execute_in_process(run_config=config, raise_on_error=False)
print(f"op: success {result.success}", end=", ")
END
stored() {
  state=$(cd project && meltano state get dev:tap-example-to-target-example 2> /dev/null)
  python3 -c 'import json, sys; print(json.dumps(json.loads(sys.argv[1])["singer_state"]))' "$state"
}
(cd project && SLOW=older exec meltano run tap-example target-example > ../slow.log 2>&1) &
slow=$!
for second in $(seq 120); do
  if [ -e has-begun ]; then break; fi
  sleep 1
done
{
  code=0
  (cd project && meltano run tap-example target-example > ../refused.log 2>&1) || code=$?
  grep -q "pipeline is already running" refused.log
  echo "meltano run: exit code $code"
  dagster/bin/python -W ignore run_op.py 2> op.log
  echo "stored state $(stored)"
  touch go
  wait "$slow"
  slow=
  echo "after the slow run: stored state $(stored)"
} > seen
cat seen
cat > expected <<'END'
meltano run: exit code 1
op: success True, stored state {"last": "newer"}
after the slow run: stored state {"last": "older"}
END
cmp seen expected
