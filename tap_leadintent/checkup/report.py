"""What the check-up has found, and how it is printed."""

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import Literal, NamedTuple

import msgspec

from tap_leadintent.checkup.play import Cost
from tap_leadintent.words import counted

SET = "meltano config set tap-leadintent"
"""Begins each command that sets something."""

_INDENT = " " * 16
_HEADING = (
    "Estimate, in requests (records returned)",
    "  {:18}{:>8}{:>11}{:>20}{:>18}{:>18}".format(
        "", "oldest", "rows", "first load", "hourly run", "deepest run"
    ),
)
_VOLUME = "  {:18}{:>8}{:11,}{:>20}{:>18}{:>18}"
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
    lacks_records: bool = False
    """Whether there are too few records for an answer."""


class Volume(NamedTuple):
    """What a stream holds, and what reading it takes."""

    stream: str
    oldest: str
    """The month of its oldest record, if that is known."""
    rows: int
    seconds: float
    """How long a page takes."""
    first_load: Cost
    hourly_run: Cost
    """What an hourly run takes on average."""
    deepest_run: Cost
    """What the run takes that reads most again."""


class Report(msgspec.Struct):
    """All that the check-up has found."""

    version: str = version("tap-leadintent")
    requests: int = 0
    seconds: float = 0.0
    is_interrupted: bool = False
    findings: list[Finding] = []
    estimate: list[Volume] = []
    total: list[Cost] = []
    """What all streams take: a first load, an hourly run, the deepest run."""
    minutes: list[int] = []
    """How long they take."""
    commands: list[str] = []
    """Suggested settings."""


def write(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"tap-leadintent {report.version}"
    yield f"{report.requests} requests in {report.seconds:.0f} s"
    for group in dict.fromkeys(each.group for each in report.findings):
        found = [each for each in report.findings if each.group == group]
        yield from _write_group(group, found)
    if report.estimate:
        yield from _write_estimate(report)
    actions = dict.fromkeys(each.action for each in report.findings if each.action)
    if actions:
        yield "What to do"
        # A command is pasted, so its line is not broken.
        yield from (f"  {action}" for action in actions)
    if report.commands:
        yield "Suggested settings"
        yield from (f"  {command}" for command in report.commands)
    yield from _write_open(report.findings)
    if report.is_interrupted:
        yield "Interrupted: the other questions were not asked."


def _write_group(group: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of a group: what is as described in a few, then the rest."""
    alike = dict[tuple[str, str, str, str], list[str]]()
    answers = dict[str, set[str]]()
    for each in findings:
        if each.lacks_records:
            continue
        key = (each.question, each.answer, each.meaning, each.verdict)
        alike.setdefault(key, []).append(each.about)
        answers.setdefault(each.question, set()).add(each.answer)
    if not alike:
        return
    ordinary = list[str]()
    others = list[str]()
    for (question, answer, meaning, verdict), about in alike.items():
        text = f"{question} {answer}"
        is_ordinary = verdict == "as described"
        if about[0] and not (is_ordinary and len(answers[question]) == 1):
            text = f"{text} ({', '.join(about)})"
        if is_ordinary:
            ordinary.append(text)
            continue
        others += _wrap(f"  {verdict:14}{text}")
        if meaning:
            others += _wrap(f"{_INDENT}{meaning}")
    if ordinary:
        yield from _wrap(f"{group}, as described: {'; '.join(ordinary)}")
    else:
        yield group
    yield from others


def _write_estimate(report: Report) -> Iterator[str]:
    """Yield the table of what streams take."""
    yield from _HEADING
    for volume in report.estimate:
        costs = (volume.first_load, volume.hourly_run, volume.deepest_run)
        texts = map(_write_cost, costs)
        yield _VOLUME.format(volume.stream, volume.oldest, volume.rows, *texts)
    rows = sum(volume.rows for volume in report.estimate)
    if len(report.estimate) > 1:
        yield _VOLUME.format("all", "", rows, *map(_write_cost, report.total))
    minutes = "{:,} / {:,} / {:,}".format(*report.minutes)
    yield f"  at most {minutes} minutes"


def _write_cost(cost: Cost) -> str:
    return f"{cost.requests:,.0f} ({cost.records:,.0f})"


def _write_open(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line about what cannot be settled for want of records."""
    lacking = dict[str, int]()
    for each in findings:
        if each.lacks_records:
            lacking[each.about] = lacking.get(each.about, 0) + 1
    if lacking:
        texts = (f"{about} ({counted(n, 'question')})" for about, n in lacking.items())
        yield f"Cannot be settled for want of records: {', '.join(texts)}"
