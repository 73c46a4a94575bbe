#!/bin/sh
# Runs a pipeline of the Meltano project in this folder: sh run.sh tap-leadintent target-postgres
# Prints the last error of each plugin that failed, and each warning of a plugin once,
# such as one about fields that changed. Exits with 1 if rows or the state were not stored.
# It needs jq. The log of the run is in run.log, and what was printed before in run.seen.
code=0
meltano --log-format=json run "$@" 2> run.log || code=$?
if [ "$code" -ne 0 ]; then
  jq -nRr 'reduce (inputs | fromjson? | select(.level == "error")) as $line
      ({}; .[$line.name // "meltano"] = ($line.err // $line.event))
    | if keys == ["meltano"] then . else del(.meltano) end
    | to_entries[] | "\(.key): \(.value | split("\n")[0])"' run.log | grep . || tail -n 1 run.log
fi
if grep -q StatePersistenceError run.log; then
  code=1
  echo StatePersistenceError
fi
touch run.seen
# Numbers, such as those of records, do not make another warning. Retries are none.
jq -Rr 'fromjson? | select(.name and (.level == "warning" or (.event | contains("without a column"))))
  | .event | select(contains("; attempt ") | not)' run.log |
  awk '{ line = $0; gsub(/[0-9][0-9.,]*( [a-z]+)?/, "") }
    FILENAME == "run.seen" { seen[$0]; next }
    !($0 in seen) { seen[$0]; print line; print >> "run.seen" }' run.seen -
exit "$code"
