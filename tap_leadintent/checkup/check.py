"""Asks all questions, and collects the findings."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.resources import files
from string import Formatter
from typing import Any, Literal

import msgspec

from tap_leadintent.checkup import questions, ranges, volume
from tap_leadintent.checkup.probe import Probe, UnsettledError, readable
from tap_leadintent.errors import StreamError, replication_command


class Case(msgspec.Struct):
    """What an API may do."""

    answer: str
    meaning: str = ""
    """What it means for the data, if the API does something else than is assumed."""
    action: str = ""
    """What to do about it, if all that it names has a value."""


class Question(msgspec.Struct):
    """A question of `questions.toml`."""

    group: str
    text: str
    assumed: str
    """What the tap assumes."""
    scope: Literal["run", "stream", "range"]
    """Whether it is asked once, for each stream, or for each time range."""
    cases: dict[str, Case]


class Finding(msgspec.Struct):
    """What was found out. It holds names of fields and numbers, no values."""

    group: str
    question: str
    assumed: str
    about: str
    """The stream, and the time range."""
    verdict: Literal["as described", "differs", "unknown"]
    answer: str
    meaning: str = ""
    action: str = ""
    values: dict[str, Any] = {}


class Report(msgspec.Struct):
    """What the check-up has found."""

    version: str = version("tap-leadintent")
    requests: int = 0
    seconds: float = 0.0
    is_interrupted: bool = False
    findings: list[Finding] = []
    estimate: list[volume.Volume] = []
    first_minutes: float = 0.0
    hourly_minutes: float = 0.0
    commands: list[str] = []
    """Suggested settings."""


QUESTIONS = msgspec.toml.decode(
    files(__package__).joinpath("questions.toml").read_bytes(), type=dict[str, Question]
)
"""The questions by the name of their function."""
_ANSWERS = {**vars(ranges), **vars(questions)}


def check(
    report: Report,
    probes: list[Probe],
    given: Mapping[str, Any],
    progress: Callable[[str], None],
) -> None:
    """Ask all questions.

    Args:
        report: Gets what is found, also before the check-up is interrupted.
        probes: The probes of the streams to ask about.
        given: The settings that the user has set.
        progress: Gets a line before each question.

    Raises:
        RunError: No stream can be read.
    """
    can_read = [*readable(probes)]
    for name, each in QUESTIONS.items():
        left = probes[0].api.left
        progress(f"{each.group}: {each.text} ({left} requests left)")
        asked = probes if name == "may_read" else can_read
        if each.scope == "range":
            asked = [part for probe in asked for part in probe.ranges]
        found = (_ask(name, p) for p in asked[: 1 if each.scope == "run" else None])
        report.findings += filter(None, found)
    report.estimate = volume.estimate(can_read)
    first, hourly = volume.totals(report.estimate)
    report.first_minutes = volume.minutes(can_read, first)
    report.hourly_minutes = volume.minutes(can_read, hourly)
    values = [finding.values for finding in report.findings]
    report.commands = volume.suggest(given, can_read, report.estimate, values)


def _ask(name: str, probe: Probe) -> Finding | None:
    question, stream = QUESTIONS[name], probe.stream
    about = f"{stream.name}.{probe.range}".removesuffix(".")
    about = "" if question.scope == "run" else about
    texts = (question.group, question.text, question.assumed, about)
    try:
        found = _ANSWERS[name](probe)
    except (UnsettledError, StreamError) as error:
        reason = questions.explain(error)
        answer = f"cannot be settled: {reason}"
        return Finding(*texts, "unknown", answer) if reason else None
    if found is None:
        return None
    case, values = question.cases[found[0]], found[1]
    other = "FULL_TABLE" if stream.is_incremental else "INCREMENTAL"
    shown = {
        "stream": stream.name,
        f"as_{other.lower()}": replication_command(stream.name, other),
        **values,
    }
    # An action is left out if it would change nothing.
    needed = [shown.get(f) for _, f, *_ in Formatter().parse(case.action) if f]
    return Finding(
        *texts,
        "differs" if case.meaning else "as described",
        case.answer.format_map(shown),
        case.meaning.format_map(shown),
        case.action.format_map(shown) if all(needed) else "",
        values,
    )
