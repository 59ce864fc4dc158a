"""The file of answers: whole after any end, one writer at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cares.bench.run_journal import Journal, Kept
from cares.core.errors import CaresError
from cares.llm.types import ChatAnswer, failed


def answer(text: str) -> ChatAnswer:
    return ChatAnswer(text=text, finish_reason="stop", prompt_tokens=3, completion_tokens=1)


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "asked.jsonl"
    with Journal(path) as journal:
        assert journal.get("k1") is None
        journal.put("k1", answer("Ünï\nB"), 12)
        assert journal.get("k1") == Kept(answer("Ünï\nB"), 12)
    with Journal(path) as journal:
        assert journal.get("k1") == Kept(answer("Ünï\nB"), 12)


def test_a_failed_answer_is_not_kept(tmp_path: Path) -> None:
    with Journal(tmp_path / "asked.jsonl") as journal:
        journal.put("k1", failed("status 400"), 1)
        assert journal.get("k1") is None


def test_that_a_filter_held_it_back_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    with Journal(path) as journal:
        journal.put("k1", failed("content_filter"), 1)
    with Journal(path) as journal:
        assert journal.get("k1") == Kept(failed("content_filter"), 1)


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_cut_line_is_dropped_and_said(cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "asked.jsonl"
    with Journal(path) as journal:
        journal.put("k1", answer("A"), 1)
        journal.put("k2", answer("B"), 1)
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path) as journal:
        assert "a damaged line is dropped" in capsys.readouterr().err
        assert (journal.get("k1"), journal.get("k2")) == (Kept(answer("A"), 1), None)
        journal.put("k2", answer("C"), 1)
    with Journal(path) as journal:
        assert journal.get("k2") == Kept(answer("C"), 1)
    assert all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("damaged", [b'{"key":"k2"}', b"[]", b"[" * 100_000], ids=["part", "list", "deep"])
def test_a_damaged_line_in_the_middle_costs_its_own_answer_alone(damaged: bytes, tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    with Journal(path) as journal:
        for key in ("k1", "k2", "k3"):
            journal.put(key, answer(key), 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + damaged + b"\n" + lines[2])
    with Journal(path) as journal:
        assert [journal.get(key) is not None for key in ("k1", "k2", "k3")] == [True, False, True]


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "asked.jsonl"), pytest.raises(CaresError, match="another run"):
        Journal(tmp_path / "asked.jsonl")
    with Journal(tmp_path / "asked.jsonl"):
        pass
