"""Records of lead discovery (API description: "Resources and their fields")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.sandbox.data.draft import Draft, company, person, sheet, signal
from tap_leadintent.sandbox.data.prose import reasoning
from tap_leadintent.sandbox.data.vocabulary import SHEETS, TITLES, TOPICS
from tap_leadintent.sandbox.times import DAY, HOUR, format_time

if TYPE_CHECKING:
    from tap_leadintent.sandbox.data.draws import Source

# Leads share so many companies that filters by company find several.
_COMPANIES = 400
_HIGH = 75
_SCHEDULES = (("Every 6 hours", 6 * HOUR), ("Daily", DAY), ("Every Monday", 7 * DAY))


def agent(draft: Draft) -> dict[str, Any]:
    """Build a Signal Agent; a paused one has no `next_check_at`."""
    rng = draft.lasting()
    schedule, interval = rng.pick(_SCHEDULES)
    paused = draft.index % 4 == 1
    made = {
        "id": draft.id,
        "type": "intent_signals",
        "name": f"{rng.pick(TOPICS)} · {SHEETS[draft.index % len(SHEETS)]}",
        "status": "paused" if paused else "active",
        "schedule": schedule,
        "sheet": sheet(draft.seed, draft.index),
    }
    if not paused:
        checks = (draft.now - draft.found) // interval + 1
        made["next_check_at"] = format_time(draft.found + checks * interval)
    return made


def lead(draft: Draft) -> dict[str, Any]:
    """Build a Lead."""
    rng = draft.lasting()
    employer = company(draft.seed, rng.whole(0, _COMPANIES - 1))
    sign = signal(draft)
    made = {
        "id": draft.id,
        **person(rng, draft.id[-8:]),
        "title": rng.pick(TITLES),
        "company": employer,
        "sheet": sheet(draft.seed, rng.whole(0, len(SHEETS) - 1)),
        "signal": sign,
    }
    if rng.chance(0.1):
        del made["title"]
    made["qualification"] = {
        "status": "qualified",
        "reason": f"{employer['name']} {sign['summary']}",
        "reasoning": reasoning(rng, least=3, most=24),
        "references": _references(rng, employer["domain"]),
    }
    value = rng.whole(40, 99)
    made["score"] = {
        "value": value + 0.5 if rng.chance(0.1) else value,
        "fit": "high" if value >= _HIGH else "medium",
        "reasoning": reasoning(rng, least=0, most=3),
    }
    return made


def account(draft: Draft) -> dict[str, Any]:
    """Build an account with signals; its fields are the sandbox's choice."""
    rng = draft.lasting()
    return {
        **company(draft.seed, draft.index),
        "employee_count": int(10 ** (rng.whole(10, 50) / 10)),
        "sheet": sheet(draft.seed, rng.whole(0, len(SHEETS) - 1)),
        "signal": signal(draft),
        "signals_count": draft.version + rng.whole(1, 9),
        "found_at": format_time(draft.found),
    }


def _references(rng: Source, domain: str) -> list[dict[str, str]]:
    kinds = ("careers", "newsroom", "blog/équipe", "investors?q=1&lang=ja")
    return [
        {
            "type": "evidence",
            "label": f"{kind.partition('?')[0].title()} of {domain}",
            "url": f"https://{domain}/{kind}",
        }
        for kind in rng.some(kinds, rng.whole(0, 3))
    ]
