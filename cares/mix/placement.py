"""Where every piece of speech, gap and event lies, in samples: the placement laws.

The law of events (`matched`), the same for all four labels: the gap's length is drawn; the sound begins a drawn time
before the gap, over the words before it, so that it is heard before anyone can react to it; what does not fit into the
gap goes on over the words after it. With `event_gap_max_ms` above the drawn range, a gap first grows by what the sound
needs. In `paper` only behavioral events have such gaps: their sounds end just before speech resumes, an ambient event's
words run on without a gap, and only behavioral gaps have decoys.

What a speaker does after a sound is not placed but laid out as the dialogue has it, to the sample: a pause between two
utterances of a turn, and how long before the end of a fragment the other speaker comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cares.core.pcm import Samples
from cares.core.rng import KeyedRandom
from cares.mix.params import Range, TimelineParams, to_samples
from cares.mix.pieces import Joint, Piece, Strip, boundaries, settled_boundary, split
from cares.records.scene import Scene


@dataclass(frozen=True)
class Gap:
    """The space of a joint; of an overlap, `end` lies before `start`."""

    joint: Joint
    start: int
    end: int


@dataclass(frozen=True)
class Span:
    """An event's dry sound: samples [start, end) of the scene, and whether the take was shortened by a fade."""

    start: int
    end: int
    faded: bool


@dataclass(frozen=True)
class Placement:
    """Places in the scene: `starts[i]` of `pieces[i]`, gaps[i] after it; spans and gap index by event."""

    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]
    gaps: tuple[Gap, ...]
    spans: Mapping[int, Span]
    n_samples: int
    extended: frozenset[int]
    decoys_wanted: int
    decoys: int

    def turn_of(self, event: int) -> int:
        """The turn of the dialogue in which an event falls; StopIteration when there is no such event."""
        return next(self.pieces[i + 1].turn for i, gap in enumerate(self.gaps) if gap.joint.event == event)


