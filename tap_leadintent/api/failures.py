"""Says what to do after each kind of failed request, and explains it.

The two tables, of responses and of exceptions, are the only place that knows kinds of
failures. Other modules ask the error for its actions.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard. The messages of `requests` and urllib3 are not shown, because
they name connection pools and Python objects.
"""

import re
import ssl
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import exceptions
from urllib3 import exceptions as urllib3

from tap_leadintent.api.error_body import describe, text_of
from tap_leadintent.api.limits import LONGEST_WAIT, seconds_to_wait
from tap_leadintent.api.session import TooLargeError
from tap_leadintent.errors import SUPPORT, Action, Reason, StreamError
from tap_leadintent.singer.log import quote, summarize
from tap_leadintent.times import LATEST, format_instant

_ROOT = "check base_url, which is the root of the API without /v1"
_KEY = (
    "set api_key to a valid key (dashboard, Developer -> API Keys), as the API refused "
    "this one"
)
_NO_API = f"{_ROOT}: the API was not found at this address"
_NO_ENDPOINT = "deselect this stream: the API has no {path} for your organization"
_NO_ACCESS = (
    "deselect this stream, or ask for access: this key may not read this endpoint"
)
_REVOKED = (
    "if no stream can be read any more, set api_key to a valid key, else deselect this "
    "stream, or ask for access: the API has accepted this key in this run"
)
_NOT_ALLOWED = (
    "ask for access, or let this machine's address through, as the API refuses this "
    "key or this machine"
)
_REDIRECT = (
    "set base_url to the API itself: this address redirects to {location}, perhaps for "
    "a login, and redirects are not followed"
)
_FIREWALL = (
    "ask who runs the firewall or gateway in front of the API to let this machine "
    "through, or set user_agent: it refuses the request"
)
_FILTERS = "check {filters}: the API does not accept the request"
_FIELDS = (
    "look at Developer -> Request Logs in the dashboard, and ask the API's support: "
    "the API does not accept a request with {fields}"
)
_TOO_LARGE = "lower page_size (now {page_size}): the request is too large for the API"
_PARALLEL = f"set concurrency to 1: the API may refuse parallel requests; {SUPPORT}"
_FEWER = "set max_requests_per_minute, or lower it: the API wants fewer requests"
_OVERLOADED = (
    f"try later: the API, or a gateway in front of it, is down or overloaded; {SUPPORT}"
)
_UNSUPPORTED = f"{_ROOT}, or ask its support: the API does not support this request"
_LOGIN = (
    "open base_url in a browser: a web page came in place of records, such as a login "
    "page; correct base_url, or let this machine through without a login"
)
_SOCKS = "pip install 'requests[socks]', as a SOCKS proxy is set"
_ADDRESS = "check base_url, HTTPS_PROXY and ALL_PROXY: there is no such address"
_PROXY = (
    "check HTTPS_PROXY or ALL_PROXY, with user and password if the proxy needs them, "
    "and NO_PROXY: the proxy does not forward requests"
)
_CERTIFICATE = (
    "check base_url, or set REQUESTS_CA_BUNDLE if your company's proxy signs "
    "certificates: the certificate of {host} is not trusted"
)
_NO_ONE = (
    "check base_url, this machine's network, and the firewalls on the way: {host} "
    "cannot be reached"
)
_LATE = (
    "lower concurrency or page_size, or else raise request_timeout_seconds: the "
    "response of {host} was not complete within {seconds:g} s"
)
_CUT = f"try later, or lower page_size: {{host}} ended its response early; {SUPPORT}"
_NO_TLS = (
    "check the port in base_url, and whether it should begin with http:// (for this "
    "machine only): {host} does not speak TLS"
)

_SECRET_PARTS = re.compile("(?<=//)[^/]*@|[?#].*")
"""What may be secret in the address of a redirect."""

