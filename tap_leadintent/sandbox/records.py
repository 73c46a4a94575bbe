"""Generates the records of each stream.

Leads and agents have the fields of the API description ("Resources and their fields").
The description does not show the fields of the other records. They are the sandbox's
choice: nested and irregular, so that they are useful for tests. The words come from
`words.json`.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from random import Random
from typing import Any

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY, HOUR, format_time

_WORDS_FILE = files(__package__) / "words.json"
_WORDS = json.loads(_WORDS_FILE.read_text("utf-8"))

# References point to records that exist in streams of the default sizes. Leads share
# so few companies that a filter by company finds several leads.
_ACCOUNTS = ENDPOINTS["monitored_accounts"].size
_CUSTOM_SIGNALS = ENDPOINTS["custom_signals"].size
_COMPANIES = 400
_FIRST_MONITORED = 1_000_000  # so that monitored companies are not those of leads
_HIGH_SCORE = 75
_SCHEDULES = (
    ("Every 6 hours", 6 * HOUR),
    ("Daily", DAY),
    ("Every Monday", 7 * DAY),
)


@dataclass(slots=True, eq=False)
class Entry:
    """A record with its times, in microseconds since 1970.

    Attributes:
        id: The id of the record.
        index: Its number in the stream; -1 for a record that was inserted.
        found: When it appeared.
        latest: The time of its latest signal or activity.
        version: How often it has changed.
        body: Its JSON, as soon as it has been generated.
    """

    id: str
    index: int
    found: int
    latest: int
    version: int = 0
    body: bytes | None = None


def draw_id(rng: Random, stream: str) -> str:
    """Return the id of a record; `rng` is `Random(f"{seed}:{stream}:{index}")`."""
    entity = stream.removesuffix("s")
    number = rng.getrandbits(64)
    return f"{entity}_{number:016x}"


@lru_cache(maxsize=4096)
def _id(
    seed: int,
    stream: str,
    index: int,
) -> str:
    rng = Random(f"{seed}:{stream}:{index}")
    return draw_id(rng, stream)


def _sheet(
    seed: int,
    number: int,
) -> dict[str, Any]:
    names = _WORDS["sheets"]
    number %= len(names)
    return {
        "id": f"sht_{seed:03}{number:03}",
        "name": names[number],
    }


def _company(
    seed: int,
    number: int,
) -> dict[str, Any]:
    companies = _WORDS["companies"]
    company = companies[number % len(companies)]
    return {
        **company,
        "id": _id(seed, "signal_accounts", number),
        "domain": f"{number}.{company['domain']}",
    }


def _monitored_company(seed: int, number: int) -> dict[str, Any]:
    return _company(seed, _FIRST_MONITORED + number)


# To compose a text takes longer than all other fields of a record.
@lru_cache(maxsize=4096)
def _text(number: int, max_sentences: int) -> str:
    rng = Random(number)
    count = rng.randint(1, max_sentences)
    sentences = rng.choices(_WORDS["sentences"], k=count)
    text = " ".join(sentences[:8])
    second = " ".join(sentences[8:])
    if second:
        text = f"{text}\n\n{second}"
    n = rng.randrange(2, 48)
    topic = rng.choice(_WORDS["topics"])
    return text.format(n=n, topic=topic)


def _custom_signal(number: int) -> dict[str, Any]:
    known: list[dict[str, Any]] = _WORDS["custom_signals"]
    return known[number % len(known)]


def _definition(
    seed: int,
    number: int,
) -> dict[str, Any]:
    """Return id and name of a Custom Signal definition."""
    return {
        "id": _id(seed, "custom_signals", number),
        "name": _custom_signal(number)["name"],
    }


class RecordBuilder:
    """Builds one record, in the method that is named like its stream."""

    def __init__(
        self,
        stream: str,
        seed: int,
        entry: Entry,
        now: int,
    ) -> None:
        """Build the record as it is at a time.

        `rng` decides what stays the same for the life of the record, and `_changing`
        what each change of the record decides again.
        """
        self.seed = seed
        self.entry = entry
        self.now = now
        record = f"{seed}:{stream}:{entry.index}"
        self.rng = Random(f"{record}:")
        self._changing = Random(f"{record}:{entry.version}")
        build = getattr(self, f"_{stream}")
        self.record = {
            "id": entry.id,
            **build(),
        }

    def _signal_agents(self) -> dict[str, Any]:
        schedule, interval = self.rng.choice(_SCHEDULES)
        topic = self.rng.choice(_WORDS["topics"])
        sheet = _sheet(self.seed, self.entry.index)
        is_active = self.entry.index % 4 != 1
        fields = {
            "type": "intent_signals",
            "name": f"{topic} · {sheet['name']}",
            "status": "active" if is_active else "paused",
            "schedule": schedule,
            "sheet": sheet,
        }
        if is_active:
            age = self.now - self.entry.found
            checks = age // interval + 1
            next_check = self.entry.found + checks * interval
            fields["next_check_at"] = format_time(next_check)
        return fields

    def _leads(self) -> dict[str, Any]:
        number = self.rng.randrange(_COMPANIES)
        employer = _company(self.seed, number)
        signal = self._signal()
        value = self.rng.randrange(40, 100)
        fields = {
            **self._person(),
            "company": employer,
            "sheet": self._any_sheet(),
            "signal": signal,
            "qualification": self._qualification(employer, signal),
            "score": self._score(value),
        }
        if self.rng.randrange(10):
            fields["title"] = self.rng.choice(_WORDS["titles"])
        return fields

    def _qualification(
        self,
        employer: dict[str, Any],
        signal: dict[str, Any],
    ) -> dict[str, Any]:
        company = employer["name"]
        summary = signal["summary"]
        return {
            "status": "qualified",
            "reason": f"{company} {summary}",
            "reasoning": self._text(27),
            "references": self._references(employer["domain"]),
        }

    def _score(self, value: int) -> dict[str, Any]:
        is_high = value >= _HIGH_SCORE
        has_fraction = self.rng.randrange(10) == 0
        return {
            "value": value + 0.5 if has_fraction else value,
            "fit": "high" if is_high else "medium",
            "reasoning": self._text(5),
        }

    def _references(self, domain: str) -> list[dict[str, Any]]:
        references: list[dict[str, Any]] = []
        count = self.rng.randrange(4)
        for kind in ("careers", "newsroom", "blog")[:count]:
            reference = {
                "type": "evidence",
                "label": f"{kind.title()} of {domain}",
                "url": f"https://{domain}/{kind}?lang=é&n=1",
            }
            references.append(reference)
        return references

    def _signal_accounts(self) -> dict[str, Any]:
        employees = 10 ** self.rng.uniform(1, 5)
        sheet = self._any_sheet()
        older_signals = self.rng.randrange(1, 10)
        return {
            **_company(self.seed, self.entry.index),
            "employee_count": int(employees),
            "sheet": sheet,
            "signal": self._signal(),
            "signals_count": self.entry.version + older_signals,
            "found_at": format_time(self.entry.found),
        }

    def _monitored_accounts(self) -> dict[str, Any]:
        watched = _monitored_company(self.seed, self.entry.index)
        count = self.rng.randrange(4)
        numbers = self.rng.sample(range(_CUSTOM_SIGNALS), count)
        custom_signals = [_definition(self.seed, number) for number in numbers]
        owner = {
            "name": self._person()["full_name"],
            "team": None,
        }
        return {
            "name": watched["name"],
            "domain": watched["domain"],
            "status": "detected" if custom_signals else "monitoring",
            "added_at": format_time(self.entry.found),
            "latest_activity_at": format_time(self.entry.latest),
            "custom_signals": custom_signals,
            "owner": owner,
            "checks": self.entry.version + 1,
        }

    def _observations(self) -> dict[str, Any]:
        number = self.rng.randrange(_ACCOUNTS)
        watched = _monitored_company(self.seed, number)
        account = {
            "name": watched["name"],
            "domain": watched["domain"],
            "id": _id(self.seed, "monitored_accounts", number),
        }
        signal = self.rng.randrange(_CUSTOM_SIGNALS)
        fields = {
            "account_id": account["id"],
            "account": account,
            "signal": _definition(self.seed, signal),
            "status": "detected",
            "observed_at": format_time(self.entry.found),
            "evidence": self._evidence(watched["domain"]),
            "confidence": self.rng.randrange(50, 101) / 100,
        }
        if not self.rng.randrange(3):
            published = self.entry.found - 2 * HOUR
            fields["published_at"] = format_time(published)
        return fields

    def _evidence(self, domain: str) -> list[dict[str, Any]]:
        evidence: list[dict[str, Any]] = []
        count = self.rng.randrange(4)
        for number in range(count):
            source = {
                "url": f"https://{domain}/news/{number}",
                "quote": self._text(4),
            }
            evidence.append(source)
        return evidence

    def _custom_signals(self) -> dict[str, Any]:
        return {
            **_custom_signal(self.entry.index),
            "created_at": format_time(self.entry.found),
            "active": self.entry.index % 5 != 1,
        }

    def _monitored_leads(self) -> dict[str, Any]:
        number = self.rng.randrange(_ACCOUNTS)
        email = None
        if self.rng.randrange(4):
            email = f"{self.entry.id[-8:]}@mail.example"
        kind = self._changing.choice(("post", "comment", "job_change"))
        topic = self._changing.choice(_WORDS["topics"])
        return {
            **self._person(),
            "title": self.rng.choice(_WORDS["titles"]),
            "email": email,
            "account_id": _id(self.seed, "monitored_accounts", number),
            "latest_activity_at": format_time(self.entry.latest),
            "latest_activity": {
                "kind": kind,
                "text": f"{topic} 💬",
            },
            "activities_count": self.entry.version + 1,
        }

    def _signal(self) -> dict[str, Any]:
        rng = self._changing
        signal = rng.choice(_WORDS["signals"])
        topic = rng.choice(_WORDS["topics"])
        n = rng.randrange(2, 60)
        summary = signal["summary"].format(n=n, topic=topic)
        fields = {
            **signal,
            "summary": summary,
            "observed_at": format_time(self.entry.latest),
        }
        if rng.randrange(7):
            fields["reason"] = f"Matches the agent's condition about {topic}."
        return fields

    def _any_sheet(self) -> dict[str, Any]:
        number = self.rng.randrange(100)
        return _sheet(self.seed, number)

    def _person(self) -> dict[str, Any]:
        person = self.rng.choice(_WORDS["people"])
        profile = {
            "platform": "linkedin",
            "url": f"https://www.linkedin.com/in/{self.entry.id[-8:]}",
        }
        return {**person, "profile": profile}

    def _text(self, max_sentences: int) -> str:
        number = self.rng.randrange(1024)
        return _text(number, max_sentences)
