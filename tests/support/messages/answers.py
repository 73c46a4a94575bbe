"""What is said of answers of the API that are odd, and of what lies in them."""

from __future__ import annotations

import json
from typing import Any

from tests.support.helpers import only
from tests.support.messages.kinds import (
    LATER,
    REPORT,
    failed,
    gave_up,
    refused,
    warning,
)


def _page(*records: Any) -> tuple[dict[str, Any], ...]:
    cursor = {"next": "", "has_more": False}
    return ({"kind": "body", "body": {"data": records, "cursor": cursor}},)


def _numbered(number: str) -> tuple[dict[str, Any], ...]:
    """Let the API answer with a number as it is written."""
    (fault,) = _page({"id": "a", "score": "NUMBER"})
    text = json.dumps(fault["body"]).replace('"NUMBER"', f'{{"value": {number}}}')
    return ({**fault, "body": text},)


ANSWERS = (
    refused(
        402,
        "the organization's plan does not include this; ask its administrator",
        "The API knows the key, and the plan lacks this endpoint.",
        "Deselect the stream, or change the plan.",
    ),
    refused(
        405,
        "the address does not accept POST requests; check base_url",
        "Another server than the API answers.",
        "Correct `base_url`.",
    ),
    refused(
        501,
        "the address does not accept POST requests; check base_url",
        "Another server than the API answers.",
        "Correct `base_url`.",
    ),
    refused(
        413,
        "the request is too large for the API; shorten the lists in filters",
        "The request's body is longer than the API takes.",
        "Shorten the lists in `filters`, or divide them among several extractors.",
    ),
    failed(
        "HTTP 422 …: the API does not accept the request: … (date_found was asked for in windows of an hour at most; if that is too wide, lower window_days)",
        "The API refused the first page of a time range, and narrower ones too, down to an hour.",
        "Read the server's own words at the end of the message. If they ask for narrower ranges, lower `window_days`; if not, check `filters` and `start_date`.",
        config={"start_date": "2025-01-01"},
        faults=({"kind": "status", "status": 422},),
    ),
    warning(
        "leads: The API refused a window of date_found, so narrower ones are tried, down to an hour; set window_days to the most days that it allows: …",
        "The API may not allow time ranges that are so wide.",
        "Nothing needs to be done. `window_days` saves the requests that are refused.",
        config={"start_date": "2025-01-01"},
        faults=({"kind": "status", "status": 413, "times": 1},),
    ),
    refused(
        415,
        "the address does not accept JSON; check base_url",
        "Another server than the API answers.",
        "Correct `base_url`.",
    ),
    refused(
        418,
        "the API refused the request; if it goes on, ask the API's support",
        "The API refused for a reason of its own.",
        "Read the server's own words at the end of the message.",
    ),
    refused(
        206,
        "this status is not expected; check base_url, which is the root of the API without /v1",
        "The API does not answer with such a status; another server may.",
        "Correct `base_url`.",
    ),
    gave_up(
        "HTTP 408 …: the request did not reach the API in time; if it goes on, ask the API's support: …",
        faults=({"kind": "status", "status": 408},),
        cause="The connection to the API is slow, or a gateway before it is.",
        cure=LATER,
    ),
    gave_up(
        "the response is not a page of records but empty; check base_url, which is the root of the API without /v1…",
        faults=({"kind": "empty_body"},),
        cause="The response is empty: something other than the API answers.",
        cure="Correct `base_url`.",
    ),
    gave_up(
        "the response is not a page of records but invalid JSON (…); if it goes on, ask the API's support, or check base_url, which is the root of the API without /v1: …",
        faults=({"kind": "truncate"},),
        cause="The answer is cut off, or is not valid JSON.",
        cure=LATER,
    ),
    gave_up(
        "… broke off its answer; if it goes on, ask the API's support, or lower page_size",
        faults=({"kind": "drop"},),
        cause="The server, or a proxy before it, closed the connection before or in the middle of an answer.",
        cure="Lower `page_size` if it happens with large pages only. If it happens each time, check whether `base_url` should begin with https or http, and firewalls on the way.",
    ),
    gave_up(
        "the answer of … did not arrive whole within 0.5 s; raise request_timeout_seconds, or lower page_size or concurrency",
        config={"request_timeout_seconds": 0.5},
        faults=({"kind": "drip", "bytes": 1, "seconds": 0.02},),
        cause="The API is slower than `request_timeout_seconds` allows, or its answer arrives too slowly.",
        cure="Raise `request_timeout_seconds`, or ask for less at once.",
    ),
    failed(
        "page 1 says has_more but carries no next cursor; the stream stops rather than miss records. Report it to the API's support.",
        "The API says that there are more pages, but gives no cursor to them.",
        REPORT,
        faults=({"kind": "no_next"},),
    ),
    failed(
        "page … repeats a cursor that this chain has followed before; the stream stops rather than miss records. Report it to the API's support.",
        "The API's cursors lead back to a page that was read before.",
        REPORT,
        config={"page_size": 1},
        faults=({"kind": "cycle"},),
    ),
    failed(
        "…the API returns the same records for different time ranges of date_found; it seems to ignore the range. The stream stops rather than read everything once for each window. Report it to the API's support.",
        "The API ignores the time range that it is asked for.",
        REPORT,
        config={
            "start_date": "2025-01-01",
            "end_date": "2025-05-01",
            "window_days": 10,
            "page_size": 2,
        },
        faults=({"kind": "ignore_range"},),
    ),
    failed(
        "page 1: …no record of the page has id, which is part of the stream's key (id); choose key-properties that every record has",
        "No record of the page has a value in a key column, so rows could not be told apart.",
        "Choose `key-properties` that every record has, or ask the vendor.",
        faults=_page({"name": "A"}),
    ),
    warning(
        "leads: The API refused a cursor; the window is read again: …",
        "A cursor expired while its chain was read.",
        "Nothing needs to be done. If it happens often, set `window_days` lower.",
        config={"page_size": 1},
        faults=({"kind": "expire_cursor", "times": 1},),
    ),
    warning(
        "leads: The API has sent … empty pages in a row, each with the promise of another; if the run does not end, report it to the API's support",
        "The API goes on sending empty pages that say that there are more.",
        REPORT,
        seen_by="test_empty_pages_without_end_get_a_warning",
    ),
    warning(
        "leads: A record held U+0000 or a lone surrogate, which became U+FFFD",
        "PostgreSQL and others refuse these characters.",
        "Nothing needs to be done.",
        faults=_page({"id": "a", "title": "\0"}),
    ),
    warning(
        "leads: A record held NaN or an infinity, which became null",
        "The API sent a number that is not valid JSON.",
        "Nothing needs to be done.",
        faults=_numbered("NaN"),
    ),
    warning(
        "leads: A record held a number that no warehouse can hold, which became its text",
        "The number has thousands of digits.",
        "Nothing needs to be done; it is in `additional_properties`, as text.",
        faults=_numbered("1e5000"),
    ),
    warning(
        "leads: Values contradict the types of their columns; additional_properties has them, where it is selected: …",
        "The API sent a field in another type than its description says.",
        "Nothing needs to be done; read the value there. Tell the vendor.",
        faults=_page({"id": "a", "title": 5}),
    ),
    warning(
        "leads: 1 field is only in additional_properties: 'revenue'; a column can be added in the catalog (`schema` in meltano.yml)",
        "The API sends a field that its description does not show.",
        "Nothing needs to be done; Meltano's `schema` extra makes it a column.",
        faults=_page({"id": "a", "revenue": 5}),
    ),
    warning(
        "monitored_accounts: A record has no id, so its key is made from all its content: when it changes, it becomes another row",
        "Without an `id`, a row's key can only be made from all its content.",
        "Choose `key-properties` in the metadata if the record has other fields that name it.",
        catalog=lambda: only("monitored_accounts"),
        faults=_page({"name": "A"}),
    ),
    warning(
        "custom_signals: HTTP 403 …; it is deselected, and its columns are not inferred",
        "The key may not read a stream whose columns discovery was to infer.",
        "Nothing needs to be done; ask for access if you want the stream.",
        catalog=None,
        arguments=("--discover",),
        config={"infer_columns": True},
        faults=({"kind": "status", "status": 403},),
    ),
    warning(
        "custom_signals: Fields whose names some warehouses refuse or confuse stay in additional_properties: …",
        "Two names differ in case alone, or one is longer than 63 bytes.",
        "Nothing needs to be done.",
        catalog=None,
        arguments=("--discover",),
        config={"infer_columns": True},
        faults=_page({"id": "a", "Name": "A", "name": "A"}),
    ),
    warning(
        "leads: ok, but there is no record to read",
        "The stream can be read, and is empty.",
        "Check `filters` if there should be records.",
        level="INFO",
        arguments=("--test",),
        faults=_page(),
    ),
)
