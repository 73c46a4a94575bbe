"""Records of the account monitoring side.

Their fields are not shown in the API description; these are the sandbox's choice,
nested and uneven enough to be worth testing with.
"""

from __future__ import annotations

from typing import Any

from tap_leadintent.sandbox.data.draft import Draft, company, person, record_id
from tap_leadintent.sandbox.data.prose import reasoning
from tap_leadintent.sandbox.data.vocabulary import CUSTOM_SIGNALS, TITLES, TOPICS
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import HOUR, format_time

# References point into the default sizes of the streams they refer to.
_ACCOUNTS = ENDPOINTS["monitored_accounts"].size
_FAR = 1_000_000  # monitored companies are others than those of leads


def monitored_account(draft: Draft) -> dict[str, Any]:
    """Build an account of the monitoring queue."""
    rng = draft.lasting()
    watched = company(draft.seed, _FAR + draft.index)
    numbers = rng.some(range(len(CUSTOM_SIGNALS)), rng.whole(0, 3))
    return {
        "id": draft.id,
        "name": watched["name"],
        "domain": watched["domain"],
        "status": "detected" if numbers else "monitoring",
        "added_at": format_time(draft.found),
        "latest_activity_at": format_time(draft.latest),
        "custom_signals": [_custom_signal(draft.seed, number) for number in numbers],
        "owner": {"name": person(rng, "")["full_name"], "team": None},
        "checks": draft.version + 1,
    }


def observation(draft: Draft) -> dict[str, Any]:
    """Build an observation of a custom signal at a monitored account."""
    rng = draft.lasting()
    number = rng.whole(0, _ACCOUNTS - 1)
    watched = company(draft.seed, _FAR + number)
    account_id = record_id(draft.seed, "monitored_accounts", number)
    seen = _custom_signal(draft.seed, rng.whole(0, len(CUSTOM_SIGNALS) - 1))
    made = {
        "id": draft.id,
        "account_id": account_id,
        "account": {
            "id": account_id,
            "name": watched["name"],
            "domain": watched["domain"],
        },
        "signal": seen,
        "status": "detected",
        "observed_at": format_time(draft.found),
        "evidence": [
            {
                "url": f"https://{watched['domain']}/news/{n}",
                "quote": reasoning(rng, least=0, most=2),
            }
            for n in range(rng.whole(0, 3))
        ],
        "confidence": rng.whole(50, 100) / 100,
    }
    if rng.chance(0.3):
        made["published_at"] = format_time(draft.found - rng.whole(1, 48) * HOUR)
    return made


def custom_signal(draft: Draft) -> dict[str, Any]:
    """Build a Custom Signal definition."""
    name, description = CUSTOM_SIGNALS[draft.index % len(CUSTOM_SIGNALS)]
    round_number = draft.index // len(CUSTOM_SIGNALS)
    return {
        "id": draft.id,
        "name": f"{name} ({round_number + 1})" if round_number else name,
        "description": description,
        "created_at": format_time(draft.found),
        "active": draft.index % 5 != 1,
    }


def monitored_lead(draft: Draft) -> dict[str, Any]:
    """Build a person at a monitored account."""
    rng = draft.lasting()
    number = rng.whole(0, _ACCOUNTS - 1)
    activity = draft.passing()
    made = {
        "id": draft.id,
        **person(rng, draft.id[-8:]),
        "title": rng.pick(TITLES),
        "account_id": record_id(draft.seed, "monitored_accounts", number),
        "latest_activity_at": format_time(draft.latest),
        "latest_activity": {
            "kind": activity.pick(("post", "comment", "job_change")),
            "text": f"{activity.pick(TOPICS)} 💬",
        },
        "activities_count": draft.version + 1,
    }
    if rng.chance(0.2):
        made["email"] = None
    return made


def _custom_signal(seed: int, number: int) -> dict[str, Any]:
    code = record_id(seed, "custom_signals", number)
    return {"id": code, "name": CUSTOM_SIGNALS[number][0]}
