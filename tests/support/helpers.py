"""What several test files share."""

import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from threading import TIMEOUT_MAX, Condition, Event
from typing import Any

import pytest
import requests
from click.testing import CliRunner, Result
from singer_sdk.metrics import get_metrics_logger

from tap_leadintent.api.limits import Limits
from tap_leadintent.openapi import STREAM_NAMES, is_documented
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.singer.tap import SingerTap
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.tap import TapLeadIntent

Json = dict[str, Any]
"""A JSON object."""

API_KEY = "secret-5b1f0c7e"
"""The key that the sandbox expects; no output may ever hold it."""

PREFIX = "TAP_LEADINTENT_"
"""What the names of the tap's environment variables begin with."""

VALID = {
    "base_url": "https://api.example.com",
    "api_key": API_KEY,
    "start_date": "2026-01-01",
}
"""The least of a configuration; no test sends anything there."""

VARIABLES = {name.upper(): text for name, text in VALID.items()}
"""The same as environment variables, without their prefix."""

READING = {"sync": [], "test": ["--test"]}
ENTRIES = {**READING, "discover": ["--discover"]}

each_entry = pytest.mark.parametrize("arguments", ENTRIES.values(), ids=ENTRIES)
"""For each way to enter the tap."""

each_reading_entry = pytest.mark.parametrize("arguments", READING.values(), ids=READING)
"""For each way to enter the tap that reads records."""

STREAMS = STREAM_NAMES
UNDOCUMENTED = {name for name in STREAMS if not is_documented(name)}

TIMEOUT = 120
"""Seconds after which a process is taken to hang."""


def exact_json(text: str | bytes) -> Any:
    """Decode JSON without rounding a number."""
    return json.loads(text, parse_float=Decimal)


def declared_tap() -> TapLeadIntent:
    """Return the tap as it is before anybody configures it."""
    return TapLeadIntent(
        config={},
        validate_config=False,
    )


def declared_stream(name: str) -> LeadIntentStream:
    """Return one stream of the tap as it is before anybody configures it."""
    for stream in declared_tap().discover_streams():
        if stream.name == name:
            assert isinstance(stream, LeadIntentStream)
            return stream
    raise KeyError(name)


def raw_records(sandbox: Sandbox, stream: str) -> list[Json]:
    """Return what the sandbox holds, numbers as exact as they are served."""
    url = f"{sandbox.url}/_sandbox/records?stream={stream}"
    content = exact_json(requests.get(url, timeout=TIMEOUT).text)
    return list(content["records"])


def entries(catalog: Json) -> dict[str, Json]:
    """Return the entries of a catalog by stream."""
    return {entry["tap_stream_id"]: entry for entry in catalog["streams"]}


def select(
    catalog: Json,
    stream: str,
    *names: str,
    selected: bool,
) -> None:
    """Select or deselect a stream, or a field, named from the outside in."""
    breadcrumb: list[str] = []
    for name in names:
        breadcrumb += ["properties", name]
    metadata = entries(catalog)[stream]["metadata"]
    for item in metadata:
        if [*item["breadcrumb"]] == breadcrumb:
            item["metadata"]["selected"] = selected
            return
    metadata.append(
        {
            "breadcrumb": breadcrumb,
            "metadata": {"selected": selected},
        }
    )


@cache
def _declared_catalog() -> str:
    return declared_tap().catalog_json_text


def only(*streams: str, of: Json | None = None) -> Json:
    """Return a catalog, by default the tap's own, with just these streams selected."""
    catalog: Json = of or json.loads(_declared_catalog())
    for name in entries(catalog):
        select(catalog, name, selected=name in streams)
    return catalog


def leads_with(**changed: Any) -> Json:
    """Return a catalog that selects only leads, with changes to their entry."""
    catalog = only("leads")
    entries(catalog)["leads"].update(changed)
    return catalog


def deselecting(*names: str) -> Json:
    """Return a catalog in which a field is deselected, named from the outside in."""
    changed = only("leads")
    select(changed, "leads", *names, selected=False)
    return changed


class Clock:
    """A clock on which no time passes but by waiting."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.limits = Limits(
            monotonic=lambda: self.now,
            wait=self._wait,
        )

    def _wait(
        self,
        _: Condition,
        seconds: float,
    ) -> None:
        self.now += seconds

    def event(self, seconds: float) -> Event:
        """Return an event that is set after some time."""
        event = Event()
        end = self.now + seconds
        event.is_set = lambda: self.now >= end  # type: ignore[method-assign]
        return event


def status(code: int, **more: Any) -> Json:
    """Return the sandbox's fault of a response with this status."""
    return {
        "kind": "status",
        "status": code,
        **more,
    }


def read_of(state: Any) -> Json:
    """Return the bookmarks of a state, without what is known of the pages so far."""
    bookmarks: Json = {}
    for stream, bookmark in state["bookmarks"].items():
        bookmarks[stream] = {**bookmark}
        bookmarks[stream].pop("envelope", None)
    return bookmarks


def ids_of(records: Iterable[Json]) -> set[str]:
    """Return the different ids of records."""
    return {record["id"] for record in records}


def where(rows: Iterable[Json], **values: Any) -> list[Json]:
    """Return the rows whose fields have these values."""
    return [row for row in rows if values.items() <= row.items()]


