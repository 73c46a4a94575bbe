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

_WORDS = json.loads(files(__package__).joinpath("words.json").read_text("utf-8"))

# References point to records that exist in streams of the default sizes. Leads share
# so few companies that a filter by company finds several leads.
_ACCOUNTS = ENDPOINTS["monitored_accounts"].size
_CUSTOM_SIGNALS = ENDPOINTS["custom_signals"].size
_COMPANIES = 400
_FIRST_MONITORED = 1_000_000  # so that monitored companies are not those of leads
_HIGH_SCORE = 75
_SCHEDULES = (("Every 6 hours", 6 * HOUR), ("Daily", DAY), ("Every Monday", 7 * DAY))


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
    return f"{stream.removesuffix('s')}_{rng.getrandbits(64):016x}"


@lru_cache(maxsize=4096)
def _id(seed: int, stream: str, index: int) -> str:
    return draw_id(Random(f"{seed}:{stream}:{index}"), stream)


def _sheet(seed: int, number: int) -> dict[str, Any]:
    number %= len(_WORDS["sheets"])
    return {"id": f"sht_{seed:03}{number:03}", "name": _WORDS["sheets"][number]}


def _company(seed: int, number: int) -> dict[str, Any]:
    company = _WORDS["companies"][number % len(_WORDS["companies"])]
    domain = f"{number}.{company['domain']}"
    return {**company, "id": _id(seed, "signal_accounts", number), "domain": domain}


# Composing a text takes longer than the rest of a record, so texts are cached. More
# would take more memory; fewer would be composed again.
@lru_cache(maxsize=4096)
def _text(number: int, max_sentences: int) -> str:
    rng = Random(number)
    chosen = rng.choices(_WORDS["sentences"], k=rng.randint(1, max_sentences))
    text = "\n\n".join(" ".join(part) for part in (chosen[:8], chosen[8:]) if part)
    return text.format(n=rng.randrange(2, 48), topic=rng.choice(_WORDS["topics"]))


def _definition(seed: int, number: int) -> dict[str, Any]:
    """Return id and name of a Custom Signal definition."""
    known = _WORDS["custom_signals"][number % len(_WORDS["custom_signals"])]
    return {"id": _id(seed, "custom_signals", number), "name": known["name"]}


