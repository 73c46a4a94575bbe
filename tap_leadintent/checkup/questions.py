"""Answers the questions of `questions.toml`, each in a function of its name.

`ranges.py` has those about time ranges.

A function takes a probe, and returns the case and the values for its text; those that
are named like a setting are suggested. It returns None where the question makes no
sense, and raises an `UnsettledError` where it cannot be settled.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any

from genson import SchemaBuilder

from tap_leadintent import openapi, times
from tap_leadintent.checkup.probe import (
    DAY,
    PAGE,
    Found,
    Probe,
    UnsettledError,
    time_paths,
)
from tap_leadintent.errors import StreamError
from tap_leadintent.singer.log import redact

_SAFE_NAME = re.compile(r"[A-Za-z_][\w-]{0,62}(\.[A-Za-z_][\w-]{0,62})?", re.ASCII)
_FEW, _SKEW, _CAP_PAGES = 3, 60, 12
"""Records that have no order, seconds of clocks that do not matter, and pages of a long
list."""


def names(fields: Iterable[str]) -> str:
    """Write names of fields; what may be a value or a key is only counted."""
    unique = {*fields}
    shown = {n for n in unique if _SAFE_NAME.fullmatch(n) and redact(n) == n}
    hidden = len(unique - shown)
    return ", ".join([*sorted(shown), *[f"{hidden} with unusual names"][:hidden]])


def explain(error: StreamError | UnsettledError) -> str:
    """Return why a question has no answer, without the words of the server."""
    if isinstance(error, UnsettledError):
        return str(error)
    return f"HTTP {error.status}" if error.status else f"{error.reason}"


def may_read(probe: Probe) -> Found:
    """May the key read the endpoint?"""
    try:
        return "yes", {"seconds": round(probe.pages()[0].seconds, 3)}
    except StreamError as error:
        return "no", {"reason": explain(error)}


def is_clock_right(probe: Probe) -> Found:
    """Is the server's clock right?"""
    _, ahead = probe.api.heard[0]
    if ahead is None:
        raise UnsettledError("responses have no Date header")
    return "yes" if abs(ahead) <= _SKEW else "no", {"seconds": round(abs(ahead))}


def speaks_of_limits(probe: Probe) -> Found:
    """Which headers speak of limits, and were requests refused?"""
    headers = {name.lower() for each, _ in probe.api.heard for name in each.headers}
    limits = names(n for n in headers if "limit" in n or n == "retry-after") or "none"
    refused = [each.status_code for each, _ in probe.api.heard].count(429)
    return "refused" if refused else "yes", {"names": limits, "records": refused}


def keeps_order(probe: Probe) -> Found:
    """Does the same request give the same order, and which one?"""
    first, again = probe.pages()[0], probe.ask(probe.list_fields, limit=PAGE - 1).keys
    if len(first.keys) < _FEW:
        raise UnsettledError(f"there are fewer than {_FEW} records")
    common = [key for key in first.keys if key in again]
    if common != [key for key in again if key in common] or not common:
        return "no", {}
    for path in time_paths(first):
        at = [each or "" for each in first.times(path)]
        for order, values in (("newest", at[::-1]), ("oldest", at)):
            if at[0] != at[-1] and all(a <= b for a, b in pairwise(values)):
                return "yes", {"order": f"{order} first by {names(['.'.join(path)])}"}
    return "yes", {"order": "by no time that they show"}


