"""Runs of the tap over the model of the API, in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any
from unittest import mock

import requests
from requests.adapters import BaseAdapter

from tap_leadintent.tap import TapLeadIntent
from tests.support.model import DAY, EPOCH, iso
from tests.support.store import KilledError, Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tests.support.model import Api

DEFAULTS: dict[str, Any] = {
    "base_url": "https://api.example.com",
    "api_key": "model-key",
}
"""Settings of every run that does not say otherwise."""

CONFIG = {"start_date": iso(0), "page_size": 10}
"""Settings of a run in windows, from the model's first second on."""

DAILY = {**CONFIG, "window_days": (DAY + 1.5) / DAY}
"""Settings of a run in windows of a day and the second that they overlap."""


@dataclass(frozen=True)
class Clock:
    """Stands in for the module `time` where requests are sent."""

    api: Api
    ahead: float

    def monotonic(self) -> float:
        """Give seconds since some time."""
        return self.api.now

    def time(self) -> float:
        """Give seconds since 1970, by the clock of the tap's machine."""
        return EPOCH + self.api.now + self.ahead


class Adapter(BaseAdapter):
    """Brings the tap's requests to the model."""

    def __init__(self, api: Api) -> None:
        super().__init__()
        self.api = api
        self._answers = 0
        self._lock = Lock()

    def send(
        self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any
    ) -> requests.Response:
        """Answer one request after the other, however many threads ask."""
        with self._lock:
            return self._answer(request)

    def _answer(self, request: requests.PreparedRequest) -> requests.Response:
        assert request.body is not None
        response = requests.Response()
        response.request = request
        response.url = request.url or ""
        body = json.loads(request.body)
        self.api.now += self.api.seconds_to_query
        ahead = self.api.odd_clocks.get(self._answers, 0)
        self._answers += 1
        response.status_code, page = self.api.respond(body)
        self.api.now += self.api.seconds_to_answer
        clock = datetime.fromtimestamp(EPOCH + self.api.now + ahead, tz=UTC)
        response.headers["Date"] = format_datetime(clock, usegmt=True)
        self.api.now += self.api.seconds_per_request
        response._content = json.dumps(page).encode()  # noqa: SLF001
        return response

    def close(self) -> None:
        """Nothing is open."""


def run(  # noqa: PLR0913
    api: Api,
    store: Store,
    config: Mapping[str, Any],
    *,
    clock_ahead: float = 0,
    killed_after: int | None = None,
    catalog: dict[str, Any] | None = None,
    selected: Collection[str] = ("leads",),
    adapter: Adapter | None = None,
) -> bool:
    """Run the tap once over the model's leads, which stand for other records too.

    Args:
        api: The model.
        store: The target.
        config: Settings besides the defaults.
        clock_ahead: Seconds by which the clock of the tap's machine is ahead.
        killed_after: Number of messages after which it is killed.
        catalog: A catalog.
        selected: The streams to read.
        adapter: Brings the requests to the model, if not one after the other.

    Returns:
        Whether it came to its end.
    """
    store.begin(killed_after)
    now = EPOCH + api.now + clock_ahead
    session = requests.Session()
    session.mount("https://", adapter or Adapter(api))
    with (
        mock.patch("singer_sdk.plugin_base.time.time", return_value=now),
        mock.patch("tap_leadintent.tap.new_session", return_value=session),
    ):
        tap = TapLeadIntent(
            config={**DEFAULTS, **config},
            state=json.loads(json.dumps(store.state)),
            catalog=catalog,
            message_writer=store,  # type: ignore[arg-type]
        )
        for stream in tap.streams.values():
            stream.selected = stream.name in selected
    try:
        # The model's hours pass in no time.
        with (
            mock.patch("tap_leadintent.api.client.time", Clock(api, clock_ahead)),
            mock.patch("tap_leadintent.api.client.backoff", return_value=0.001),
        ):
            tap.sync_all()
    except KilledError:
        return False
    store.end()
    return True


def catalog(**entry: Any) -> dict[str, Any]:
    """Give the tap's own catalog with other words for `leads`."""
    whole = TapLeadIntent(config={}, validate_config=False).catalog_dict
    for stream in whole["streams"]:
        if stream["tap_stream_id"] == "leads":
            stream.update(entry)
    return whole
