"""The system that hears, against a server that decodes what it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ears import Ears, listening, said

from cares.bench.run_audio import hear_items, told_timings
from cares.bench.run_journal import Journal
from cares.bench.systems_audio import AUDIO_RATE, AudioQuestion, load_16k, resampled_16k
from cares.bench.systems_openai import AudioServer
from cares.core.canonical import file_digest
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, encode
from cares.llm.server import Patience
from cares.llm.types import ChatAnswer, LlmError
from cares.records.item import Item
from cares.records.timeline import MixedScene

QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.02, answer_s=10, request_s=20, in_flight=3)


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as state:
        yield state


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Two seconds of a tone of 440 Hz at half of full scale."""
    tone = np.round(16_000 * np.sin(2 * np.pi * 440 * np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE)).astype(np.int16)
    path = tmp_path / "tone.wav"
    path.write_bytes(encode(tone, container="WAV"))
    return path


def question(path: Path, **changes: object) -> AudioQuestion:
    asked = AudioQuestion("i/1", "What is heard?\nA) a\nB) b", path, file_digest(path), 24, 7)
    return asked._replace(**changes)  # type: ignore[arg-type]


def answers_of(server: AudioServer, questions: list[AudioQuestion]) -> list[ChatAnswer]:
    found: dict[int, ChatAnswer] = {}
    server.answer(questions, lambda place, answer, ms: found.update({place: answer}))
    return [found[place] for place in range(len(questions))]


def test_the_server_gets_the_recording_as_16_khz_mono_wav_before_the_question(ears: Ears, recording: Path) -> None:
    answers = answers_of(AudioServer("ears", ears.url, patience=QUICK), [question(recording)])
    (heard,) = ears.heard
    assert (heard.sample_rate, heard.subtype, heard.channels) == (16_000, "PCM_16", 1)
    assert len(heard.samples) == 2 * AUDIO_RATE
    spectrum = np.abs(np.fft.rfft(heard.samples))
    assert np.argmax(spectrum) * AUDIO_RATE / len(heard.samples) == 440
    assert abs(np.abs(heard.samples).max() * 32768 - 16_000) < 200
    assert heard.text == "What is heard?\nA) a\nB) b"
    assert [part["type"] for part in heard.body["messages"][0]["content"]] == ["input_audio", "text"]
    assert (heard.body["temperature"], heard.body["max_tokens"], heard.body["model"]) == (0.0, 24, "ears")
    assert "response_format" not in heard.body
    assert (answers[0].text, answers[0].finish_reason, answers[0].prompt_tokens) == ("B", "stop", 30)


