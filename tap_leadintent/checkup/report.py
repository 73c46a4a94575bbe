"""What the check-up has found, and how it is printed."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

SET = "meltano config set tap-leadintent"
"""Begins each command that sets something."""

_INDENT = " " * 16
_HEADING = (
    "\nEstimate                 oldest       rows  s a page  first load  hourly run"
)
_VOLUME = "  {:20}{:>9}{:11,}{:10.2f}{:12,.0f}{:12,.0f}"
_TOTAL = "  {:50}{:12,.1f}{:12,.1f}"
_wrap = partial(
    textwrap.wrap, width=96, subsequent_indent=f"{_INDENT}  ", break_long_words=False
)


def replication_command(stream: str, method: str) -> str:
    """Return the command that sets how a stream is replicated, for a message.

    Args:
        stream: The name of the stream.
        method: `FULL_TABLE` or `INCREMENTAL`.

    Returns:
        A line for a shell.
    """
    metadata = f'{{"{stream}": {{"replication-method": "{method}"}}}}'
    return f"{SET} _metadata '{metadata}'"


class Finding(msgspec.Struct):
    """The answer to a question. It holds names of fields and numbers, no values."""

    group: str
    question: str
    assumed: str
    """What the tap assumes."""
    about: str
    """The stream, and the time range."""
    verdict: Literal["as described", "differs", "unknown"]
    answer: str = ""
    meaning: str = ""
    """What it means for the data, if the API does something else than is assumed."""
    action: str = ""
    """What to do about it."""


class Volume(NamedTuple):
    """What a stream holds, and what reading it takes."""

    stream: str
    oldest: str
    """The month of its oldest record, if that is known."""
    rows: int
    seconds: float
    """How long a page takes."""
    first_load: float
    """Requests of a first load."""
    hourly_run: float
    """Requests of an hourly run."""


class Report(msgspec.Struct):
    """All that the check-up has found."""

    version: str = version("tap-leadintent")
    requests: int = 0
    seconds: float = 0.0
    is_interrupted: bool = False
    findings: list[Finding] = []
    estimate: list[Volume] = []
    total_requests: tuple[float, float] = (0, 0)
    """Requests of a first load, and of an hourly run."""
    total_minutes: tuple[float, float] = (0, 0)
    """How long they take."""
    commands: list[str] = []
    """Suggested settings."""


def write(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"tap-leadintent {report.version}"
    yield f"{report.requests} requests in {report.seconds:.0f} s"
    for group, findings in groupby(report.findings, attrgetter("group")):
        yield f"\n{group}"
        for _, found in groupby(findings, attrgetter("question")):
            yield from _write_answers(found)
    if report.estimate:
        yield _HEADING
        yield from (_VOLUME.format(*each) for each in report.estimate)
        yield _TOTAL.format("requests", *report.total_requests)
        yield _TOTAL.format("minutes", *report.total_minutes)
    if report.commands:
        yield "\nSuggested settings"
        yield from (f"  {command}" for command in report.commands)
    if report.is_interrupted:
        yield "\nInterrupted: the other questions were not asked."


def _write_answers(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the lines of a question's answers; those that say the same share a line."""
    alike = defaultdict[tuple[str, ...], list[str]](list)
    for each in findings:
        texts = (each.verdict, each.question, each.answer, each.meaning, each.action)
        alike[texts].append(each.about)
    for (verdict, question, answer, meaning, action), about in alike.items():
        is_same_for_all = len(alike) == 1 and (len(about) > 1 or not about[0])
        where = "" if is_same_for_all else f" ({', '.join(about)})"
        yield from _wrap(f"  {verdict:14}{question} {answer}{where}")
        yield from _wrap(f"{_INDENT}{meaning}") if meaning else ()
        # A command is pasted, so its line is not broken.
        yield from [f"{_INDENT}-> {action}"] if action else ()
