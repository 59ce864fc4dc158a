"""What the stage `speech` costs beside its engines, and its memory by number of workers.

All times are processor seconds of one thread, so that other work on the machine hardly counts. For each of twelve
sentences in turn:
- own: the engine's library alone, its model opened once: kokoro-onnx and piper as their own programs use them;
- spoken: the same sentence by the stage's studio without recognition: engine, checks of the signal, resampling to
  44.1 kHz, trimming, and the item store;
then, over all sentences of a scene together:
- whole: the scene as the stage makes it, with recognition by Whisper, comparison of voices and further tries.
The real-time factor is seconds of processor a second of speech; the ratios are spoken / own and whole / own. Loading is
not counted: it happens once a worker. Memory is what N workers hold together (proportional set size, so that what they
share counts once) and the largest peak of one, after all have spoken a scene at the same time.

Usage: python benchmarks/bench_speech.py [--workers 1 2 4] [--out FILE.json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
if TYPE_CHECKING:
    from cares.records.dialogue import Dialogue
    from cares.records.scene import Scene
    from cares.speech.studio import Studio

P = ParamSpec("P")
T = TypeVar("T")
SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
TEXTS = (
    "I told him we could paint the fence on Sunday, if the weather holds.",
    "That sounds fine to me, as long as someone else brings the ladder.",
    "My sister has one, but she lent it to the people next door.",
    "Then let us ask them tonight, before they leave for the weekend.",
    "You always remember these things when it is nearly too late.",
    "Somebody has to, or we would still be sitting in an empty room.",
    "Did you hear that the library will stay open until nine in the evening?",
    "I did, and I think it will help the students more than anyone.",
    "We should go there together and look for that old map of the town.",
    "The one with the river drawn on the wrong side of the church?",
    "Yes, my grandfather used to say that it brought him luck.",
    "He also said that about every hat he ever bought, as far as I know.",
)
PAIRS = (("jf_alpha", "joe"), ("jm_kumo", "jf_nezumi"), ("joe", "jf_tebukuro"))


def main() -> None:
    """Measure in processes of their own, print a table, and write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--child", choices=["times", "memory"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        with tempfile.TemporaryDirectory() as store:
            os.environ["CARES_STORE"] = store
            times() if given.child == "times" else memory()
        return
    figures: dict[str, object] = json.loads(_start("times").communicate()[0].splitlines()[-1])
    figures["memory"] = {str(count): memory_of(count) for count in given.workers}
    report(figures)
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def times() -> None:
    """Print processor seconds of the three ways as one line of JSON."""
    from cares.models.ensure import ensure
    from cares.speech.scene import speak_scene
    from cares.speech.script import script

    studio = _studio()
    own = {"kokoro": _own_kokoro(ensure("kokoro-82m")), "piper": _own_piper(ensure("piper-joe"))}
    for voice in ("joe", "jm_kumo"):  # the first utterance of an engine loads it
        studio.speak(script(_dialogue(("One two three.",)))[0], "warm", 0, voice, 1.0, 0)
        own[studio.voices[voice].engine]("One two three.", studio.voices[voice].voice, 1.0)
    rows: dict[str, dict[str, float]] = {}
    whole_s, tries = 0.0, 0
    for number, cast in enumerate(PAIRS):
        talk = _dialogue(TEXTS[4 * number : 4 * number + 4])
        scene = _scene(f"t{number:05d}-0", "".join(studio.voices[name].gender for name in cast))
        for index, line in enumerate(script(talk)):
            voice_id = cast["AB".index(line.speaker)]
            voice = studio.voices[voice_id]
            row = rows.setdefault(voice.engine, {"own_s": 0.0, "spoken_s": 0.0, "speech_s": 0.0})
            pace = _pace(studio, scene.scene_id, line.speaker)
            length, own_s = _timed(own[voice.engine], " ".join(line.aloud), voice.voice, pace)
            _, spoken_s = _timed(studio.speak, line, scene.scene_id, index, voice_id, pace, 0)
            row["own_s"] += own_s
            row["spoken_s"] += spoken_s
            row["speech_s"] += length
        spoken, seconds = _timed(speak_scene, scene, talk, cast, studio, "x")
        whole_s, tries = whole_s + seconds, tries + spoken.tries
    print(json.dumps({"engines": rows, "after_speaking_s": whole_s, "utterances": len(TEXTS), "tries": tries}))


