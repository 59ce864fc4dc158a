"""A subset that is asked once more, and how often the second answer is another: the flip rate."""

from __future__ import annotations

from collections.abc import Sequence

from cares.core.canonical import Json
from cares.core.rng import KeyedRandom
from cares.records.answer import Answer
from cares.records.item import Item


def repeated(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """At most `count` items with choices, those of least keyed rank, in the order of the items.

    An item's rank is its own, so more items change the subset little.
    """
    ranks = {item.item_id: KeyedRandom(seed, "bench_repeat", item.item_id).word() for item in items if item.choices}
    chosen = set(sorted(ranks, key=lambda item_id: (ranks[item_id], item_id))[:count])
    return [item for item in items if item.item_id in chosen]


def flip_rate(answers: Sequence[Answer]) -> Json:
    """How often a repeated question got another choice, or none where it had one.

    Returns:
        {"n": repeated questions, "flips", "rate": flips / n or None, "same_text": share of texts alike to the letter}.
    """
    first = {answer.item_id: answer for answer in answers if answer.repeat == 0}
    pairs = [(first[answer.item_id], answer) for answer in answers if answer.repeat > 0 and answer.item_id in first]
    flips = sum(one.choice != other.choice for one, other in pairs)
    same = sum(one.text == other.text for one, other in pairs)
    return {
        "n": len(pairs),
        "flips": flips,
        "rate": round(flips / len(pairs), 4) if pairs else None,
        "same_text": round(same / len(pairs), 4) if pairs else None,
    }