def lines_with(text: str, lines: Iterable[str]) -> list[str]:
    """Return the lines that contain a text."""
    return [line for line in lines if text in line]


def last_page(*records: Any, **beside: Any) -> Json:
    """Return the last page of a query, with fields beside those of each page."""
    return {
        "data": [*records],
        "cursor": {"has_more": False},
        **beside,
    }


@dataclass(frozen=True)
class Run:
    """A finished run of the tap."""

    code: int
    stdout: str
    stderr: str

    @property
    def messages(self) -> list[Json]:
        """The Singer messages, numbers as exact as they came."""
        return [exact_json(line) for line in self.stdout.split("\n") if line]

    @property
    def state(self) -> Any:
        """The last state, None when there is none."""
        states = self.of_type("STATE")
        if not states:
            return None
        return states[-1]["value"]

    def of_type(self, kind: str) -> list[Json]:
        """Return the messages of one type."""
        return where(self.messages, type=kind)

    def without_torn_line(self) -> "Run":
        """Return the same run without the last line, if it is not whole."""
        end = self.stdout.rfind("\n") + 1
        return Run(
            self.code,
            self.stdout[:end],
            self.stderr,
        )

    def schema(self, stream: str) -> Json:
        """Return the schema that a stream was announced with."""
        (message,) = where(self.of_type("SCHEMA"), stream=stream)
        return dict(message["schema"])

    def records(self, stream: str) -> list[Json]:
        """Return a stream's records in the order in which they came."""
        messages = where(self.of_type("RECORD"), stream=stream)
        return [message["record"] for message in messages]

    def succeeded(self) -> "Run":
        """Assert that all went well."""
        assert self.code == 0, self.stderr
        return self

    def failed(self) -> str:
        """Assert that it failed as it should; give the last line, which says why."""
        assert self.code == 1, self.stderr
        assert "Traceback" not in self.stdout + self.stderr
        return final_error(self.stderr)


RunTap = Callable[..., Run]
"""What the fixture `tap` is."""


def options(folder: Path, **contents: Any) -> Iterator[str]:
    """Write files for options of the tap, unless they are None; give the options."""
    for name, content in contents.items():
        if content is not None:
            path = folder / f"{name}.json"
            path.write_text(json.dumps(content), encoding="utf-8")
            yield f"--{name}"
            yield str(path)


def prefixed(variables: dict[str, str]) -> dict[str, str]:
    """Return variables the names under which the tap knows them."""
    return {f"{PREFIX}{name}": text for name, text in variables.items()}


class HurriedClock:
    """A clock that skips each wait for a time, but not those for another request."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def monotonic(self) -> float:
        """Return the seconds of this clock."""
        return time.monotonic() + self._skipped

    def wait(
        self,
        changed: Condition,
        seconds: float,
    ) -> None:
        """Wait only until another request ends."""
        if seconds == TIMEOUT_MAX:
            changed.wait()
        else:
            self._skipped += seconds


class HurriedTap(TapLeadIntent):
    """The tap, with retries that do not wait."""

    _clock = HurriedClock()
    limits = Limits(
        longest_backoff=0.001,
        longest_refusal=0.05,
        monotonic=_clock.monotonic,
        wait=_clock.wait,
    )


@contextmanager
def log_of_a_process() -> Iterator[None]:
    """Undo what a command line sets for its log, as the end of its process does."""
    root = logging.getLogger()
    handlers = [*root.handlers]
    level = root.level
    filters = [[*handler.filters] for handler in handlers]
    get_metrics_logger().setLevel(logging.NOTSET)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        for handler, kept in zip(handlers, filters, strict=True):
            handler.filters[:] = kept
        root.setLevel(level)


class _Command:
    """The command line as a process makes it: its log goes to the stderr of then."""

    def __init__(self, tap: type[SingerTap[Any]]) -> None:
        self.name = tap.name
        self._tap = tap

    def main(self, **options: Any) -> Any:
        """Make the command and run it."""
        with log_of_a_process():
            return self._tap.cli.main(**options)


def enter(
    *arguments: str,
    tap: type[SingerTap[Any]] = TapLeadIntent,
    **options: Any,
) -> Result:
    """Enter the tap in this process, as its command line does."""
    command: Any = _Command(tap)
    return CliRunner().invoke(command, arguments, **options)


_ERROR = re.compile(r"[-\d]+ [:,\d]+ \| ERROR    \| tap-leadintent +\| (.*)")


def errors(log: str) -> list[str]:
    """Return what a log says at ERROR about the run as a whole."""
    return _ERROR.findall(log)


def final_error(log: str) -> str:
    """Assert that the last line of a log is an error of the run; give what it says."""
    last = log.splitlines()[-1]
    found = _ERROR.fullmatch(last)
    assert found, last
    return found[1]


def refusal(result: Result) -> list[str]:
    """Assert that the tap refused to begin; give the lines that say why."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), "it would be a traceback"
    assert result.stdout == ""
    final_error(result.stderr)
    return errors(result.stderr)


def assert_keeps_secret(api_key: object, *outputs: str) -> None:
    """Assert that the key is in no output, whatever its type."""
    for output in outputs:
        assert API_KEY not in output
        assert api_key is None or str(api_key) not in output
