"""What the check-up has found, and how it is printed."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import msgspec

_GROUPS = ("Access", "Pages", "Time ranges", "Lists", "Records")
_WIDTH = 96
_INDENT = " " * 16
_HEADING = (
    "\nEstimate                 oldest       rows  s a page  first load  hourly run"
)
_VOLUME = "  {:20}{:>9}{:11,}{:10.2f}{:12,.0f}{:12,.0f}"
_REQUESTS = "  requests{:54,.0f}{:12,.0f}"
_MINUTES = "  minutes{:55,.1f}{:12,.1f}"


class Finding(msgspec.Struct):
    """The answer to a question. It holds names of fields and numbers, no values."""

    group: str
    question: str
    assumed: str
    """What the tap assumes."""
    about: str
    """The stream, and the time range."""
    verdict: Literal["as described", "differs", "unknown"] = "unknown"
    answer: str = ""
    meaning: str = ""
    """What it means for the data, if the API does something else than is assumed."""
    action: str = ""
    """What to do about it."""
    values: dict[str, Any] = {}


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
    first_minutes: float = 0.0
    hourly_minutes: float = 0.0
    commands: list[str] = []
    """Suggested settings."""

    @property
    def totals(self) -> tuple[float, float]:
        """The requests of a first load, and of an hourly run."""
        volumes = self.estimate
        return sum(v.first_load for v in volumes), sum(v.hourly_run for v in volumes)


def write(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"tap-leadintent {report.version}"
    yield f"{report.requests} requests in {report.seconds:.0f} s"
    for group in _GROUPS:
        findings = [each for each in report.findings if each.group == group]
        yield from (f"\n{group}", *_write_findings(findings)) if findings else ()
    if report.estimate:
        yield _HEADING
        yield from (_VOLUME.format(*each) for each in report.estimate)
        yield _REQUESTS.format(*report.totals)
        yield _MINUTES.format(report.first_minutes, report.hourly_minutes)
    if report.commands:
        yield "\nSuggested settings"
        yield from (f"  {command}" for command in report.commands)
    if report.is_interrupted:
        yield "\nInterrupted: the other questions were not asked."


def _write_findings(findings: list[Finding]) -> Iterator[str]:
    """Yield the lines of findings; those that say the same share a line."""
    asked = Counter(each.question for each in findings)
    alike = defaultdict[tuple[str, ...], list[str]](list)
    for each in findings:
        texts = (each.verdict, each.question, each.answer, each.meaning, each.action)
        alike[texts].append(each.about)
    for (verdict, question, answer, meaning, action), about in alike.items():
        is_named = any(about) and not 1 < len(about) == asked[question]
        where = f" ({', '.join(about)})" if is_named else ""
        yield from _wrap(f"  {verdict:14}{question} {answer}{where}")
        yield from _wrap(f"{_INDENT}{meaning}") if meaning else ()
        # A command is pasted, so its line is not broken.
        yield from [f"{_INDENT}-> {action}"] if action else ()


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=f"{_INDENT}  ", break_long_words=False
    )
