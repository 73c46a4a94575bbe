"""Sentences for summaries and reasons, a few words to several thousand letters."""

from __future__ import annotations

from functools import lru_cache

from tap_leadintent.sandbox.data.draws import Source, mix
from tap_leadintent.sandbox.data.vocabulary import TOPICS

_OPENINGS = (
    "The contact holds a role with budget authority.",
    "The company matches the ideal customer profile in size, region and industry.",
    "The profile of the contact was updated shortly before the signal was observed.",
)
_MIDDLES = (
    "Public sources show a change around {topic}, which usually precedes a purchase.",
    "Two colleagues of the contact engaged with the same topic within a fortnight.",
    "Headcount in the relevant department grew by {n} % over the last two quarters.",
    'A job posting says: "You will own our {topic} roadmap\u2026" (translated).',
    "No evidence was found for a running contract with a direct competitor.",
    "Budget cycles at comparable companies start in about {n} weeks.",
    "The latest annual report names {topic} among the {n} priorities.",
    "Auf der Karriereseite wird ausdrücklich nach Erfahrung mit {topic} gefragt.",
    "同社の公式ブログでも {topic} が取り上げられている。",
    "The post received {n} reactions, several of them from the buying committee 👀.",
    "Technographic data (last crawl) lists a tool that integrates out of the box.",
    "Confidence is reduced because the company operates under {n} legal entities.",
)
_CLOSINGS = (
    "Taken together, this is a strong indication of active evaluation.",
    "Recommendation: reach out within a week, referring to {topic}.",
    "Weighing all evidence, the fit is good although timing remains uncertain.",
)

_PARAGRAPH = 6
_TEXTS = 1024


def reasoning(rng: Source, *, least: int, most: int) -> str:
    """Give one of many texts: an opening, some sentences and a closing.

    Args:
        rng: Where the choice comes from.
        least: Smallest number of sentences between opening and closing.
        most: Largest such number.

    Returns:
        Text, in paragraphs if it is long.
    """
    return _compose(rng.whole(1, _TEXTS), least, most)


# Composing a text takes longer than all else about a record.
@lru_cache(maxsize=8 * _TEXTS)
def _compose(number: int, least: int, most: int) -> str:
    rng = Source(mix(number, least, most))
    chosen = [rng.pick(_OPENINGS)]
    chosen += [rng.pick(_MIDDLES) for _ in range(rng.whole(least, most))]
    chosen.append(rng.pick(_CLOSINGS))
    text = " ".join(chosen[:_PARAGRAPH])
    if len(chosen) > _PARAGRAPH:
        text += "\n\n" + " ".join(chosen[_PARAGRAPH:])
    return text.format(n=rng.whole(2, 48), topic=rng.pick(TOPICS))
