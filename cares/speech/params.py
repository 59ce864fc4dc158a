"""Schemas of the sections `speech` and `align` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.asr.types import AlignBackend
from cares.core.record import Record

Milliseconds = Annotated[int, Field(ge=0, le=1000)]


class SpeechParams(Record):
    """The section `speech`.

    Attributes:
        voices: ids of voices.yaml to use, or patterns such as "vctk_*"; empty means those marked `default` there.
        held_out_voices: ids or patterns of those among them that speak in the test split and nowhere else; the others
            then never speak there.
        recogniser: id of the model that checks what is heard.
        speaker_encoder: id of the model that tells voices apart.
        rate_spread_percent: how far a speaker's pace may lie from the voice's own.
        trim_db: a frame this far below the loudest one is silence.
        lead_ms, tail_ms: silence that is kept before and after an utterance.
        cut_search_ms: how far from a word's boundary a sentence may be cut.
        cut_fade_ms: length of the fade at a cut.
        max_word_error_rate: share of an utterance's words that may be misheard; one word always may.
        letters_per_second: lowest and highest plausible pace, pauses apart; outside it an utterance is too long or too
            short.
        max_words_after: words that may be heard behind the text's last one.
        max_start_words_lost, max_end_words_lost: how many of the text's first and last words may be missing.
        max_start_db, max_end_db: level of the first and the last 10 ms, in dB of the loudest, above which the engine
            began late or stopped early.
        max_pause_ms: longest pause inside an utterance.
        max_flat_top_samples: samples of clipped peaks in what an engine gives.
        max_level_off_db: how far an utterance's level may lie from the speaker's median in the scene.
        min_voice_likeness: least cosine of an utterance's voiceprint with the speaker's others in the scene.
        max_speakers_likeness: highest cosine of the two speakers' mean voiceprints.
        tries: how often an utterance is spoken with one voice.
        casts: how many pairs of voices a scene may try.
    """

    voices: tuple[str, ...]
    held_out_voices: tuple[str, ...] = ()
    recogniser: str
    speaker_encoder: str
    rate_spread_percent: Annotated[int, Field(ge=0, le=20)]
    trim_db: Annotated[float, Field(ge=20, le=80)]
    lead_ms: Milliseconds
    tail_ms: Milliseconds
    cut_search_ms: Annotated[int, Field(ge=0, le=200)]
    cut_fade_ms: Annotated[int, Field(ge=1, le=100)]
    max_word_error_rate: Annotated[float, Field(ge=0, le=1)]
    max_words_after: Annotated[int, Field(ge=0, le=20)]
    max_start_words_lost: Annotated[int, Field(ge=0, le=20)]
    max_end_words_lost: Annotated[int, Field(ge=0, le=20)]
    max_start_db: Annotated[float, Field(ge=-80, le=0)]
    max_end_db: Annotated[float, Field(ge=-80, le=0)]
    max_pause_ms: Annotated[int, Field(ge=200, le=10_000)]
    max_flat_top_samples: Annotated[int, Field(ge=0)]
    max_level_off_db: Annotated[float, Field(gt=0, le=40)]
    min_voice_likeness: Annotated[float, Field(ge=0, le=1)]
    max_speakers_likeness: Annotated[float, Field(ge=0, le=1)]
    letters_per_second: tuple[Annotated[float, Field(gt=0)], Annotated[float, Field(le=60)]]
    tries: Annotated[int, Field(ge=1, le=10)]
    casts: Annotated[int, Field(ge=1, le=10)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.letters_per_second[0] >= self.letters_per_second[1]:
            raise ValueError("letters_per_second must be a lower and a higher pace")
        if len(set(self.voices)) != len(self.voices):
            raise ValueError("a voice occurs twice")
        return self


class AlignParams(Record):
    """The section `align`.

    Attributes:
        recogniser: id of the model that finds the words' times, in the form that the backend reads.
        backend: `whisper-timestamped` (in torch) or `faster-whisper` (in CTranslate2, model whisper-base-ct2).
        cross_checks: how many utterances are spoken again to compare the aligner with the engine's own timing.
    """

    recogniser: str
    backend: AlignBackend = "whisper-timestamped"
    cross_checks: Annotated[int, Field(ge=0, le=1000)] = 0
