"""Finished samples from a timeline: the whole mix, one stem, or a counterfactual without some of its events.

Stems add up: the values before the final rounding (`render_exact`) are integers, and those of the stems "A", "B",
"ambience" and each "event:N" sum to those of the mix, sample by sample, without any error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

from cares.core.errors import CaresError
from cares.core.pcm import Samples
from cares.mix.backend import Backend, Whole
from cares.mix.convolve import Spectra, convolve_all
from cares.mix.engine import TRACKS, Mixer, Parts, Track, parts_of
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


def stem_names(timeline: Timeline) -> list[str]:
    """The stems that add up to the mix: "A", "B", "event:0" and so on, "ambience"."""
    return ["A", "B", *(f"event:{event}" for event in event_numbers(timeline)), "ambience"]


def event_numbers(timeline: Timeline) -> list[int]:
    """The events that have a clip."""
    return sorted({clip.event for clip in timeline.clips if clip.event is not None})


def select(timeline: Timeline, muted: Collection[int] = (), stem: str | None = None) -> Parts:
    """The part of a scene that is to sound.

    Args:
        muted: events to leave out; all gains and ducks stay.
        stem: a name of `stem_names`, or "event" for all events together; None for the mix.

    Raises:
        CaresError: no such event or stem, or a clip reaches beyond the scene's end.
    """
    known = event_numbers(timeline)
    for event in sorted(set(muted) - set(known)):
        raise CaresError(f"{timeline.scene_id}: no event {event}; it has {known or 'none'}")
    heard = frozenset(known) - frozenset(muted)
    if stem is None:
        return parts_of(timeline, TRACKS, heard)
    if stem not in (*stem_names(timeline), "event"):
        raise CaresError(f"{timeline.scene_id}: no stem {stem!r}; it has {', '.join(stem_names(timeline))}")
    if one := re.fullmatch(r"event:(\d+)", stem):
        return parts_of(timeline, ("event",), heard & {int(one[1])})
    track: Track = next(track for track in TRACKS if track == stem)
    return parts_of(timeline, (track,), heard)


def render(
    scene_id: str,
    timelines: Sequence[Timeline],
    root: Path,
    backend: Backend,
    muted: Collection[int] = (),
    stem: str | None = None,
) -> Samples:
    """Samples [T] of a scene, int16 at 44.1 kHz, the same on every backend.

    Args:
        scene_id, timelines: which scene of which timelines.
        root: the folder that paths in records are relative to, the repository's.
        muted: leave out these events and keep all gains and ducks: the result differs from the mix only where they and
            their reverberation sounded.
        stem: only this stem, through the same master gain; see `select`.

    Raises:
        CaresError: no such scene, event or stem, a source is missing or not the one that was meant, or a sample
            overflows.
    """
    timeline = find_timeline(scene_id, timelines)
    parts = select(timeline, muted, stem)
    return Mixer(Sources(root), backend).finished(parts, timeline.master_gain_cdb)


def render_exact(
    scene_id: str,
    timelines: Sequence[Timeline],
    root: Path,
    backend: Backend,
    muted: Collection[int] = (),
    stem: str | None = None,
) -> Whole:
    """As `render`, before the final rounding: int64 [T] with `engine.EXACT_BITS` bits below a 16-bit step."""
    timeline = find_timeline(scene_id, timelines)
    parts = select(timeline, muted, stem)
    return Mixer(Sources(root), backend).exact(parts, timeline.master_gain_cdb)


def render_batch(timelines: Sequence[Timeline], root: Path, backend: Backend) -> list[Samples]:
    """Samples of several scenes, the same as one by one; the blocks of all their clips are transformed together.

    All convolved clips are in memory at once, which a GPU has room for; on a CPU nothing is gained over `render`.
    """
    spectra = Spectra()
    mixers = [Mixer(Sources(root), backend, spectra=spectra) for _ in timelines]
    parts = [parts_of(timeline) for timeline in timelines]
    waiting = [
        (mixer, clip)
        for mixer, part in zip(mixers, parts, strict=True)
        for clip in mixer.pending(clip for clips in part.clips.values() for clip in clips)
    ]
    results = convolve_all([mixer.job(clip) for mixer, clip in waiting], backend, spectra=spectra)
    for (mixer, clip), result in zip(waiting, results, strict=True):
        mixer.hold(clip, result)
    return [
        mixer.finished(part, timeline.master_gain_cdb)
        for mixer, part, timeline in zip(mixers, parts, timelines, strict=True)
    ]