NOTHING = Action(0)
RETRY = Action.RETRY
BUSY = RETRY | Action.PAUSE_ALL
SLOW = RETRY | Action.CUT
DOWN = BUSY | Action.CUT
REFUSED = Action.RESTART | Action.CHANGE_RANGE | Action.CUT
FORBIDDEN = Action.LEAVE_STREAM | Action.CHANGE_RANGE
UNREACHABLE = RETRY | Action.END_RUN

SUCCESS = range(200, 300)
"""The statuses of a page."""

TOO_MANY = {420, 429}
"""The statuses of a rate limit."""

RESPONSES: tuple[tuple[Collection[int], str, Action, str], ...] = (
    (SUCCESS, "html", RETRY, _LOGIN),
    (SUCCESS, "incomplete", SLOW, f"{SUPPORT}: the API says that a page lacks records"),
    (SUCCESS, "after a page", SLOW, f"{SUPPORT}: a response is not a page of records"),
    (SUCCESS, "cut", SLOW, _CUT),
    (SUCCESS, "", SLOW, f"{_ROOT}: the response is not a page of records; {SUPPORT}"),
    ({400, 422}, "filters", REFUSED, _FILTERS),
    ({400, 410, 422}, "", REFUSED, _FIELDS),
    ({401}, "after a page", NOTHING, _REVOKED),
    ({401}, "", NOTHING, _KEY),
    ({403}, "wait", BUSY, _FEWER),
    ({403}, "html", NOTHING, _FIREWALL),
    ({403}, "after a page", FORBIDDEN, _NO_ACCESS),
    ({403}, "", FORBIDDEN, _NOT_ALLOWED),
    ({404}, "after a page", Action.RESTART, _NO_ENDPOINT),
    ({404, 405}, "", Action.RESTART, _NO_API),
    ({409, 423, 425}, "", RETRY | REFUSED, _PARALLEL),
    ({413, 416}, "", Action.CUT, _TOO_LARGE),
    (TOO_MANY, "", BUSY | Action.WAIT_OUT, _FEWER),
    ({501, 505}, "after a page", NOTHING, _NO_ENDPOINT),
    ({501, 505}, "", NOTHING, _UNSUPPORTED),
    ({503}, "", DOWN, _OVERLOADED),
    ({408, 499, *range(500, 1000)}, "", SLOW, _OVERLOADED),
    (range(400), "redirect", NOTHING, _REDIRECT),
    (range(500), "", NOTHING, f"the API refused the request; {SUPPORT}"),
)
"""What to do after a response without a page, and what to advise: by its status, and by
what else is true of it ("wait": a header says for how long the server wants no request;
"after a page": address and key have worked in this run; "cut": its JSON is an object
that ends early; "filters": the setting names some for the stream). The first row that
applies counts. `tests/test_failure_kinds.py` says what each row means for a user."""

EXCEPTIONS: tuple[tuple[Any, Action, str], ...] = (
    (TooLargeError, Action.CUT, "lower page_size: a response is too large"),
    (exceptions.InvalidSchema, Action.END_RUN, _SOCKS),
    ((exceptions.InvalidURL, urllib3.LocationValueError), Action.END_RUN, _ADDRESS),
    (exceptions.ProxyError, UNREACHABLE, _PROXY),
    (ssl.SSLCertVerificationError, Action.END_RUN, _CERTIFICATE),
    ((exceptions.ConnectTimeout, urllib3.NewConnectionError), UNREACHABLE, _NO_ONE),
    ((exceptions.Timeout, urllib3.TimeoutError), SLOW, _LATE),
    ((ConnectionResetError, urllib3.IncompleteRead, ssl.SSLEOFError), SLOW, _CUT),
    (ssl.SSLError, UNREACHABLE, _NO_TLS),
    (Exception, SLOW, f"{SUPPORT}: the request to {{host}} failed"),
)
"""What to do after an exception, and what to advise. The first row counts that holds
for the exception or for one that it wraps."""


