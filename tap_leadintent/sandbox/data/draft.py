"""What a record is built from, and the parts that several kinds share."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tap_leadintent.sandbox.data import vocabulary as words
from tap_leadintent.sandbox.data.draws import mix, source, stream_key
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import format_time

if TYPE_CHECKING:
    from tap_leadintent.sandbox.data.draws import Source

_LASTING = 1 << 20
_PASSING = _LASTING + 1


@dataclass(frozen=True, slots=True)
class Draft:
    """Identity and times of a record to be built; times in µs since 1970.

    Attributes:
        seed: Seed of the sandbox.
        key: Key of the stream's draws.
        id: The record's id.
        index: The record's number in its stream.
        version: How often it has changed.
        found: When it appeared.
        latest: Time of its current signal or activity.
        now: The clock.
    """

    seed: int
    key: int
    id: str
    index: int
    version: int
    found: int
    latest: int
    now: int

    def lasting(self) -> Source:
        """Give the source of choices that stay when the record changes."""
        return source(self.key, self.index, _LASTING)

    def passing(self) -> Source:
        """Give the source of choices that each change makes anew."""
        return source(self.key, self.index, _PASSING + self.version)


def record_id(seed: int, stream: str, index: int) -> str:
    """Give the id of a stream's record number `index`."""
    return f"{ENDPOINTS[stream].prefix}_{mix(stream_key(seed, stream), index):016x}"


@lru_cache
def sheet(seed: int, number: int) -> dict[str, Any]:
    """Give a sheet (API description: `sheet`); not to be modified."""
    number %= len(words.SHEETS)
    code = mix(stream_key(seed, "sheets"), number)
    return {"id": f"sht_{code:016x}", "name": words.SHEETS[number]}


def person(rng: Source, code: str) -> dict[str, Any]:
    """Give a person's name, and country code, written as in their country."""
    country, given, family = rng.pick(words.PEOPLE)
    names = [rng.pick(given), rng.pick(family)]
    if country in words.FAMILY_FIRST:
        names.reverse()
    return {
        "full_name": ("" if country in words.UNSPACED else " ").join(names),
        "country_code": country,
        "profile": {
            "platform": "linkedin",
            "url": f"https://www.linkedin.com/in/{_slug(names[0])}-{code}",
        },
    }


@lru_cache(maxsize=4096)
def company(seed: int, number: int) -> dict[str, Any]:
    """Give the company with a number; not to be modified (API: `company`)."""
    rng = source(stream_key(seed, "signal_accounts"), number, _LASTING)
    first = rng.pick(words.COMPANY_FIRST)
    parts = (first, rng.pick(words.COMPANY_SECOND), rng.pick(words.COMPANY_FORM))
    slug = f"{_slug(first)}-{number}"
    made = {
        "id": record_id(seed, "signal_accounts", number),
        "name": " ".join(part for part in parts if part),
        "domain": f"{slug}.{rng.pick(words.DOMAIN_ENDINGS)}",
        "linkedin_url": f"https://www.linkedin.com/company/{slug}",
        "country_code": rng.pick(words.PEOPLE)[0],
    }
    if rng.chance(0.1):
        del made["linkedin_url"]
    return made


def signal(draft: Draft) -> dict[str, Any]:
    """Give the signal that a lead or account shows now (API: `signal`)."""
    rng = draft.passing()
    kind, name, summary = rng.pick(words.SIGNALS)
    topic = rng.pick(words.TOPICS)
    made = {
        "type": kind,
        "name": name,
        "summary": summary.format(n=rng.whole(2, 60), topic=topic),
        "reason": f"Matches the agent's condition about {topic}.",
        "observed_at": format_time(draft.latest),
    }
    if rng.chance(0.15):
        del made["reason"]
    return made


@lru_cache
def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return "".join(c for c in plain.lower() if c.isalnum()) or "x"
