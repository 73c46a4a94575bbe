"""What the tap makes of the answers of real servers, wherever a run has come to.

The responses are sent over real sockets, on a clock that passes only by waiting.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from socket import socket
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from threading import Event
from typing import Any

import pytest

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.endpoint import Endpoint
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.replication.protocol import CutError
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import VALID, Clock, Json
from tests.support.servers import listening, read_request, response

PLACES = ("first", "other", "same", "later")
"""Where an answer comes: for the first request of a run; for the first request to an
endpoint, after a page of another one; for the first page of a query, after a page of
the same endpoint; and for a later page of a query."""

SUPPORT = "if this continues, ask the API's support"
ROOT = "check base_url, which is the root of the API without /v1"

ADVICE = {
    "accepted": "",
    "a cursor": "ask the API's support how long a cursor is valid, and how many records a query may have: the API refuses a cursor that it has given",
    "a cut answer": f"try later, or lower page_size: HOST ended its response early; {SUPPORT}",
    "a filter": "check filters.leads: the API does not accept the request",
    "a firewall": "ask who runs the firewall or gateway in front of the API to let this machine through, or set user_agent: it refuses the request",
    "a firewall or a limit": "ask who runs the firewall or gateway in front of the API to let this machine through, or set max_requests_per_minute, or lower it, if it limits requests: it refuses the request",
    "a limit or a firewall": "set max_requests_per_minute, or lower it; if this stays, ask who runs the firewall or gateway in front of the API: it refuses now what it allowed earlier in this run",
    "a long range": "lower window_days if the API refuses long time ranges: it does not accept a request with FIELDS, cursor",
    "a proxy that refuses": "check user and password in HTTPS_PROXY or ALL_PROXY, and ask who runs the proxy to let this machine through to HOST: the proxy refuses it",
    "a proxy that cannot": f"try later: the proxy of HTTPS_PROXY or ALL_PROXY cannot reach HOST, which may be down; {SUPPORT}",
    "a redirect": "set base_url to the API itself: this address redirects to https://login.example.com/, perhaps for a login, and redirects are not followed",
    "a slash": "ask the API's support: the API redirects /v1/signals/leads to /v1/signals/leads/, and redirects are not followed; base_url is most likely right",
    "access": "ask for access, or let this machine's address through, as the API refuses this key or this machine",
    "base_url": f"{ROOT}: the API was not found at this address",
    "base_url, empty": f"{ROOT}, as the response is empty; {SUPPORT}",
    "base_url, no page": f"{ROOT}: the response is not a page of records; {SUPPORT}",
    "base_url, unsupported": f"{ROOT}, or ask its support: the API does not support this request",
    "deselect, no access": "deselect this stream, or ask for access: this key may not read this endpoint",
    "deselect, no endpoint": "deselect this stream: the API has no /v1/signals/leads for your organization",
    "deselect, revoked": "if no stream can be read any more, set api_key to a valid key, else deselect this stream, or ask for access: the API has accepted this key in this run",
    "fewer requests": "set max_requests_per_minute, or lower it: the API wants fewer requests",
    "gone": f"try later: HOST cannot be reached any more, though it has answered in this run; {SUPPORT}",
    "later": f"try later: the API, or a gateway in front of it, is down or overloaded; {SUPPORT}",
    "later, or fewer requests": f"try later, and set max_requests_per_minute, or lower it, or lower concurrency: the API, or a gateway in front of it, is overloaded or down; {SUPPORT}",
    "network": "check base_url, this machine's network, and the firewalls on the way: HOST cannot be reached",
    "no page": f"{SUPPORT}: a response is not a page of records",
    "page_size": "lower page_size (now 100): the API accepts no request for so many",
    "the key": "set api_key to a valid key (dashboard, Developer -> API Keys), as the API refused this one",
    "the key now": "set api_key to a valid key, or ask the API's support why this one is refused now: the API has accepted it for this endpoint in this run",
    "the request": "look at Developer -> Request Logs in the dashboard, and ask the API's support: the API does not accept a request with FIELDS, cursor",
    "unsupported now": f"try later: the API, or a gateway in front of it, says that there is no /v1/signals/leads, though it has answered in this run; {SUPPORT}",
    "until": "run the tap after …Z: the API wants no request until then",
}
"""What is advised. HOST is the API, FIELDS are those of the request, … is any text."""

Decision = tuple[str, str]
"""What is done while the answer stays the same, and what is advised."""


def always(done: str, advice: str) -> dict[str, Decision]:
    return dict.fromkeys(PLACES, (done, advice))


def places(*decisions: Decision) -> dict[str, Decision]:
    return dict(zip(PLACES, decisions, strict=True))


LEAVE = "leave the stream"
END = "end the run"
FAIL = "end the stream"
CUT = "retry, cut"
CURSOR = ("begin again, cut", "a cursor")

DECISIONS: dict[str, dict[str, Decision]] = {
    "page": always("a page", "accepted"),
    "429": always(f"retry, {FAIL}", "fewer requests"),
    "429 of an hour": always(END, "until"),
    "503": always(CUT, "later, or fewer requests") | {"first": (CUT, "later")},
    "5xx": always(CUT, "later"),
    "501": places(
        (FAIL, "base_url, unsupported"),
        (FAIL, "deselect, no endpoint"),
        (CUT, "later"),
        (CUT, "later"),
    ),
    "cut": always(CUT, "a cut answer"),
    # An endpoint that has returned records may say so that there are none.
    "empty": always(CUT, "no page")
    | {
        "first": (CUT, "base_url, empty"),
        "same": ("a page", "accepted"),
    },
    "no page": always(CUT, "no page") | {"first": (CUT, "base_url, no page")},
    "refused connection": always(f"retry, {END}", "gone")
    | {"first": (f"retry, {END}", "network")},
    "proxy cannot": always(f"retry, {END}", "a proxy that cannot"),
    "proxy refuses": always(END, "a proxy that refuses"),
    "401": places(
        (FAIL, "the key"),
        (FAIL, "deselect, revoked"),
        (FAIL, "the key now"),
        (FAIL, "the key now"),
    ),
    "403": places(
        (LEAVE, "access"),
        (LEAVE, "deselect, no access"),
        (CUT, "a limit or a firewall"),
        ("retry, begin again, cut", "a limit or a firewall"),
    ),
    "403 of HTML": places(
        (FAIL, "a firewall"),
        (f"retry, {FAIL}", "a firewall or a limit"),
        (CUT, "a limit or a firewall"),
        ("retry, begin again, cut", "a limit or a firewall"),
    ),
    "403 of a quota": places(
        (FAIL, "fewer requests"),
        (f"retry, {FAIL}", "a firewall or a limit"),
        (CUT, "a limit or a firewall"),
        ("retry, begin again, cut", "a limit or a firewall"),
    ),
    "404": places(
        (FAIL, "base_url"),
        (FAIL, "deselect, no endpoint"),
        (CUT, "unsupported now"),
        CURSOR,
    ),
    "404 of HTML": places(
        (FAIL, "base_url"),
        (FAIL, "deselect, no endpoint"),
        (CUT, "unsupported now"),
        ("retry, begin again, cut", "a cursor"),
    ),
    "405": places(
        (FAIL, "base_url"),
        (FAIL, "deselect, no endpoint"),
        (CUT, "unsupported now"),
        (CUT, "unsupported now"),
    ),
    "400": always("cut", "the request") | {"later": CURSOR},
    "412": always(FAIL, "unknown") | {"later": CURSOR},
    "the limit": always("cut", "page_size") | {"later": CURSOR},
    "the range": always("cut", "a long range") | {"later": CURSOR},
    "a filter": always("cut", "a filter") | {"later": CURSOR},
    "slash": always(FAIL, "a slash"),
    "redirect": always(FAIL, "a redirect"),
}
ADVICE["unknown"] = f"the API refused the request; {SUPPORT}"

TEXT = "Slow down, please.\n"
HTML = "<html><head><title>Sorry</title></head><body>Not now.</body></html>"
PAGE = '{"data": [{"id": "a"}], "cursor": {"next": "", "has_more": false}}'
ROWS = '{"data": [{"id": "a", "title": "b"}], "cursor": {"next": "c", "has_mo'


def said(**fields: object) -> str:
    return json.dumps(fields)


NODE = said(
    statusCode=500,
    code="E_X",
    error="Oops",
    message="it does not work",
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a server answers."""

    kind: str
    """What it is; one of `DECISIONS`."""

    status: str | None
    """Status and reason; None: the connection is closed, or refused."""

    body: str = ""
    headers: Mapping[str, str | Callable[[], str]] = field(default_factory=dict)

    wait: float | None = None
    """The seconds that it asks to wait; None if it asks for nothing that makes sense.
    """

    is_chunked: bool = False
    is_cut: bool = False
    """Whether the connection is closed before the end."""

    is_of_proxy: bool = False
    """Whether a proxy answers so when it is asked for a connection."""

    def content(self) -> bytes:
        """Return all bytes that the server sends."""
        headers: list[str] = []
        for name, value in self.headers.items():
            headers.append(f"{name}: {value if isinstance(value, str) else value()}")
        if not self.is_chunked:
            return response(
                self.body.encode(),
                *headers,
                status=self.status or "",
            )
        lines = [
            f"HTTP/1.1 {self.status}",
            "Transfer-Encoding: chunked",
            *headers,
        ]
        chunk = f"{len(self.body):x}\r\n{self.body}\r\n"
        end = "" if self.is_cut else "0\r\n\r\n"
        return "\r\n".join([*lines, "", f"{chunk}{end}"]).encode()