def do_pages_follow(probe: Probe) -> Found:
    """Do three pages follow one another without repetition?"""
    (first,) = probe.pages()
    if len(first.keys) < _FEW:
        raise UnsettledError(f"there are fewer than {_FEW} records")
    pages = probe.pages(3, PAGE if first.page.cursor.has_more else len(first.keys) // 3)
    if (last := pages[-1].page.cursor).has_more and not last.next:
        return "no_cursor", {}
    repeated = sum(Counter(key for page in pages for key in {*page.keys}).values())
    repeated -= len({key for page in pages for key in page.keys})
    return "repeated" if repeated else "yes", {"records": repeated}


def are_pages_full(probe: Probe) -> Found:
    """How many records does a full page hold?"""
    full = max(len(each.keys) * each.page.cursor.has_more for each in probe.pages(3))
    if not full:
        raise UnsettledError("all records are on one page")
    lower = full if probe.stream.config["page_size"] > full else None
    return "yes" if full >= PAGE else "no", {"records": full, "page_size": lower}


def is_short(probe: Probe, pages: int) -> bool:
    """Return whether a time range returns records that a complete list lacks."""
    listed = {key for page in probe.pages(pages) for key in page.keys}
    return any(
        not listed.issuperset(
            probe.ranges[0].keys(*(probe.api.now - n * DAY for n in ago))
        )
        for ago in ((60, 31), (365, 180))
    )


def is_list_complete(probe: Probe) -> Found | None:
    """Is a list without a range as long as its ranges say?"""
    if not probe.ranges or probe.list_fields:
        return None
    if probe.pages(3)[-1].page.cursor.has_more:
        raise UnsettledError("it has more than three pages")
    return "no" if is_short(probe, 3) else "yes", {}


def ends_early(probe: Probe) -> Found:
    """Does a query end at a round number of records?"""
    pages = probe.pages(_CAP_PAGES)
    keys = [key for page in pages for key in page.keys]
    if len({*keys}) < len(keys) * 2 / 3:
        return "begins_again", {}
    is_round = keys and len(keys) % 50 == 0 and not pages[-1].page.cursor.has_more
    is_capped = is_round and probe.ranges and is_short(probe, _CAP_PAGES)
    return "yes" if is_capped else "no", {"records": len(keys)}


def returns_newest_signal(probe: Probe) -> Found | None:
    """Does `date_found` return a lead's newest signal?"""
    if not (path := probe.stream.time_fields.get("latest_signal")):
        return None
    by_found, by_signal = probe.ranges
    (_, latest), month = by_signal.sample, probe.api.now - 30 * DAY
    found = by_found.between(month - 30 * DAY, month)
    newest = dict(zip(latest.keys, latest.times(path), strict=True))
    pairs = [*zip(found.keys, found.times(path), strict=True)] if found else []
    if any((at or "") > times.format_instant(month) for _, at in pairs):
        return "yes", {}
    if any((at or "") < (newest.get(key) or "") for key, at in pairs):
        return "no", {}
    raise UnsettledError("no lead that was found a month ago got another signal")


def _types(
    schema: dict[str, Any], above: tuple[str, ...] = ()
) -> dict[tuple[str, ...], set[str]]:
    """Return the types of each field, and of the fields within it, by path."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name, each in schema.get("properties", {}).items():
        kinds = each.get("type", ["several types"])
        kinds = {kinds} if isinstance(kinds, str) else {*kinds}
        path = (*above, name)
        found[path] = {"number" if kind == "integer" else kind for kind in kinds}
        found |= {} if above else _types(each, path)
    return found


def _compare(probe: Probe, what: str) -> Found:
    """Compare the fields of all records with those that are documented."""
    builder = SchemaBuilder()
    for record in probe.records.values():
        builder.add_object(record)
    if not (seen := _types(builder.to_schema())):
        raise UnsettledError("there are no records")
    known = _types({"properties": openapi.record_fields(probe.stream.name)})
    objects = {(), *(path[:-1] for path in known)}
    others = {
        "new": {path for path in seen.keys() - known if path[:-1] in objects},
        "absent": known.keys() - seen,
        "type": {p for p in seen.keys() & known if seen[p] - known[p] - {"null"}},
    }[what]
    documented = openapi.is_documented(probe.stream.name) or what != "new"
    case = "yes" if documented else "undocumented"
    return case if others else "no", {"names": names(map(".".join, others))}


has_new_fields = partial(_compare, what="new")
lacks_fields = partial(_compare, what="absent")
has_other_types = partial(_compare, what="type")


def are_keys_unique(probe: Probe) -> Found:
    """Does each record have an `id`, once on a page, and in one sheet?"""
    without = sum("id" not in record for record in probe.records.values())
    if without and openapi.is_documented(probe.stream.name):
        return "no_id", {"records": without}
    records = [record for page in probe.known for record in page.records]
    sheets = {(str(r.get("id")), str(r["sheet"])) for r in records if r.get("sheet")}
    several = sum(n > 1 for n in Counter(key for key, _ in sheets).values())
    again = max((len(page.keys) - len({*page.keys}) for page in probe.known), default=0)
    case = "no" if again else "yes"
    return "sheets" if several else case, {"records": several or again}


def has_times(probe: Probe) -> Found | None:
    """Do all records have the time of their range?"""
    for name, path in probe.stream.time_fields.items():
        at = [times.time_at(path, record) for record in probe.records.values()]
        found = {"records": at.count(None), "all": len(at), "names": ".".join(path)}
        return "yes" if all(at) else "no", {**found, "range": name}
    return None


def has_other_fields(probe: Probe) -> Found:
    """Which fields does the envelope have beside `data` and `cursor`?"""
    others = names(name for each in probe.known for name in each.page.other_fields)
    return "yes" if others else "no", {"names": others}
