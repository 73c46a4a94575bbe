#!/usr/bin/env bash
# Guess: drop_redundant, which is to leave out the rows that were there in the run before,
#   keeps each row of which a value has changed, and the newest version of a key that
#   comes twice, as snapshot_records of the same package does.
# Versions: gluestick 3.0.21 with pandas 3.1.1, on a tap's rows.
# Behaviour: it hashes the values of a row one after the other, without their columns or
#   anything between them, and leaves out what is missing. So a number that moves to the
#   next column changes nothing, nor do 1 and 23 that become 12 and 3: these rows are not
#   loaded. If a key comes twice in a run, the first version is loaded. The next run, with
#   the last version alone, loads that.
# Output seen, of the rows 1 to 3, which have all changed in the second run:
#   first run: 1 2 3
#   second run: 3
#   a key that is open, then closed: open
#   a key that is closed in the next run: closed
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet --python 3.11 environment
uv pip install --quiet --python environment/bin/python gluestick==3.0.21 pandas==3.1.1
cat > runs.py <<'END'
import gluestick
import pandas


def changed(name, rows):
    return gluestick.drop_redundant(pandas.DataFrame(rows), name, ".", pk=["id"])


print("first run:", *changed("contacts", [
    {"id": "1", "mobile": "555-0100", "office": None, "opened": 4, "sent": 5},
    {"id": "2", "mobile": None, "office": None, "opened": 1, "sent": 23},
    {"id": "3", "mobile": None, "office": None, "opened": 1, "sent": 23},
])["id"])
print("second run:", *changed("contacts", [
    {"id": "1", "mobile": None, "office": "555-0100", "opened": 4, "sent": 5},
    {"id": "2", "mobile": None, "office": None, "opened": 12, "sent": 3},
    {"id": "3", "mobile": None, "office": None, "opened": 1, "sent": 24},
])["id"])
print("a key that is open, then closed:", *changed("leads", [
    {"id": "1", "status": "open"},
    {"id": "1", "status": "closed"},
])["status"])
print("a key that is closed in the next run:", *changed("leads", [
    {"id": "1", "status": "closed"},
])["status"])
END
environment/bin/python -W ignore runs.py > seen
cat seen
cat > expected <<'END'
first run: 1 2 3
second run: 3
a key that is open, then closed: open
a key that is closed in the next run: closed
END
cmp seen expected
