"""docs/changes.md holds what `count_changes.py` counted; three of the changes are run here, as far as the mix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.economy.changed_set import Built, ChangedSet
from tests.economy.changes import CHANGES, RECORDS, Outcome
from tests.economy.counted_table import FIGURES, PAGE, page_with, tables

LIVE = ("comment", "voice", "recipe")


@pytest.mark.repro
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", LIVE)
def test_a_change_makes_only_what_it_touches(built: Built, name: str, tmp_path: Path) -> None:
    copy = ChangedSet(tmp_path / "copy", built.set)
    before = copy.lines(*RECORDS)
    CHANGES[name].apply(copy.folder)
    CHANGES[name].holds(Outcome(built.first, copy.repro("mix"), before, copy.lines(*RECORDS)))


def test_every_edit_of_a_file_of_the_repository_finds_its_place(tmp_path: Path) -> None:
    for name, change in CHANGES.items():
        if change.file == "params.yaml":
            continue  # it is written anew for the small set
        path = tmp_path / change.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((PAGE.parents[1] / change.file).read_bytes())
        before = path.read_text(encoding="utf-8")
        change.apply(tmp_path)
        assert path.read_text(encoding="utf-8") != before, name


def test_the_page_holds_what_was_counted() -> None:
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert {"whole", "recipe", "voice"} <= figures.keys() <= {"whole", *CHANGES}
    text = PAGE.read_text(encoding="utf-8")
    assert text == page_with(text, tables(figures)), "count anew: python -m tests.economy.count_changes --out DIR"
