"""Checks the settings before the first request."""

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tap_leadintent.config.names import name_problems
from tap_leadintent.singer import checks
from tap_leadintent.times import EARLIEST, LATEST, parse_instant


def _date_problems(config: Mapping[str, Any]) -> Iterator[str]:
    dates: dict[str, int] = {}
    for name in sorted(config.keys() & {"start_date", "end_date"}):
        try:
            dates[name] = parse_instant(config[name])
        except ValueError:
            problem = f"{config[name]!r} is not a date or date-time, such as 2026-01-31"
            yield f"{name}: {problem}"
    # Up to a day ahead is accepted: in some time zones it is tomorrow already.
    latest = min(dates.get("end_date", LATEST), time.time() + 86_400)
    if dates.get("start_date", EARLIEST) > latest:
        yield "start_date: comes after end_date, or lies in the future"
    if "recheck_days" in config and "start_date" not in config:
        yield "recheck_days: needs start_date; without it no part can be read again"


validate = partial(checks.validate, checks=(_date_problems, name_problems))
"""Checks a configuration and fills in the defaults; see `checks.validate`."""
