"""What is said of the network, and of answers that are not pages."""

from __future__ import annotations

from tests.support.messages.kinds import LATER, gave_up
from tests.support.messages.message import SANDBOX

NETWORK = (
    gave_up(
        "127.0.0.1:9 refuses connections; check host and port in base_url, and whether the API is up; base_url is …",
        config={"base_url": "http://127.0.0.1:9"},
        cause="No program listens at the port.",
        cure="Correct `base_url`, or start what should listen there.",
    ),
    gave_up(
        "the host nowhere.invalid cannot be looked up (…); check base_url, and this machine's network; base_url is …",
        config={"base_url": "https://nowhere.invalid"},
        cause="The host's name is wrong, or no name server answers.",
        cure="Correct `base_url`, or the name server of the machine.",
    ),
    gave_up(
        "… does not speak TLS; check the port in base_url, and whether it should begin with http:// (for this machine only); base_url is …",
        config={"base_url": f"https://{SANDBOX}"},
        cause="`base_url` begins with https://, but the port is one for plain HTTP.",
        cure="Correct the port.",
    ),
    gave_up(
        "the proxy 127.0.0.1:9 does not pass requests on (…); check HTTPS_PROXY or ALL_PROXY, with user and password where the proxy wants them, and NO_PROXY; base_url is …",
        config={"base_url": "https://api.example.com"},
        environment={"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""},
        cause="The proxy that the environment names does not work.",
        cure="Correct `HTTPS_PROXY`, or name the host in `NO_PROXY`.",
    ),
    gave_up(
        "HTTP 429 …: the API wants fewer requests; set max_requests_per_minute, or lower it: …",
        faults=({"kind": "status", "status": 429},),
        cause="The key asks more often than the API allows.",
        cure="Set `max_requests_per_minute` below what the API allows.",
    ),
    gave_up(
        "HTTP 503 …: the API, or a gateway before it, is down or overloaded; lower concurrency, or try later: …",
        faults=({"kind": "status", "status": 503},),
        cause="The API, or a gateway before it, is failing.",
        cure=LATER,
    ),
    gave_up(
        "HTTP 500 …: the API failed; if it goes on, ask the API's support: …",
        faults=({"kind": "status", "status": 500},),
        cause="The API failed at this request, each time.",
        cure=LATER,
    ),
    gave_up(
        "the response is not a page of records but an HTML page; check base_url, which is the root of the API without /v1: …",
        faults=({"kind": "html"},),
        cause="A web page answers, such as that of a login, where the API should.",
        cure="Correct `base_url`, which is not the address of the dashboard.",
    ),
    gave_up(
        "the response is not a page of records but other JSON (…); check base_url, which is the root of the API without /v1: …",
        faults=({"kind": "body", "body": {"items": [], "next": None}},),
        cause="Another API answers.",
        cure="Correct `base_url`.",
    ),
)
