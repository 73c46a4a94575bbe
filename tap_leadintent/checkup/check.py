"""Asks all questions, and collects the findings."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, Literal

import click
import msgspec

from tap_leadintent.checkup import questions, ranges, volume
from tap_leadintent.checkup.probe import Probe, UnsettledError, readable
from tap_leadintent.checkup.report import Finding, Report
from tap_leadintent.errors import StreamError, replication_command


class Case(msgspec.Struct):
    """What an API may do: see `Finding`."""

    answer: str
    meaning: str = ""
    action: str = ""


class Question(msgspec.Struct):
    """A question of `questions.toml`."""

    group: str
    text: str
    assumed: str
    scope: Literal["run", "endpoint", "stream", "times", "history", "list", "range"]
    """What it is asked about: the keys of `asked` below."""
    cases: dict[str, Case]


QUESTIONS = msgspec.toml.decode(
    files(__package__).joinpath("questions.toml").read_bytes(), type=dict[str, Question]
)
"""The questions by the name of their function."""
_ANSWERS = {**vars(ranges), **vars(questions)}


def check(report: Report, probes: list[Probe], given: Mapping[str, Any]) -> None:
    """Ask all questions, and print a line of progress before each.

    Args:
        report: Gets what is found, also before the check-up is interrupted.
        probes: The probes of the streams to ask about.
        given: The settings that the user has set.

    Raises:
        RunError: No stream can be read.
    """
    can_read = readable(probes)
    ranged = [probe for probe in can_read if probe.ranges]
    asked = {
        "run": can_read[:1],
        "endpoint": probes,
        "stream": can_read,
        "times": [probe for probe in can_read if probe.stream.time_fields],
        "history": ranged,
        "list": [probe for probe in ranged if not probe.list_fields],
        "range": [part for probe in ranged for part in probe.ranges],
    }
    for name, question in QUESTIONS.items():
        left = f"({probes[0].api.left} requests left)"
        click.echo(f"{question.group}: {question.text} {left}", err=True)
        for probe in asked[question.scope]:
            report.findings += _ask(name, question, probe)
    if can_read:
        volume.estimate(report, can_read)
        volume.suggest(report, can_read, given)


def _ask(name: str, question: Question, probe: Probe) -> Iterator[Finding]:
    """Yield the answer, unless the question makes no sense there."""
    stream = probe.stream
    about = f"{stream.name}.{probe.range}".removesuffix(".")
    about = "" if question.scope == "run" else about
    finding = Finding(question.group, question.text, question.assumed, about)
    try:
        chosen, finding.values = _ANSWERS[name](probe)
    except (UnsettledError, StreamError) as error:
        if reason := questions.explain(error):
            finding.answer = f"cannot be settled: {reason}"
            yield finding
        return
    case = question.cases[chosen]
    method = "FULL_TABLE" if stream.is_incremental else "INCREMENTAL"
    shown = {
        "stream": stream.name,
        f"as_{method.lower()}": replication_command(stream.name, method),
        **{name: each for name, each in finding.values.items() if each is not None},
    }
    finding.verdict = "differs" if case.meaning else "as described"
    finding.answer = case.answer.format_map(shown)
    finding.meaning = case.meaning.format_map(shown)
    # Where a value is missing, the action would change nothing.
    with suppress(KeyError):
        finding.action = case.action.format_map(shown)
    yield finding
