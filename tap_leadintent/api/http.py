"""Sends a stream's requests, and retries those that may succeed later.

Which failures are retried is decided in `failures.py`, how long to wait in `limits.py`,
and whether a run retries at all in `health.py`. A refused cursor begins its chain again
(`pagination.py`).

API description: "Base address", "Authentication", "Page envelope".
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from threading import Event
from typing import Any

import requests
from singer_sdk import metrics
from singer_sdk.metrics import Metric, Point, Status, Tag
from urllib3.exceptions import HTTPError

from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.failures import SUCCESS, explain_no_page, explain_no_response
from tap_leadintent.api.health import RunHealth
from tap_leadintent.api.limits import Limits, RateLimiter
from tap_leadintent.api.page import NO_RECORDS, Page, as_utf8
from tap_leadintent.api.session import TooLargeError, exchange
from tap_leadintent.errors import StreamError
from tap_leadintent.progress import StreamStats, counted
from tap_leadintent.singer.interruption import Interruption
from tap_leadintent.times import parse_http_date

Fields = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What the requests of all streams of a run share; safe for several threads."""

    session: requests.Session
    """Keeps the connections, and the headers of each request, with the key."""

    limits: Limits
    """What bounds each request."""

    limiter: RateLimiter
    """Delays requests."""

    health: RunHealth
    """Knows whether the address and the key have worked in this run."""

    clock: ServerClock
    """Compares the server's clock with ours."""

    interruption: Interruption
    """Ends the run after a signal."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Client:
    """Sends the requests of one stream; safe for several threads."""

    url: str
    """The endpoint's address."""

    tags: Mapping[str, str]
    """The tags of the metric `http_request_duration`."""

    filters: Fields
    """The fields of each request's body that the setting `filters` holds."""

    page_size: int
    """How many records to ask for."""

    timeout: float
    """Seconds until the complete response has arrived."""

    retries: int
    """Most retries of a request."""

    run_context: RunContext
    """What it shares with the clients of other streams."""

    logger: logging.Logger
    """The stream's logger; gets a line for each retry."""

    stats: StreamStats
    """Counts requests, retries and waits."""

    def fetch(
        self,
        fields: Fields,
        after: str | None,
        stopped: Event,
        max_retries: float = inf,
    ) -> Page:
        """Send a request, with retries, until its response is a page.

        Args:
            fields: The request fields of a window, empty for all records.
            after: The cursor, None for the first page.
            stopped: Set when the page is not wanted any more.
            max_retries: It is not retried more often, whatever the setting says.

        Returns:
            The page.

        Raises:
            StreamError: All retries failed, or a retry would not help.
            StoppedError: The page is not wanted any more.
        """
        limiter, attempt, pause = self.run_context.limiter, 0, 0.0
        while True:
            attempt += 1
            with limiter.turn(stopped, self.stats, pause):
                try:
                    page = self._send(fields, after)
                except StreamError as error:
                    # Still inside the turn: a cool-down begins before another request
                    # can be sent.
                    pause = self._plan_retry(error, attempt, max_retries)
                else:
                    limiter.note_page()
                    self.run_context.health.note_page()
                    return page

    def _send(self, fields: Fields, after: str | None) -> Page:
        cursor: dict[str, Any] = {"limit": self.page_size}
        if after is not None:
            cursor["after"] = after
        body = {**self.filters, **fields, "cursor": cursor}
        run = self.run_context
        request = requests.Request("POST", self.url, json=body)
        sent_at, began = time.time(), run.limits.monotonic()
        tags: dict[str, Any] = {**self.tags, Tag.STATUS: Status.FAILED}
        try:
            response, content = exchange(run.session, request, self.timeout, run.limits)
            tags[Tag.HTTP_STATUS_CODE] = response.status_code
            if response.ok:
                tags[Tag.STATUS] = Status.SUCCEEDED
        except (requests.RequestException, HTTPError, TooLargeError) as error:
            raise explain_no_response(error, self.url, self.timeout) from None
        finally:
            seconds = run.limits.monotonic() - began
            _measure(seconds, tags)
        date = parse_http_date(response.headers.get("Date", ""))
        server_time = run.clock.note(date, sent_at, seconds)
        problem: Exception | None = None
        try:
            if response.status_code in SUCCESS:
                content_type = response.headers.get("Content-Type", "")
                return Page.of(as_utf8(content, content_type))
        except (ValueError, RecursionError) as refusal:
            problem = refusal
        failure = explain_no_page(
            response,
            content,
            server_time,
            problem=problem,
            has_succeeded=run.health.has_succeeded,
        )
        if failure.may_be_empty and after is None:
            return Page.of(NO_RECORDS)
        raise failure

    def _plan_retry(
        self, error: StreamError, attempt: int, max_retries: float
    ) -> float:
        """Return the seconds to wait before a retry, or raise the error.

        Before some retries, all requests wait.
        """
        if not error.is_retryable:
            raise error
        limiter = self.run_context.limiter
        max_attempts = 1 + min(self.retries, max_retries)
        if self.run_context.health.is_on_trial:
            max_attempts = 1
        if attempt >= max_attempts:
            attempts = counted(attempt, "attempt")
            raise replace(error, message=f"gave up after {attempts}: {error}") from None
        pause = error.retry_after or self.run_context.limits.backoff(attempt)
        if error.pauses_all:
            limiter.pause_all(pause)
        self.logger.warning(
            "%s; attempt %d of %d in %.1f s", error, attempt + 1, max_attempts, pause
        )
        return pause


def _measure(seconds: float, tags: dict[str, Any]) -> None:
    """Log how long a request took, in a log at DEBUG only."""
    if (logger := metrics.get_metrics_logger()).isEnabledFor(logging.DEBUG):
        point = Point("timer", Metric.HTTP_REQUEST_DURATION, seconds, tags)
        metrics.log(logger, point)