class Placer:
    """The laws, bound to one scene.

    Args:
        scene: labels and events.
        lengths: length in samples of each event's take.
        params: section `timeline`.
        seed: the data set's seed.
    """

    def __init__(self, scene: Scene, lengths: Sequence[int], params: TimelineParams, seed: int) -> None:
        self._scene = scene
        self._params = params
        self._seed = seed
        longest = to_samples(params.event_max_ms)
        self._lengths = [min(length, longest) for length in lengths]
        self._cut_short = [length > longest for length in lengths]

    def place(self, strip: Strip, samples: Samples) -> Placement:
        """Insert the decoys, then give everything its place. `samples` is the scene's speech file."""
        matched = self._params.placement == "matched"
        wanted = sum(matched or event.reaction == "behavioral" for event in self._scene.events)
        if not self._params.decoys:
            wanted = 0
        chosen = self._choose_decoys(strip, wanted, samples)
        for index, boundary in sorted(chosen, reverse=True):
            strip = split(strip, index, boundary, samples)
        return self._lay_out(strip, wanted, len(chosen))

    def _draw(self, purpose: str, entity: int, low_high: Range) -> int:
        low, high = low_high
        return KeyedRandom(self._seed, purpose, self._scene.scene_id, entity).between(to_samples(low), to_samples(high))

    def _choose_decoys(self, strip: Strip, wanted: int, samples: Samples) -> list[tuple[int, int]]:
        """(piece, word boundary) of each decoy: at most one a turn, in turns without a reaction, clear of any sound.

        Within a turn the boundary is drawn, then settled by the same rule as that of an ambient event.
        """
        plain = self._lay_out(strip, wanted, 0)
        clear = to_samples(self._params.decoy_clear_ms)
        found: dict[int, tuple[int, int]] = {}
        for index, piece in enumerate(strip.pieces):
            if piece.turn in strip.reacting or piece.turn in found:
                continue
            places = {k: plain.starts[index] + piece.words[k].start_sample - piece.start for k in boundaries(piece)}
            usable = [k for k, at in places.items() if _clear_of(plain.spans, at, clear)]
            if usable:
                planned = KeyedRandom(self._seed, "timeline_decoy", self._scene.scene_id, piece.turn).choice(usable)
                found[piece.turn] = index, settled_boundary(piece, planned, usable, samples)
        random = KeyedRandom(self._seed, "timeline_decoys", self._scene.scene_id)
        return [found[turn] for turn in random.shuffled(sorted(found))[:wanted]]

    def _lay_out(self, strip: Strip, wanted: int, decoys: int) -> Placement:
        params = self._params
        cursor = self._draw("timeline_lead_in", 0, params.lead_in_ms)
        starts: list[int] = []
        gaps: list[Gap] = []
        spans: dict[int, Span] = {}
        turns = words = spoken_until = 0
        for index, piece in enumerate(strip.pieces):
            starts.append(cursor)
            # who is interrupted may be the last to fall silent
            cursor = spoken_until = max(spoken_until, cursor + piece.n_samples)
            if index == len(strip.joints):
                break
            joint = strip.joints[index]
            if joint.event is not None:
                length, span = self._event(joint.event, piece, starts[-1])
                spans[joint.event] = span
            elif joint.kind == "overlap":
                # the fragment that is interrupted is begun by itself
                length = -min(joint.length, piece.n_samples // 2)
            elif joint.kind == "pause":
                length = joint.length
            elif joint.kind == "turn":
                length, turns = self._draw("timeline_turn_gap", turns, params.gap_ms), turns + 1
            else:
                length, words = self._draw("timeline_word_gap", words, params.gap_ms), words + 1
            gaps.append(Gap(joint, cursor, cursor + length))
            cursor += length
        spans = self._keep_apart(spans)
        last_word = cursor
        latest = last_word + to_samples(params.extension_max_ms)
        spans = {event: self._shorten(span, latest) for event, span in spans.items()}
        extended = frozenset(event for event, span in spans.items() if span.end > last_word)
        end = max([last_word, *(span.end for span in spans.values())])
        n_samples = end + self._draw("timeline_lead_out", 0, params.lead_out_ms)
        pieces = strip.pieces
        return Placement(pieces, tuple(starts), tuple(gaps), spans, n_samples, extended, wanted, decoys)

    def _event(self, event: int, before: Piece, before_start: int) -> tuple[int, Span]:
        """Gap length and span of an event whose gap begins where the piece before it ends."""
        params, reaction = self._params, self._scene.events[event].reaction
        gap_start, sound = before_start + before.n_samples, self._lengths[event]
        gap = self._draw("timeline_event_gap", event, params.gap_ms)
        release = self._draw("timeline_release", event, params.release_ms)
        onset = min(self._draw("timeline_onset", event, params.onset_before_ms), before.n_samples // 2)
        faded = self._cut_short[event]
        if params.placement == "paper" and reaction == "behavioral":
            room = before.n_samples + max(0, gap - release)
            used = min(sound, room)
            end = gap_start + max(0, gap - release)
            return gap, Span(end - used, end, faded or used < sound)
        if params.placement == "paper" and reaction == "ambient":
            gap = 0
        elif params.event_gap_max_ms > params.gap_ms[1]:
            gap = max(gap, min(sound - onset + release, to_samples(params.event_gap_max_ms)))
        start = gap_start - onset
        return gap, Span(start, start + sound, faded)

    def _keep_apart(self, spans: dict[int, Span]) -> dict[int, Span]:
        """End every sound before the next one begins."""
        spacing = to_samples(self._params.event_spacing_ms)
        order = sorted(spans, key=lambda event: spans[event].start)
        for event, following in pairwise(order):
            limit = max(spans[following].start - spacing, spans[event].start + 1)
            spans[event] = self._shorten(spans[event], limit)
        return spans

    @staticmethod
    def _shorten(span: Span, latest: int) -> Span:
        return span if span.end <= latest else Span(span.start, latest, True)


def _clear_of(spans: Mapping[int, Span], at: int, clear: int) -> bool:
    return all(at <= span.start - clear or at >= span.end + clear for span in spans.values())