def memory() -> None:
    """Speak a scene, say so, and at a sign print what this process holds."""
    from cares.speech.scene import speak_scene

    studio = _studio()
    cast = PAIRS[0]
    scene = _scene("t00000-0", "".join(studio.voices[name].gender for name in cast))
    speak_scene(scene, _dialogue(TEXTS[:4]), cast, studio, "x")
    print("ready", flush=True)
    sys.stdin.readline()
    share = next(line for line in Path("/proc/self/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
    print(json.dumps([int(share.split()[1]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]), flush=True)
    sys.stdin.readline()


def memory_of(count: int) -> dict[str, float]:
    """Megabytes that `count` workers hold together, and the largest peak of one."""
    children = [_start("memory") for _ in range(count)]
    for child in children:
        _wait_for(child, "ready")
    for child in children:
        _say(child)
    held = [json.loads(_wait_for(child, "[")) for child in children]
    for child in children:
        _say(child)
        child.wait()
    return {"together_mb": sum(share for share, _ in held) / 1024, "peak_mb": max(peak for _, peak in held) / 1024}


def report(figures: dict[str, object]) -> None:
    """Print the figures."""
    rows = figures["engines"]
    assert isinstance(rows, dict)
    total = {name: sum(row[name] for row in rows.values()) for name in ("own_s", "spoken_s", "speech_s")}
    print(f"{'engine':10} {'speech s':>9} {'own':>7} {'spoken':>7} {'ratio':>6}   (processor s a second of speech)")
    for name, row in {**rows, "together": total}.items():
        own, spoken = row["own_s"] / row["speech_s"], row["spoken_s"] / row["speech_s"]
        print(f"{name:10} {row['speech_s']:9.1f} {own:7.3f} {spoken:7.3f} {spoken / own:6.2f}")
    whole = total["spoken_s"] + float(str(figures["after_speaking_s"]))
    print(f"whole stage, with recognition, voiceprints and further tries: {whole / total['speech_s']:.3f}, ", end="")
    print(f"ratio {whole / total['own_s']:.2f} ({figures['tries']} tries of {figures['utterances']} utterances)")
    memories = figures["memory"]
    assert isinstance(memories, dict)
    for count, held in memories.items():
        print(f"{count} workers: {held['together_mb']:.0f} MB together, largest peak of one {held['peak_mb']:.0f} MB")


def _start(what: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--child", what]
    environment = {**os.environ, **SINGLE}
    return subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _wait_for(child: subprocess.Popen[str], start: str) -> str:
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith(start):
            return line
    raise SystemExit(f"a worker ended with status {child.wait()}")


def _say(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def _timed(what: Callable[P, T], *args: P.args, **named: P.kwargs) -> tuple[T, float]:
    began = time.process_time()
    result = what(*args, **named)
    return result, time.process_time() - began


def _studio() -> Studio:
    from cares.core.params import Params
    from cares.speech import work
    from cares.speech.params import SpeechParams

    params = Params(ROOT / "params.yaml")
    work._set_up_speech(params.section("speech", SpeechParams), params.seed, Path(), "")
    assert work._worker.studio is not None
    return work._worker.studio


def _pace(studio: Studio, scene_id: str, speaker: str) -> float:
    from cares.speech.voices import speaking_rate

    return speaking_rate(studio.seed, scene_id, speaker, studio.params.rate_spread_percent)


def _own_kokoro(folder: Path) -> Callable[[str, str, float], float]:
    from kokoro_onnx import Kokoro

    from cares.speech.engines.onnx import only_file, open_session

    kokoro = Kokoro.from_session(open_session(only_file(folder, "*.onnx")), str(only_file(folder, "*.npz")))

    def speak(text: str, voice: str, speed: float) -> float:
        samples, rate = kokoro.create(text, kokoro.voices[voice], speed, "en-us", trim=False)
        return len(samples) / rate

    return speak


def _own_piper(folder: Path) -> Callable[[str, str, float], float]:
    from piper import PiperVoice, SynthesisConfig
    from piper.config import PiperConfig

    from cares.core.canonical import read_json
    from cares.speech.engines.onnx import only_file, open_session

    config = PiperConfig.from_dict(read_json(only_file(folder, "*.onnx.json")))
    piper = PiperVoice(session=open_session(only_file(folder, "*.onnx")), config=config)

    def speak(text: str, voice: str, speed: float) -> float:
        chunks = piper.synthesize(text, SynthesisConfig(length_scale=config.length_scale / speed))
        return sum(len(chunk.audio_float_array) for chunk in chunks) / config.sample_rate

    return speak


def _dialogue(texts: tuple[str, ...]) -> Dialogue:
    from cares.records.dialogue import Dialogue

    value = {
        "scene_id": "t00000-0",
        "topic": "a topic of the benchmark",
        "attempt": 0,
        "writer": "hand",
        "evaluator": "hand",
        "topic_similarity": 1.0,
        "turns": [{"speaker": "AB"[i % 2], "segments": [{"text": text}]} for i, text in enumerate(texts)],
    }
    return Dialogue.parse(value, "benchmark")


def _scene(scene_id: str, genders: str) -> Scene:
    from cares.records.scene import Scene

    value = {
        "scene_id": scene_id,
        "template_id": scene_id.split("-")[0],
        "split": "train",
        "location": "office",
        "relation": "colleague",
        "roles": ["colleague", "colleague"],
        "genders": list(genders),
        "theme": "work",
        "n_turns": 6,
        "composition": {"pivot": 0, "verbal": 0, "behavioral": 0, "ambient": 0},
        "events": [],
    }
    return Scene.parse(value, "benchmark")


if __name__ == "__main__":
    main()
