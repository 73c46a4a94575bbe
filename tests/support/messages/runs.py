"""What is said while a stream is read."""

from __future__ import annotations

from tests.support.helpers import only
from tests.support.messages.kinds import failed, leads
from tests.support.messages.message import Message

API = (
    Message(
        text="1 of 1 streams failed: signal_agents: HTTP 400 …: the API does not accept the request; the API description does not show filters.signal_agents.state: check or remove it: …",
        config={"filters": {"signal_agents": {"state": ["active"]}}},
        catalog=lambda: only("signal_agents"),
        cause="The API refused the request, most likely for a filter that its description does not show.",
        cure="Correct the name of the filter, or remove it.",
    ),
    Message(
        text="1 of 2 streams failed: leads: HTTP 401 …: the API refused the key; set "
        "api_key to a valid key, made in the dashboard under Developer -> API Keys: …; "
        "not tried after that: signal_agents; base_url is http://…",
        config={"api_key": "wrong-7c2e-9d41"},
        catalog=lambda: only("leads", "signal_agents"),
        cause="The key is wrong, or was revoked. No stream can be read.",
        cure="Make another in the dashboard under Developer -> API Keys.",
    ),
    failed(
        "HTTP 403 …: this key may not read this "
        "endpoint; deselect the stream, or ask for access: …",
        faults=({"kind": "status", "status": 403},),
        cause="The key is valid, but may not read this endpoint.",
        cure="Deselect the stream, or ask the organization's administrator.",
    ),
    failed(
        "HTTP 404 …: nothing answers at this address; "
        "check base_url, which is the root of the API without /v1: …",
        faults=({"kind": "status", "status": 404},),
        cause="There is a server, but not this API at this path.",
        cure="Correct `base_url`.",
    ),
    failed(
        "HTTP 302…: redirects to a.example are not followed; check base_url",
        faults=(
            {"kind": "redirect", "status": 302, "location": "https://a.example/b"},
        ),
        cause="The server redirects to another address, to which the key would be sent.",
        cure="Set `base_url` to the address that the API really has.",
    ),
    Message(
        text="leads: HTTP 503 …; try 2 of 9 in … s …",
        level="WARNING",
        code=0,
        catalog=leads,
        faults=(
            {
                "kind": "status",
                "status": 503,
                "times": 1,
                "headers": {"Retry-After": "0.01"},
            },
        ),
        cause="A passing trouble of the server or the network.",
        cure="Nothing needs to be done: the tap tries again, up to `max_retries` times.",
    ),
)

RECORDS = (
    failed(
        "page 1: …a record has no id, which is part …",
        faults=({"kind": "missing_id", "stream": "leads"},),
        cause="A row without its key could not be told from others.",
        cure="Choose `key-properties` that every record has, or ask the vendor.",
    ),
    Message(
        text="custom_signals: … fields are only in additional_properties: …; see "
        "infer_columns for typed columns",
        level="INFO",
        code=0,
        catalog=lambda: only("custom_signals"),
        cause="The API's description does not show these fields, so they have no columns.",
        cure="Nothing needs to be done; `infer_columns` or Meltano's `schema` make columns.",
    ),
    failed(
        "batches cannot be written (…); see batch_config",
        config={
            "batch_config": {
                "encoding": {"format": "jsonl"},
                "storage": {"root": "file:///dev/null/x"},
            }
        },
        cause="The folder of the batch files cannot be made or written to, or the disk is full: theirs, or that of the temporary files (`TMPDIR`), where they are collected.",
        cure="Correct `batch_config.storage.root`, or who may write there; or make room.",
    ),
)

PROGRESS = (
    Message(
        text="leads: 3 records, 1 request, 0 retries, 0.0 s waited, 0 warnings; … s, … "
        "records a second; …covered up to …, before this run nothing was",
        level="INFO",
        code=0,
        catalog=leads,
        cause="The stream has been read to its end.",
        cure="Nothing needs to be done.",
    ),
    Message(
        text="1 stream, 3 records, 1 request, … in … s",
        level="INFO",
        code=0,
        catalog=leads,
        cause="The run has come to its end.",
        cure="Nothing needs to be done.",
    ),
    Message(
        text="leads: ok",
        level="INFO",
        code=0,
        arguments=("--test",),
        catalog=leads,
        cause="The stream can be read.",
        cure="Nothing needs to be done.",
    ),
)
