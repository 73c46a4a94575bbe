#!/bin/sh
# Meltano 4.4.1 from PyPI: an extractor with a setting of the kind `object`, and a second
# one that inherits from it (`inherit_from`). The first one has entries for all
# environments, and one more in the environment `dev`.
#
# Guess: in `dev`, the second extractor gets what the first one gets there, as it does
# with texts and lists, and adds entries of its own.
# What happens: it gets the entries for all environments, but not the one that only `dev`
# has. If the first extractor has entries in `dev` alone, the second one gets them, until
# it has an entry of its own. So if such an object lists what to leave out, the second
# extractor loads it, without a warning. `meltano config print` shows the same.
#
# Seen, for the first and the second extractor:
#   for all and in dev: [text=dev all=all both=dev dev=dev] [text=dev all=all both=dev]
#   in dev alone:       [text=dev dev=dev] [text=dev dev=dev]
#   with its own entry: [text=dev dev=dev] [text=dev own=own]
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
mkdir project
cd project
cat > tap.sh <<'END'
#!/bin/sh
# A tap that prints its settings: --config FILE
cat "$2"
END
chmod +x tap.sh
project() {
  # Arguments: what is set for all, in dev, and in the second extractor.
  cat > meltano.yml <<END
default_environment: dev
project_id: an-example
environments:
- name: dev
  config:
    plugins:
      extractors:
      - name: tap-first
        config: $2
plugins:
  extractors:
  - name: tap-first
    namespace: tap_first
    executable: $PWD/tap.sh
    settings:
    - name: text
    - name: entries
      kind: object
    config: $1
  - name: tap-second
    inherit_from: tap-first
    config: $3
END
}
entries() {
  "$folder/environment/bin/meltano" invoke "$1" > config.json 2> log
  python3 -c 'import json
config = json.load(open("config.json"))
pairs = [f"{key}={value}" for key, value in sorted(config["entries"].items())]
print("[text=" + " ".join([config["text"], *pairs]) + "]")'
}
both() {
  project "$2" "$3" "$4"
  echo "$1 $(entries tap-first) $(entries tap-second)"
}
{
  both 'for all and in dev:' '{entries: {all: all, both: all}}' \
    '{text: dev, entries: {both: dev, dev: dev}}' '{}'
  both 'in dev alone:      ' '{}' '{text: dev, entries: {dev: dev}}' '{}'
  both 'with its own entry:' '{}' '{text: dev, entries: {dev: dev}}' '{entries: {own: own}}'
} > seen
cat seen
cat > expected <<'END'
for all and in dev: [text=dev all=all both=dev dev=dev] [text=dev all=all both=dev]
in dev alone:       [text=dev dev=dev] [text=dev dev=dev]
with its own entry: [text=dev dev=dev] [text=dev own=own]
END
cmp seen expected
