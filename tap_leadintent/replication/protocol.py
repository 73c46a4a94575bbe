"""What this folder needs to know of an API: how it is asked, and what it answers."""

from threading import Event
from typing import Protocol, TypeVar

from tap_leadintent.replication.intervals import Interval

OVERLAP_SECONDS = 1
"""How many seconds before its start a window is requested, because an API may leave out
the ends of a range. The records of this second are read twice."""


class CutError(Exception):
    """A query failed, but a query for a part of its interval may succeed."""

    def __init__(self, reason: Exception) -> None:
        """Keep the error of the API.

        Args:
            reason: Why the query failed. It is raised if no part succeeds either.
        """
        super().__init__(str(reason))
        self.reason = reason


class IgnoredRangeError(Exception):
    """The API returns records for times that cannot have any; the text is the range."""


class NoThreadError(Exception):
    """The system allows no further thread."""


class Page(Protocol):
    """One response with records."""

    @property
    def body(self) -> bytes:
        """The response, from which `Api.parse` makes the page again."""

    @property
    def records(self) -> int:
        """How many records it holds."""

    @property
    def fingerprint(self) -> int:
        """A hash of its records; pages with the same records have the same hash."""

    @property
    def ends(self) -> tuple[int, int]:
        """Hashes of its first and of its last record, the same in every process.

        They are asked for only if it holds records.
        """

    @property
    def has_more(self) -> bool:
        """Whether the query has another page."""


PageT = TypeVar("PageT", bound=Page)
PageT_co = TypeVar(
    "PageT_co",
    bound=Page,
    covariant=True,
)


class Query(Protocol[PageT_co]):
    """The pages of one request and of those that follow from it."""

    @property
    def records(self) -> int:
        """How many records it has returned so far.

        If it begins again from its first page, it counts from 0.
        """

    def fetch(
        self,
        stopped: Event,
        max_retries: float,
    ) -> PageT_co:
        """Request the next page, with retries.

        Args:
            stopped: Set when the page is not wanted any more.
            max_retries: How often the request is repeated at most.

        Returns:
            The page.

        Raises:
            CutError: It cannot be read, but a shorter interval may be.
            Exception: It cannot be read; the reading ends with this error.
        """


class Api(Protocol[PageT_co]):
    """An endpoint."""

    def query(
        self,
        range_name: str,
        interval: Interval,
        limit: int,
    ) -> Query[PageT_co]:
        """Begin a query; nothing is sent yet.

        Args:
            range_name: The time range; empty for all records.
            interval: What to ask for, in UTC seconds since 1970.
            limit: How many records a page to ask for.
        """

    def parse(self, body: bytes) -> PageT_co:
        """Return the page of a body that a query has returned before."""

    def raise_if_interrupted(self) -> None:
        """Raise an exception if the run is to end; called while a page is awaited."""
