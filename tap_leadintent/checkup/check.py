"""Asks all questions, and collects the findings."""

from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from typing import Literal

import click
import msgspec

from tap_leadintent.checkup import questions, ranges
from tap_leadintent.checkup.probe import Probe, TooFewError, UnsettledError
from tap_leadintent.checkup.report import Finding, replication_command
from tap_leadintent.errors import StreamError


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


def ask_all(probes: list[Probe], can_read: list[Probe]) -> Iterator[Finding]:
    """Ask all questions, and print a line of progress before each.

    Args:
        probes: The probes of the streams to ask about.
        can_read: Those that get their first pages.

    Yields:
        The findings.
    """
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
            yield from _ask(name, question, probe)


def _ask(name: str, question: Question, probe: Probe) -> Iterator[Finding]:
    """Yield the answer, unless the question makes no sense there."""
    stream = probe.stream
    about = f"{stream.name}.{probe.range}".removesuffix(".")
    about = "" if question.scope == "run" else about
    asked = (question.group, question.text, question.assumed, about)
    try:
        chosen, found = _ANSWERS[name](probe)
    except (UnsettledError, StreamError) as error:
        reason = questions.explain(error)
        if reason:
            finding = Finding(*asked, "unknown", f"cannot be settled: {reason}")
            finding.lacks_records = isinstance(error, TooFewError)
            yield finding
        return
    case = question.cases[chosen]
    method = "FULL_TABLE" if stream.is_incremental else "INCREMENTAL"
    values = {name: each for name, each in found.items() if each is not None}
    values["stream"] = stream.name
    values[f"as_{method.lower()}"] = replication_command(stream.name, method)
    finding = Finding(*asked, "differs" if case.meaning else "as described")
    finding.answer = case.answer.format_map(values)
    finding.meaning = case.meaning.format_map(values)
    # Where a value is missing, the action would change nothing.
    with suppress(KeyError):
        finding.action = case.action.format_map(values)
    yield finding
