"""Writes a report of the check-up as text."""

import textwrap
from collections import Counter
from collections.abc import Iterator

from tap_leadintent.checkup.check import Report
from tap_leadintent.checkup.volume import totals

_GROUPS = ("Access", "Pages", "Time ranges", "Lists", "Records")
_WIDTH = 96
_INDENT = " " * 16
_HEADING = (
    "\nEstimate                 oldest       rows  s a page  first load  hourly run"
)
_VOLUME = "  {:20}{:>9}{:11,}{:10.2f}{:12,.0f}{:12,.0f}"
_TOTAL = "  {:50}{:12,.{places}f}{:12,.{places}f}"


def write(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"tap-leadintent {report.version}"
    yield f"{report.requests} requests in {report.seconds:.0f} s"
    asked = Counter(each.question for each in report.findings)
    for group in _GROUPS:
        findings = [each for each in report.findings if each.group == group]
        yield from [f"\n{group}"][: len(findings)]
        alike: dict[tuple[str, ...], list[str]] = {}
        for each in findings:
            alike.setdefault(
                (each.verdict, each.question, each.answer, each.meaning, each.action),
                [],
            ).append(each.about)
        for (verdict, question, answer, meaning, action), about in alike.items():
            is_named = any(about) and not 1 < len(about) == asked[question]
            where = f" ({', '.join(about)})" if is_named else ""
            yield from _wrap(f"  {verdict:14}{question} {answer}{where}")
            yield from _wrap(f"{_INDENT}{meaning}") if meaning else ()
            # A command is pasted, so its line is not broken.
            yield from [f"{_INDENT}-> {action}"][: len(action)]
    if report.estimate:
        yield _HEADING
        yield from (_VOLUME.format(*each) for each in report.estimate)
        yield _TOTAL.format("requests", *totals(report.estimate), places=0)
        minutes = report.first_minutes, report.hourly_minutes
        yield _TOTAL.format("minutes", *minutes, places=1)
    if report.commands:
        yield "\nSuggested settings"
        yield from (f"  {command}" for command in report.commands)
    if report.is_interrupted:
        yield "\nInterrupted: the other questions were not asked."


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=f"{_INDENT}  ", break_long_words=False
    )
