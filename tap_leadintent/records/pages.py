"""Makes the rows of a page, and notes what the page says about the API."""

from dataclasses import dataclass, field

from tap_leadintent.api.page import Page
from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import Record
from tap_leadintent.records.contradictions import Contradictions
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.shaper import RecordShaper
from tap_leadintent.replication.intervals import Interval, add
from tap_leadintent.times import format_instant, utc_timestamp


@dataclass(kw_only=True)
class PageShaper:
    """Makes the rows of one stream's pages."""

    shaper: RecordShaper
    """Makes a row of each record."""

    duplicates: Duplicates
    """Knows what was emitted before."""

    contradictions: Contradictions
    """Compares the records with the request."""

    findings: Findings
    """Collects what the pages say about the API."""

    leaves_out_repeated: bool
    """Whether records are left out that were emitted before and are unchanged."""

    left_out: list[Interval] = field(default_factory=list, init=False)
    """The intervals in which records had no key, or could not be decoded."""

    def rows(
        self,
        page: Page,
        range_name: str,
        interval: Interval,
    ) -> list[Record]:
        """Make the rows of a page.

        Args:
            page: The page.
            range_name: The requested time range, empty without one.
            interval: The requested interval, in UTC seconds since 1970.

        Returns:
            The rows, without records that have no key or cannot be decoded.
        """
        decoded = page.decode()
        records = decoded.records
        if decoded.is_repaired:
            self.findings.note(Finding.REPAIRED)
        if decoded.broken:
            # The finding has no names, so one empty name counts each record.
            nameless = [""] * decoded.broken
            self.findings.note(Finding.BROKEN, nameless)
        if page.lacks_has_more:
            self.findings.note(Finding.NO_HAS_MORE)
        if page.other_fields:
            self.findings.note(Finding.ENVELOPE, page.other_fields)
        # Before repeated records are left out, or nothing may be left to compare.
        self.contradictions.check(
            records,
            range_name,
            interval,
            self.findings,
        )
        if self.leaves_out_repeated:
            records = self.duplicates.leave_out(records, decoded.raw)
        else:
            self.duplicates.check(records, decoded.raw)
        window_end = None
        if range_name:
            _, end = interval
            window_end = utc_timestamp(format_instant(end))
        rows = self.shaper.shape(records, window_end)
        has_left_out = decoded.broken or len(rows) < len(records)
        if has_left_out and range_name:
            add(self.left_out, interval)
        return rows
