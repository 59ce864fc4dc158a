"""Rows for the plots of the timeline and mix stages, as CSV with LF line ends."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from cares.core.atomic import write_bytes
from cares.core.pcm import SAMPLE_RATE
from cares.records.timeline import MixedScene, Timeline


def gap_rows(timelines: Sequence[Timeline]) -> list[dict[str, object]]:
    """A row a gap: its kind, its length, and the sound's overlap with words.

    The kind is "turn", "pause", "decoy", or the event's label.
    """
    rows: list[dict[str, object]] = []
    for timeline in timelines:
        events = {event.event: event for event in timeline.events}
        for gap in timeline.gaps:
            row: dict[str, object] = {
                "scene_id": timeline.scene_id,
                "kind": "decoy" if gap.kind == "word" else gap.kind,
            }
            row |= {"gap_s": _seconds(gap.end_sample - gap.start_sample), "before_s": "", "after_s": ""}
            if gap.event is not None:
                event = events[gap.event]
                row["kind"] = event.reaction
                row["before_s"] = _seconds(gap.start_sample - event.start_sample)
                row["after_s"] = _seconds(event.end_sample - gap.end_sample)
            rows.append(row)
    return rows


def loudness_rows(mixed: Sequence[MixedScene]) -> list[dict[str, object]]:
    """A row a scene: integrated loudness, true peak, length."""
    return [
        {
            "scene_id": scene.scene_id,
            "integrated_lufs": scene.integrated_lufs_cdb / 100,
            "true_peak_dbtp": scene.true_peak_cdb / 100,
            "seconds": _seconds(scene.n_samples),
        }
        for scene in mixed
    ]


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows with the keys of the first as header, atomically; ValueError when there is no row."""
    if not rows:
        raise ValueError(f"{path}: no row to write")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode("utf-8"))


def _seconds(samples: int) -> float:
    return round(samples / SAMPLE_RATE, 4)