def spelled(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers by their names, of arguments that have `_` for `-`."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def limited(
    body: str,
    wait: float | None = None,
    **headers: str | Callable[[], str],
) -> Answer:
    """Return a 429."""
    return Answer(
        kind="429",
        status="429 Too Many Requests",
        body=body,
        headers=spelled(headers),
        wait=wait,
    )


def page_of(
    status: str,
    kind: str = "5xx",
    body: str = HTML,
    **more: str,
) -> Answer:
    """Return an answer whose body is a web page, or another text."""
    wait = float(more["Retry_After"]) if "Retry_After" in more else None
    return Answer(
        kind=kind,
        status=status,
        body=body,
        headers=spelled(more),
        wait=wait,
    )


def connect(
    status: str,
    kind: str,
    body: str = HTML,
    **more: str,
) -> Answer:
    """Return what a proxy answers that is asked for a connection."""
    return Answer(
        kind=kind,
        status=status,
        body=body,
        headers=spelled(more),
        is_of_proxy=True,
    )


def refusing(
    kind: str,
    body: str,
    status: str = "400 Bad Request",
) -> Answer:
    return Answer(
        kind=kind,
        status=status,
        body=body,
    )


def soon(factor: int, text: str = "{:.0f}") -> Callable[[], str]:
    """Return a time in half a minute, in seconds since 1970 times a factor."""
    return lambda: text.format((time.time() + 30) * factor)


