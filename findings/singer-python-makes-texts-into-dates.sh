#!/usr/bin/env bash
# Guess: where the schema allows a date-time or a text, as `anyOf`, the Transformer of
#   singer-python makes a value that is a complete time a date-time, and leaves others as
#   they are. If a value has one of the listed types, it stays, too.
# Version: singer-python 6.8.0, with which taps write their records.
# Behaviour: whatever dateutil finds a part of a date in is a date-time, and what is
#   missing is taken from the day of the run. So the surname May and the model year 2028
#   are other days in each run, and 10 is a day of this month. A value gets the first
#   listed type that it can be made: the text 007 becomes 7, and the number 5 a text. The
#   text "0" becomes true, as only "false" in letters is false.
# Output seen, with today's parts in words:
#   a date-time or a text: May Smith, (this year)-05-(this day)T00:00:00.000000Z,
#     2028-(this month)-(this day)T00:00:00.000000Z,
#     (this year)-(this month)-10T00:00:00.000000Z
#   an integer or a text: 7
#   a text or an integer: '5'
#   a boolean or null: True False
# Exits with 1 if the behaviour changes. Needs uv and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python singer-python==6.8.0
cat > transform.py <<'END'
import datetime

import singer

DATE_OR_TEXT = {
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": ["null", "string"]}]
}


def transformed(value, schema):
    record = {"value": value}
    return singer.transform(record, {"type": "object", "properties": {"value": schema}})["value"]


def dates():
    # The last three are parts of a date that exists, whatever day it is.
    texts = ("May Smith", "May", "2028", "10")
    return [transformed(text, DATE_OR_TEXT) for text in texts]


def expected(today):
    return [
        "May Smith",
        f"{today:%Y}-05-{today:%d}T00:00:00.000000Z",
        f"2028-{today:%m-%d}T00:00:00.000000Z",
        f"{today:%Y-%m}-10T00:00:00.000000Z",
    ]


days = [datetime.date.today()]
seen = dates()
# Midnight may come in between.
days.append(datetime.date.today())
print("a date-time or a text:", *seen)
assert seen in [expected(day) for day in days]
number = transformed("007", {"type": ["null", "integer", "string"]})
text = transformed(5, {"type": ["null", "string", "integer"]})
booleans = [transformed(word, {"type": ["null", "boolean"]}) for word in ("0", "false")]
with open("seen", "w") as file:
    print("an integer or a text:", number, file=file)
    print("a text or an integer:", repr(text), file=file)
    print("a boolean or null:", *booleans, file=file)
END
environment/bin/python -W ignore transform.py 2> log
cat seen
cat > expected <<'END'
an integer or a text: 7
a text or an integer: '5'
a boolean or null: True False
END
cmp seen expected
