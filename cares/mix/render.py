"""Finished samples from a timeline: the whole mix, one stem, or a counterfactual without one event."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from cares.core.errors import CaresError
from cares.core.pcm import Samples
from cares.mix.backend import Backend
from cares.mix.engine import Mixer, Track
from cares.mix.sources import Sources
from cares.records.timeline import Timeline


def find_timeline(scene_id: str, timelines: Sequence[Timeline]) -> Timeline:
    """The timeline of a scene; CaresError with near matches when there is none."""
    for timeline in timelines:
        if timeline.scene_id == scene_id:
            return timeline
    near = get_close_matches(scene_id, [timeline.scene_id for timeline in timelines], 3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise CaresError(f"no scene {scene_id!r} among the {len(timelines)} timelines{hint}")


def render(
    scene_id: str,
    timelines: Sequence[Timeline],
    root: Path,
    backend: Backend,
    mute_event: int | None = None,
    stem: Track | None = None,
) -> Samples:
    """Samples [T] of a scene, int16 at 44.1 kHz, the same on every backend.

    Args:
        scene_id, timelines: which scene of which timelines.
        root: the folder that paths in records are relative to, the repository's.
        mute_event: leave out this event and keep all gains and ducks: the result differs from the mix only where the
            event and its reverberation sounded.
        stem: only this track, through the same master gain; the four stems add up to the mix before the final rounding.

    Raises:
        CaresError: no such scene or event, a source is missing or not the one that was meant, or a sample overflows.
    """
    timeline = find_timeline(scene_id, timelines)
    known = [event.event for event in timeline.events]
    if mute_event is not None and mute_event not in known:
        raise CaresError(f"{scene_id}: no event {mute_event}; it has {known or 'none'}")
    mixer = Mixer(Sources(root), backend)
    total = mixer.total(timeline, mute_event) if stem is None else mixer.stem(timeline, stem, mute_event)
    return mixer.finish(total, timeline.master_gain_cdb)
