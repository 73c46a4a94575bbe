"""Answers the questions about the signals of leads: what both time ranges return."""

from math import ceil

from tap_leadintent import times
from tap_leadintent.checkup.probe import (
    DAY,
    Answer,
    Found,
    Path,
    Probe,
    TooFewError,
    UnsettledError,
)
from tap_leadintent.checkup.ranges import ignored_bounds
from tap_leadintent.words import counted

_MONTH = 30 * DAY

_DAYS_AGO = (0, 1, 7, 30, 90)
"""Days before now whose leads are looked at."""

_LOOKED_FOR = 5
"""Leads of a day that are looked for by `latest_signal`."""


def _both(probe: Probe) -> tuple[Probe, Probe, Path]:
    """Return the probes of both time ranges, and the path of a signal's time.

    Raises:
        UnsettledError: The stream has no signals, or a range is not obeyed: any lead
            would be there, whatever its signal is.
    """
    path = probe.stream.time_fields.get("latest_signal")
    if not path:
        raise UnsettledError
    by_found, by_signal = probe.ranges
    if ignored_bounds(by_found) or ignored_bounds(by_signal):
        raise UnsettledError
    return by_found, by_signal, path


def _signals(page: Answer | None, path: Path) -> dict[str, str]:
    """Return the time of each record's signal; empty where there is none."""
    if page is None:
        return {}
    return dict(
        zip(
            page.keys,
            page.times(path),
            strict=True,
        )
    )


def returns_newest_signal(probe: Probe) -> Found:
    """Does `date_found` return a lead's newest signal?

    It asks for leads that were found a month ago. One of them whose signal is newer
    says yes; one that only `latest_signal` returns for the last month says no.
    """
    by_found, by_signal, path = _both(probe)
    now = probe.api.now
    month = now - _MONTH
    signals = _signals(by_found.between(month - _MONTH, month), path)
    if max(signals.values(), default="") > times.format_instant(month):
        return "yes", {}
    if by_signal.keys(month, now) & signals.keys():
        return "no", {}
    raise TooFewError("no lead that was found a month ago got another signal")


def returns_all_leads(probe: Probe) -> Found:
    """Does `latest_signal` return each lead that `date_found` returns?

    It asks for the leads of a day, and then looks for some of them at the time of their
    signals. A lead that is returned for a later time has got another signal.
    """
    by_found, by_signal, path = _both(probe)
    _, _, page = _found_in_a_day(by_found)
    signals = sorted((time, key) for key, time in _signals(page, path).items())
    step = ceil(len(signals) / _LOOKED_FOR)
    looked_for = signals[::step]
    missing = 0
    for time, key in looked_for:
        if not _has_lead(
            by_signal,
            key,
            time,
        ):
            missing += 1
    return "no" if missing else "yes", {
        "records": missing,
        "all": len(looked_for),
    }


def _has_lead(
    by_signal: Probe,
    key: str,
    time: str,
) -> bool:
    """Return whether `latest_signal` returns a lead when its signal was, or later.

    Args:
        by_signal: The probe of the time range.
        key: What identifies the lead.
        time: The time of its signal; empty if it has none.
    """
    if not time:
        return False
    second = times.parse_instant(time)
    is_there = by_signal.holds(
        key,
        second - 1,
        second + 1,
    )
    return bool(
        is_there
        or by_signal.holds(
            key,
            second,
            by_signal.api.now,
        )
    )


def is_signal_fresh(probe: Probe) -> Found:
    """How old is a signal when its lead is found?

    When a lead was found is known by the day that returns it. A signal that is newer
    than that day has replaced the first one.
    """
    by_found, _, path = _both(probe)
    start, end, page = _found_in_a_day(by_found)
    oldest = 0
    for time in _signals(page, path).values():
        if time and time <= times.format_instant(end):
            oldest = max(oldest, start - times.parse_instant(time))
    lookback = probe.stream.settings.lookback
    case = "yes" if oldest <= lookback else "no"
    return case, {"days": counted(ceil(oldest / DAY) + 1, "day")}


def _found_in_a_day(by_found: Probe) -> tuple[int, int, Answer]:
    """Return the first leads of a day, with its first and last second.

    Raises:
        TooFewError: None of some days has leads.
    """
    for days in _DAYS_AGO:
        end = by_found.api.now - days * DAY
        start = end - DAY
        page = by_found.between(start, end)
        if page and page.keys:
            return start, end, page
    raise TooFewError("no lead was found on the days that were looked at")
