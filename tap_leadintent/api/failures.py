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
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import exceptions
from requests.utils import DEFAULT_ACCEPT_ENCODING
from urllib3 import exceptions as urllib3

from tap_leadintent.api.limits import LONGEST_WAIT, seconds_to_wait
from tap_leadintent.api.session import TooLargeError
from tap_leadintent.errors import SUPPORT, Action, Reason, StreamError
from tap_leadintent.singer.log import quote, summarize
from tap_leadintent.times import LATEST, format_instant

_MAX_BYTES = 2**20
"""Bytes of a body that are decoded for a message."""

_ROOT = "check base_url, which is the root of the API without /v1"
_ACCESS = "deselect the stream, or ask for access"
_IF_ALONE = f"if other streams can be read, {_ACCESS}"
_KEY = (
    "the API refused the key; set api_key to a valid key, created in the dashboard "
    f"under Developer -> API Keys; {_IF_ALONE}"
)
_NO_API = f"the API was not found at this address; {_ROOT}; {_IF_ALONE}"
_NO_ACCESS = f"this key may not read this endpoint; {_ACCESS}"
_NO_PAGE = f"this is not a page of records, and redirects are not followed; {_ROOT}"
_FIREWALL = (
    "a firewall or gateway before the API refuses the request; ask who runs it to let "
    "this machine through; user_agent sets what the tap calls itself"
)
_FILTERS = "the API does not accept the request; check filters, or lower page_size"
_TOO_LARGE = "the request or its time range is too large for the API; lower window_days"
_REFUSED = f"the API refused the request; {SUPPORT}"
_PARALLEL = f"the API may refuse parallel requests; lower concurrency; {SUPPORT}"
_FEWER = "the API wants fewer requests; set max_requests_per_minute, or lower it"
_OVERLOADED = (
    "the API, or a gateway before it, is down or overloaded; lower concurrency, or try "
    f"later; {SUPPORT}"
)
_LOGIN = (
    "this is a web page, as of a login or a gateway before the API; open base_url in a "
    f"browser; {_ROOT}, or let this machine through without a login"
)
_ENCODING = (
    "it has an encoding that the tap did not ask for, or that no header names, perhaps "
    f"from a gateway or proxy on the way; {SUPPORT}"
)
_SOCKS = (
    "a SOCKS proxy is set, which needs another package: pip install 'requests[socks]'"
)
_ADDRESS = "there is no such address; check base_url, HTTPS_PROXY and ALL_PROXY"
_PROXY = (
    "the proxy does not forward requests ({why}); check HTTPS_PROXY or ALL_PROXY, with "
    "user and password if the proxy needs them, and NO_PROXY"
)
_CERTIFICATE = (
    "the server's certificate is not trusted ({host}: {why}); check base_url, or set "
    "REQUESTS_CA_BUNDLE if the certificate is your own"
)
_NO_ONE = (
    "{host} cannot be reached ({why}); check base_url, this machine's network, and the "
    "firewalls on the way"
)
_LATE = (
    "the response of {host} was not complete within {seconds:g} s; raise "
    "request_timeout_seconds, or lower page_size or concurrency"
)
_CUT = f"{{host}} ended its response early; {SUPPORT}, or lower page_size"
_NO_TLS = (
    "{host} does not speak TLS ({why}); check the port in base_url, and whether it "
    "should begin with http:// (for this machine only)"
)

NOTHING = Action(0)
RETRY = Action.RETRY
BUSY = RETRY | Action.PAUSE_ALL
SLOW = RETRY | Action.CUT
DOWN = BUSY | Action.CUT
LARGE = Action.CUT | Action.CHANGE_RANGE
GONE = Action.RESTART | Action.CHANGE_RANGE
REFUSED = GONE | Action.CUT
FORBIDDEN = Action.LEAVE_STREAM | Action.CHANGE_RANGE | Action.DESELECT
UNREACHABLE = RETRY | Action.END_RUN

SUCCESS = range(200, 300)
"""The statuses of a page."""

