"""Says what to do after each kind of failed request.

The two tables, of responses and of exceptions, are the only place that knows kinds of
failures. `explanations.py` finds the row of a failure; other modules ask the error for
its actions.

API description: "Errors". It shows no status codes and no error bodies, so this module
follows the HTTP standard.
"""

import ssl
from collections.abc import Collection
from http.client import IncompleteRead
from typing import Any, TypeAlias

from requests import exceptions
from urllib3 import exceptions as urllib3

from tap_leadintent.api.session import TooLargeError
from tap_leadintent.errors import SUPPORT, Action

_ROOT = "check base_url, which is the root of the API without /v1"
_KEY = (
    "set api_key to a valid key (dashboard, Developer -> API Keys), as the API refused "
    "this one"
)
_NO_API = f"{_ROOT}: the API was not found at this address"
_EMPTY = f"{_ROOT}, as the response is empty; {SUPPORT}"
_NO_ENDPOINT = "deselect this stream: the API has no {path} for your organization"
_NO_ACCESS = (
    "deselect this stream, or ask for access: this key may not read this endpoint"
)
_REVOKED = (
    "if no stream can be read any more, set api_key to a valid key, else deselect this "
    "stream, or ask for access: the API has accepted this key in this run"
)
_REVOKED_LATER = (
    "set api_key to a valid key, or ask the API's support why this one is refused now: "
    "the API has accepted it for this endpoint in this run"
)
_NOT_ALLOWED = (
    "ask for access, or let this machine's address through, as the API refuses this "
    "key or this machine"
)
_REDIRECT = (
    "set base_url to the API itself: this address redirects to {location}, perhaps for "
    "a login, and redirects are not followed"
)
_SLASH = (
    "ask the API's support: the API redirects {path} to {location}, and redirects are "
    "not followed; base_url is most likely right"
)
_FIREWALL = (
    "ask who runs the firewall or gateway in front of the API to let this machine "
    "through, or set user_agent: it refuses the request"
)
_GUARDED = (
    "ask who runs the firewall or gateway in front of the API to let this machine "
    "through, or set max_requests_per_minute, or lower it, if it limits requests: it "
    "refuses the request"
)
_BLOCKED = (
    "set max_requests_per_minute, or lower it; if this stays, ask who runs the "
    "firewall or gateway in front of the API: it refuses now what it allowed earlier "
    "in this run"
)
_VANISHED = (
    "try later: the API, or a gateway in front of it, says that there is no {path}, "
    f"though it has answered in this run; {SUPPORT}"
)
_CURSOR = (
    "ask the API's support how long a cursor is valid, and how many records a query "
    "may have: the API refuses a cursor that it has given"
)
_LIMIT = "lower page_size (now {page_size}): the API accepts no request for so many"
_RANGE = (
    "lower window_days if the API refuses long time ranges: it does not accept a "
    "request with {fields}"
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
_LIMITED = (
    "try later, and set max_requests_per_minute, or lower it, or lower concurrency: "
    f"the API, or a gateway in front of it, is overloaded or down; {SUPPORT}"
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
_PROXY_REFUSES = (
    "check user and password in HTTPS_PROXY or ALL_PROXY, and ask who runs the proxy "
    "to let this machine through to {host}: the proxy refuses it"
)
_PROXY_FAILS = (
    "try later: the proxy of HTTPS_PROXY or ALL_PROXY cannot reach {host}, which may "
    f"be down; {SUPPORT}"
)
_CERTIFICATE = (
    "check base_url, or set REQUESTS_CA_BUNDLE if your company's proxy signs "
    "certificates: the certificate of {host} is not trusted"
)
_NO_ONE = (
    "check base_url, this machine's network, and the firewalls on the way: {host} "
    "cannot be reached"
)
_GONE = (
    "try later: {host} cannot be reached any more, though it has answered in this run; "
    f"{SUPPORT}"
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

INCOMPLETE = f"{SUPPORT}: the API says that a page lacks records"
"""What to do about a page that differs from the others of its endpoint."""

_NO_CONNECTION = (exceptions.ConnectTimeout, urllib3.NewConnectionError)
_ENDED_EARLY = (ConnectionError, IncompleteRead, ssl.SSLEOFError)
"""With the error of urllib3 for a chunk without its length."""

NOTHING = Action(0)
"""Nothing helps: the stream ends, and the second one that fails so ends the run."""

RETRY = Action.RETRY

BUSY = RETRY | Action.PAUSE_ALL
"""The server wants fewer requests."""

SLOW = RETRY | Action.CUT
"""The server could not answer, perhaps because it was asked for too much."""

DOWN = BUSY | Action.CUT
"""The server is down or overloaded, which cannot be told apart."""

REFUSED = Action.RESTART | Action.CHANGE_RANGE | Action.CUT
"""The server does not accept the cursor or the time range."""

FORBIDDEN = Action.LEAVE_STREAM | Action.CHANGE_RANGE
"""The key may not read the endpoint, or not so far back."""

UNREACHABLE = RETRY | Action.END_RUN
"""There is no connection."""

SUCCESS = range(200, 300)
"""The statuses of a page."""

TOO_MANY = {420, 429}
"""The statuses of a rate limit."""

ResponseRow: TypeAlias = tuple[Collection[int], str, Action, str]

RESPONSES: tuple[ResponseRow, ...] = (
    (SUCCESS, "html", RETRY, _LOGIN),
    ({202}, "", SLOW, INCOMPLETE),
    (SUCCESS, "cut", SLOW, _CUT),
    (SUCCESS, "after a page", SLOW, f"{SUPPORT}: a response is not a page of records"),
    (SUCCESS, "empty", SLOW, _EMPTY),
    (SUCCESS, "", SLOW, f"{_ROOT}: the response is not a page of records; {SUPPORT}"),
    # A gateway may answer so while the API stalls, so the request is retried.
    ({404}, "later page, html", RETRY | REFUSED, _CURSOR),
    ({400, 404, 410, 412, 422, 440}, "later page", REFUSED, _CURSOR),
    ({400, 422}, "names a filter", Action.CUT, _FILTERS),
    ({400, 422}, "names the range", REFUSED, _RANGE),
    ({400, 422}, "names the limit", Action.CUT, _LIMIT),
    ({400, 422}, "filters", REFUSED, _FILTERS),
    ({400, 410, 422}, "", REFUSED, _FIELDS),
    ({401}, "answered", NOTHING, _REVOKED_LATER),
    ({401}, "after a page", NOTHING, _REVOKED),
    ({401}, "", NOTHING, _KEY),
    # A rate limit may answer 403. It refuses all requests. If one request alone fails,
    # its cursor may have expired.
    ({403}, "answered, alone", BUSY | REFUSED, _BLOCKED),
    ({403}, "answered", BUSY, _BLOCKED),
    ({403}, "after a page, wait", BUSY, _GUARDED),
    ({403}, "after a page, html", BUSY, _GUARDED),
    ({403}, "after a page, names a quota", BUSY, _GUARDED),
    ({403}, "after a page", FORBIDDEN, _NO_ACCESS),
    ({403}, "names a quota", NOTHING, _FEWER),
    ({403}, "html", NOTHING, _FIREWALL),
    ({403}, "", FORBIDDEN, _NOT_ALLOWED),
    ({404, 405}, "answered", SLOW, _VANISHED),
    ({404, 405}, "after a page", NOTHING, _NO_ENDPOINT),
    ({404, 405}, "", NOTHING, _NO_API),
    ({409, 423, 425}, "", RETRY | REFUSED, _PARALLEL),
    ({413, 416}, "", Action.CUT, _TOO_LARGE),
    (TOO_MANY, "", BUSY | Action.WAIT_OUT, _FEWER),
    ({501, 505}, "answered", SLOW, _OVERLOADED),
    ({501, 505}, "after a page", NOTHING, _NO_ENDPOINT),
    ({501, 505}, "", NOTHING, _UNSUPPORTED),
    ({503}, "after a page", DOWN, _LIMITED),
    ({503}, "", DOWN, _OVERLOADED),
    ({408, 499, *range(500, 1000)}, "", SLOW, _OVERLOADED),
    (range(400), "redirect, slash", NOTHING, _SLASH),
    (range(400), "redirect", NOTHING, _REDIRECT),
    (range(500), "", NOTHING, f"the API refused the request; {SUPPORT}"),
)
"""What to do after a response without a page, and what to advise: by its status, and by
the conditions that all have to hold. The first row that applies counts.

* "after a page": address and key have worked in this run
* "answered": the endpoint has given a page in this run
* "later page": the request has a cursor
* "alone": no other request to the endpoint has failed since its last page
* "html", "empty", "cut": the body is a web page; is empty; is JSON that ends early
* "wait": a header says for how long the server wants no request
* "filters": the setting has some for the stream
* "names a quota", "the limit", "the range", "a filter": the explanation is about that
* "redirect", "slash": a redirect; to the same address with a slash at its end

`tests/test_failure_kinds.py` says what each row means for a user, and
`tests/api/test_answers.py` what follows from the answers of real servers."""

ExceptionRow: TypeAlias = tuple[Any, str, Action, str]

EXCEPTIONS: tuple[ExceptionRow, ...] = (
    (TooLargeError, "", Action.CUT, "lower page_size: a response is too large"),
    (exceptions.InvalidSchema, "", Action.END_RUN, _SOCKS),
    ((exceptions.InvalidURL, urllib3.LocationValueError), "", Action.END_RUN, _ADDRESS),
    # A second try with a wrong password may lock an account.
    (exceptions.ProxyError, "403 or 407", Action.END_RUN, _PROXY_REFUSES),
    (exceptions.ProxyError, "5xx", UNREACHABLE, _PROXY_FAILS),
    (exceptions.ProxyError, "", UNREACHABLE, _PROXY),
    (ssl.SSLCertVerificationError, "", Action.END_RUN, _CERTIFICATE),
    (_NO_CONNECTION, "after a page", UNREACHABLE, _GONE),
    (_NO_CONNECTION, "", UNREACHABLE, _NO_ONE),
    ((exceptions.Timeout, urllib3.TimeoutError), "", SLOW, _LATE),
    (_ENDED_EARLY, "", SLOW, _CUT),
    (ssl.SSLError, "", UNREACHABLE, _NO_TLS),
    (Exception, "", SLOW, f"{SUPPORT}: the request to {{host}} failed"),
)
"""What to do after an exception, and what to advise: by its kind, and by one condition.
The first row that matches the exception, or one that it wraps, counts.

* "after a page": a request of the run has got a page
* "403 or 407", "5xx": what a proxy answers when it is asked for a connection"""
