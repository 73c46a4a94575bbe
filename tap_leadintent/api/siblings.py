"""Notices a page that differs from the other pages of its endpoint.

An API that could read only a part of what a page should hold may say so, in a field
that its description does not show, and in any words. So no words are looked for: what
all pages of an endpoint have said alike, and one page says otherwise, may mean that
this page is not complete. It is asked for again. What differs from page to page, such
as an id, a time or a count, means nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self

from tap_leadintent.api.envelope import (
    EMPTY_BODY,
    IS_COUNT,
    IS_TIME,
    KINDS,
    ON_LATER,
    ON_MORE,
    Claims,
    Envelope,
    claims_of_absent,
    is_flag,
    read_envelope,
    value_of,
)
from tap_leadintent.api.page import Page

_ENOUGH = 3
"""Pages with records from which on another page is compared with them."""

_MOST_PATHS = 24
"""Values whose claims are kept, as they stand in the state."""

_STATE = re.compile(r"[0-3][mlfp]{0,4}( [\w-]{4}([!~][\w-]{3})?[mlfpnt]{0,6}){0,24}")


@dataclass
class _Accepted:
    """A value that differs, of a page that was the same when it was asked for again."""

    path: str
    value: str
    is_structural: bool
    """Whether it may only show that the page is the first or the last of a query."""
    pages: int = 0
    """How many pages of the run had it."""
    others: int = 0
    """How many had another one since it came first."""


@dataclass(eq=False, repr=False)
class Siblings:
    """What all pages of an endpoint have said beside their records.

    It is safe for several threads.
    """

    _pages: int = 0
    """How many pages with records have come, up to three."""

    _kinds: Claims = frozenset()
    """The kinds of the pages that have come, see `Envelope.kinds`."""

    _known: dict[str, Claims] = field(default_factory=dict)
    """For the digest of each path, what holds for its value on all pages; empty if it
    differs from page to page."""

    _accepted: dict[str, _Accepted] = field(default_factory=dict)
    """By the digest of their paths, the values of this run that differ and count."""

    _odd_names: set[str] = field(default_factory=set)
    """The paths of other values that may mean that pages of this run lack records."""

    _has_read: bool = False
    """Whether a page of this run has counted."""

    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def read(cls, content: object) -> Self:
        """Read what the state says about the pages of earlier runs.

        Args:
            content: What `to_state` has returned; it may be anything.
        """
        siblings = cls()
        if isinstance(content, str) and _STATE.fullmatch(content):
            head, *texts = content.split(" ")
            siblings._pages = int(head[0])
            siblings._kinds = frozenset(head[1:])
            for text in texts:
                value = text[4:8] if text[4:5] in {"!", "~"} else ""
                claims = {*text[4 + len(value) :]}
                if value:
                    claims.add(value)
                siblings._known[text[:4]] = frozenset(claims)
        return siblings

    def to_state(self) -> str:
        """Return what the next run needs to know, in at most a few hundred characters.

        Returns:
            The number of pages up to three and their kinds, then for each path its
            digest, and what holds for its value on all pages. Empty without any page.
        """
        with self._lock:
            if not self._kinds:
                return ""
            words = [f"{self._pages}{''.join(sorted(self._kinds))}"]
            for key, known in self._known.items():
                value = value_of(known)
                letters = "".join(sorted(known - {value}))
                accepted = self._accepted.get(key)
                # What has come on all pages since it came first is how pages are now.
                if accepted and accepted.pages >= _ENOUGH and not accepted.others:
                    value = value and accepted.value
                words.append(f"{key}{value}{letters}")
            return " ".join(words)

    @property
    def odd_names(self) -> list[str]:
        """The paths of values that may mean that pages of this run lack records."""
        with self._lock:
            odd = {*self._odd_names}
            for each in self._accepted.values():
                if not each.is_structural or each.pages < _ENOUGH:
                    odd.add(each.path)
            return sorted(odd)

    @property
    def has_pages(self) -> bool:
        """Whether the endpoint has returned a page with records."""
        return self._pages > 0

    def judge(
        self, answers: Sequence[Page], *, is_first: bool, may_ask: bool
    ) -> list[str]:
        """Decide whether the last answer to a request counts, and learn from it then.

        Args:
            answers: The answers to the request so far; all but the last did not count.
            is_first: Whether it is a request for the first page of a query.
            may_ask: Whether it may be sent again because values differ.

        Returns:
            The paths of the values that differ from those of other pages, or of one
            that names a failure. Empty if the answer counts.
        """
        page = answers[-1]
        envelope = read_envelope(page, is_first=is_first)
        with self._lock:
            odd = [
                key
                for key in self._odd(envelope)
                if not self._belongs_to_second_page(key, envelope)
            ]
            failure = self._failure(envelope, page)
            same = _with_same_records(answers)
            enough = 1
            if may_ask:
                # A page without records may be one that is not ready yet.
                enough = 2 if page.records else 3
            is_final = len(same) >= enough and (page.records or not failure)
            if (odd or failure) and not is_final:
                names = {self._name(key, envelope) for key in odd}
                if failure:
                    names.add(failure)
                return sorted(names)
            if envelope.failure:
                self._odd_names.add(envelope.failure)
            self._forget_varying([read_envelope(p, is_first=is_first) for p in same])
            for key in odd:
                self._accept(key, envelope, is_asked=may_ask)
            self._learn(envelope, page)
            return []

    def _failure(self, envelope: Envelope, page: Page) -> str | None:
        """Return the path of a field that names a failure, if it counts."""
        path = envelope.failure
        if path is None:
            return None
        if self._pages < _ENOUGH:
            return None if path in self._odd_names and page.records else path
        inside = [key for key, name in envelope.names.items() if name.startswith(path)]
        is_usual = all(self._usual(key) & envelope.claims(key) for key in inside)
        return None if page.records or is_usual else path

    def _odd(self, envelope: Envelope) -> list[str]:
        """Return the digests of the paths whose values differ from all other pages."""
        odd: list[str] = []
        for key in self._keys(envelope):
            claims = envelope.claims(key)
            accepted = self._accepted.get(key)
            if accepted and not accepted.is_structural and accepted.value in claims:
                continue
            usual = self._usual(key)
            is_judged = self._pages >= _ENOUGH or envelope.names.get(key) == EMPTY_BODY
            if not is_judged or not usual or usual & claims:
                continue
            # The number of records may differ on each page.
            if IS_COUNT not in self._claims(key) & claims:
                odd.append(key)
        return odd

    def _belongs_to_second_page(self, key: str, envelope: Envelope) -> bool:
        """Return whether a value differs as on the first second page of an endpoint.

        Much may differ there, such as the number of the page, and its records are all
        if there are more.
        """
        if ON_MORE not in envelope.kinds or ON_LATER in self._kinds:
            return False
        known = self._claims(key)
        return bool(known & envelope.claims(key)) or not is_flag(value_of(known))

    def _keys(self, envelope: Envelope) -> list[str]:
        """Return the digests of the paths that are compared."""
        new = [key for key in envelope.names if key not in self._known]
        return [*self._known, *new[: _MOST_PATHS - len(self._known)]]

    def _claims(self, key: str) -> Claims:
        """Return what holds for a value on all pages that have come."""
        return self._known.get(key, claims_of_absent(self._kinds))

    def _usual(self, key: str) -> Claims:
        """Return what a value of another page must be like.

        It has one value on all pages, or it is set on all last pages, and on no others.
        The latter is known only when both have come.
        """
        claims = self._claims(key)
        usual = {value_of(claims)} - {""}
        for kind in claims & KINDS.keys():
            if {kind, KINDS[kind]} <= self._kinds:
                usual.add(kind)
        return frozenset(usual)

    def _accept(self, key: str, envelope: Envelope, *, is_asked: bool) -> None:
        """Note a value that differs, of a page that counts."""
        claims = envelope.claims(key)
        known = self._claims(key)
        is_varying = key in self._accepted
        if is_varying or not is_asked:
            self._odd_names.add(self._name(key, envelope))
        if is_varying or IS_TIME in claims:
            self._known[key] = frozenset()
        elif is_flag(value_of(known)):
            self._accepted[key] = _Accepted(
                self._name(key, envelope),
                value_of(claims),
                is_structural=bool(known & claims),
            )
        else:
            # A number of a whole query does not change within it, as a code may.
            if self._has_read and ON_LATER in envelope.kinds & self._kinds:
                self._odd_names.add(self._name(key, envelope))
            self._known[key] = frozenset()

    def _forget_varying(self, same: Sequence[Envelope]) -> None:
        """Let values mean nothing that differ between answers with the same records."""
        *others, last = same
        for other in others:
            for key in other.fields.keys() | last.fields.keys():
                is_kept = key in self._known or len(self._known) < _MOST_PATHS
                if is_kept and other.claims(key) != last.claims(key):
                    self._known[key] = frozenset()

    def _learn(self, envelope: Envelope, page: Page) -> None:
        """Note what an answer says that counts."""
        for key in self._keys(envelope):
            claims = envelope.claims(key)
            accepted = self._accepted.get(key)
            if accepted:
                is_same = accepted.value in claims
                accepted.pages += is_same
                accepted.others += not is_same
                if not accepted.is_structural and is_same:
                    continue
            known = self._claims(key) if self._kinds else claims
            self._known[key] = known & claims
        self._has_read = True
        self._kinds |= envelope.kinds
        self._pages = min(_ENOUGH, self._pages + bool(page.records))

    def _name(self, key: str, envelope: Envelope) -> str:
        return envelope.names.get(key, "a field that is missing")


def _with_same_records(answers: Sequence[Page]) -> list[Page]:
    """Return the last answers that have the same records, in the order they came."""
    last = answers[-1]
    same: list[Page] = []
    for each in reversed(answers):
        if each is not last and not _has_same_records(each, last):
            break
        same.insert(0, each)
    return same


def _has_same_records(page: Page, other: Page) -> bool:
    if page.has_more != other.has_more:
        return False
    return page.fingerprint == other.fingerprint or _ids(page) == _ids(other)


def _ids(page: Page) -> list[Any]:
    """Return what identifies each record, as other fields may change at any time."""
    decoded = page.decode()
    pairs = zip(decoded.records, decoded.raw, strict=True)
    return [record.get("id") or bytes(raw) for record, raw in pairs]
