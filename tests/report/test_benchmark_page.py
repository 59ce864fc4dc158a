"""The page about the benchmark, from files as the stages write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cares.bench.leaderboard_files import Standing, leaderboard_files
from cares.bench.leaderboard_published import Published
from cares.bench.scores import metrics, score_tasks
from cares.bench.scores_judge import silent_verdicts
from cares.catalog.load import load_catalog
from cares.core.atomic import write_bytes
from cares.core.canonical import file_digest, write_json
from cares.core.record import write_records
from cares.records.item import Item
from cares.records.scene import REACTIONS
from cares.report.benchmark_page import board_cell, difference_cells, interval_text
from cares.report.inputs import read_inputs
from cares.report.site import write_site
from tests.bench.answering import answer_by, grounding_pair, reaction_item, reference, summary_item, wrote

PUBLISHED = Published.parse(
    {
        "model": "Made-up <b>7B</b>",
        "source": "test data, no paper",
        "where": "Table 0",
        "figures": {"reactions-time": {"accuracy_all": {"value": 0.4}}},
    },
    "test data",
)


def items() -> list[Item]:
    asked = [reaction_item(number, REACTIONS[number % 4], number % 6) for number in range(24)]
    asked += [half for number in range(6) for half in grounding_pair(number, REACTIONS[number % 4], number)]
    sounds = (reference("dog_bark", "pivot"), reference("train_horn", "ambient", 1))
    return asked + [summary_item(template, sounds) for template in range(6)]


def leave(root: Path, published: list[Published]) -> None:
    """Items, answers, metrics and leaderboard of two systems, one of them judged."""
    catalog, asked = load_catalog(), items()
    write_records(root / "data/bench/items.jsonl", asked)
    digest = file_digest(root / "data/bench/items.jsonl")
    systems = {}
    for place, name in enumerate(("majority", "oracle")):
        answers = answer_by([item for item in asked if item.choices], lambda item, at=place: item.choices[at], name)
        answers += [wrote(item, "They hear a dog.", name) for item in asked if not item.choices]
        write_records(root / f"data/bench/answers/{name}.jsonl", answers)
        found = metrics(name, "some-model", digest, score_tasks(asked, answers, catalog, 100, 1))
        write_json(root / f"metrics/bench/{name}.json", found)
        silent = [answer.model_copy(update={"status": "refused"}) for answer in answers if answer.choice is None]
        systems[name] = Standing(answers, found, silent_verdicts(asked, silent, catalog, 1) if place else ())
    files = leaderboard_files(asked, digest, systems, published, catalog, 100, 1)
    for name, text in files.texts.items():
        write_bytes(root / "data/bench/leaderboard" / name, text.encode())
    write_json(root / "data/bench/leaderboard/leaderboard.json", files.report)


@pytest.fixture
def page(build: Any, sounds: dict[str, str], places: dict[str, str]) -> str:
    leave(build.root, [PUBLISHED])
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    return (build.root / "report/benchmark.html").read_text()


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_every_task_has_its_figures(page: str) -> None:
    text = text_of(page)
    for title in ("How do they react? Time given", "Is the sound there?", "Summary in 25 words"):
        assert title in text
    for column in ("sensitivity behavioral", "precision pivot", "order matters, p", "mentioned though absent"):
        assert column in text
    assert page.count("<svg") == 3
    assert re.search(r"majority, by word forms 12 50\.0 % ", text)
    assert re.search(r"oracle, by the judge 12 0\.0 % ", text)


def test_every_link_and_every_anchor_is_there(page: str, build: Any) -> None:
    for link in re.findall(r'href="([^"]+)"', page):
        name, _, anchor = link.partition("#")
        target = build.root / "report" / name if name else build.root / "report/benchmark.html"
        assert target.is_file(), link
        assert not anchor or f'id="{anchor}"' in target.read_text()


def test_published_results_are_marked_and_escaped(page: str) -> None:
    assert "Made-up &lt;b&gt;7B&lt;/b&gt; †" in page
    assert "test data, no paper, Table 0" in page
    assert "40.0 % accuracy all" in page
    assert "None are made up" not in page


def test_without_published_results_the_page_says_so(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    leave(build.root, [])
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    page = (build.root / "report/benchmark.html").read_text()
    assert "cares/bench/published.yaml" in page
    assert "None are made up" in page


def test_differences_say_what_holds_after_the_correction(page: str) -> None:
    assert "corrected for the 3 comparisons" in text_of(page)
    one = {"task": "scene", "a": "x", "b": "y", "difference": 0.125, "ci95": [0.01, 0.2], "p": 0.02, "p_holm": 0.06}
    assert difference_cells(one)[1:] == ("x", "y", "+12.5", "+1.0 to +20.0", "0.0200", "0.0600", "no")
    assert difference_cells({**one, "ci95": None, "p_holm": 0.01})[4:] == ("none", "0.0200", "0.0100", "yes")


def test_a_build_without_a_benchmark_says_so(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    for path in (build.root / "metrics/bench").iterdir():
        path.unlink()
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    text = text_of((build.root / "report/benchmark.html").read_text())
    assert "The leaderboard is not there yet" in text
    assert "The benchmark is not there yet" in text


def test_a_figure_as_text() -> None:
    assert interval_text({"value": 0.5, "ci95": [0.25, 0.75]}) == "50.0 % (25.0 % to 75.0 %)"
    assert interval_text({"value": 0.5, "ci95": None}) == "50.0 %"
    assert interval_text({"value": None, "ci95": None}) == interval_text(None) == "none"
    row = {"cells": {"scene": {"figure": "accuracy_all", "value": 0.5, "ci95": None, "n": None}}}
    assert board_cell(row, "scene") == "50.0 %"
    assert board_cell(row, "sounds") == "–"
