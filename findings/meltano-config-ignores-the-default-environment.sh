#!/bin/sh
# Meltano 4.4.1 from PyPI, in a project with `default_environment: dev`, where the
# environment `dev` sets a required setting of an extractor.
#
# Guess: `meltano config test` and `meltano config print` use the same settings as
# `meltano invoke` and `meltano run`, so they see the value of `dev`.
# What happens: `invoke` passes the value to the tap. `config print` leaves it out,
# and `config test` gives the tap a file without it, so the tap fails. With
# `--environment=dev`, both see it.
# Seen: "The default environment 'dev' will be ignored for `meltano config`."
#
# Exits with 1 if Meltano does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python meltano==4.4.1
export MELTANO_SEND_ANONYMOUS_USAGE_STATS=false
meltano() { "$folder/environment/bin/meltano" "$@" 2>> log; }
mkdir project
cd project
cat > tap.sh <<'END'
#!/bin/sh
# A tap that needs `token`: --config FILE ...
grep -q '"token": "of-dev"' "$2" || { echo "token: is not set" >&2; exit 1; }
case " $* " in
*" --discover "*) echo '{"streams": [{"tap_stream_id": "a", "stream": "a", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "metadata": []}]}' ;;
*)
  echo '{"type": "SCHEMA", "stream": "a", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "key_properties": ["id"]}'
  echo '{"type": "RECORD", "stream": "a", "record": {"id": "1"}}'
  ;;
esac
END
chmod +x tap.sh
cat > meltano.yml <<END
default_environment: dev
project_id: an-example
environments:
- name: dev
  config:
    plugins:
      extractors:
      - name: tap-example
        config: {token: of-dev}
plugins:
  extractors:
  - name: tap-example
    namespace: tap_example
    executable: $PWD/tap.sh
    capabilities: [catalog, discover]
    settings: [{name: token}]
END
meltano invoke tap-example | grep -q '"RECORD"'
if meltano config test tap-example; then exit 1; fi
if meltano config print tap-example | grep -q of-dev; then exit 1; fi
meltano --environment=dev config test tap-example
meltano --environment=dev config print tap-example | grep -q '"token": "of-dev"'
grep -o "The default environment 'dev' will be ignored for .meltano config." log | head -n 1