LIMITERS = {
    "express-rate-limit 8.7.5": limited(
        TEXT,
        2,
        Retry_After="2",
        RateLimit='"5-in-3sec"; r=0; t=2',
    ),
    "@fastify/rate-limit 11.2.0": limited(
        NODE,
        2,
        retry_after="2",
        x_ratelimit_reset="2",
    ),
    "rate-limiter-flexible 11.4.0": limited(TEXT, 1.453, Retry_After="1.453"),
    "koa-ratelimit 6.0.0, 0.9 s left": limited(
        TEXT,
        Retry_After="0",
        X_RateLimit_Reset=lambda: f"{time.time() + 0.9:.3f}",
    ),
    "DRF 3.18.3": limited(
        said(detail="Request was throttled."),
        59,
        Retry_After="59",
    ),
    "varnish 7.1.1 vsthrottle": limited(HTML, 5, Retry_After="5"),
    "Litestar 2.25.0": limited(
        said(
            status_code=429,
            detail="Too Many Requests",
        ),
        58,
        RateLimit_Policy="60; w=60",
        RateLimit_Limit="60",
        RateLimit_Remaining="0",
        RateLimit_Reset="58",
    ),
    "@nestjs/throttler 6.7.1 named": limited(
        said(
            statusCode=429,
            message="Too Many Requests",
        ),
        3,
        Retry_After_long="3",
        X_RateLimit_Remaining_short="96",
    ),
    "hapi-rate-limit 8.0.0": limited(
        NODE,
        30,
        X_RateLimit_UserReset=soon(1000),
        X_RateLimit_UserRemaining="-1",
        X_RateLimit_PathRemaining="44",
    ),
    "slowapi 0.1.10": limited(said(error="Rate limit exceeded: 60 per 1 minute")),
    "Flask-Limiter 4.1.1": limited(HTML),
    "rack-attack 6.6.1": limited(TEXT),
    "haproxy 2.6.12 deny_status 429": limited(HTML, cache_control="no-cache"),
}

