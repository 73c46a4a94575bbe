"""Answers the questions of `questions.toml`, each in a function of its name.

`ranges.py` has those about time ranges.

A function takes a probe, and returns the case and the values for its text; those that
are named like a setting are suggested. It raises an `UnsettledError` where the question
cannot be settled, without a reason where it makes no sense.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator

from tap_leadintent import openapi, times
from tap_leadintent.checkup.probe import (
    DAY,
    PAGE,
    Answer,
    Path,
    Probe,
    TooFewError,
    UnsettledError,
)
from tap_leadintent.errors import StreamError
from tap_leadintent.singer.log import redact

Found = tuple[str, dict[str, Any]]
"""The case that a question has found, and the values for its text."""

_SAFE_NAME = re.compile(r"[A-Za-z_][\w-]{0,62}(\.[A-Za-z_][\w-]{0,62})?", re.ASCII)
_is_type = Draft202012Validator.TYPE_CHECKER.is_type
_FEW = 3
"""Fewer records have no order."""

_SKEW = 60
"""Seconds of clocks that do not matter."""

LONG_LIST = 11
"""Pages of a list that likely has no end at a round number."""

_DAYS_BACK = (60, 180, 365)
"""How long ago the months begin that a list is compared with."""


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


def _walk(
    fields: Mapping[str, Any], inside: str | None = None
) -> Iterator[tuple[Path, Any]]:
    """Yield the fields of a record or a schema, and those within them, by path.

    Args:
        fields: The fields by name.
        inside: The key of the inner fields, None if a field holds them itself.
    """
    for name, value in fields.items():
        yield (name,), value
        within = value.get(inside, {}) if inside else value
        for each in within if isinstance(within, dict) else ():
            yield (name, each), within[each]


def time_paths(page: Answer) -> list[Path]:
    """Return the paths of the fields that hold a time in all records of a page."""
    first = page.records[0] if page.records else {}
    return [path for path, _ in _walk(first) if all(page.times(path))]


def may_read(probe: Probe) -> Found:
    """May the key read the endpoint?"""
    try:
        return "yes", {"seconds": round(probe.pages()[0].seconds, 3)}
    except StreamError as error:
        return "no", {"reason": explain(error)}


def is_clock_right(probe: Probe) -> Found:
    """Is the server's clock right?"""
    if (ahead := probe.api.ahead) is None:
        raise UnsettledError("responses have no Date header")
    return "yes" if abs(ahead) <= _SKEW else "no", {"seconds": abs(ahead)}


def speaks_of_limits(probe: Probe) -> Found:
    """Which headers speak of limits, and were requests refused?"""
    headers = {name.lower() for each in probe.api.heard for name in each.headers}
    limits = names(n for n in headers if "limit" in n or n == "retry-after") or "none"
    refused = [each.status_code for each in probe.api.heard].count(429)
    return "refused" if refused else "yes", {"names": limits, "records": refused}


def _first_page(probe: Probe) -> Answer:
    if len((first := probe.pages()[0]).keys) < _FEW:
        raise TooFewError(f"there are fewer than {_FEW} records")
    return first


def keeps_order(probe: Probe) -> Found:
    """Does the same request give the same order, and which one?"""
    first = _first_page(probe)
    again = probe.ask(probe.list_fields, limit=PAGE - 1).keys
    # A new record may have come between the two requests.
    in_both = {*first.keys}.intersection(again)
    orders = [[k for k in keys if k in in_both] for keys in (first.keys, again)]
    if orders[0] != orders[1]:
        return "no", {}
    for path in time_paths(first):
        at = first.times(path)
        if at[0] != at[-1] and sorted(at) in (at, at[::-1]):
            order = "oldest" if at[0] < at[-1] else "newest"
            return "yes", {"order": f"{order} first by {names(['.'.join(path)])}"}
    return "yes", {"order": "not sorted by a time of the records"}


