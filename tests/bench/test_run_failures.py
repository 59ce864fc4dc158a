"""`cares bench` against servers that fail: one question, all of them, the server itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ears import Ears, Question, Reply, listening, said

from cares.bench.run_command import Asked, bench
from cares.bench.systems_openai import AudioServer
from cares.core.canonical import file_digest, read_json, write_json
from cares.core.errors import CaresError, InputError
from cares.core.pcm import encode, read_samples
from cares.core.record import read_records, write_records
from cares.llm.server import NotOfferedError, Patience
from cares.llm.types import LlmError
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene

QUICK = Patience(attempts=2, first_pause_s=0.01, longest_pause_s=0.02, answer_s=10, request_s=20, in_flight=2)


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as state:
        yield state


@pytest.fixture
def data(scenes: list[MixedScene], scene_files: Path, make_items: Callable[..., list[Item]]) -> Path:
    told = []
    for number, scene in enumerate(scenes):
        path = scene_files / scene.path
        path.write_bytes(encode(read_samples(path) + number, container="WAV"))
        told.append(scene.model_copy(update={"sha256": file_digest(path)}))
    write_records(scene_files / "data/bench/items.jsonl", make_items(told, "scene", "reactions"))
    return scene_files


def run(ears: Ears, data: Path, out: Path, *, tasks: tuple[str, ...] = ("scene",), **more: object) -> list[str]:
    asked = Asked(data, out, tasks, (), 24, False, 0)._replace(**more)  # type: ignore[arg-type]
    return bench(AudioServer("ears", ears.url, patience=QUICK), asked)


def statuses(out: Path) -> list[str]:
    return [answer.status for answer in read_records(Answer, out / "answers.jsonl")]


def test_when_no_question_gets_an_answer_there_are_no_figures(ears: Ears, data: Path, tmp_path: Path) -> None:
    ears.script = lambda number, question: (400, {"error": {"message": "no \x1b[2Jaudio input"}})
    with pytest.raises(CaresError, match=r"no question got an answer.*12 of 12.*12 times: .*no \?\[2Jaudio input"):
        run(ears, data, tmp_path / "out")
    assert not (tmp_path / "out/metrics.json").exists()
    ears.script = lambda number, question: said("B")
    assert any("12 asked now" in line for line in run(ears, data, tmp_path / "out", max_tokens=16))


def test_failures_are_told_with_their_reason_and_asked_again(ears: Ears, data: Path, tmp_path: Path) -> None:
    ears.script = lambda number, question: (400, {"error": {"message": "too long"}}) if number < 3 else said("B")
    lines = run(ears, data, tmp_path / "out")
    assert any("2 of 12 questions got no answer" in line for line in lines)
    assert any("2 times: status 400: too long" in line for line in lines)
    assert any("2 asked now, 10 kept" in line for line in run(ears, data, tmp_path / "out"))


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_question_that_always_fails_does_not_stop_the_others(
    status: int, ears: Ears, data: Path, tmp_path: Path
) -> None:
    poison = {"sha": ""}

    def script(number: int, question: Question) -> Reply:
        poison["sha"] = poison["sha"] or question.sha256
        return (status, {"error": {"message": "bang"}}) if question.sha256 == poison["sha"] else said("B")

    ears.script = script
    lines = run(ears, data, tmp_path / "out")
    assert sorted(statuses(tmp_path / "out")) == ["error"] + ["ok"] * 11
    assert any("bang (2 attempts)" in line for line in lines)
    assert not any("waves" in line for line in lines)
    ears.script = lambda number, question: said("B")
    assert any("1 asked now, 11 kept" in line for line in run(ears, data, tmp_path / "out"))
    assert set(statuses(tmp_path / "out")) == {"ok"}


def test_a_server_that_is_gone_ends_the_run_with_a_clear_line(ears: Ears, data: Path, tmp_path: Path) -> None:
    ears.script = lambda number, question: said("B") if number < 6 else (502, {})
    with pytest.raises(LlmError, match=r"server seems to be gone.*run the same command again") as caught:
        run(ears, data, tmp_path / "out")
    assert "waves" not in str(caught.value)
    assert len(ears.heard) < 24


def test_a_smaller_run_of_the_same_model_takes_nothing_away(ears: Ears, data: Path, tmp_path: Path) -> None:
    run(ears, data, tmp_path / "out", tasks=("scene", "reactions-time"))
    whole = {name: (tmp_path / "out" / name).read_bytes() for name in ("metrics.json", "answers.jsonl")}
    asked = len(ears.heard)
    run(ears, data, tmp_path / "out", splits=("test",))
    assert len(ears.heard) == asked
    assert whole == {name: (tmp_path / "out" / name).read_bytes() for name in whole}
    run(ears, data, tmp_path / "out", tasks=("reactions-neither",))
    assert set(read_json(tmp_path / "out/metrics.json")["tasks"]) == {"scene", "reactions-time", "reactions-neither"}


def test_what_was_answered_in_part_is_left_out_and_told(ears: Ears, data: Path, tmp_path: Path) -> None:
    ears.script = lambda number, question: (400, {}) if number == 2 else said("B")
    run(ears, data, tmp_path / "out", splits=("train",))
    lines = run(ears, data, tmp_path / "out", splits=("test",))
    assert any("scene of train is left out: 1 of 10 not answered yet" in line for line in lines)
    assert len(statuses(tmp_path / "out")) == 1


@pytest.mark.parametrize("change", [{"constrained": True}, {"max_tokens": 25}])
def test_a_folder_of_other_settings_is_refused(
    change: dict[str, object], ears: Ears, data: Path, tmp_path: Path
) -> None:
    run(ears, data, tmp_path / "out")
    with pytest.raises(InputError, match=r"run\.json: .*--out"):
        run(ears, data, tmp_path / "out", **change)


def test_a_folder_of_another_model_is_refused(ears: Ears, data: Path, tmp_path: Path) -> None:
    run(ears, data, tmp_path / "out")
    kept = (tmp_path / "out/metrics.json").read_bytes()
    (tmp_path / "out/run.json").unlink()
    write_json(tmp_path / "out/metrics.json", read_json(tmp_path / "out/metrics.json") | {"model": "nose"})
    with pytest.raises(InputError, match=r"metrics\.json: model: got 'nose'.*--out"):
        run(ears, data, tmp_path / "out")
    (tmp_path / "out/metrics.json").write_bytes(kept)
    run(ears, data, tmp_path / "out")


def test_items_of_another_build_or_outside_the_data_set_are_refused(ears: Ears, data: Path, tmp_path: Path) -> None:
    path = data / "data/bench/items.jsonl"
    write_json(data / "metrics/items.json", {"sha256": "0" * 64})
    with pytest.raises(InputError, match=r"items\.jsonl: sha256.*cares pull"):
        run(ears, data, tmp_path / "out")
    (data / "metrics/items.json").unlink()
    items = read_records(Item, path)
    for audio in ("../secret.wav", "/etc/secret.wav"):
        write_records(path, [items[0].model_copy(update={"audio": audio}), *items[1:]])
        with pytest.raises(InputError, match=r"line 1\.audio"):
            run(ears, data, tmp_path / "out")
    assert ears.heard == []


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://127.0.0.1:99999", "ftp://x", "http://", "http://u:secret@127.0.0.1:1"]
)
def test_a_broken_address_is_one_clear_error(url: str) -> None:
    with pytest.raises(InputError, match="--base-url") as caught:
        AudioServer("ears", url, patience=QUICK._replace(attempts=1))
    assert "secret" not in str(caught.value) and "CARES_LLM_URL" not in str(caught.value)


def test_messages_speak_of_the_command_alone(ears: Ears) -> None:
    with pytest.raises(NotOfferedError) as caught:
        AudioServer("nose", ears.url, patience=QUICK)
    assert str(caught.value).endswith("not 'nose'")
    ears.url = "http://127.0.0.1:9"
    with pytest.raises(LlmError) as gone:
        AudioServer("ears", ears.url, patience=QUICK)
    assert "waves" not in str(gone.value)


def test_a_body_of_brackets_is_an_error_answer(
    ears: Ears, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cares.llm import server

    def deep(response: object) -> object:
        raise RecursionError

    system = AudioServer("ears", ears.url, patience=QUICK)
    monkeypatch.setattr(server, "_json", deep)
    with pytest.raises(CaresError, match="no text in the answer"):
        bench(system, Asked(data, tmp_path / "out", ("scene",), (), 24, False, 0))