SERVERS = {
    "DRF 3.18.3, 60/hour": Answer(
        kind="429 of an hour",
        status="429 Too Many Requests",
        body=said(detail="Request was throttled."),
        headers={"Retry-After": "3598"},
    ),
    "@fastify/under-pressure 9.2.0": page_of(
        "503 Service Unavailable",
        "503",
        NODE,
        Retry_After="10",
    ),
    "Flask-Limiter 4.1.1 headers_enabled": page_of(
        "200 OK",
        "page",
        PAGE,
        Retry_After="60",
        X_RateLimit_Remaining="99",
    ),
    "nginx 1.22.1 limit_req, limit_conn": page_of("503 Service Unavailable", "503"),
    "haproxy 2.6.12 http-request deny": page_of("403 Forbidden", "403 of HTML"),
    "apache 2.4.71 mod_evasive 1.10.1": page_of(
        "403 Forbidden",
        "403 of HTML",
        Content_Type="text/html; charset=iso-8859-1",
    ),
    "haproxy 2.6.12 tarpit": page_of("500 Internal Server Error"),
    "nginx 1.22.1 auth_request": page_of(
        "500 Internal Server Error",
        Connection="close",
    ),
    "varnish 7.1.1 synth(403)": page_of(
        "403 Forbidden",
        "403 of HTML",
        Retry_After="5",
        Server="Varnish",
    ),
    "nginx, caddy, h2o, nghttpx: upstream refused": page_of("502 Bad Gateway"),
    "haproxy, apache, lighttpd: upstream refused": page_of(
        "503 Service Unavailable",
        "503",
    ),
    "varnish 7.1.1: upstream refused or slow": page_of(
        "503 Backend fetch failed",
        "503",
        Retry_After="5",
    ),
    "@fastify/http-proxy 11.6.3: upstream refused": page_of(
        "500 Internal Server Error",
        body=NODE,
    ),
    "http-proxy-middleware 4.2.2: upstream refused": page_of(
        "504 Gateway Timeout",
        body=TEXT,
    ),
    "apache 2.4.71, h2o 2.2.5: upstream slow": page_of("502 Proxy Error"),
    "nginx, haproxy, caddy, lighttpd, nghttpx: slow": page_of("504 Gateway Timeout"),
    "gunicorn 27.0.1: worker timeout": page_of(
        "500 Internal Server Error",
        Connection="close",
    ),
    "lighttpd 1.4.69: stall in the body": page_of(
        "404 Not Found",
        "404 of HTML",
        Connection="close",
    ),
    "caddy 2.6.2, h2o 2.2.5: cut chunked body": Answer(
        kind="cut",
        status="200 OK",
        body=ROWS,
        is_chunked=True,
    ),
    "lighttpd 1.4.69: cut chunked body": page_of("200 OK", "cut", ROWS),
    "nginx, haproxy, varnish, apache, nghttpx: cut": Answer(
        kind="cut",
        status="200 OK",
        body=ROWS,
        is_chunked=True,
        is_cut=True,
    ),
    "haproxy 2.6.12: upstream closes a kept connection": Answer(
        kind="cut",
        status=None,
        is_cut=True,
    ),
    "uvicorn 0.54.0 --limit-concurrency": page_of(
        "503 Service Unavailable",
        "503",
        TEXT,
        connection="close",
    ),
    "uvicorn 0.54.0 --limit-max-requests": Answer(
        kind="refused connection",
        status=None,
    ),
    "caddy 2.6.2: unknown Host": page_of("200 OK", "empty", ""),
    "hypercorn 0.18.0": page_of("200 ", "page", PAGE),
}

