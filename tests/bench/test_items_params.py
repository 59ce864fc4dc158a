"""The section `items` of params.yaml, clocks, and the prompt files of the questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions, clock
from cares.core.errors import InputError

SECTION = {
    "tasks": ["scene", "sounds", "reactions", "grounding", "summary"],
    "splits": ["train", "validation", "test"],
    "reaction_levels": ["time"],
    "grounding_splits": ["test"],
    "summary_words": [25],
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"splits": []}, "splits"),
        ({"splits": ["dev"]}, "splits"),
        ({"splits": ["test", "test"]}, "splits"),
        ({"tasks": ["reaction"]}, "tasks"),
        ({"reaction_levels": ["name"]}, "reaction_levels"),
        ({"summary_words": [50]}, "summary_words"),
        ({"grounding_splits": []}, "items: .*grounding needs a split"),
        ({"splits": ["train"]}, "items: .*grounding needs a split"),
        ({"split": 1}, "split"),
    ],
)
def test_a_wrong_section_is_an_error_with_its_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(InputError, match=rf"params.yaml: items\.{field}|params.yaml: {field}"):
        ItemsParams.parse(SECTION | change, "params.yaml", "items")


def test_without_grounding_nothing_is_muted() -> None:
    params = ItemsParams.parse(SECTION | {"tasks": ["scene"]}, "params.yaml", "items")
    assert params.muted_splits == ()


@pytest.mark.parametrize(
    ("time_ms", "text"), [(0, "0:00.0"), (7349, "0:07.3"), (59_960, "1:00.0"), (119_949, "1:59.9")]
)
def test_clock(time_ms: int, text: str) -> None:
    assert clock(time_ms) == text


def test_a_missing_or_broken_prompt_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"item_scene\.jinja.*no such file"):
        Questions(tmp_path)
    for task in ("scene", "sounds", "reactions", "grounding", "summary"):
        (tmp_path / f"item_{task}.jinja").write_text("{{ words }", encoding="utf-8")
    with pytest.raises(InputError, match=r"item_scene\.jinja.*a Jinja template"):
        Questions(tmp_path)
    for task in ("scene", "sounds", "reactions", "grounding", "summary"):
        (tmp_path / f"item_{task}.jinja").write_text("{{ answer }}", encoding="utf-8")
    with pytest.raises(InputError, match=r"item_summary\.jinja.*'answer' is undefined"):
        Questions(tmp_path).ask("summary", words=25)
