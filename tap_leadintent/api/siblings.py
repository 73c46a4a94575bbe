"""Notices a page that differs from the other pages of its endpoint.

An API that could read only a part of what a page should hold may say so, in any field
and in any words. So this module looks for no words. If a field has the same value on
all pages of an endpoint, and another value on one page, that page may not be complete.
It is asked for again until an answer is like the other pages, or until the answers stay
the same. Only the last answer counts: only its records are emitted. Fields that differ
from page to page, such as an id, a time or a count, mean nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Self

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
"""After this many pages with records, each further page is compared with them."""

_MOST_PATHS = 24
"""The most values whose claims are kept, because the state has them all."""

_STATE = re.compile(r"[0-3][mlfp]{0,4}( [\w-]{4}([!~][\w-]{3})?[mlfpnt]{0,6}){0,24}")
"""What `Siblings.to_state` returns."""


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

    @property
    def is_usual(self) -> bool:
        """Whether all pages have had it since the first one, so it is usual now."""
        return self.pages >= _ENOUGH and not self.others


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
        if not isinstance(content, str) or not _STATE.fullmatch(content):
            return siblings
        head, *words = content.split(" ")
        siblings._pages = int(head[0])
        siblings._kinds = frozenset(head[1:])
        for word in words:
            key, claims = _read_word(word)
            siblings._known[key] = claims
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
            kinds = "".join(sorted(self._kinds))
            words = [f"{self._pages}{kinds}"]
            for key, known in self._known.items():
                value = value_of(known)
                letters = "".join(sorted(known - {value}))
                accepted = self._accepted.get(key)
                if value and accepted and accepted.is_usual:
                    value = accepted.value
                words.append(f"{key}{value}{letters}")
            return " ".join(words)

    @property
    def odd_names(self) -> list[str]:
        """The paths of values that may mean that pages of this run lack records."""
        with self._lock:
            odd = set(self._odd_names)
            for accepted in self._accepted.values():
                if not accepted.is_structural or accepted.pages < _ENOUGH:
                    odd.add(accepted.path)
            return sorted(odd)

    @property
    def has_pages(self) -> bool:
        """Whether the endpoint has returned a page with records."""
        return self._pages > 0

    def judge(
        self,
        answers: Sequence[Page],
        *,
        is_first: bool,
        may_ask: bool,
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
            odd = self._odd(envelope)
            failure = self._failure(envelope, page)
            same = _with_same_records(answers)
            is_enough = len(same) >= _answers_needed(page, may_ask=may_ask)
            is_final = is_enough and (page.records or not failure)
            if (odd or failure) and not is_final:
                names = {_name(key, envelope) for key in odd}
                if failure:
                    names.add(failure)
                return sorted(names)
            if envelope.failure:
                self._odd_names.add(envelope.failure)
            for other in same[:-1]:
                self._forget_varying(read_envelope(other, is_first=is_first), envelope)
            for key in odd:
                self._accept(key, envelope, is_asked=may_ask)
            self._learn(envelope, page)
            return []

    def _failure(
        self,
        envelope: Envelope,
        page: Page,
    ) -> str | None:
        """Return the path of a field that names a failure, if it counts."""
        path = envelope.failure
        if path is None:
            return None
        if self._pages < _ENOUGH:
            is_accepted = path in self._odd_names and page.records
            return None if is_accepted else path
        if page.records or self._is_usual(path, envelope):
            return None
        return path

    def _is_usual(self, path: str, envelope: Envelope) -> bool:
        """Return whether all that a field holds is as on other pages."""
        for key, name in envelope.names.items():
            if not name.startswith(path):
                continue
            if self._usual(key).isdisjoint(envelope.claims(key)):
                return False
        return True

    def _odd(self, envelope: Envelope) -> list[str]:
        """Return the digests of the paths whose values differ from all other pages."""
        odd: list[str] = []
        for key in self._keys(envelope):
            if not self._differs(key, envelope):
                continue
            if not self._belongs_to_second_page(key, envelope):
                odd.append(key)
        return odd

    def _differs(self, key: str, envelope: Envelope) -> bool:
        """Return whether a value differs from those of all other pages."""
        claims = envelope.claims(key)
        accepted = self._accepted.get(key)
        if accepted and not accepted.is_structural and accepted.value in claims:
            return False
        is_empty_body = envelope.names.get(key) == EMPTY_BODY
        if self._pages < _ENOUGH and not is_empty_body:
            return False
        usual = self._usual(key)
        if not usual or usual & claims:
            return False
        # The number of records may differ on each page.
        return IS_COUNT not in self._claims(key) & claims

    def _belongs_to_second_page(self, key: str, envelope: Envelope) -> bool:
        """Return whether a value differs as on the first second page of an endpoint.

        Much may differ there, such as the number of the page, and its records are all
        if there are more.
        """
        if ON_MORE not in envelope.kinds or ON_LATER in self._kinds:
            return False
        known = self._claims(key)
        if known & envelope.claims(key):
            return True
        return not is_flag(value_of(known))

    def _keys(self, envelope: Envelope) -> list[str]:
        """Return the digests of the paths that are compared."""
        keys = list(self._known)
        for key in envelope.names:
            if len(keys) >= _MOST_PATHS:
                break
            if key not in self._known:
                keys.append(key)
        return keys

    def _claims(self, key: str) -> Claims:
        """Return what holds for a value on all pages that have come."""
        return self._known.get(key, claims_of_absent(self._kinds))

    def _usual(self, key: str) -> Claims:
        """Return what a value of another page must be like.

        It has one value on all pages, or it is set on all last pages, and on no others.
        The latter is known only when both have come.
        """
        claims = self._claims(key)
        usual = set[str]()
        value = value_of(claims)
        if value:
            usual.add(value)
        for kind in claims & KINDS.keys():
            opposite = KINDS[kind]
            if {kind, opposite} <= self._kinds:
                usual.add(kind)
        return frozenset(usual)

    def _accept(
        self,
        key: str,
        envelope: Envelope,
        *,
        is_asked: bool,
    ) -> None:
        """Note a value that differs, of a page that counts."""
        claims = envelope.claims(key)
        known = self._claims(key)
        name = _name(key, envelope)
        is_varying = key in self._accepted
        if is_varying or not is_asked:
            self._odd_names.add(name)
        if is_varying or IS_TIME in claims:
            self._known[key] = frozenset()
        elif is_flag(value_of(known)):
            self._accepted[key] = _Accepted(
                name,
                value_of(claims),
                is_structural=bool(known & claims),
            )
        else:
            # A number of a whole query does not change within it, as a code may.
            if self._has_read and ON_LATER in envelope.kinds & self._kinds:
                self._odd_names.add(name)
            self._known[key] = frozenset()

    def _forget_varying(self, one: Envelope, other: Envelope) -> None:
        """Let values mean nothing that differ between answers with the same records."""
        for key in one.fields.keys() | other.fields.keys():
            if one.claims(key) == other.claims(key):
                continue
            if key in self._known or len(self._known) < _MOST_PATHS:
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
        if page.records and self._pages < _ENOUGH:
            self._pages += 1


def _read_word(word: str) -> tuple[str, Claims]:
    """Return the digest of a path, and what holds for its value on all pages."""
    key = word[:4]
    rest = word[4:]
    if not rest.startswith(("!", "~")):
        return key, frozenset(rest)
    value = rest[:4]
    letters = rest[4:]
    return key, frozenset({value, *letters})


def _name(key: str, envelope: Envelope) -> str:
    """Return the path of a value for a message."""
    return envelope.names.get(key, "a field that is missing")


def _answers_needed(page: Page, *, may_ask: bool) -> int:
    """Return how many answers with the same records make a page count that differs."""
    if not may_ask:
        return 1
    # A page without records may be one that is not ready yet.
    return 2 if page.records else 3


def _with_same_records(answers: Sequence[Page]) -> list[Page]:
    """Return the last answers that have the same records, in the order they came."""
    last = answers[-1]
    same: list[Page] = []
    for answer in reversed(answers):
        if answer is not last and not answer.has_same_records(last):
            break
        same.insert(0, answer)
    return same