PROXIES = {
    "squid 5.7: API down": connect(
        "503 Service Unavailable",
        "proxy cannot",
        X_Squid_Error="ERR_CONNECT_FAIL 111",
    ),
    "tinyproxy 1.11.1: API down": connect("500 Unable to connect", "proxy cannot"),
    "mitmproxy 11.0.2: API down": connect("502 Bad Gateway", "proxy cannot", TEXT),
    "squid 5.7, tinyproxy 1.11.1: rules": connect("403 Forbidden", "proxy refuses"),
    "mitmproxy 11.0.2: password": connect(
        "407 Proxy Authentication Required",
        "proxy refuses",
        Proxy_Authenticate='Basic realm="mitmproxy"',
    ),
}

LIMIT = "the limit"
RANGE = "the range"
FILTER = "a filter"

APIS = {
    "400": refusing("400", said(error="invalid request")),
    "400 limit": refusing(LIMIT, said(error="limit must be at most 50")),
    "400 limit, plain text": refusing(LIMIT, "cursor.limit: at most 50"),
    "400 limit, Laravel": refusing(
        LIMIT,
        said(
            message="Invalid.",
            errors={"cursor.limit": ["At most 50."]},
        ),
    ),
    "422 limit, FastAPI": refusing(
        LIMIT,
        said(
            detail=[
                {
                    "type": "less_than_equal",
                    "loc": ["body", "cursor", "limit"],
                    "msg": "Input should be less than or equal to 50",
                    "input": 100,
                }
            ]
        ),
        "422 Unprocessable Content",
    ),
    "400 limit, DRF": refusing(LIMIT, said(cursor={"limit": ["At most 50."]})),
    "400 limit, express-validator": refusing(
        LIMIT,
        said(errors=[{"msg": "Invalid value", "path": "cursor.limit"}]),
    ),
    "400 limit of days": refusing(RANGE, said(error="over the limit of 30 days")),
    "400 range": refusing(RANGE, said(message="date_found is too wide")),
    "400 date": refusing(RANGE, said(message="start_time is before 2024-01-01")),
    "400 filter": refusing(FILTER, said(errors={"seniorities": ["not a list"]})),
    "400 filter and a range": refusing(
        FILTER,
        said(error="seniorities of this range: at most 5 in one limit"),
    ),
    "400 an echo of the request": refusing(
        "400",
        said(
            error="no",
            request={"cursor": {"limit": 100, "after": "a"}},
        ),
    ),
    "400 rate limit": refusing("400", said(error="rate limit reached")),
    "401": refusing("401", said(error="no"), "401 Unauthorized"),
    "403": refusing("403", said(error="no access"), "403 Forbidden"),
    "403 rate limit": refusing(
        "403 of a quota",
        said(message="API rate limit exceeded"),
        "403 Forbidden",
    ),
    "403 quota": refusing(
        "403 of a quota",
        said(error={"status": "quota"} | {"reason": "quota"}),
        "403 ",
    ),
    "404": refusing("404", said(error="no cursor"), "404 Not Found"),
    "405": refusing("405", said(detail="POST"), "405 Method Not Allowed"),
    "410": refusing("400", said(error="expired"), "410 Gone"),
    "412": refusing("412", said(error="expired"), "412 Precondition Failed"),
    "440": refusing("412", said(error="expired"), "440 Login Time-out"),
    "501": page_of("501 Not Implemented", "501"),
    "200 of another kind": page_of("200 OK", "no page", "[]"),
    "301 with a slash": page_of(
        "301 Moved Permanently",
        "slash",
        Location="/v1/signals/leads/",
    ),
    "302 to a login": page_of(
        "302 Found",
        "redirect",
        Location="https://login.example.com/?next=a",
    ),
}
"""What an API may say itself."""