def test_constrained_answers_are_asked_for_by_a_schema(ears: Ears, recording: Path) -> None:
    ears.script = lambda number, asked: said('{"answer": "A"}')
    server = AudioServer("ears", ears.url, patience=QUICK)
    assert answers_of(server, [question(recording, choices=("A", "B"))])[0].text == "A"
    schema = ears.heard[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["A", "B"]


def test_so_many_requests_are_in_flight_and_answers_keep_their_places(ears: Ears, recording: Path) -> None:
    ears.pause_s = 0.03
    ears.script = lambda number, asked: said(asked.text)
    questions = [question(recording, prompt=f"question {number}") for number in range(12)]
    answers = answers_of(AudioServer("ears", ears.url, patience=QUICK), questions)
    assert [answer.text for answer in answers] == [one.prompt for one in questions]
    assert ears.most_at_once == 3


def test_a_passing_failure_is_asked_again_and_a_refused_request_fails_alone(ears: Ears, recording: Path) -> None:
    def script(number: int, asked: object) -> tuple[int, dict[str, object]]:
        text = str(getattr(asked, "text", ""))
        if text == "too long":
            return 400, {"error": {"message": "the audio is too long"}}
        if text == "filtered":
            return said("", "content_filter")
        return (503, {}) if number == 1 else said("A")

    ears.script = script
    server = AudioServer("ears", ears.url, patience=QUICK._replace(in_flight=1))
    answers = answers_of(server, [question(recording, prompt=text) for text in ("fine", "too long", "filtered")])
    assert [answer.finish_reason for answer in answers] == ["stop", "error", "error"]
    assert "the audio is too long" in answers[1].error
    assert answers[2].error == "content_filter"
    assert len(ears.heard) == 4


def test_questions_about_one_recording_fail_alone(ears: Ears, recording: Path) -> None:
    ears.script = lambda number, asked: (500, {"error": {"message": "no memory"}})
    server = AudioServer("ears", ears.url, patience=QUICK)
    answers = answers_of(server, [question(recording, prompt=str(number)) for number in range(5)])
    assert {answer.finish_reason for answer in answers} == {"error"}
    assert all(answer.error.endswith("no memory (3 attempts)") for answer in answers)


def test_the_key_is_sent_and_shown_nowhere(ears: Ears, recording: Path) -> None:
    key = "sk-very-secret"
    ears.script = lambda number, asked: (401, {"error": {"message": f"wrong key {key}"}})
    server = AudioServer("ears", ears.url, key, QUICK)
    with pytest.raises(LlmError) as caught:
        answers_of(server, [question(recording)])
    assert ears.heard[0].headers["Authorization"] == f"Bearer {key}"
    assert key not in str(caught.value)
    assert "CARES_LLM_KEY" in str(caught.value)


def test_a_wrong_address_or_model_is_an_error(ears: Ears) -> None:
    with pytest.raises(InputError, match="--base-url"):
        AudioServer("ears", "localhost:8000")
    with pytest.raises(LlmError, match="offers ears, not 'nose'"):
        AudioServer("nose", ears.url, patience=QUICK)


def test_a_recording_that_is_missing_or_another_one_is_an_error(ears: Ears, recording: Path) -> None:
    server = AudioServer("ears", ears.url, patience=QUICK)
    with pytest.raises(InputError, match="cares pull"):
        answers_of(server, [question(recording)._replace(audio=recording.with_name("none.wav"))])
    with pytest.raises(InputError, match="pull again"):
        answers_of(server, [question(recording, audio_sha256="0" * 64)])
    assert ears.heard == []


def test_resampling_is_exact_in_length_and_never_wraps() -> None:
    square = (32767 * np.sign(np.sin(2 * np.pi * 300 * (np.arange(SAMPLE_RATE) + 0.5) / SAMPLE_RATE))).astype(np.int16)
    heard = resampled_16k(square)
    assert (len(heard), heard.dtype) == (AUDIO_RATE, np.int16)
    # where the square is high, what the filter adds is clipped, not wrapped to negative values
    middle = heard[AUDIO_RATE // 4 : AUDIO_RATE // 2].astype(np.int64)
    sign = np.sign(np.sin(2 * np.pi * 300 * (np.arange(AUDIO_RATE) + 0.18) / AUDIO_RATE))[
        AUDIO_RATE // 4 : AUDIO_RATE // 2
    ]
    assert np.mean(np.sign(middle) == sign) > 0.95
    assert np.array_equal(heard, resampled_16k(square))


@pytest.fixture
def heard_scenes(scenes: list[MixedScene], scene_files: Path) -> list[MixedScene]:
    return [scene.model_copy(update={"sha256": file_digest(scene_files / scene.path)}) for scene in scenes]


@pytest.fixture
def asked(heard_scenes: list[MixedScene], make_items: object) -> list[Item]:
    return make_items(heard_scenes, "reactions", "scene")  # type: ignore[operator, no-any-return]


def test_a_stopped_run_goes_on_and_asks_nothing_twice(
    ears: Ears, asked: list[Item], scene_files: Path, tmp_path: Path
) -> None:
    ears.script = lambda number, question: (418, {}) if number == 20 else said("B", prompt_tokens=number)
    server = AudioServer("ears", ears.url, patience=QUICK)

    def run() -> tuple[object, int]:
        with Journal(tmp_path / "asked.jsonl") as journal:
            heard = hear_items(server, "ears", asked, scene_files, journal, 1, 24, repeats=5)
        return heard.answers, heard.asked

    with pytest.raises(LlmError):
        run()
    kept = len((tmp_path / "asked.jsonl").read_text().splitlines())
    assert 17 <= kept <= 22
    answers, now = run()
    assert now == len(asked) + 5 - kept
    again, none = run()
    assert (again, none) == (answers, 0)
    assert isinstance(answers, list)
    assert [answer.item_id for answer in answers[: len(asked)]] == [item.item_id for item in asked]
    assert [answer.repeat for answer in answers[len(asked) :]] == [1] * 5
    assert {answer.choice for answer in answers} <= {choice for item in asked for choice in item.choices}


def test_another_question_model_or_recording_is_asked_anew(
    ears: Ears, asked: list[Item], scene_files: Path, tmp_path: Path
) -> None:
    server = AudioServer("ears", ears.url, patience=QUICK)
    with Journal(tmp_path / "asked.jsonl") as journal:
        items = asked[:4]
        hear_items(server, "ears", items, scene_files, journal, 1, 24)
        changed = [items[0].model_copy(update={"question": items[0].question + "!"}), *items[1:]]
        assert hear_items(server, "ears", changed, scene_files, journal, 1, 24).asked == 1
        assert hear_items(server, "ears", items, scene_files, journal, 1, 25).asked == 4
        assert hear_items(server, "ears", items, scene_files, journal, 1, 24, constrained=True).asked == 4
        assert hear_items(server, "ears", items, scene_files, journal, 1, 24).asked == 0


def test_failed_answers_are_asked_again_the_next_time(
    ears: Ears, asked: list[Item], scene_files: Path, tmp_path: Path
) -> None:
    ears.script = lambda number, question: (400, {}) if number == 2 else said("A")
    server = AudioServer("ears", ears.url, patience=QUICK._replace(in_flight=1))
    with Journal(tmp_path / "asked.jsonl") as journal:
        first = hear_items(server, "ears", asked[:4], scene_files, journal, 1, 24)
        assert [answer.status for answer in first.answers] == ["ok", "error", "ok", "ok"]
        second = hear_items(server, "ears", asked[:4], scene_files, journal, 1, 24)
        assert (second.asked, [answer.status for answer in second.answers]) == (1, ["ok"] * 4)
    assert "s an answer" in told_timings(second.timings)


def test_a_recording_read_twice_is_the_same(recording: Path) -> None:
    first = load_16k(recording, file_digest(recording))
    assert (
        hashlib.sha256(first.tobytes()).digest()
        == hashlib.sha256(load_16k(recording, file_digest(recording)).tobytes()).digest()
    )
