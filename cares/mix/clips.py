"""Clips of a placed scene, all at 0 dB: speech, events, and the ambience's loop."""

from __future__ import annotations

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.mix.choices import Choices
from cares.mix.params import TimelineParams, to_samples
from cares.mix.placement import Placement
from cares.records.bank import Take
from cares.records.speech import SceneSpeech
from cares.records.timeline import Clip


def speech_clips(placement: Placement, speech: SceneSpeech, choices: Choices, params: TimelineParams) -> list[Clip]:
    """One clip a piece, with a short fade at both ends."""
    if speech.pcm_sha256 is None:
        raise InputError("data/speech/speech.jsonl", speech.scene_id, None, "the hash of the scene's samples")
    edge = to_samples(params.edge_fade_ms)
    return [
        Clip(
            track=piece.speaker,
            path=speech.path,
            pcm_sha256=speech.pcm_sha256,
            source_start=piece.start,
            n_samples=piece.n_samples,
            at_sample=start,
            gain_cdb=0,
            fade_in=min(edge, piece.n_samples // 2),
            fade_out=min(edge, piece.n_samples // 2),
            response=choices.voice_responses[piece.speaker],
        )
        for piece, start in zip(placement.pieces, placement.starts, strict=True)
    ]


def event_clips(placement: Placement, choices: Choices, params: TimelineParams) -> list[Clip]:
    """One clip an event. A take that is too long is faded out; the start of a take is never faded, it may be a blow."""
    clips = []
    for event, span in sorted(placement.spans.items()):
        take, length = choices.takes[event], span.end - span.start
        fade = to_samples(params.event_fade_ms if span.faded else params.edge_fade_ms)
        clips.append(
            Clip(
                track="event",
                event=event,
                path=take.path,
                pcm_sha256=take.pcm_sha256,
                source_start=0,
                n_samples=length,
                at_sample=span.start,
                gain_cdb=0,
                fade_out=min(fade, length // 2),
                response=choices.event_responses[event],
            )
        )
    return clips


def ambience_clips(take: Take, n_samples: int, params: TimelineParams, scene_id: str, seed: int) -> list[Clip]:
    """The ambience over the whole scene: a drawn stretch of a long take, or a short one repeated.

    Repetitions overlap by a cross-fade of equal power, whose sum keeps the level of a noise-like sound.
    """
    edge = min(to_samples(params.edge_fade_ms), n_samples // 2)
    if take.n_samples >= n_samples:
        start = KeyedRandom(seed, "mix_ambience_start", scene_id).between(0, take.n_samples - n_samples)
        return [_ambience(take, start, n_samples, 0, edge, edge)]
    cross = min(to_samples(params.crossfade_ms), take.n_samples // 3)
    step = take.n_samples - cross
    clips: list[Clip] = []
    at = 0
    while True:
        fade_in = cross if clips else edge
        if at + take.n_samples >= n_samples:
            # the rest is longer than the cross-fade, for else the clip before would have reached the end
            length = n_samples - at
            clips.append(_ambience(take, 0, length, at, min(fade_in, length), min(edge, length)))
            return clips
        clips.append(_ambience(take, 0, take.n_samples, at, fade_in, cross))
        at += step


def _ambience(take: Take, start: int, n_samples: int, at: int, fade_in: int, fade_out: int) -> Clip:
    return Clip(
        track="ambience",
        path=take.path,
        pcm_sha256=take.pcm_sha256,
        source_start=start,
        n_samples=n_samples,
        at_sample=at,
        gain_cdb=0,
        fade_in=fade_in,
        fade_out=fade_out,
    )
