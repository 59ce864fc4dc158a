"""One scene's edit decision list, from what was written, spoken, aligned and drawn."""

from __future__ import annotations

from dataclasses import dataclass

from cares.core.rng import KeyedRandom
from cares.mix.backend import Backend
from cares.mix.choices import Bank, Choices, choose
from cares.mix.clips import ambience_clips, event_clips, speech_clips
from cares.mix.engine import Mixer
from cares.mix.levels import Levels, settle
from cares.mix.params import MixParams, TimelineParams, to_cdb
from cares.mix.pieces import Piece, PlacingError, build_strip
from cares.mix.placement import Placement, Placer
from cares.mix.sources import Sources
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene, Speaker
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.records.timeline import Duck, PlacedEvent, PlacedGap, PlacedWord, Rules, Timeline

DUCK_RAMP = 2_205  # 50 ms
LEAST_WORD = 441  # 10 ms


@dataclass(frozen=True)
class SceneInputs:
    """All records of one scene."""

    scene: Scene
    dialogue: Dialogue
    speech: SceneSpeech
    alignment: SceneAlignment


@dataclass(frozen=True)
class Decided:
    """A timeline, and how many decoys it has of those it should have."""

    timeline: Timeline
    decoys_wanted: int
    decoys: int


def build_timeline(
    inputs: SceneInputs,
    bank: Bank,
    timeline_params: TimelineParams,
    mix_params: MixParams,
    seed: int,
    sources: Sources,
    backend: Backend,
) -> Decided:
    """Decide everything about a scene.

    Raises:
        InputError: the inputs do not fit each other, or a source is missing, damaged or silent.
        PlacingError: this scene cannot be put together; the message is the reason to list.
    """
    scene, speech = inputs.scene, inputs.speech
    if speech.failure or speech.pcm_sha256 is None:
        raise PlacingError(f"speech: {speech.failure or 'no samples'}")
    choices = choose(scene, bank, mix_params, seed, sources)
    samples = sources.samples(speech.path, speech.pcm_sha256)
    strip = build_strip(inputs.dialogue, speech, inputs.alignment, samples)
    lengths = [take.n_samples for take in choices.takes]
    placement = Placer(scene, lengths, timeline_params, seed).place(strip, samples)
    clips = [
        *speech_clips(placement, speech, choices, timeline_params),
        *event_clips(placement, choices, timeline_params),
        *ambience_clips(choices.ambience, placement.n_samples, timeline_params, scene.scene_id, seed),
    ]
    ducks = event_ducks(scene, placement, mix_params, seed)
    mixer = Mixer(sources, backend, keep=True)
    levels = settle(clips, ducks, choices, mix_params, placement.n_samples, mixer, backend)
    rules = Rules(
        placement=timeline_params.placement,
        decoys_wanted=placement.decoys_wanted,
        decoys=placement.decoys,
        duck_labels=mix_params.duck_labels,
        voice_cdb=to_cdb(mix_params.voice_lufs),
        ambience_drawn_cdb=choices.ambience_level,
        ambience_lowered_cdb=levels.ambience_lowered_cdb,
        margin_cdb=to_cdb(mix_params.margin_db),
        master_cdb=to_cdb(mix_params.master_lufs),
        true_peak_cdb=to_cdb(mix_params.true_peak_dbtp),
    )
    return Decided(_record(scene, placement, choices, levels, rules), placement.decoys_wanted, placement.decoys)


