"""Figures of a run of the dialogues stage, for metrics and plots."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, dumps, write_json
from cares.dialogue.diversity import Repeated, diversity, repeated, repetition
from cares.dialogue.lengths import HEAD, predicted_lengths, predicted_rows
from cares.dialogue.pace import load_pace
from cares.dialogue.probes import Probe, load_probes
from cares.dialogue.tallies import by_composition, by_event, cumulated, first_attempts, histories, repairs, share
from cares.records.scene import REACTIONS, Scene

if TYPE_CHECKING:
    from cares.dialogue.acceptance import Outcome

SHOWN_REPEATS = 30


def acceptance_metrics(
    outcome: Outcome, scenes: Sequence[Scene], probes: Sequence[Probe] = (), seed: int = 0
) -> dict[str, Json]:
    """Acceptance by scene, attempt, label, register, composition and reason; tokens; how varied the words are.

    `first_attempt_accepted` is the share of scenes whose very first candidate was accepted, as written or repaired.
    `quota_spread` is, for each quota, the largest difference in count between two levels among the accepted scenes (at
    most 1 when all are). Times are not in here: they are not the same twice.

    Args:
        outcome: what was accepted and every attempt.
        scenes: the allocation.
        probes: what the words are compared with; without them there is no `diversity`.
        seed: the data set's seed, which draws what is compared.
    """
    accepted = {dialogue.scene_id for dialogue in outcome.accepted}
    kept = [scene for scene in scenes if scene.scene_id in accepted]
    found = histories(outcome.attempts, scenes)
    first = first_attempts(found)
    tokens = sum(attempt.completion_tokens for attempt in outcome.attempts)
    figures: dict[str, Json] = {
        "scenes": len(scenes),
        "accepted": len(accepted),
        "refused": list(outcome.refused),
        "first_attempt": first,
        "first_attempt_accepted": first["after_repair"],
        "accepted_within": cumulated(found),
        "attempts": len(outcome.attempts),
        "attempts_accepted": share(sum(a.reason == "accepted" for a in outcome.attempts), len(outcome.attempts)),
        "repairs": repairs(outcome.attempts),
        "reasons": dict(sorted(Counter(attempt.reason for attempt in outcome.attempts).items())),
        "labels": by_event(found, lambda event: event.reaction, REACTIONS),
        "registers": by_event(found, lambda event: event.register_id),
        "compositions": by_composition(found),
        "tokens": tokens,
        "tokens_per_accepted_scene": share(tokens, len(accepted), 1),
        "lengths": predicted_lengths(predicted_rows(outcome.accepted, scenes, load_pace())),
        "repetition": repetition(repeated(outcome.accepted), len(accepted)),
        "quota_spread": {
            "composition": _spread([dumps(scene.composition.to_json()) for scene in kept]),
            "location": _spread([scene.location for scene in kept]),
            "relation": _spread([scene.relation for scene in kept]),
            "genders": _spread(["".join(scene.genders) for scene in kept]),
        },
    }
    if probes:
        figures["diversity"] = diversity(outcome.accepted, probes, seed)
    return figures


def acceptance_rows(outcome: Outcome) -> list[dict[str, Json]]:
    """Rows of the acceptance plot: accepted scenes, in total, after each wave."""
    waves = sorted({attempt.attempt for attempt in outcome.attempts})
    return [{"wave": w, "accepted": sum(dialogue.attempt <= w for dialogue in outcome.accepted)} for w in waves]


def write_summary(outcome: Outcome, scenes: Sequence[Scene], seed: int, folder: Path) -> dict[str, Json]:
    """Write dialogues.json into `folder` and the CSV files of the plots into plots/ under it; returns the metrics.

    - acceptance.csv: wave, accepted;
    - refusals.csv: reason, attempts, the most frequent first;
    - acceptance_by_label.csv: label, share, first_share (of its events; empty where there is none);
    - dialogue_lengths.csv: scene_id, predicted_s, target_s (empty where nothing is asked);
    - repeated_phrases.csv: kind, words, scenes; see `cares.dialogue.diversity.repeated`, the first 30.
    """
    figures = acceptance_metrics(outcome, scenes, load_probes(), seed)
    refusals = sorted(
        ((reason, count) for reason, count in figures["reasons"].items() if reason != "accepted"),
        key=lambda row: (-row[1], row[0]),
    )
    labels = [
        (label, share(row["accepted"], row["events"]), share(row["first_accepted"], row["events"]))
        for label, row in ((reaction, figures["labels"][reaction]) for reaction in REACTIONS)
    ]
    write_json(folder / "dialogues.json", figures)
    plots = folder / "plots"
    _write_csv(plots / "acceptance.csv", ("wave", "accepted"), [row.values() for row in acceptance_rows(outcome)])
    _write_csv(plots / "refusals.csv", ("reason", "attempts"), refusals)
    _write_csv(plots / "acceptance_by_label.csv", ("label", "share", "first_share"), labels)
    _write_csv(plots / "dialogue_lengths.csv", HEAD, predicted_rows(outcome.accepted, scenes, load_pace()))
    _write_csv(plots / "repeated_phrases.csv", Repeated._fields, repeated(outcome.accepted)[:SHOWN_REPEATS])
    return figures


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    write_bytes(path, text.getvalue().encode())


def _spread(levels: Sequence[str]) -> int:
    counts = Counter(levels).values()
    return max(counts) - min(counts) if counts else 0
