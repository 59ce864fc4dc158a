"""What the preflight makes of systems that hear all, the first 30 s, nothing, or what is not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import soundfile

from cares.bench import hearing_preflight
from cares.bench.hearing_preflight import LENGTH_S, PLACES_S, placed, preflight
from cares.bench.hearing_signals import SIGNALS, floor_noise, signal
from cares.bench.parse import parse_answer
from cares.bench.systems_audio import AudioQuestion
from cares.core.canonical import read_json
from cares.core.pcm import SAMPLE_RATE, read_samples
from cares.llm.types import ChatAnswer
from cares.records.item import LETTERS

HEARD: dict[tuple[str, float], tuple[str, int] | None] = {}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recordings, made once."""
    folder = tmp_path_factory.mktemp("recordings") / "preflight"
    hearing_preflight.make_files(folder)
    return folder


@pytest.fixture(autouse=True)
def made_once(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing_preflight, "make_files", lambda folder: folder.symlink_to(files))


class Listener:
    """Knows what a file holds by comparing it to the signals; hears only the first `reach_s` seconds."""

    name = "listener"
    digest = "0" * 64

    def __init__(self, reach_s: float = LENGTH_S, otherwise: str = "none of these", tokens: int = 25) -> None:
        self.reach_s, self.otherwise, self.tokens = reach_s, otherwise, tokens
        self.asked = 0

    def body(self, question: AudioQuestion) -> dict[str, object]:
        return {"prompt": question.prompt}

    def answer(self, questions: Sequence[AudioQuestion], keep: Callable[[int, ChatAnswer, int], None]) -> None:
        for place, question in enumerate(questions):
            self.asked += 1
            seconds = min(soundfile.info(question.audio).duration, self.reach_s)
            text = self._say(question.prompt, self._heard(question.audio))
            keep(
                place,
                ChatAnswer(
                    text=text, finish_reason="stop", prompt_tokens=round(self.tokens * seconds), completion_tokens=1
                ),
                5,
            )

    def close(self) -> None:
        """Nothing to free."""

    def _heard(self, path: Path) -> tuple[str, int] | None:
        key = (path.name, self.reach_s)
        if key not in HEARD:
            HEARD[key] = self._listen(read_samples(path))
        return HEARD[key]

    def _listen(self, samples: np.ndarray) -> tuple[str, int] | None:
        for at in PLACES_S:
            piece = samples[at * SAMPLE_RATE : (at + 3) * SAMPLE_RATE].astype(np.float64)
            if at < self.reach_s and len(piece) and np.abs(piece).max() > 1000:
                names = list(SIGNALS)
                scores = [float(np.dot(piece, signal(name).astype(np.float64))) for name in names]
                return names[int(np.argmax(scores))], at
        return None

    def _say(self, prompt: str, heard: tuple[str, int] | None) -> str:
        options = dict(line.split(") ", 1) for line in prompt.splitlines() if line[1:3] == ") ")
        if "At what time" in prompt:
            told = "not at all" if heard is None else f"{heard[1] // 60}:{heard[1] % 60:02d}"
        else:
            told = self.otherwise if heard is None else SIGNALS[heard[0]]
        found = [letter for letter in LETTERS if options.get(letter) == told]
        return found[0] if found else "B"


def test_a_system_that_hears_all_is_found_to(tmp_path: Path) -> None:
    lines = preflight(Listener(), tmp_path, 24, constrained=False)
    found = read_json(tmp_path / "preflight.json")
    assert found["hears_to_s"] == 110
    assert found["tokens_grow_to_s"] == 120
    for place in PLACES_S:
        assert found["places"][str(place)]["what"] == {"asked": 8, "right": 8, "p": 0.0, "heard": True}
        assert found["places"][str(place)]["where"]["right"] == 8
    assert any("at least up to 110 s" in line for line in lines)
    assert not any("cost no more" in line for line in lines)


def test_a_system_that_hears_the_first_30_s_is_found_out(tmp_path: Path) -> None:
    lines = preflight(Listener(reach_s=30), tmp_path, 24, constrained=False)
    found = read_json(tmp_path / "preflight.json")
    assert found["hears_to_s"] == 5
    assert found["places"]["45"]["what"]["heard"] is False
    assert found["tokens_grow_to_s"] == 30
    assert any("files beyond 30 s cost no more" in line for line in lines)


def test_constant_tokens_are_no_verdict(tmp_path: Path) -> None:
    lines = preflight(Listener(reach_s=15, tokens=9), tmp_path, 24, constrained=False)
    assert read_json(tmp_path / "preflight.json")["tokens_grow_to_s"] == 15
    assert any("the server does not count the audio's tokens, or" in line for line in lines)
    assert not any("the rest of a scene" in line for line in lines)


def test_a_system_that_hears_nothing_is_found_out(tmp_path: Path) -> None:
    lines = preflight(Listener(reach_s=0, tokens=0), tmp_path, 24, constrained=False)
    found = read_json(tmp_path / "preflight.json")
    assert (found["hears_to_s"], found["tokens_grow_to_s"]) == (None, None)
    assert any("nothing shows that it hears" in line for line in lines)


def test_a_system_that_always_hears_something_is_found_out(tmp_path: Path) -> None:
    lines = preflight(Listener(otherwise="a siren"), tmp_path, 24, constrained=False)
    found = read_json(tmp_path / "preflight.json")
    assert found["makes_up_sounds"]
    assert found["hears_to_s"] is None
    assert any("hears sounds in files that have none" in line for line in lines)
    assert not any(line.endswith("heard") for line in lines)


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    first, second = Listener(), Listener()
    lines = preflight(first, tmp_path, 24, constrained=False)
    (tmp_path / "preflight").unlink()
    assert preflight(second, tmp_path, 24, constrained=False) == lines
    assert (first.asked, second.asked) == (68, 0)


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_stands_where_it_is_said_to(name: str) -> None:
    for place in PLACES_S:
        samples = placed(name, place)
        assert len(samples) == LENGTH_S * SAMPLE_RATE
        loud = np.flatnonzero(np.abs(samples.astype(np.int64)) > 1000)
        assert place * SAMPLE_RATE <= loud[0] < (place + 0.3) * SAMPLE_RATE
        assert loud[-1] < (place + 3) * SAMPLE_RATE
    assert abs(int(np.abs(signal(name)).max()) - 16384) < 2


def test_no_two_signals_are_alike() -> None:
    for one, other in combinations(SIGNALS, 2):
        first, second = signal(one).astype(np.float64), signal(other).astype(np.float64)
        likeness = abs(np.dot(first, second)) / (np.linalg.norm(first) * np.linalg.norm(second))
        assert likeness < 0.2


def test_the_floor_is_faint_and_always_the_same() -> None:
    noise = floor_noise(15)
    assert 8 < np.sqrt(np.mean(noise.astype(np.float64) ** 2)) < 12
    assert np.array_equal(noise, floor_noise(30)[: len(noise)])


@pytest.mark.parametrize("text", ["Option 1", "option 2", "1"])
def test_a_number_is_not_taken_for_an_option(text: str, files: Path) -> None:
    (trial, *_) = hearing_preflight.trials(files)
    assert parse_answer(text, "stop", trial.item) == ("unreadable", None)
