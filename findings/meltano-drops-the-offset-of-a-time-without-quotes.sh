#!/bin/sh
# Meltano 4.4.1 with ruamel.yaml 0.19.1 from PyPI: a setting in meltano.yml that is a time
# with an offset, with and without quotes.
#
# Guess: the tap gets the same instant in both cases.
# What happens: without quotes, YAML reads the text as a time. Meltano copies what it has
# read, and the copy of a time by ruamel.yaml has no offset. So the tap gets
# 2026-01-01T00:00:00, for +02:00 as for -05:00 and Z, without a warning. A tap that
# takes this as UTC reads two hours too little.
#
# Seen: with quotes:    2026-01-01T00:00:00+02:00 2026-01-01T00:00:00-05:00
#       without quotes: 2026-01-01T00:00:00 2026-01-01T00:00:00
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1 ruamel.yaml==0.19.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
mkdir project
cd project
cat > tap.sh <<'END_OF_TAP'
#!/bin/sh
# A tap that prints its settings: --config FILE
cat "$2"
END_OF_TAP
chmod +x tap.sh
settings() {
  cat > meltano.yml <<END_OF_PROJECT
project_id: an-example
plugins:
  extractors:
  - name: tap-example
    namespace: tap_example
    executable: $PWD/tap.sh
    settings:
    - name: east
    - name: west
    config:
      east: $1
      west: $2
END_OF_PROJECT
  "$folder/environment/bin/meltano" invoke tap-example > config.json 2> log
  python3 -c 'import json
config = json.load(open("config.json"))
print(config["east"], config["west"])'
}
with_quotes=$(settings "'2026-01-01T00:00:00+02:00'" "'2026-01-01T00:00:00-05:00'")
without=$(settings 2026-01-01T00:00:00+02:00 2026-01-01T00:00:00-05:00)
echo "with quotes:    $with_quotes"
echo "without quotes: $without"
[ "$with_quotes" = "2026-01-01T00:00:00+02:00 2026-01-01T00:00:00-05:00" ] &&
  [ "$without" = "2026-01-01T00:00:00 2026-01-01T00:00:00" ]
