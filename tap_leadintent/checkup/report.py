"""What the check-up has found, and how it is printed."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import msgspec

from tap_leadintent.checkup.play import Cost
from tap_leadintent.words import counted

ESTIMATE = "Estimate"
"""The group of findings about the estimate."""

_FEW = 3
"""So many streams or time ranges are named, even if an answer is about all."""

_INDENT = " " * 16
_HEADING = "  {:18}{:>8}{:>11}{:>20}{:>18}{:>18}".format(
    "",
    "oldest",
    "rows",
    "first load",
    "hourly run",
    "deepest run",
)
_VOLUME = "  {:18}{:>8}{:>11}{:>20}{:>18}{:>18}"
_wrap = partial(
    textwrap.wrap,
    width=96,
    break_long_words=False,
)


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
    setting: str = ""
    """What to set, if that is to be done."""
    value: Any = None
    lacks_records: bool = False
    """Whether there are too few records for an answer."""


class Volume(NamedTuple):
    """What a stream holds, and what reading it takes."""

    stream: str
    oldest: str
    """The month of its oldest record, if that is known."""
    rows: int
    first_load: Cost
    hourly_run: Cost
    """What an hourly run takes on average."""
    deepest_run: Cost
    """The cost of the run that reads the most of the past again."""
    is_least: bool = False
    """Whether these are the least, as bursts of records cannot be measured."""


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
    actions: list[str] = []
    """What to do about all findings."""
    commands: list[str] = []
    """Suggested settings."""


def write(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    requests = f"{counted(report.requests, 'request')} in {report.seconds:.0f} s"
    yield f"tap-leadintent {report.version}, {requests}"
    groups = dict[str, list[Finding]]()
    for each in report.findings:
        groups.setdefault(each.group, []).append(each)
    estimate = groups.pop(ESTIMATE, [])
    for group, findings in groups.items():
        yield from _write_group(group, findings)
    yield from _write_estimate(report, estimate)
    if report.actions:
        yield "What to do"
        # A command is pasted, so its line is not broken.
        for action in report.actions:
            yield f"  {action}"
    if report.commands:
        yield "Suggested settings"
        for command in report.commands:
            yield f"  {command}"
    yield from _write_open(report.findings)
    if report.is_interrupted:
        yield "Interrupted: the other questions were not asked."


def _write_group(group: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of a group: what is as described in a few, then all others."""
    answered = list[Finding]()
    answers = dict[str, set[str]]()
    for each in findings:
        if each.lacks_records:
            continue
        answered.append(each)
        answers.setdefault(each.question, set()).add(each.answer)
    ordinary = list[str]()
    others = list[str]()
    for found in _alike(answered):
        first = found[0]
        is_ordinary = first.verdict == "as described"
        is_same_for_all = len(answers[first.question]) == 1
        if not is_ordinary:
            is_same_for_all &= len(found) > _FEW
        text = _write_alike(found, is_about_all=is_same_for_all)
        if is_ordinary:
            ordinary.append(text)
            continue
        others += _wrap(f"  {first.verdict:14}{text}", subsequent_indent=f"{_INDENT}  ")
        if first.meaning:
            others += _wrap(f"{_INDENT}{first.meaning}", subsequent_indent=_INDENT)
    if ordinary:
        text = f"{group}, as described: {'; '.join(ordinary)}"
        yield from _wrap(text, subsequent_indent="  ")
    elif others and group != ESTIMATE:
        yield group
    yield from others


def _alike(findings: Sequence[Finding]) -> Iterable[list[Finding]]:
    """Return the findings that stand together: those that mean the same."""
    alike = dict[tuple[str, ...], list[Finding]]()
    for each in findings:
        key: tuple[str, ...] = (each.question, each.meaning)
        if each.verdict == "unknown":
            # One reason may be why several questions have no answer.
            key = (each.answer,)
        alike.setdefault(key, []).append(each)
    return alike.values()


def _write_alike(findings: Sequence[Finding], *, is_about_all: bool) -> str:
    """Return a text for findings that mean the same.

    Args:
        findings: The findings.
        is_about_all: Whether it goes without saying which streams they are about.
    """
    questions = dict[str, None]()
    places = {each.about for each in findings}
    about = dict[str, dict[str, None]]()
    for each in findings:
        questions[each.question] = None
        where = each.about
        if each.verdict == "unknown" and len(places) > _FEW:
            where, _, _ = where.partition(".")
        about.setdefault(each.answer, {})[where] = None
    answers = list[str]()
    for answer, names in about.items():
        where = ", ".join(filter(None, names))
        answers.append(answer if is_about_all or not where else f"{answer} ({where})")
    return f"{' '.join(questions)} {'; '.join(answers)}"


def _write_estimate(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the table of what streams take, and why others are not in it."""
    if report.estimate:
        minutes = "{:,} / {:,} / {:,}".format(*report.minutes)
        title = f"{ESTIMATE}, in requests (records returned)"
        is_least = any(volume.is_least for volume in report.estimate)
        bound = "least" if is_least else "most"
        yield f"{title}; at {bound} {minutes} minutes"
        yield _HEADING
        yield from _write_rows(report)
        if is_least:
            yield "  +: at least so many; with more --max-requests, it can tell more"
    elif findings:
        yield ESTIMATE
    yield from _write_group(ESTIMATE, findings)


def _write_rows(report: Report) -> Iterator[str]:
    """Yield the rows of the table; streams without records share one."""
    empty = 0
    for volume in report.estimate:
        if volume.rows:
            costs = (volume.first_load, volume.hourly_run, volume.deepest_run)
            yield _write_row(
                volume.stream,
                volume.oldest,
                volume.rows,
                costs,
                is_least=volume.is_least,
            )
        else:
            empty += 1
    if len(report.estimate) == 1:
        return
    name = "all"
    for each in report.findings:
        if each.group == ESTIMATE and each.verdict == "unknown":
            name = "known"
    if empty:
        name = f"{name} ({empty} empty)"
    rows = 0
    is_least = False
    for volume in report.estimate:
        rows += volume.rows
        is_least |= volume.is_least
    yield _write_row(
        name,
        "",
        rows,
        report.total,
        is_least=is_least,
    )


def _write_row(
    name: str,
    oldest: str,
    rows: int,
    costs: Iterable[Cost],
    *,
    is_least: bool,
) -> str:
    more = "+" if is_least else ""
    texts = list[str]()
    for cost in costs:
        texts.append(f"{cost.requests:,.0f}{more} ({cost.records:,.0f}{more})")
    return _VOLUME.format(
        name,
        oldest,
        f"{rows:,}{more}",
        *texts,
    )


def _write_open(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what cannot be settled for want of records, by stream."""
    lacking = Counter[str]()
    for each in findings:
        if each.lacks_records:
            stream, _, _ = each.about.partition(".")
            lacking[stream] += 1
    if not lacking:
        return
    texts = list[str]()
    for stream, number in lacking.items():
        texts.append(f"{stream} ({number})")
    text = "Not settled, as records are too few or do not show their times (questions):"
    yield from _wrap(f"{text} {', '.join(texts)}", subsequent_indent="  ")
