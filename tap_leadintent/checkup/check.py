"""Asks all questions, and collects the findings."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Literal

import click
import msgspec

from tap_leadintent.checkup import fields, questions, ranges, signals
from tap_leadintent.checkup.actions import write_command
from tap_leadintent.checkup.probe import Found, Probe, TooFewError, UnsettledError
from tap_leadintent.checkup.report import Finding
from tap_leadintent.checkup.wording import explain
from tap_leadintent.errors import StreamError


class Case(msgspec.Struct):
    """What an API may do: see `Finding`."""

    answer: str
    meaning: str = ""
    action: str = ""
    setting: str = ""


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

_ROOMS = (questions, ranges, signals, fields)


def ask_all(probes: list[Probe], can_read: list[Probe]) -> Iterator[Finding]:
    """Ask all questions, and print a line of progress before each.

    A part of the requests is left for the estimate.

    Args:
        probes: The probes of the streams to ask about.
        can_read: Those that get their first pages.

    Yields:
        The findings.
    """
    api = probes[0].api
    api.reserved = api.left // 3
    asked = defaultdict[str, list[Probe]](list)
    asked["run"] = can_read[:1]
    asked["endpoint"] = probes
    asked["stream"] = can_read
    for probe in can_read:
        if probe.stream.time_fields:
            asked["times"].append(probe)
        if probe.ranges:
            asked["history"].append(probe)
            asked["range"].extend(probe.ranges)
            if not probe.list_fields:
                asked["list"].append(probe)
    for name, question in QUESTIONS.items():
        left = f"({api.left} requests left)"
        click.echo(f"{question.group}: {question.text} {left}", err=True)
        for probe in asked[question.scope]:
            yield from _ask(
                name,
                question,
                probe,
            )
    api.reserved = 0


def _ask(
    name: str,
    question: Question,
    probe: Probe,
) -> Iterator[Finding]:
    """Yield the answer, unless the question makes no sense there."""
    stream = probe.stream
    finding = Finding(
        question.group,
        question.text,
        question.assumed,
        "",
        "unknown",
    )
    if question.scope != "run":
        finding.about = f"{stream.name}.{probe.range}".removesuffix(".")
    try:
        chosen, found = _find_answer(name)(probe)
    except (UnsettledError, StreamError) as error:
        reason = explain(error)
        if reason:
            finding.answer = f"cannot be settled: {reason}"
            finding.lacks_records = isinstance(error, TooFewError)
            yield finding
        return
    case = question.cases[chosen]
    finding.verdict = "differs" if case.meaning else "as described"
    finding.answer = case.answer.format_map(found)
    finding.meaning = case.meaning.format_map(found)
    finding.action = case.action.format_map(found)
    method = "FULL_TABLE" if stream.is_incremental else "INCREMENTAL"
    if case.setting in {method, "_select"}:
        finding.value = stream.name
    else:
        finding.value = found.get(case.setting)
    # Without a value, it would change nothing.
    if finding.value is not None:
        finding.setting = case.setting
        finding.action = write_command(case.setting, [finding.value])
    yield finding


def _find_answer(name: str) -> Callable[[Probe], Found]:
    """Return the function that answers a question."""
    for room in _ROOMS:
        answer: Callable[[Probe], Found] | None = getattr(
            room,
            name,
            None,
        )
        if answer:
            return answer
    raise LookupError(name)