RESPONSES: tuple[tuple[Collection[int], str, Action, str], ...] = (
    (SUCCESS, "encoded", SLOW, _ENCODING),
    ({202}, "", DOWN, f"the API has not answered yet; {SUPPORT}"),
    ({204}, "", Action.TAKE_AS_EMPTY, _NO_PAGE),
    (SUCCESS, "html", RETRY, _LOGIN),
    (SUCCESS, "", SLOW, f"{SUPPORT}, or {_ROOT}"),
    ({400, 422}, "", REFUSED, _FILTERS),
    ({401}, "after a page", NOTHING, _NO_ACCESS),
    ({401}, "", NOTHING, _KEY),
    ({403}, "wait", BUSY, _FEWER),
    ({403}, "html", NOTHING, _FIREWALL),
    ({403}, "", FORBIDDEN, _NO_ACCESS),
    ({404}, "after a page", Action.RESTART, _NO_ACCESS),
    ({404, 405}, "", Action.RESTART, _NO_API),
    ({409}, "", RETRY | REFUSED, _PARALLEL),
    ({410}, "", GONE, _REFUSED),
    ({413, 416}, "", LARGE, _TOO_LARGE),
    ({420}, "", RETRY, _FEWER),
    ({423}, "", RETRY, _PARALLEL),
    ({425}, "", RETRY, _REFUSED),
    ({429}, "", BUSY, _FEWER),
    ({501, 505}, "", NOTHING, _OVERLOADED),
    ({503}, "", DOWN, _OVERLOADED),
    ({408, 499, *range(500, 1000)}, "", SLOW, _OVERLOADED),
    (range(400, 500), "", NOTHING, _REFUSED),
    (range(400), "", NOTHING, _NO_PAGE),
)
"""What to do after a response without a page, and what to advise: by its status, and by
what else is true of it ("wait": a header says for how long the server wants no request;
"after a page": address and key have worked in this run). The first row that applies
counts. `tests/test_failure_kinds.py` says what each row means for a user."""

EXCEPTIONS: tuple[tuple[Any, Action, str], ...] = (
    (TooLargeError, Action.CUT, "the response is larger than {why}; lower page_size"),
    (exceptions.InvalidSchema, Action.END_RUN, _SOCKS),
    ((exceptions.InvalidURL, urllib3.LocationValueError), Action.END_RUN, _ADDRESS),
    (exceptions.ProxyError, UNREACHABLE, _PROXY),
    (ssl.SSLCertVerificationError, Action.END_RUN, _CERTIFICATE),
    ((exceptions.ConnectTimeout, urllib3.NewConnectionError), UNREACHABLE, _NO_ONE),
    ((exceptions.Timeout, urllib3.TimeoutError), SLOW, _LATE),
    ((ConnectionResetError, urllib3.IncompleteRead, ssl.SSLEOFError), SLOW, _CUT),
    (ssl.SSLError, UNREACHABLE, _NO_TLS),
    (Exception, SLOW, f"the request to {{host}} failed ({{why}}); {SUPPORT}"),
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
    message = text.format(host=host, seconds=seconds, why=quote(_reason(causes)))
    is_connected = Action.END_RUN not in actions
    reason = Reason.NO_RESPONSE if is_connected else Reason.NO_CONNECTION
    if isinstance(error, TooLargeError):
        reason = Reason.TOO_LARGE
    return StreamError(message, reason=reason, actions=actions)


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


def explain_no_page(
    response: requests.Response,
    body: bytes,
    server_time: int | None,
    *,
    problem: Exception | None = None,
    has_succeeded: bool = False,
) -> StreamError:
    """Explain a response that is not a page of records.

    Args:
        response: The response.
        body: Its complete body.
        server_time: When the request arrived, see `ServerClock.note`.
        problem: Why the body of a successful response is not a page.
        has_succeeded: Whether another request of the run has got a page.

    Returns:
        The error to raise. Its message says what happened, then what the server says
        about it, shortened, unless that may hold records, and then what to do.
    """
    text = body[:_MAX_BYTES].decode(errors="replace").lstrip("\ufeff \r\n\t")
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    is_encoded = encoding not in f"identity, {DEFAULT_ACCEPT_ENCODING}"
    wait = seconds_to_wait(response.headers)
    is_true = {
        "": True,
        "after a page": has_succeeded,
        "encoded": is_encoded or text.startswith("\x1f"),  # gzip
        "html": text.startswith("<"),
        "wait": wait is not None,
    }
    actions, advice = next(
        (actions, advice)
        for statuses, case, actions, advice in RESPONSES
        if response.status_code in statuses and is_true[case]
    )
    if Action.RETRY in actions and (wait or 0) > LONGEST_WAIT:
        until = format_instant(int(min(time.time() + (wait or 0), LATEST)))
        actions = Action.END_RUN
        advice = f"the API wants no request until {until}; run the tap after that"
    what = f"HTTP {response.status_code} {quote(response.reason or '')}".rstrip()
    if problem:
        what = f"the response is not a page of records ({quote(problem)})"
    # What is neither about an error nor HTML may hold records.
    is_data = problem and not is_true["html"]
    words = "" if is_data else quote(text)
    return StreamError(
        f"{what}: {words and f'{words}; '}{advice}",
        status=response.status_code,
        reason=Reason.NOT_A_PAGE if problem else None,
        retry_after=wait,
        server_time=server_time,
        actions=actions,
    )
