"""Many scenes: speaking and aligning them in workers, and what the metrics say of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cares.asr.aligner import Aligner
from cares.asr.recogniser import Recogniser
from cares.core.canonical import Json
from cares.core.errors import CaresError, InputError
from cares.core.executor import stream_items
from cares.core.pcm import read_samples, write_samples
from cares.core.record_file import LazySequence, by_id
from cares.core.store import ItemStore
from cares.models.ensure import ensure, model_digest
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.speech.align import align_scene
from cares.speech.engines import Engine, load_engine
from cares.speech.packing import WordPlacer
from cares.speech.params import AlignParams, SpeechParams
from cares.speech.scene import SpokenScene, speak_scene
from cares.speech.studio import Studio
from cares.speech.summary import Spoken
from cares.speech.voiceprint import SpeakerEncoder
from cares.speech.voices import Cast, Voice, cast_voices, load_voices


class Job(NamedTuple):
    """A scene to speak."""

    scene: Scene
    dialogue: Dialogue
    cast: Cast


@dataclass
class _Worker:
    """What a worker process holds; set once by its setup."""

    studio: Studio | None = None
    aligner: WordPlacer | None = None
    folder: Path = Path()
    recorded_folder: str = ""


_worker = _Worker()


def jobs(
    scenes: Sequence[Scene], dialogues: Mapping[str, Dialogue], voices: dict[str, Voice], seed: int
) -> LazySequence[str, Job]:
    """One job a dialogue, in the order of the scenes, made when it is asked for.

    Voices are drawn over all scenes, those without a dialogue too.

    Raises:
        InputError: a dialogue has no scene.
    """
    of_scene = {scene.scene_id: scene for scene in scenes}
    for name in dialogues:
        if name not in of_scene:
            raise InputError("accepted.jsonl", "scene_id", name, "the id of a scene in scenes.jsonl")
    casts = cast_voices(scenes, voices, seed)
    names = [name for name in of_scene if name in dialogues]
    return LazySequence(names, lambda name: Job(of_scene[name], dialogues[name], casts[name]))


def speak_scenes(
    scenes: Sequence[Scene],
    dialogues: Mapping[str, Dialogue],
    params: SpeechParams,
    seed: int,
    folder: Path,
    recorded_folder: str,
) -> Iterator[Spoken]:
    """Speak every dialogue, one after the other; writes `folder`/<scene_id>.flac for each that did not fail.

    Args:
        scenes: all allocated scenes.
        dialogues: the accepted ones, by the id of their scene.
        params: the section `speech`.
        seed: the data set's seed.
        folder: where the files are written.
        recorded_folder: where they will lie, for the records.
    """
    voices = load_voices(params.voices, held_out=params.held_out_voices)
    for model in sorted(
        {voice.model for voice in voices.values() if not voice.served} | {params.recogniser, params.speaker_encoder}
    ):
        ensure(model)
    work = jobs(scenes, dialogues, voices, seed)
    return stream_items(
        _speak, work, desc="speech", setup=_set_up_speech, setup_args=(params, seed, folder, recorded_folder)
    )


def align_scenes(
    speech: Mapping[str, SceneSpeech] | Iterable[SceneSpeech], params: AlignParams, root: Path
) -> Iterator[SceneAlignment]:
    """Align every scene without failure, one after the other; its file lies at `root` / its path."""
    ensure(params.recogniser)
    spoken = by_id(speech)
    names = [name for name, scene in spoken.items() if not scene.failure]
    items = LazySequence(names, spoken.__getitem__)
    return stream_items(_align, items, desc="align", setup=_set_up_alignment, setup_args=(params, root))


@dataclass
class AlignmentTally:
    """How many words there are and how many of them have an interpolated time, of scenes that are told one by one."""

    counts: Counter[str] = field(default_factory=Counter)
    confidence: float = 0.0

    def counted(self, aligned: Iterable[SceneAlignment]) -> Iterator[SceneAlignment]:
        """The same scenes, counted."""
        for scene in aligned:
            self.counts.update(
                scenes=1, words=len(scene.words), interpolated=sum(word.interpolated for word in scene.words)
            )
            for word in scene.words:
                self.confidence += word.confidence
            yield scene

    def figures(self) -> Json:
        """For metrics/alignment.json."""
        words, interpolated = self.counts["words"], self.counts["interpolated"]
        return {
            "scenes": self.counts["scenes"],
            "words": words,
            "interpolated_words": interpolated,
            "interpolated_share": round(interpolated / max(1, words), 4),
            "mean_confidence": round(self.confidence / max(1, words), 4),
        }


def _one_thread() -> None:
    """Word times and samples then depend on neither the number of workers nor that of processors."""
    import torch

    torch.set_num_threads(1)


def _set_up_speech(params: SpeechParams, seed: int, folder: Path, recorded_folder: str) -> None:
    _one_thread()
    _worker.folder, _worker.recorded_folder = folder, recorded_folder
    _worker.studio = Studio(
        voices=load_voices(params.voices, held_out=params.held_out_voices),
        params=params,
        seed=seed,
        store=ItemStore("speech"),
        model_digest=model_digest,
        open_engine=_open_engine,
        listener=Recogniser(params.recogniser),
        voiceprinter=SpeakerEncoder(params.speaker_encoder),
    )


def _open_engine(voice: Voice) -> Engine:
    folder = None if voice.served else ensure(voice.model)
    return load_engine(voice.engine, voice.model, folder, voice.url, voice.request)


def _speak(job: Job) -> Spoken:
    if _worker.studio is None:
        raise CaresError("speech: the worker was not set up")
    name = f"{job.scene.scene_id}.flac"
    spoken: SpokenScene = speak_scene(
        job.scene, job.dialogue, job.cast, _worker.studio, f"{_worker.recorded_folder}/{name}"
    )
    if not spoken.record.failure:
        write_samples(_worker.folder / name, spoken.samples)
    return Spoken(spoken.record, spoken.errors, spoken.tries, spoken.casts, spoken.faults, spoken.speakers_likeness)


def _set_up_alignment(params: AlignParams, root: Path) -> None:
    _one_thread()
    _worker.folder = root
    _worker.aligner = Aligner(params.recogniser, params.backend)


def _align(speech: SceneSpeech) -> SceneAlignment:
    if _worker.aligner is None:
        raise CaresError("align: the worker was not set up")
    path = _worker.folder / speech.path
    samples = read_samples(path)
    expected = sum(utterance.n_samples for utterance in speech.utterances)
    if len(samples) != expected:
        raise InputError(speech.path, "length", len(samples), f"the {expected} samples of its utterances")
    return align_scene(speech, samples, _worker.aligner)
