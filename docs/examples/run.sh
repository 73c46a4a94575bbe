#!/bin/sh
# Runs a pipeline of the Meltano project in this folder: sh run.sh tap-leadintent target-postgres
# Prints the last error of each plugin that failed, and each warning of a plugin once a day,
# such as one about fields that changed. Exits with 1 if rows or the state were not stored.
# SIGTERM and Ctrl-C end the run, also in a container. It needs jq. Each environment has its
# own log of the last run, and its own list of what was printed today, in the folder `output`.
files=output/run-${MELTANO_ENVIRONMENT:-default}
mkdir -p output
# A shell does not pass signals on, and as process 1 of a container it ignores them. After
# several SIGTERMs, Meltano may leave its run open, so it gets one, and has a process group of
# its own (where `setsid` exists), as some runners send signals to the whole group.
trap 'trap "" TERM INT; kill -s TERM "$!" || exit 143' TERM INT
apart=$(command -v setsid) || apart=
code=0
$apart meltano --log-format=json run "$@" 2> "$files.log" &
wait "$!" || code=$?
# A signal also ends `wait`, before Meltano has ended.
while kill -0 "$!" 2> /dev/null; do
  code=0
  wait "$!" || code=$?
done
trap - TERM INT
if [ "$code" -ne 0 ]; then
  jq -nRr 'reduce (inputs | fromjson? | select(.level == "error")) as $line
      ({}; .[$line.name // "meltano"] = ($line.err // $line.event))
    | if keys == ["meltano"] then . else del(.meltano) end
    | to_entries[] | "\(.key): \(.value | split("\n")[0])"' "$files.log" | grep . || tail -n 1 "$files.log"
elif grep -q StatePersistenceError "$files.log"; then
  code=1
  echo StatePersistenceError
else
  # Each tap that reaches its end logs its figures. Meltano kills it if the loader ends
  # first, and exits with 0 if the loader did.
  for plugin; do
    case $plugin in tap-leadintent*)
      if ! jq -nRe --arg name "$plugin" 'any(inputs | fromjson?; .name? == $name and .failed_streams?)' "$files.log" > /dev/null; then
        code=1
        echo "$plugin: did not reach its end, because the loader ended first"
      fi
    esac
  done
fi
today=$(date -u +%F)
if [ "$(head -n 1 "$files.seen" 2> /dev/null)" != "$today" ]; then
  echo "$today" > "$files.seen"
fi
# Numbers, such as those of records, do not make another warning. Retries are none.
jq -Rr 'fromjson? | select(.name and (.level == "warning" or (.event | contains("without a column"))))
  | .event | select(contains("; attempt ") | not)' "$files.log" |
  awk -v seen="$files.seen" '{ line = $0; gsub(/[0-9][0-9.,]*( [a-z]+)?/, "") }
    FILENAME == seen { known[$0]; next }
    !($0 in known) { known[$0]; print line; print >> seen }' "$files.seen" -
exit "$code"