def event_ducks(scene: Scene, placement: Placement, params: MixParams, seed: int) -> dict[Speaker, list[Duck]]:
    """A duck of the voice of the event's turn where the sound overlaps it; depth drawn from half of duck_db to all."""
    ducks: dict[Speaker, list[Duck]] = {"A": [], "B": []}
    deepest = to_cdb(params.duck_db)
    for index, event in enumerate(scene.events):
        if deepest == 0 or (params.duck_labels == "behavioral" and event.reaction != "behavioral"):
            continue
        span, turn = placement.spans[index], placement.turn_of(index)
        spoken = [
            (start, start + piece.n_samples, piece.speaker)
            for piece, start in zip(placement.pieces, placement.starts, strict=True)
            if piece.turn == turn and start < span.end and start + piece.n_samples > span.start
        ]
        if not spoken:
            continue
        start, end = max(span.start, spoken[0][0]), min(span.end, max(last for _, last, _ in spoken))
        depth = KeyedRandom(seed, "mix_duck", scene.scene_id, index).between(deepest // 2, deepest)
        ducks[spoken[0][2]].append(
            Duck(
                start_sample=start,
                end_sample=end,
                depth_cdb=depth,
                ramp_samples=DUCK_RAMP,
                reason="event",
                event=index,
            )
        )
    return ducks


def _record(scene: Scene, placement: Placement, choices: Choices, levels: Levels, rules: Rules) -> Timeline:
    return Timeline(
        scene_id=scene.scene_id,
        template_id=scene.template_id,
        split=scene.split,
        location=scene.location,
        genders=scene.genders,
        n_samples=placement.n_samples,
        room_id=choices.room.room_id,
        ambience_take=choices.ambience.take_id,
        clips=tuple(levels.clips),
        ducks={voice: tuple(ducks) for voice, ducks in levels.ducks.items()},
        master_gain_cdb=levels.master_gain_cdb,
        master_lufs_cdb=levels.master_lufs_cdb,
        words=tuple(_words(placement)),
        events=tuple(_events(scene, placement, choices, levels)),
        gaps=tuple(
            PlacedGap(kind=gap.joint.kind, start_sample=gap.start, end_sample=gap.end, event=gap.joint.event)
            for gap in placement.gaps
            if gap.joint.kind != "overlap"
        ),
        rules=rules,
    )


def _words(placement: Placement) -> list[PlacedWord]:
    """Words in the mix, each held inside its piece; one without length there gets room from its neighbour."""
    return [
        PlacedWord(
            turn=piece.turn,
            speaker=piece.speaker,
            word=word.word,
            start_sample=start + first - piece.start,
            end_sample=start + last - piece.start,
            interpolated=word.interpolated,
        )
        for piece, start in zip(placement.pieces, placement.starts, strict=True)
        for word, (first, last) in zip(piece.words, spans_within(piece), strict=True)
    ]


def spans_within(piece: Piece) -> list[tuple[int, int]]:
    """Start and end of a piece's words in its file, inside the piece and in order.

    An aligner may place an edge a little outside what is heard, and all of a short word. Each word keeps at least
    10 ms, or its even share of a piece that is too short for that.
    """
    least = min(LEAST_WORD, (piece.end - piece.start) // max(1, len(piece.words)))
    spans = []
    following = piece.end
    for word in reversed(piece.words):
        last = max(min(word.end_sample, following), piece.start)
        following = max(min(word.start_sample, last - least), piece.start)
        spans.append((following, last))
    reached, held = piece.start, []
    for first, last in reversed(spans):
        first = max(first, reached)
        reached = max(last, first + least)
        held.append((first, reached))
    return held


def _events(scene: Scene, placement: Placement, choices: Choices, levels: Levels) -> list[PlacedEvent]:
    placed = []
    for gap in placement.gaps:
        index = gap.joint.event
        if index is None:
            continue
        event, span = scene.events[index], placement.spans[index]
        placed.append(
            PlacedEvent(
                event=index,
                sound=event.sound,
                reaction=event.reaction,
                register_id=event.register_id,
                take_id=choices.takes[index].take_id,
                turn=placement.turn_of(index),
                start_sample=span.start,
                end_sample=span.end,
                gap_start=gap.start,
                gap_end=gap.end,
                level_cdb=levels.event_level_cdb[index],
                margin_cdb=levels.margin_cdb[index],
                peak_limited=index in levels.peak_limited,
                take_faded=span.faded,
                scene_extended=index in placement.extended,
                drawn_level_cdb=choices.event_levels[index],
            )
        )
    return placed