ANSWERS = LIMITERS | SERVERS | PROXIES | APIS
FILTERS = {"seniorities": ["c_suite"]}


def whole(cursor: Json) -> bytes:
    content = json.dumps(
        {
            "data": [{"id": "a"}],
            "cursor": cursor,
        }
    ).encode()
    return response(content, "Connection: close")


LAST = whole({"next": "", "has_more": False})
MORE = whole({"next": "c", "has_more": True})


@dataclass
class Server:
    """Sends pages, and then one answer to each further request."""

    answer: Answer
    clock: Clock
    place: str
    has_begun: bool = False
    """Whether the answer is sent from now on."""

    certificate: Path | None = None
    """Without it, plain HTTP; with it, this is the proxy as well as the API."""

    requests: list[tuple[float, Json]] = field(default_factory=list)
    """When each request came after that, and its body."""

    def handle(self, connection: socket) -> None:
        if self.certificate:
            read_request(connection)
            if self.has_begun:
                # The proxy does not see which page is wanted.
                self.requests.append((self.clock.now, {}))
                connection.sendall(self.answer.content())
                return
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            context = SSLContext(PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            with context.wrap_socket(connection, server_side=True) as inner:
                self.talk(inner)
        else:
            self.talk(connection)

    def talk(self, connection: socket) -> None:
        while request := read_request(connection):
            content = self.respond(json.loads(request.partition(b"\r\n\r\n")[2]))
            connection.sendall(content)
            if self.answer.is_cut or b"onnection: close" in content:
                return

    def respond(self, body: Json) -> bytes:
        """Return the bytes that are sent after a request."""
        if self.has_begun:
            self.requests.append((self.clock.now, body))
            if self.place != "later" or "after" in body["cursor"]:
                return self.answer.content() if self.answer.status else b""
        return MORE if self.place == "later" else LAST


@contextmanager
def talking_to(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    filters: Json,
) -> Iterator[tuple[TapLeadIntent, ExitStack, str]]:
    """Start the server; give the tap that reads it, and how to stop the server."""

    class PatientTap(TapLeadIntent):
        limits = server.clock.limits

    with ExitStack() as stack:
        host, port = stack.enter_context(listening(server.handle))
        url = f"http://{host}:{port}"
        if server.certificate:
            url = "https://localhost:1"
            monkeypatch.delenv("NO_PROXY")
            monkeypatch.setenv("HTTPS_PROXY", f"http://{host}:{port}")
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server.certificate))
        config = {
            **VALID,
            "base_url": url,
            "filters": {"leads": filters},
        }
        yield PatientTap(config=config), stack, url.partition("//")[2]


def come_to(place: str, tap: TapLeadIntent) -> Chain:
    """Send the requests before the answer; return the query that gets it."""
    leads = tap.streams["leads"]
    agents = tap.streams["signal_agents"]
    assert isinstance(leads, LeadIntentStream)
    assert isinstance(agents, LeadIntentStream)
    if place == "other":
        Chain(agents.client, {}).fetch(Event(), 0)
    api = Endpoint(leads.client)
    if place == "same":
        api.query(
            "date_found",
            (1_750_000_000, 1_750_000_100),
            100,
        ).fetch(Event(), 0)
    query = api.query(
        "date_found",
        (1_760_000_000, 1_760_000_100),
        100,
    )
    if place == "later":
        query.fetch(Event(), 0)
    return query


