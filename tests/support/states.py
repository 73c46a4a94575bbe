"""States, and runs of the command that explains and changes them."""

import json
from collections.abc import Iterable
from typing import Any

from click.testing import CliRunner, Result

from tap_leadintent.state_tool import cli
from tests.support.helpers import Json

HERE = "https://api.example.com"
THERE = "https://api.example.org"
NOW = "2026-06-03T00:00:00Z"
"""When the tests let the command plan a run."""


PLACE = {"source": HERE, "filters": ""}


def about(planned: str, **more: str) -> Json:
    """Return the first entry of a list. `planned` is a day or an instant of 2026."""
    return {
        "planned": _instant(planned),
        **PLACE,
        **more,
    }


def entry(
    name: str,
    start: str,
    end: str,
) -> Json:
    """Return an interval of a list. Its times are days or instants of 2026."""
    return {
        "range": name,
        "from": _instant(start),
        "to": _instant(end),
    }


def _instant(text: str) -> str:
    if "T" not in text:
        return f"2026-{text}T00:00:00Z"
    return f"2026-{text}Z"


def found(start: str, end: str) -> Json:
    """Return an interval of `date_found`."""
    return entry("date_found", start, end)


def signal(start: str, end: str) -> Json:
    """Return an interval of `latest_signal`."""
    return entry("latest_signal", start, end)


def state_of(**streams: Iterable[Json]) -> Json:
    """Return a Singer state of streams with their entries."""
    bookmarks: Json = {}
    for name, entries in streams.items():
        bookmarks[name] = {"coverage": [*entries]}
    return {"bookmarks": bookmarks}


LEADS = [
    about("06-01"),
    found("01-01", "06-01"),
    signal("04-01", "06-01"),
]
"""The coverage of leads."""

SEEN = [
    about("06-01"),
    entry("observed_at", "01-01", "06-01"),
]
"""The coverage of observations."""

STATE = state_of(
    leads=LEADS,
    observations=SEEN,
)


def run(*arguments: str, stdin: object = None) -> Result:
    """Run the command. Standard input is a text, or a value that is sent as JSON."""
    if not isinstance(stdin, str | bytes | None):
        stdin = json.dumps(stdin)
    return CliRunner().invoke(
        cli.main,
        arguments,
        input=stdin,
    )


def output_of(*arguments: str, stdin: object = None) -> str:
    """Assert that the command succeeds, and return what it printed."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def state_from(*arguments: str, stdin: object = None) -> Any:
    """Return the state that the command printed on one line."""
    (line,) = output_of(*arguments, stdin=stdin).splitlines()
    return json.loads(line)


def error_of(*arguments: str, stdin: object = None) -> str:
    """Assert that the command failed with one line, and return this line."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), "it would be a traceback"
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.isprintable()
    return line.removeprefix("Error: ")
