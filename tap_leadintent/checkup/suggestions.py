"""Suggests settings for runs that take long."""

from collections.abc import Iterator, Sequence
from typing import Any

from tap_leadintent.checkup.actions import write_command
from tap_leadintent.checkup.probe import DAY, Probe
from tap_leadintent.checkup.report import (
    ESTIMATE,
    Finding,
    Report,
)

_MOST_REQUESTS = 10_000
"""Requests of a first load that need no thought."""

_LONG_LOAD = 30
"""Minutes of a first load that are many."""

_LONG_LIST = 1_000
"""Records of a list that are many."""

_DEAR_RUN = 100
"""Requests of an hourly run that are many."""

_MOST_READERS = 32
"""The most that is suggested for `concurrency`."""

_SHORT_LOOKBACK = 7
"""The least that is suggested for `lookback_days`."""


def suggest(
    report: Report,
    probes: Sequence[Probe],
    *,
    has_start: bool,
) -> None:
    """Suggest settings for what is estimated.

    Args:
        report: Has the estimate. Gets commands to paste, and a finding if a first load
            takes very many requests.
        probes: The probes of the streams that can be read.
        has_start: Whether the user has set `start_date`.
    """
    if not report.estimate:
        return
    first_load, _, _ = report.total
    if first_load.requests > _MOST_REQUESTS:
        report.findings.append(_dear_load())
    to_do = {finding.setting for finding in report.findings}
    for setting, value in _for_all(
        report,
        probes[0],
        has_start=has_start,
    ):
        if setting not in to_do:
            report.commands.append(write_command(setting, [value]))
    streams = {probe.stream.name: probe.stream for probe in probes}
    long = list[str]()
    for volume in report.estimate:
        stream = streams[volume.stream]
        is_list = stream.ranges and not stream.is_incremental
        if is_list and volume.rows > _LONG_LIST:
            long.append(stream.name)
    if long:
        report.commands.append(write_command("INCREMENTAL", long))


def _for_all(
    report: Report,
    probe: Probe,
    *,
    has_start: bool,
) -> Iterator[tuple[str, Any]]:
    """Yield settings for all streams, with their values."""
    settings = probe.stream.settings
    months = list[str]()
    for volume in report.estimate:
        if volume.oldest:
            months.append(volume.oldest)
    if months and not has_start:
        yield "start_date", f"{min(months)}-01"
    readers = settings.concurrency
    if report.minutes[0] > _LONG_LOAD and readers < _MOST_READERS:
        readers = min(_MOST_READERS, 2 * readers)
        yield "concurrency", readers
    _, hourly_run, _ = report.total
    is_dear = hourly_run.requests > _DEAR_RUN
    if is_dear and settings.lookback > _SHORT_LOOKBACK * DAY:
        yield "lookback_days", _SHORT_LOOKBACK


def _dear_load() -> Finding:
    return Finding(
        group=ESTIMATE,
        question="Is a first load cheap?",
        assumed="yes",
        about="",
        verdict="differs",
        answer=f"no, it takes more than {_MOST_REQUESTS:,} requests",
        action="set a later start_date, a longer window_days, or "
        "max_requests_per_run to spread it over several runs",
    )
