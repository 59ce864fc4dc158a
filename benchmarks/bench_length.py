"""How well the length of a scene is known from its words, before it is spoken: `python benchmarks/bench_length.py`.

On a build (data/ of this repository, or of the folder given) it compares what `cares.dialogue.pace` predicts with what
was spoken and mixed: utterances by voice, the silence of the time line, whole scenes. With --fit it also prints the
constants that this build's speech gives: each voice has its seconds a letter, all share the rest, and a gender has the
mean of its voices; a speaker's drawn pace is taken out first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cares.core.params import Params
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import read_records
from cares.dialogue.pace import letters_of, load_pace, marks_of, predicted_seconds
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech
from cares.records.timeline import Timeline
from cares.speech.params import SpeechParams
from cares.speech.voices import load_voices, speaking_rate

Spoken = tuple[str, str, float, float]
"""Voice, text, seconds, and the speaker's drawn pace."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Predicted against built lengths.")
    parser.add_argument("root", nargs="?", default=".", type=Path, help="folder that holds data/ and params.yaml")
    parser.add_argument("--fit", action="store_true", help="print the constants that this build gives")
    given = parser.parse_args()
    params = Params(given.root / "params.yaml")
    spread = params.section("speech", SpeechParams).rate_spread_percent
    scenes = {s.scene_id: s for s in read_records(Scene, given.root / "data/allocation/scenes.jsonl")}
    speeches = [s for s in read_records(SceneSpeech, given.root / "data/speech/speech.jsonl") if not s.failure]
    spoken = [
        (u.voice, u.text, u.n_samples / SAMPLE_RATE, speaking_rate(params.seed, s.scene_id, u.speaker, spread))
        for s in speeches
        for u in s.utterances
    ]
    utterance_table(spoken)
    if given.fit:
        fit(spoken)
    dialogues = {d.scene_id: d for d in read_records(Dialogue, given.root / "data/dialogues/accepted.jsonl")}
    scene_table(scenes, dialogues, read_records(Timeline, given.root / "data/timelines.jsonl"))


def utterance_table(spoken: Sequence[Spoken]) -> None:
    """Seconds spoken and predicted, and the error of an utterance, by voice."""
    voices, pace = load_voices(), load_pace()
    print(f"{'voice':24}{'utterances':>11}{'s':>9}{'predicted':>11}{'off':>8}{'letters/s':>11}{'error, s rms':>14}")
    for name in [*sorted({voice for voice, *_ in spoken}), "all"]:
        own = [row for row in spoken if name in ("all", row[0])]
        found = np.array([seconds for _, _, seconds, _ in own])
        predicted = np.array([pace.of(voices[voice].gender).seconds(text) for voice, text, _, _ in own])
        off, error = predicted.sum() / found.sum() - 1, np.sqrt(np.mean((predicted - found) ** 2))
        letters = sum(letters_of(text) for _, text, _, _ in own) / found.sum()
        print(
            f"{name:24}{len(own):>11}{found.sum():>9.1f}{predicted.sum():>11.1f}{off:>+8.1%}{letters:>11.1f}{error:>14.2f}"
        )


def fit(spoken: Sequence[Spoken]) -> None:
    """Least squares of seconds on letters (by voice) and marks, and what a text consists of."""
    voices, names = load_voices(), sorted({voice for voice, *_ in spoken})
    matrix = np.zeros((len(spoken), 2 + len(names)))
    for row, (voice, text, _, _) in zip(matrix, spoken, strict=True):
        row[0], row[1], row[2 + names.index(voice)] = 1, marks_of(text), letters_of(text)
    found, *_ = np.linalg.lstsq(matrix, np.array([seconds * rate for _, _, seconds, rate in spoken]), rcond=None)
    by_voice = dict(zip(names, found[2:], strict=True))
    for gender in "FM":
        own = [by_voice[name] for name in names if voices[name].gender == gender]
        if own:
            print(f"{gender}: {{start_s: {found[0]:.3f}, letter_s: {np.mean(own):.4f}, mark_s: {found[1]:.3f}}}")
    texts = [text for _, text, _, _ in spoken]
    size, words = sum(map(len, texts)), sum(len(text.split()) for text in texts)
    letters, marks = sum(map(letters_of, texts)) / size, sum(map(marks_of, texts)) / size
    print(
        f"of a character: {letters:.4f} letters, {marks:.4f} marks; a word: {(size + len(texts)) / words:.2f} of them"
    )


def scene_table(scenes: dict[str, Scene], dialogues: dict[str, Dialogue], timelines: Sequence[Timeline]) -> None:
    """Target, prediction and finished length of every scene; the silence of the time line beside its constants."""
    pace, rows = load_pace(), []
    gaps = [(g.end_sample - g.start_sample) / SAMPLE_RATE for t in timelines for g in t.gaps]
    print(f"a gap: {np.mean(gaps):.3f} s, {pace.gap_s:.3f} in the model")
    print(f"{'scene':12}{'turns':>6}{'words':>7}{'target':>8}{'predicted':>11}{'built':>8}{'off':>8}")
    for timeline in timelines:
        scene, dialogue = scenes[timeline.scene_id], dialogues[timeline.scene_id]
        predicted, built = predicted_seconds(dialogue.turns, scene, pace), timeline.n_samples / SAMPLE_RATE
        rows.append((predicted, built, scene.length_s))
        words, target = len(timeline.words), f"{scene.length_s:.0f}" if scene.length_s else "none"
        off = predicted / built - 1
        print(f"{scene.scene_id:12}{scene.n_turns:>6}{words:>7}{target:>8}{predicted:>11.1f}{built:>8.1f}{off:>+8.1%}")
    ahead, made = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    print(f"prediction: mean {ahead.mean() / made.mean() - 1:+.1%}, of a scene {np.std(ahead / made - 1):.1%}")
    if targets := [row[2] for row in rows if row[2] is not None]:
        print(
            f"built: {made.mean():.1f} s on average, deviation {made.std():.1f}; target {np.mean(targets):.1f}, "
            f"{np.std(targets):.1f}; off {made.mean() / np.mean(targets) - 1:+.1%}"
        )


if __name__ == "__main__":
    main()
