"""Sends a stream's requests, and retries those that may succeed later.

Why a request failed is explained in `explanations.py`, and whether it is sent again is
decided in `retries.py`. A refused cursor begins its chain again (`chain.py`).

API description: "Base address", "Authentication", "Page envelope".
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import requests
from msgspec import Raw
from singer_sdk import metrics
from singer_sdk.metrics import Metric, Point, Status, Tag
from urllib3.exceptions import HTTPError

from tap_leadintent.api.envelope import EMPTY_BODY
from tap_leadintent.api.explanations import (
    Circumstances,
    explain_no_page,
    explain_no_response,
)
from tap_leadintent.api.failures import INCOMPLETE, SLOW, SUCCESS
from tap_leadintent.api.page import NO_RECORDS, Page
from tap_leadintent.api.pagination import EmptyPages
from tap_leadintent.api.repair import as_utf8
from tap_leadintent.api.retries import Retries
from tap_leadintent.api.run_context import RunContext
from tap_leadintent.api.session import TooLargeError, exchange
from tap_leadintent.api.siblings import Siblings
from tap_leadintent.errors import Reason, StreamError
from tap_leadintent.progress import StreamStats
from tap_leadintent.singer.log import quote
from tap_leadintent.times import parse_http_date
from tap_leadintent.words import counted

Fields = Mapping[str, Any]


@dataclass
class _Outcomes:
    """What the requests to one endpoint have shown; safe for several threads."""

    has_answered: bool = False
    """Whether one has got a page; `Traffic.has_succeeded` is about all endpoints."""

    failing: set[str] = field(default_factory=set)
    """The bodies of the requests that have failed since the last page."""

    def note_page(self) -> None:
        self.has_answered = True
        self.failing.clear()

    def note_failure(self, body: str) -> bool:
        """Note a failure; return whether no other request has failed meanwhile."""
        self.failing.add(body)
        return self.failing == {body}


@dataclass(frozen=True)
class _Request:
    """What one request asks for, and how often it may be sent."""

    fields: Fields
    """The request fields of a window, empty for all records."""

    after: str | None
    """The cursor, None for the first page."""

    stopped: Event
    """Set when the page is not wanted any more."""

    max_retries: float
    """It is not retried more often, whatever the setting says."""

    @property
    def is_first(self) -> bool:
        """Whether it asks for the first page of a query."""
        return self.after is None


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

    retries: Retries
    """Decides which requests are sent again, and when."""

    run_context: RunContext
    """What it shares with the clients of other streams."""

    logger: logging.Logger
    """The stream's logger."""

    stats: StreamStats
    """Counts requests, retries and waits."""

    siblings: Siblings = field(default_factory=Siblings)
    """What the pages of the endpoint say beside their records."""

    empty_pages: EmptyPages = field(default_factory=EmptyPages)
    """Counts pages without records."""

    _outcomes: _Outcomes = field(default_factory=_Outcomes)
    """What the requests have shown so far."""

    def fetch(
        self,
        fields: Fields,
        after: str | None,
        stopped: Event,
        max_retries: float,
    ) -> Page:
        """Send a request, with retries, until its response is a page that counts.

        A page that differs from the others of its endpoint does not count, and is asked
        for again; see `siblings.py`.

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
        request = _Request(fields, after, stopped, max_retries)
        page, seconds = self._send_until_page(request)
        odd = self.siblings.judge(
            [page],
            is_first=request.is_first,
            may_ask=True,
        )
        if odd:
            with self.run_context.doubts.one_at_a_time(stopped) as may_ask:
                page, seconds = self._ask_again(
                    page,
                    seconds,
                    request,
                    may_ask=may_ask,
                )
        traffic = self.run_context.traffic
        traffic.note_page(self.url, seconds, is_full=page.has_more)
        self._outcomes.note_page()
        return page

    def _ask_again(
        self,
        page: Page,
        seconds: float,
        request: _Request,
        *,
        may_ask: bool,
    ) -> tuple[Page, float]:
        """Ask for a page that differs from others again, until an answer counts.

        Returns:
            The page, and how many seconds its request took.
        """
        run_context = self.run_context
        answers = [page]
        retries = min(self.retries.most, request.max_retries)
        most = 1 + max(2, int(retries))
        while True:
            odd = self.siblings.judge(
                answers,
                is_first=request.is_first,
                may_ask=may_ask,
            )
            if not odd:
                return answers[-1], seconds
            if len(answers) == 1 and may_ask:
                run_context.doubts.count()
            error = _page_differs(odd)
            if len(answers) == most:
                tries = counted(most, "attempt")
                raise error.changed(detail=f"gave up after {tries}: {error.detail}")
            pause = run_context.limits.backoff(len(answers))
            if len(answers) > 1:
                self.retries.log(error, len(answers) + 1, most, pause)
            page, seconds = self._send_until_page(request, pause)
            answers.append(page)

    def _send_until_page(
        self,
        request: _Request,
        pause: float = 0.0,
    ) -> tuple[Page, float]:
        """Send a request, with retries, until its response is a page.

        Args:
            request: The request.
            pause: The seconds to wait before it is sent.

        Returns:
            The page, and how many seconds its request took.
        """
        traffic = self.run_context.traffic
        monotonic = self.run_context.limits.monotonic
        attempt = 0
        while True:
            attempt += 1
            with traffic.turn(request.stopped, self.stats, pause):
                sent_at = monotonic()
                answer = self._send(request)
                if isinstance(answer, Page):
                    return answer, monotonic() - sent_at
                # Still inside the turn: a cool-down begins before another request can
                # be sent.
                self.retries.raise_if_final(answer, attempt, request.max_retries)
                pause = self.retries.plan(answer, attempt, sent_at)
                self.retries.log(answer, attempt + 1, request.max_retries, pause)

    def _send(self, request: _Request) -> Page | StreamError:
        """Send one request, and return its page, or why there is none.

        The error is not raised here, as its traceback would hold the response.
        """
        body = self._body_of(request)
        run_context = self.run_context
        sent_at = time.time()
        began = run_context.limits.monotonic()
        try:
            response, content = exchange(
                run_context.session,
                requests.Request("POST", self.url, json=body),
                self.timeout,
                run_context.limits,
            )
        except (requests.RequestException, HTTPError, TooLargeError) as error:
            return explain_no_response(
                error,
                self.url,
                self.timeout,
                self._note_failure(body),
            )
        seconds = run_context.limits.monotonic() - began
        self._measure(response, seconds)
        date = parse_http_date(response.headers.get("Date", ""))
        server_time = run_context.clock.note(date, sent_at, seconds)
        page, problem = self._read(response, content, is_first=request.is_first)
        if page is not None:
            return page
        return explain_no_page(
            response,
            content,
            server_time,
            sent=body,
            filters=self.filters.keys(),
            stream=self.tags[Tag.STREAM],
            problem=problem,
            circumstances=self._note_failure(body),
        )

    def _body_of(self, request: _Request) -> dict[str, Any]:
        """Return the body of a request."""
        cursor: dict[str, Any] = {"limit": self.page_size}
        if request.after is not None:
            cursor["after"] = request.after
        return {
            **self.filters,
            **request.fields,
            "cursor": cursor,
        }

    def _read(
        self,
        response: requests.Response,
        content: bytes,
        *,
        is_first: bool,
    ) -> tuple[Page | None, str]:
        """Return the page of a response; or None, and why its body is not a page."""
        status = response.status_code
        if is_first and status == requests.codes.no_content:
            return Page.of(NO_RECORDS), ""
        if status not in SUCCESS:
            return None, ""
        is_empty = is_first and not content.strip()
        if is_empty and self.siblings.has_pages:
            # An endpoint that has returned records may say so that there are none.
            page = Page.of(NO_RECORDS)
            return replace(page, other_fields={EMPTY_BODY: Raw(b'"none"')}), ""
        try:
            page = Page.of(as_utf8(content, response.encoding))
        except (ValueError, RecursionError) as refusal:
            # The error itself would keep the response, with its traceback.
            return None, str(refusal)
        if status == requests.codes.accepted:
            return None, "the API is not ready"
        return page, ""

    def _note_failure(self, body: Fields) -> Circumstances:
        """Note that a request has failed, and return what others have shown."""
        return Circumstances(
            has_succeeded=self.run_context.traffic.has_succeeded,
            has_answered=self._outcomes.has_answered,
            is_alone=self._outcomes.note_failure(json.dumps(body)),
        )

    def _measure(
        self,
        response: requests.Response,
        seconds: float,
    ) -> None:
        """Log how long a request took, in a log at DEBUG only."""
        logger = metrics.get_metrics_logger()
        if not logger.isEnabledFor(logging.DEBUG):
            return
        tags = {
            **self.tags,
            Tag.HTTP_STATUS_CODE: response.status_code,
            Tag.STATUS: Status.SUCCEEDED if response.ok else Status.FAILED,
        }
        point = Point(
            "timer",
            Metric.HTTP_REQUEST_DURATION,
            seconds,
            tags,
        )
        metrics.log(logger, point)


def _page_differs(odd: list[str]) -> StreamError:
    """Return the error of a page that differs from others, by the paths that do."""
    names = quote(", ".join(odd))
    return StreamError(
        INCOMPLETE,
        detail=f"it says so in {names}",
        status=requests.codes.ok,
        reason=Reason.NOT_A_PAGE,
        actions=SLOW,
    )
