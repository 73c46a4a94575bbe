"""Writes a report of the check-up as text."""

import textwrap
from collections.abc import Iterator

from tap_leadintent.checkup.check import Finding, Report
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
    for group in _GROUPS:
        findings = [each for each in report.findings if each.group == group]
        yield from [f"\n{group}"][: len(findings)]
        for question in dict.fromkeys(each.question for each in findings):
            yield from _answers(
                [each for each in findings if each.question == question]
            )
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


def _answers(findings: list[Finding]) -> Iterator[str]:
    """Write what was answered to a question; streams with one answer share a line."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for each in findings:
        alike.setdefault((each.verdict, each.answer, each.action), []).append(each)
    for (verdict, answer, action), group in alike.items():
        about = ", ".join(each.about for each in group)
        is_named = about and (len(alike) > 1 or len(group) == 1)
        where = f" ({about})" if is_named else ""
        yield from _wrap(f"  {verdict:14}{group[0].question} {answer}{where}")
        yield from _wrap(f"{_INDENT}{group[0].meaning}") if group[0].meaning else ()
        # A command is pasted, so its line is not broken.
        yield from [f"{_INDENT}-> {action}"][: len(action)]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=f"{_INDENT}  ", break_long_words=False
    )