def explain_no_response(error: Exception, url: str, seconds: float) -> StreamError:
    """Explain why there is no response.

    Args:
        error: The error that a request raised.
        url: The request's address.
        seconds: The request's timeout.

    Returns:
        The error to raise, without a full stop.
    """
    causes = [*_causes(error)]
    actions, text = next(
        (actions, text)
        for kind, actions, text in EXCEPTIONS
        if any(isinstance(cause, kind) for cause in causes)
    )
    host = summarize(urlsplit(url).netloc)
    # The words of a server or a proxy may hold the key in another encoding.
    why = quote(_reason(causes))
    message = text.format(host=host, seconds=seconds)
    reason = Reason.NO_CONNECTION if Action.END_RUN in actions else Reason.NO_RESPONSE
    return StreamError(message, detail=why, reason=reason, actions=actions)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all errors that it wraps."""
    yield error
    for inner in (*error.args, getattr(error, "reason", None), error.__cause__):
        if isinstance(inner, BaseException):
            yield from _causes(inner)


def _reason(causes: list[BaseException]) -> str:
    """Return the reason that Python or the system gives."""
    for cause in causes:
        if not isinstance(cause, (exceptions.RequestException, urllib3.HTTPError)):
            reason = getattr(cause, "strerror", None) or str(cause)
            return re.sub(r"^\[.*?\] |^_ssl\.c:\d+: | \(_ssl.*", "", reason)
    return "no reason was given"


def explain_no_page(  # noqa: PLR0913 - each may change the advice
    response: requests.Response,
    body: bytes,
    server_time: int | None,
    *,
    sent: Mapping[str, Any],
    filters: str = "",
    problem: str = "",
    is_incomplete: bool = False,
    has_succeeded: bool = False,
) -> StreamError:
    """Explain a response that is not a page of records.

    Args:
        response: The response.
        body: Its complete body.
        server_time: When the request arrived, see `ServerClock.note`.
        sent: The body of the request.
        filters: The name of the setting that adds filters to the request, if any.
        problem: Why the body of a successful response is not a page.
        is_incomplete: Whether the page says that its records are not all.
        has_succeeded: Whether another request of the run has got a page.

    Returns:
        The error to raise.
    """
    text, headers = text_of(body), response.headers
    is_rate_limit = response.status_code in TOO_MANY
    wait = seconds_to_wait(headers, is_rate_limit=is_rate_limit)
    is_true = {
        "": True,
        "after a page": has_succeeded,
        # The words are those of msgspec.
        "cut": text.startswith("{") and "truncated" in problem,
        "filters": bool(filters),
        "html": text.startswith("<"),
        "incomplete": is_incomplete,
        "redirect": "Location" in headers,
        "wait": bool(wait),
    }
    rows = [
        (case, actions, advice)
        for statuses, case, actions, advice in RESPONSES
        if response.status_code in statuses
    ]
    _, actions, advice = next(row for row in rows if is_true[row[0]])
    *_, later = next(row for row in rows if is_true[row[0]] or row[0] == "after a page")
    if Action.RETRY in actions and wait > LONGEST_WAIT:
        until = format_instant(int(min(time.time() + wait, LATEST)))
        actions = Action.END_RUN
        advice = f"run the tap after {until}: the API wants no request until then"
        later = advice
    values = {
        "fields": ", ".join(sent),
        "filters": filters,
        "host": summarize(urlsplit(response.url or "").netloc),
        "location": summarize(_SECRET_PARTS.sub("", headers.get("Location", ""))),
        "page_size": sent.get("cursor", {}).get("limit"),
        "path": urlsplit(response.url or "").path,
    }
    status = f"HTTP {response.status_code} {quote(response.reason or '')}".rstrip()
    words = [quote(problem), describe(text, len(body))]
    return StreamError(
        advice.format_map(values),
        if_others_succeed="" if later == advice else later.format_map(values),
        detail=": ".join(filter(None, [status, *words])),
        status=response.status_code,
        reason=Reason.NOT_A_PAGE if problem else None,
        retry_after=wait,
        server_time=server_time,
        actions=actions,
    )