class RecordBuilder:
    """Builds one record, in the method that is named like its stream."""

    def __init__(self, stream: str, seed: int, entry: Entry, now: int) -> None:
        """Build the record as it is at a time.

        `rng` decides what stays the same for the life of the record, and `_changing`
        what each change of the record decides again.
        """
        self.seed, self.entry, self.now = seed, entry, now
        self.rng = Random(f"{seed}:{stream}:{entry.index}:")
        self._changing = Random(f"{seed}:{stream}:{entry.index}:{entry.version}")
        self.record = {"id": entry.id, **getattr(self, f"_{stream}")()}

    def _signal_agents(self) -> dict[str, Any]:
        schedule, interval = self.rng.choice(_SCHEDULES)
        index, found = self.entry.index, self.entry.found
        sheet = _sheet(self.seed, index)
        fields = {
            "type": "intent_signals",
            "name": f"{self.rng.choice(_WORDS['topics'])} · {sheet['name']}",
            "status": "active" if index % 4 != 1 else "paused",
            "schedule": schedule,
            "sheet": sheet,
        }
        if fields["status"] == "active":
            checks = (self.now - found) // interval + 1
            fields["next_check_at"] = format_time(found + checks * interval)
        return fields

    def _leads(self) -> dict[str, Any]:
        employer = _company(self.seed, self.rng.randrange(_COMPANIES))
        signal = self._signal()
        value = self.rng.randrange(40, 100)
        fields = {
            **self._person(),
            "company": employer,
            "sheet": _sheet(self.seed, self.rng.randrange(100)),
            "signal": signal,
            "qualification": {
                "status": "qualified",
                "reason": f"{employer['name']} {signal['summary']}",
                "reasoning": self._text(27),
                "references": [
                    {
                        "type": "evidence",
                        "label": f"{kind.title()} of {employer['domain']}",
                        "url": f"https://{employer['domain']}/{kind}?lang=é&n=1",
                    }
                    for kind in ("careers", "newsroom", "blog")[: self.rng.randrange(4)]
                ],
            },
            "score": {
                "value": value if self.rng.randrange(10) else value + 0.5,
                "fit": "high" if value >= _HIGH_SCORE else "medium",
                "reasoning": self._text(5),
            },
        }
        if self.rng.randrange(10):
            fields["title"] = self.rng.choice(_WORDS["titles"])
        return fields

    def _signal_accounts(self) -> dict[str, Any]:
        return {
            **_company(self.seed, self.entry.index),
            "employee_count": int(10 ** self.rng.uniform(1, 5)),
            "sheet": _sheet(self.seed, self.rng.randrange(100)),
            "signal": self._signal(),
            "signals_count": self.entry.version + self.rng.randrange(1, 10),
            "found_at": format_time(self.entry.found),
        }

    def _monitored_accounts(self) -> dict[str, Any]:
        watched = _company(self.seed, _FIRST_MONITORED + self.entry.index)
        numbers = self.rng.sample(range(_CUSTOM_SIGNALS), self.rng.randrange(4))
        return {
            "name": watched["name"],
            "domain": watched["domain"],
            "status": "detected" if numbers else "monitoring",
            "added_at": format_time(self.entry.found),
            "latest_activity_at": format_time(self.entry.latest),
            "custom_signals": [_definition(self.seed, number) for number in numbers],
            "owner": {"name": self._person()["full_name"], "team": None},
            "checks": self.entry.version + 1,
        }

    def _observations(self) -> dict[str, Any]:
        number = self.rng.randrange(_ACCOUNTS)
        watched = _company(self.seed, _FIRST_MONITORED + number)
        account = {name: watched[name] for name in ("name", "domain")}
        account["id"] = _id(self.seed, "monitored_accounts", number)
        fields = {
            "account_id": account["id"],
            "account": account,
            "signal": _definition(self.seed, self.rng.randrange(_CUSTOM_SIGNALS)),
            "status": "detected",
            "observed_at": format_time(self.entry.found),
            "evidence": [
                {
                    "url": f"https://{watched['domain']}/news/{number}",
                    "quote": self._text(4),
                }
                for number in range(self.rng.randrange(4))
            ],
            "confidence": self.rng.randrange(50, 101) / 100,
        }
        if not self.rng.randrange(3):
            fields["published_at"] = format_time(self.entry.found - 2 * HOUR)
        return fields

    def _custom_signals(self) -> dict[str, Any]:
        number = self.entry.index
        return {
            **_WORDS["custom_signals"][number % len(_WORDS["custom_signals"])],
            "created_at": format_time(self.entry.found),
            "active": number % 5 != 1,
        }

    def _monitored_leads(self) -> dict[str, Any]:
        number = self.rng.randrange(_ACCOUNTS)
        mail = f"{self.entry.id[-8:]}@mail.example" if self.rng.randrange(4) else None
        return {
            **self._person(),
            "title": self.rng.choice(_WORDS["titles"]),
            "email": mail,
            "account_id": _id(self.seed, "monitored_accounts", number),
            "latest_activity_at": format_time(self.entry.latest),
            "latest_activity": {
                "kind": self._changing.choice(("post", "comment", "job_change")),
                "text": f"{self._changing.choice(_WORDS['topics'])} 💬",
            },
            "activities_count": self.entry.version + 1,
        }

    def _signal(self) -> dict[str, Any]:
        rng = self._changing
        signal, topic = rng.choice(_WORDS["signals"]), rng.choice(_WORDS["topics"])
        summary = signal["summary"].format(n=rng.randrange(2, 60), topic=topic)
        fields = {**signal, "summary": summary}
        fields["observed_at"] = format_time(self.entry.latest)
        if rng.randrange(7):
            fields["reason"] = f"Matches the agent's condition about {topic}."
        return fields

    def _person(self) -> dict[str, Any]:
        url = f"https://www.linkedin.com/in/{self.entry.id[-8:]}"
        profile = {"platform": "linkedin", "url": url}
        return {**self.rng.choice(_WORDS["people"]), "profile": profile}

    def _text(self, max_sentences: int) -> str:
        return _text(self.rng.randrange(1024), max_sentences)
