"""Answers the questions about access, pages and lists of `questions.toml`.

Each is a function of its name there. `ranges.py` has those about time ranges,
`signals.py` those about the signals of leads, and `fields.py` those about fields.

A function takes a probe, and returns the case and the values for its text; those that
are named like a setting are suggested. It raises an `UnsettledError` where the question
cannot be settled, without a reason where it makes no sense.
"""

import re
from collections import Counter
from collections.abc import Set as AbstractSet
from itertools import pairwise

from tap_leadintent.checkup.probe import (
    DAY,
    PAGE,
    ROUND,
    Answer,
    Found,
    Path,
    Probe,
    TooFewError,
    UnsettledError,
)
from tap_leadintent.checkup.ranges import ignored_bounds
from tap_leadintent.checkup.wording import explain, is_safe, names
from tap_leadintent.errors import StreamError
from tap_leadintent.words import counted

_FEW = 3
"""Fewer records have no order."""

_SKEW = 60
"""Seconds of clocks that do not matter."""

LONG_LIST = 11
"""Pages of a list that likely has no end at a round number."""

_DAYS_BACK = (30, 60, 180, 365)
"""How long ago the months begin that a list is compared with."""

_NO_RIGHT = {401, 403}

_TOO_MANY = 429

_LIMIT_VALUE = re.compile(r"\d{1,9}(;\s*w=\d{1,9})?", re.ASCII)
"""The value of a header that names a limit, with its window of seconds."""


def may_read(probe: Probe) -> Found:
    """May the key read the endpoint?"""
    try:
        probe.pages()
    except StreamError as error:
        case = "no_right" if error.status in _NO_RIGHT else "fails"
        return case, {"reason": explain(error)}
    return "yes", {}


def accepts_limit(probe: Probe) -> Found:
    """May a request ask for 100 records? Smaller limits are tried if it may not."""
    most = probe.api.limit
    if most == PAGE:
        return "yes", {}
    is_refused = probe.stream.settings.page_size > most
    return "no", {
        "records": most,
        "page_size": most if is_refused else None,
    }


def is_clock_right(probe: Probe) -> Found:
    """Is the server's clock right?"""
    ahead = probe.api.ahead
    if ahead is None:
        raise UnsettledError("responses have no Date header")
    case = "yes" if abs(ahead) <= _SKEW else "no"
    return case, {"seconds": abs(ahead)}


def speaks_of_limits(probe: Probe) -> Found:
    """Which limits do the headers name, and were requests refused?"""
    values = dict[str, str]()
    refused = 0
    for response in probe.api.heard:
        refused += response.status_code == _TOO_MANY
        for name, value in response.headers.items():
            values[name.lower()] = value
    limits = list[str]()
    unusual = list[str]()
    for name, value in sorted(values.items()):
        if "limit" not in name and name != "retry-after":
            continue
        if not is_safe(name):
            unusual.append(name)
        elif _LIMIT_VALUE.fullmatch(value) and name.endswith(("limit", "policy")):
            limits.append(f"{name} ({value})")
        else:
            limits.append(name)
    if unusual:
        limits.append(names(unusual))
    case = "refused" if refused else "yes"
    requests = counted(refused, "request")
    return case, {
        "names": ", ".join(limits) or "none",
        "records": requests,
    }


def first_page(probe: Probe) -> Answer:
    """Return the first page of the list.

    Raises:
        TooFewError: It has too few records to tell anything.
    """
    first = probe.pages()[0]
    if len(first.keys) < _FEW:
        raise TooFewError(f"there are fewer than {_FEW} records")
    return first


def keeps_order(probe: Probe) -> Found:
    """Does the same request give the same order, and which one?"""
    first = first_page(probe)
    again = probe.ask(probe.list_fields, limit=first.limit - 1)
    # A new record may have come between the two requests.
    in_both = {*first.keys}.intersection(again.keys)
    order = [key for key in first.keys if key in in_both]
    order_again = [key for key in again.keys if key in in_both]
    if order != order_again:
        return "no", {}
    for path in first.time_paths:
        sorting = _sorting(first, path)
        if sorting:
            return "yes", {"order": f"{sorting} first by {names(['.'.join(path)])}"}
    return "yes", {"order": "not sorted by a time of the records"}


def _sorting(page: Answer, path: Path) -> str:
    """Return whether records are sorted by a field: "oldest", "newest" or empty."""
    at = page.times(path)
    ascending = sorted(at)
    if ascending[0] == ascending[-1]:
        return ""
    if at == ascending:
        return "oldest"
    ascending.reverse()
    return "newest" if at == ascending else ""


def do_pages_follow(probe: Probe) -> Found:
    """Do three pages follow one another without repetition?"""
    first = first_page(probe)
    limit = first.limit if first.page.has_more else len(first.keys) // 3
    pages = probe.pages(3, limit)
    last = pages[-1].page.cursor
    if last.has_more and not last.next:
        return "no_cursor", {}
    on_pages = Counter[str]()
    for page in pages:
        on_pages.update({*page.keys})
    repeated = on_pages.total() - len(on_pages)
    return "repeated" if repeated else "yes", {"records": repeated}


def are_pages_full(probe: Probe) -> Found:
    """How many records does a full page hold?"""
    if probe.api.limit < PAGE:
        raise UnsettledError
    full = 0
    pages = probe.pages(3)
    for page, following in pairwise(pages):
        if following.keys:
            full = max(full, len(page.keys))
    if not full:
        raise TooFewError("all records are on one page")
    is_smaller = probe.stream.settings.page_size > full
    found = {
        "records": full,
        "page_size": full if is_smaller else None,
    }
    return "yes" if full >= PAGE else "no", found


def says_last_page(probe: Probe) -> Found:
    """Does the last page say that no page follows?

    It asks for the page after the shortest one that promises more.
    """
    shortest: Answer | None = None
    for answer in probe.known:
        if answer.keys and (not shortest or len(answer.keys) < len(shortest.keys)):
            shortest = answer
    if not shortest:
        raise TooFewError("there are no records")
    if not shortest.page.has_more:
        return "yes", {}
    following = probe.after(shortest)
    if not following or following.keys:
        raise TooFewError("no query has ended")
    return "no", {}


def obeys_limit(probe: Probe) -> Found:
    """Does a page hold at most as many records as were asked for?

    Other questions ask for pages of several sizes. If no page is larger than its limit,
    and one has as many records, it is obeyed.
    """
    first_page(probe)
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
    """Is a list without a range as long as its ranges say?"""
    if ignored_bounds(probe.ranges[0]):
        # What the range returns says nothing about the list.
        raise UnsettledError
    pages = probe.pages(LONG_LIST)
    if pages[-1].page.has_more:
        raise UnsettledError(f"it has more than {LONG_LIST} pages")
    listed = set[str]()
    for page in pages:
        listed.update(page.keys)
    if not lacks_records(probe, listed):
        return "yes", {}
    is_round = listed and len(listed) % ROUND == 0
    return "capped" if is_round else "no", {"records": len(listed)}


def lacks_records(
    probe: Probe,
    listed: AbstractSet[str],
    since: int = 0,
) -> bool:
    """Return whether a list lacks records that the first time range returns.

    It is compared with months that lie further and further back.

    Args:
        probe: The probe of the stream.
        listed: What identifies the records of the list.
        since: When the list begins, in UTC seconds since 1970.
    """
    for days in _DAYS_BACK:
        start = probe.api.now - days * DAY
        if start < since:
            break
        page = probe.ranges[0].between(start, start + 29 * DAY)
        if page is None:
            # What lies further back may be refused, too.
            break
        if not {*page.keys} <= listed:
            return True
    return False
