"""Which sounds a summary mentions: by the word forms of the catalog, and by a judge's verdicts where there are some.

For each summary one sound that the scene does not hold is looked for as well (the decoy): how often a sound is found
that cannot be mentioned tells how far the finding is to be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from cares.bench.scores_choice import readability
from cares.bench.scores_rows import Rows
from cares.bench.statistics import Floats, figure, ratio, resampled, rounded, sums
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.records.item import Item
from cares.records.scene import REACTIONS

DECOY = "decoy"
KINDS = (*REACTIONS, DECOY)
TOO_LONG = 1.25
Verdict = Literal["mentioned", "not_mentioned", "unsupported", "unreadable"]


class Sought(NamedTuple):
    """A sound that is looked for in a summary; `kind` is how the speakers react to it, or DECOY."""

    sound: str
    kind: str


class Judged(Record):
    """A judge's verdict on one sound in one summary: one line of verdicts.jsonl.

    mentioned: with a quote that stands in the summary. unsupported: said to be mentioned, but the quote does not stand
    in the summary or is more than a quote. unreadable: the judge gave no verdict. The last two count as not mentioned.
    """

    item_id: str
    system: str
    sound: str
    kind: str
    verdict: Verdict
    quote: str = ""

    @model_validator(mode="after")
    def _quote_when_mentioned(self) -> Self:
        if self.verdict == "mentioned" and not self.quote:
            raise ValueError("a sound that is mentioned has a quote")
        return self


def sought(item: Item, catalog: Catalog, seed: int) -> list[Sought]:
    """The sounds to look for in a summary: those of the scene, in order, and one decoy.

    The decoy is a keyed draw from the sounds that can be confused with none of the scene. A sound that a scene holds
    twice is looked for once, under the first event's label.
    """
    of_scene = list(dict.fromkeys(reference.sound for reference in item.references))
    kinds = {reference.sound: reference.label for reference in reversed(item.references)}
    taken = set(of_scene).union(*(catalog.confusable(sound) for sound in of_scene))
    free = sorted(set(catalog.sounds) - taken)
    # the same decoy for every length, so that the lengths can be compared
    decoy = KeyedRandom(seed, "bench_decoy", item.scene_id).choice(free)
    return [*(Sought(sound, kinds[sound]) for sound in of_scene), Sought(decoy, DECOY)]


def summary_figures(
    rows: Rows, catalog: Catalog, verdicts: Mapping[tuple[str, str], Judged], resamples: int, seed: int
) -> Json:
    """How often sounds are mentioned, by label, and how long the summaries are.

    Args:
        rows: summaries of one length by one system.
        catalog: word forms of the sounds.
        verdicts: a judge's verdicts by item and sound; empty where no judge was asked.
        resamples: bootstrap resamples of templates.
        seed: the data set's seed.

    Returns:
        mention_rate (over all sounds of the scenes), mention_rate_by_label, salience_gap (rate of pivots minus that of
        ambient sounds), false_mention_rate (decoys), each by word forms; the same under `judge` where every summary was
        judged, with unsupported and unreadable verdicts and the agreement with the word forms. A summary whose status
        is not ok mentions nothing.
    """
    looked = _looked_for(rows, catalog, seed)
    places, kind, by_form = mentions(rows, catalog, seed)
    found: Json = {
        "n": len(rows.items),
        "templates": len(rows.templates.names),
        "sounds": int((kind < len(REACTIONS)).sum()),
        **_rates(rows, places, kind, by_form, resamples, seed),
        "length": _length(rows),
        **readability(rows),
    }
    judged = [verdicts.get((rows.items[place].item_id, one.sound)) for place, one in looked]
    if judged and all(verdict is not None for verdict in judged):
        said = np.array([verdict is not None and verdict.verdict == "mentioned" for verdict in judged], np.int64)
        found["judge"] = {
            **_rates(rows, places, kind, said, resamples, seed),
            "unsupported": sum(verdict is not None and verdict.verdict == "unsupported" for verdict in judged),
            "unreadable": sum(verdict is not None and verdict.verdict == "unreadable" for verdict in judged),
            "kappa_with_word_forms": _kappa(by_form, said),
        }
    return found


def mentions(rows: Rows, catalog: Catalog, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each sound looked for: the row of its summary, its place in KINDS, and whether a word form names it."""
    looked = _looked_for(rows, catalog, seed)
    return (
        np.array([place for place, _ in looked], np.int64),
        np.array([KINDS.index(one.kind) for _, one in looked], np.int64),
        np.array([_named(rows, place, one, catalog) for place, one in looked], np.int64),
    )


def _looked_for(rows: Rows, catalog: Catalog, seed: int) -> list[tuple[int, Sought]]:
    """Row and sound, row by row; a scene without a sound has nothing to look for."""
    return [
        (place, one) for place, item in enumerate(rows.items) if item.references for one in sought(item, catalog, seed)
    ]


def _named(rows: Rows, place: int, one: Sought, catalog: Catalog) -> bool:
    answer = rows.answers[place]
    return answer.status == "ok" and catalog.sounds[one.sound].mention_in(answer.text) is not None


def _rates(
    rows: Rows,
    places: NDArray[np.int64],
    kind: NDArray[np.int64],
    mentioned: NDArray[np.int64],
    resamples: int,
    seed: int,
) -> Json:
    at = rows.templates._replace(place=rows.templates.place[places])
    width = len(KINDS)
    total, hits = sums(at, kind, width), sums(at, kind, width, mentioned)
    drawn = resampled(np.concatenate([total, hits], axis=1), resamples, seed)
    of, got = drawn[:, :width], drawn[:, width:]
    clusters = (total > 0).sum(0)
    rates = ratio(hits.sum(0), total.sum(0))
    each = {name: figure(float(rates[k]), ratio(got[:, k], of[:, k]), int(clusters[k])) for k, name in enumerate(KINDS)}
    real = len(REACTIONS)
    everything = float(ratio(hits[:, :real].sum(), total[:, :real].sum()))
    in_any = int((total[:, :real].sum(1) > 0).sum())
    return {
        "mention_rate": figure(everything, ratio(got[:, :real].sum(1), of[:, :real].sum(1)), in_any),
        "mention_rate_by_label": {label: each[label] for label in REACTIONS},
        "salience_gap": _gap(rates, ratio(got, of), clusters),
        "false_mention_rate": each[DECOY],
    }


def _gap(rates: Floats, drawn: Floats, clusters: NDArray[np.int64]) -> Json:
    pivot, ambient = KINDS.index("pivot"), KINDS.index("ambient")
    fewest = int(min(clusters[pivot], clusters[ambient]))
    return figure(float(rates[pivot] - rates[ambient]), drawn[:, pivot] - drawn[:, ambient], fewest, share=False)


def _length(rows: Rows) -> Json:
    """Words of the summaries whose status is ok, and the share of those well over what was asked for."""
    asked = rows.items[0].words or 0
    words = [len(answer.text.split()) for answer in rows.answers if answer.status == "ok"]
    if not words:
        return {"asked": asked, "mean_words": None, "too_long": None}
    over = sum(number > TOO_LONG * asked for number in words)
    return {"asked": asked, "mean_words": rounded(sum(words) / len(words)), "too_long": rounded(over / len(words))}


def _kappa(one: NDArray[np.int64], other: NDArray[np.int64]) -> float | None:
    """Cohen's kappa of two binary findings; None where both always say the same one thing."""
    if len(set(one.tolist()) | set(other.tolist())) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    return rounded(cohen_kappa_score(one, other))