def outcome(
    query: Chain,
    place: str,
    server: Server,
) -> tuple[str, StreamError | None]:
    """Read the query until it fails; return what was done, and the error."""
    error: StreamError | None = None
    steps: list[str] = []
    try:
        for _ in range(3 if place == "later" else 1):
            query.fetch(Event(), 9)
    except CutError as cut:
        error = cut.reason if isinstance(cut.reason, StreamError) else None
        steps.append("cut")
    except StreamError as failure:
        error = failure
        if Action.END_RUN in error.actions:
            steps.append(END)
        else:
            steps.append(LEAVE if Action.LEAVE_STREAM in error.actions else FAIL)
    else:
        return "a page", None
    bodies = [body for _, body in server.requests]
    first_pages = 0
    for body in bodies:
        if body and "after" not in body["cursor"]:
            first_pages += 1
    if place == "later" and first_pages:
        steps.insert(0, "begin again")
    if any(before == after for before, after in pairwise(bodies)):
        steps.insert(0, "retry")
    return ", ".join(steps), error


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ANSWERS)
def test_what_follows_from_an_answer(
    clock: Clock,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    place: str,
) -> None:
    answer = ANSWERS[name]
    server = Server(answer, clock, place)
    if answer.is_of_proxy:
        server.certificate = certificate
    filters = FILTERS if answer.kind == FILTER else {}
    with talking_to(server, monkeypatch, filters) as (tap, stack, host):
        query = come_to(place, tap)
        server.has_begun = True
        is_gone = answer.status is None and not answer.is_cut
        if is_gone:
            stack.close()
        began = clock.now
        done, error = outcome(query, place, server)
        waited = clock.now - began
    if is_gone:
        # Nobody counts the connections that are refused.
        done = f"retry, {done}" if waited else done
    expected, advice = DECISIONS[answer.kind][place]
    assert done == expected
    assert (error is None) == (done == "a page")
    if error:
        fields = ", ".join([*filters, "date_found"])
        text = ADVICE[advice].replace("HOST", host).replace("FIELDS", fields)
        pattern = ".*".join(map(re.escape, text.split("…")))
        assert re.fullmatch(pattern, error.message), error.message
        assert not re.search(r"IncompleteRead|Errno|0x", str(error))
        if answer.kind in {LIMIT, FILTER} and place != "later":
            # What is refused is the same in another time range.
            assert Action.CHANGE_RANGE not in error.actions
    if done.startswith("retry") and not is_gone:
        (first, _), (second, _), *_ = server.requests
        least = answer.wait or 0
        most = answer.wait * 1.1 + 0.1 if answer.wait else clock.limits.longest_backoff
        assert 0 < second - first <= most
        # A time since 1970 is in whole seconds.
        assert second - first >= least - (1 if "UserReset" in str(answer) else 0.01)


def test_each_kind_of_answer_is_decided() -> None:
    assert {answer.kind for answer in ANSWERS.values()} == DECISIONS.keys()
    advised = set[str]()
    for decisions in DECISIONS.values():
        assert tuple(decisions) == PLACES
        for _, advice in decisions.values():
            advised.add(advice)
    assert advised == ADVICE.keys()


FORBIDDEN = ANSWERS["haproxy 2.6.12 http-request deny"]
RANGES = [
    (1_760_000_000, 1_760_000_100),
    (1_760_000_200, 1_760_000_300),
    (1_760_000_400, 1_760_000_500),
]


@pytest.mark.parametrize("others", ["refused", "read"])
def test_a_request_is_cut_after_403_only_if_others_get_pages(
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    others: str,
) -> None:
    server = Server(FORBIDDEN, clock, "same")
    with talking_to(server, monkeypatch, {}) as (tap, _, _):
        one = come_to("same", tap)
        leads = tap.streams["leads"]
        assert isinstance(leads, LeadIntentStream)
        api = Endpoint(leads.client)
        server.has_begun = True
        with pytest.raises(CutError):
            one.fetch(Event(), 1)
        if others == "read":
            server.has_begun = False
            api.query("date_found", RANGES[1], 100).fetch(Event(), 0)
            server.has_begun = True
        another = api.query("date_found", RANGES[2], 100)
        error = CutError if others == "read" else StreamError
        with pytest.raises(error):
            another.fetch(Event(), 1)
