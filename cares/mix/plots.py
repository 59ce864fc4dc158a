"""Rows for the plots of the timeline and mix stages, as CSV with LF line ends."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from cares.core.atomic import write_bytes
from cares.core.pcm import SAMPLE_RATE
from cares.mix.spread import spread_row
from cares.records.scene import REACTIONS
from cares.records.timeline import MixedScene, Timeline

KINDS = (*REACTIONS, "decoy", "pause", "turn", "scene")
Found = tuple[str, str, float]  # measure, kind, value


def gap_values(timelines: Iterable[Timeline]) -> list[Found]:
    """How long gaps are and how far sounds reach beyond theirs, in seconds.

    The kind is "turn", "pause", "decoy", or the event's label.
    """
    found: list[Found] = []
    for timeline in timelines:
        events = {event.event: event for event in timeline.events}
        for gap in timeline.gaps:
            length = _seconds(gap.end_sample - gap.start_sample)
            if gap.event is None:
                found.append(("gap, s", "decoy" if gap.kind == "word" else gap.kind, length))
                continue
            event = events[gap.event]
            found += (
                ("gap, s", event.reaction, length),
                ("sound begins before its gap, s", event.reaction, _seconds(gap.start_sample - event.start_sample)),
                ("sound ends after its gap, s", event.reaction, _seconds(event.end_sample - gap.end_sample)),
            )
    return found


def loudness_values(mixed: Iterable[MixedScene], timelines: Iterable[Timeline]) -> list[Found]:
    """How loud the finished scenes are, and voices and sounds in them; the kind is a sound's label, else "scene"."""
    found: list[Found] = []
    for scene in mixed:
        found.append(("scene, LUFS", "scene", scene.integrated_lufs_cdb / 100))
        found.append(("true peak, dBTP", "scene", scene.true_peak_cdb / 100))
    for timeline in timelines:
        master = timeline.master_gain_cdb
        found.append(("voices in the scene, LUFS", "scene", (timeline.rules.voice_cdb + master) / 100))
        for event in timeline.events:
            found.append(("sound in the scene, LUFS", event.reaction, (event.level_cdb + master) / 100))
            found.append(("sound above the ambience, dB", event.reaction, event.margin_cdb / 100))
    return found


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows with the keys of the first as header, atomically; ValueError when there is no row."""
    if not rows:
        raise ValueError(f"{path}: no row to write")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode("utf-8"))


def spread_rows(found: Iterable[Found]) -> list[dict[str, object]]:
    """A row for each measure and kind: measures in the order in which they first occur, kinds in that of KINDS."""
    groups: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for measure, kind, value in found:
        groups[measure][kind].append(value)
    return [
        spread_row(measure, kind, kinds[kind])
        for measure, kinds in groups.items()
        for kind in sorted(kinds, key=KINDS.index)
    ]


def _seconds(samples: int) -> float:
    return samples / SAMPLE_RATE