def do_pages_follow(probe: Probe) -> Found:
    """Do three pages follow one another without repetition?"""
    first = _first_page(probe)
    pages = probe.pages(3, PAGE if first.page.has_more else len(first.keys) // 3)
    if (last := pages[-1].page.cursor).has_more and not last.next:
        return "no_cursor", {}
    on_pages = Counter(key for page in pages for key in {*page.keys})
    repeated = on_pages.total() - len(on_pages)
    return "repeated" if repeated else "yes", {"records": repeated}


def are_pages_full(probe: Probe) -> Found:
    """How many records does a full page hold?"""
    full = max(len(each.keys) * each.page.has_more for each in probe.pages(3))
    if not full:
        raise TooFewError("all records are on one page")
    lower = full if probe.stream.config["page_size"] > full else None
    return "yes" if full >= PAGE else "no", {"records": full, "page_size": lower}


def obeys_limit(probe: Probe) -> Found:
    """Does a page hold at most as many records as were asked for?

    Other questions ask for pages of several sizes. If no page is larger than its limit,
    and one has as many records, it is obeyed.
    """
    _first_page(probe)
    longest = 0
    is_full = False
    for answer in probe.known:
        if len(answer.keys) > answer.limit:
            longest = max(longest, len(answer.keys))
        is_full |= len(answer.keys) == answer.limit
    if longest:
        return "no", {"records": longest}
    if not is_full:
        raise UnsettledError("each page holds fewer records than were asked for")
    return "yes", {}


def is_list_complete(probe: Probe) -> Found:
    """Is a list without a range as long as its ranges say?

    It is compared with months that lie further and further back.
    """
    pages = probe.pages(LONG_LIST)
    if pages[-1].page.has_more:
        raise UnsettledError(f"it has more than {LONG_LIST} pages")
    listed = set[str]()
    for page in pages:
        listed.update(page.keys)
    for days in _DAYS_BACK:
        start = probe.api.now - days * DAY
        for key in probe.ranges[0].keys(start, start + 29 * DAY):
            if key not in listed:
                is_round = listed and len(listed) % 50 == 0
                return "capped" if is_round else "no", {"records": len(listed)}
    return "yes", {}


def _compare(probe: Probe, what: str) -> Found:
    """Compare the fields of all records with those that are documented."""
    seen = defaultdict[Path, list[Any]](list)
    for record in probe.records.values():
        for path, value in _walk(record):
            seen[path] += [] if value is None else [value]
    if not seen:
        raise TooFewError("there are no records")
    known = dict(_walk(openapi.record_fields(probe.stream.name), "properties"))
    objects = {path[:-1] for path in known} | {()}
    others = {
        "new": {path for path in seen.keys() - known if path[:-1] in objects},
        "absent": known.keys() - seen,
        "type": {
            path
            for path in known.keys() & seen.keys()
            if not all(_is_type(value, known[path]["type"]) for value in seen[path])
        },
    }[what]
    is_gap = what == "new" and not openapi.is_documented(probe.stream.name)
    case = "undocumented" if is_gap else "yes"
    return case if others else "no", {"names": names(map(".".join, others))}


has_new_fields = partial(_compare, what="new")
lacks_fields = partial(_compare, what="absent")
has_other_types = partial(_compare, what="type")


def are_keys_unique(probe: Probe) -> Found:
    """Does each record have an `id`, once on a page, and in one sheet?"""
    records = [record for page in probe.known for record in page.records]
    without = sum("id" not in record for record in probe.records.values())
    if without and openapi.is_documented(probe.stream.name):
        return "no_id", {"records": without}
    sheets = {(str(r.get("id")), str(r["sheet"])) for r in records if r.get("sheet")}
    if several := len(sheets) - len({key for key, _ in sheets}):
        return "sheets", {"records": several}
    again = max((len(page.keys) - len({*page.keys}) for page in probe.known), default=0)
    return "no" if again else "yes", {"records": again}


def has_times(probe: Probe) -> Found:
    """Do all records have the time of their range?"""
    [(name, path)] = probe.stream.time_fields.items()
    at = [times.time_at(path, record) for record in probe.records.values()]
    found = {"records": at.count(None), "all": len(at), "names": ".".join(path)}
    return "yes" if all(at) else "no", {**found, "range": name}


def has_other_fields(probe: Probe) -> Found:
    """Which fields does the envelope have beside `data` and `cursor`?"""
    others = names(name for each in probe.known for name in each.page.other_fields)
    return "yes" if others else "no", {"names": others}
