"""A dialogue as pieces of recorded speech and the joints between them, before anything has a place in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cares.core.errors import InputError
from cares.core.pcm import Samples
from cares.mix.edges import WINDOW, quiet_point, spoken_span
from cares.mix.params import to_samples
from cares.records.dialogue import Dialogue, Segment, planned_turns
from cares.records.scene import Speaker
from cares.records.speech import SceneAlignment, SceneSpeech, Utterance, Word

DIALOGUES = "data/dialogues/accepted.jsonl"
ALIGNMENT = "data/alignment.jsonl"
SPEECH = "data/speech/speech.jsonl"
QUIET_RATIO = 100


class PlacingError(ValueError):
    """A scene cannot be put together; its message is the listed reason."""


@dataclass(frozen=True)
class Piece:
    """A stretch of one utterance: source samples [start, end) of the speech file, and its words."""

    turn: int
    speaker: Speaker
    utterance: int
    start: int
    end: int
    words: tuple[Word, ...]

    @property
    def n_samples(self) -> int:
        """Length."""
        return self.end - self.start


@dataclass(frozen=True)
class Joint:
    """What lies between two pieces: the change of turn, an event, a decoy, a pause, or an interruption.

    `length` is that of a pause, and how long before the piece's end an interruption begins; other lengths are drawn.
    """

    kind: Literal["turn", "word", "pause", "overlap"]
    event: int | None = None
    length: int = 0


@dataclass(frozen=True)
class Strip:
    """Pieces in order, and len(pieces) - 1 joints between them.

    `reacting` are the turns of the dialogue in which a sound falls, with those that an interruption adds to them.
    """

    pieces: tuple[Piece, ...]
    joints: tuple[Joint, ...]
    reacting: frozenset[int] = frozenset()


def build_strip(dialogue: Dialogue, speech: SceneSpeech, alignment: SceneAlignment, samples: Samples) -> Strip:
    """Cut the speech into pieces at turns, utterances and events.

    Raises:
        InputError: dialogue, speech and alignment do not fit each other.
        PlacingError: an utterance is silent, or an event has no word boundary with known times.
    """
    spoken = {(part.turn, part.segment): u for u in speech.utterances for part in u.segments}
    words = _words_by_utterance(speech, alignment)
    pieces: list[Piece] = []
    joints: list[Joint] = []
    for index, turn in enumerate(dialogue.turns):
        event: int | None = None
        fresh = True
        for place, segment in enumerate(turn.segments):
            if segment.event is not None:
                event = segment.event
                continue
            utterance = spoken.get((index, place))
            if utterance is None:
                raise _misfit(
                    SPEECH, dialogue.scene_id, f"turn {index}, segment {place}", "an utterance that speaks it"
                )
            if pieces and pieces[-1].utterance == utterance.index:
                left, right = _part(pieces.pop(), _planned_boundary(utterance, index, place), samples)
                pieces += [left, right]
            else:
                pieces.append(_whole(utterance, turn.speaker, words[utterance.index], samples))
            if len(pieces) > 1:
                joints.append(_joint(segment, fresh, event))
            fresh, event = False, None
        if event is not None:
            raise _misfit(DIALOGUES, dialogue.scene_id, f"event {event}", "speech after it in its turn")
    if not pieces:
        raise _misfit(SPEECH, dialogue.scene_id, "no utterance", "at least one")
    numbers = planned_turns(dialogue.turns)
    with_sounds = {
        number
        for number, turn in zip(numbers, dialogue.turns, strict=True)
        if any(segment.event is not None for segment in turn.segments)
    }
    reacting = frozenset(index for index, number in enumerate(numbers) if number in with_sounds)
    return Strip(tuple(pieces), tuple(joints), reacting)


def _joint(segment: Segment, fresh: bool, event: int | None) -> Joint:
    """The joint before a segment; `fresh` at the beginning of a turn."""
    if segment.overlap_ms:
        return Joint("overlap", length=to_samples(segment.overlap_ms))
    if segment.pause_ms:
        return Joint("pause", length=to_samples(segment.pause_ms))
    return Joint("turn" if fresh else "word", event)


def boundaries(piece: Piece) -> list[int]:
    """Indices k such that the aligner timed words k - 1 and k of the piece, and two words stand on each side."""
    known = [not word.interpolated for word in piece.words]
    return [k for k in range(2, len(known) - 1) if known[k - 1] and known[k]]


def split(strip: Strip, index: int, boundary: int, samples: Samples) -> Strip:
    """The strip with piece `index` parted before its word `boundary` by a joint without an event."""
    left, right = _cut(strip.pieces[index], boundary, samples)
    return replace(
        strip,
        pieces=(*strip.pieces[:index], left, right, *strip.pieces[index + 1 :]),
        joints=(*strip.joints[:index], Joint("word"), *strip.joints[index:]),
    )


def _words_by_utterance(speech: SceneSpeech, alignment: SceneAlignment) -> dict[int, tuple[Word, ...]]:
    found: dict[int, list[Word]] = {utterance.index: [] for utterance in speech.utterances}
    for word in alignment.words:
        if word.utterance not in found:
            raise _misfit(ALIGNMENT, speech.scene_id, f"utterance {word.utterance}", "an utterance of speech.jsonl")
        found[word.utterance].append(word)
    for utterance in speech.utterances:
        wanted = sum(part.n_words for part in utterance.segments)
        if len(found[utterance.index]) != wanted:
            got = f"{len(found[utterance.index])} words of utterance {utterance.index}"
            raise _misfit(ALIGNMENT, speech.scene_id, got, f"{wanted} words")
    return {index: tuple(words) for index, words in found.items()}


def _whole(utterance: Utterance, speaker: Speaker, words: Sequence[Word], samples: Samples) -> Piece:
    first, last = utterance.start_sample, utterance.start_sample + utterance.n_samples
    if last > len(samples):
        raise InputError(SPEECH, f"utterance {utterance.index}", last, f"at most the file's {len(samples)} samples")
    start, end = spoken_span(samples[first:last])
    if end == start:
        raise PlacingError(f"utterance {utterance.index} is silent")
    return Piece(utterance.turn, speaker, utterance.index, first + start, first + end, tuple(words))


def _planned_boundary(utterance: Utterance, turn: int, segment: int) -> int:
    """How many words of the current last piece come before this segment: those of the segment spoken just before it."""
    places = [(part.turn, part.segment) for part in utterance.segments]
    return utterance.segments[places.index((turn, segment)) - 1].n_words


def settled_boundary(piece: Piece, planned: int, usable: Sequence[int], samples: Samples) -> int:
    """Where a gap can be opened in a piece: the usable boundary nearest to the planned one at which the voice is quiet.

    Quiet is 20 dB below the piece's mean power. Speech that runs through every boundary is parted where it is quietest.
    """
    power = int((samples[piece.start : piece.end].astype(np.int64) ** 2).sum())
    energies = {boundary: _quiet_point(piece, boundary, samples)[1] for boundary in usable}
    quiet = [k for k in usable if energies[k] * QUIET_RATIO * piece.n_samples <= power * WINDOW]
    if quiet:
        return min(quiet, key=lambda k: (abs(k - planned), k))
    return min(usable, key=lambda k: (energies[k], k))


def _part(piece: Piece, planned: int, samples: Samples) -> tuple[Piece, Piece]:
    known = [not word.interpolated for word in piece.words]
    usable = boundaries(piece) or [k for k in range(1, len(known)) if known[k - 1] and known[k]]
    if not usable:
        raise PlacingError(f"utterance {piece.utterance} has no word boundary with known times for its event")
    return _cut(piece, settled_boundary(piece, planned, usable, samples), samples)


def _quiet_point(piece: Piece, boundary: int, samples: Samples) -> tuple[int, int]:
    before, after = piece.words[boundary - 1], piece.words[boundary]
    return quiet_point(samples, (before.start_sample, before.end_sample), (after.start_sample, after.end_sample))


def _cut(piece: Piece, boundary: int, samples: Samples) -> tuple[Piece, Piece]:
    at = min(max(_quiet_point(piece, boundary, samples)[0], piece.start + 1), piece.end - 1)
    left = replace(piece, end=at, words=piece.words[:boundary])
    right = replace(piece, start=at, words=piece.words[boundary:])
    # the speaker's own pause goes, so that the gap that is inserted is the gap that is heard
    _, heard_until = spoken_span(samples[left.start : left.end])
    heard_from, _ = spoken_span(samples[right.start : right.end])
    return replace(left, end=left.start + (heard_until or left.n_samples)), replace(
        right, start=right.start + heard_from
    )


def _misfit(file: str, scene_id: str, got: str, expected: str) -> InputError:
    return InputError(file, scene_id, got, expected, "The files are of different runs; run dvc repro.")
