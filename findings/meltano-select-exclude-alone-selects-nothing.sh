#!/bin/sh
# Meltano 4.4.1 from PyPI: `meltano select TAP --exclude STREAM '*'` in a project where
# nothing was selected before, so that every stream is loaded.
#
# Guess: afterwards every stream but this one is loaded.
# What happens: `select: ['!b.*']` takes the place of the default `*.*`, so no stream is
# selected at all. The tap gets a catalog with `selected: false` everywhere, and a run
# that loads nothing succeeds. `meltano select TAP '*' '*'` before it, or after it, helps.
#
# Seen: selected: [a b], then [], and with '*' '*' [a]
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
meltano() { "$folder/environment/bin/meltano" "$@" 2> log; }
mkdir project
cd project
cat > tap.sh <<'END'
#!/bin/sh
cat "$TAP_EXAMPLE_STREAMS"
END
for stream in a b; do
  printf '{"tap_stream_id": "%s", "stream": "%s", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "metadata": [{"breadcrumb": [], "metadata": {"inclusion": "available"}}]}\n' "$stream" "$stream"
done | paste -sd, | sed 's/^/{"streams": [/; s/$/]}/' > streams.json
chmod +x tap.sh
cat > meltano.yml <<END
project_id: an-example
plugins:
  extractors:
  - name: tap-example
    namespace: tap_example
    executable: $PWD/tap.sh
    capabilities: [catalog, discover]
END
export TAP_EXAMPLE_STREAMS="$PWD/streams.json"
selected() {
  meltano invoke --dump=catalog tap-example > catalog.json
  python3 -c 'import json
names = []
for stream in json.load(open("catalog.json"))["streams"]:
    if any(part["metadata"].get("selected") and not part["breadcrumb"] for part in stream["metadata"]):
        names.append(stream["stream"])
print(*names)'
}
before=$(selected)
meltano select tap-example --exclude b '*'
after=$(selected)
meltano select tap-example '*' '*'
both=$(selected)
echo "selected: [$before], then [$after], and with '*' '*' [$both]"
[ "$before" = "a b" ] && [ "$after" = "" ] && [ "$both" = "a" ]
