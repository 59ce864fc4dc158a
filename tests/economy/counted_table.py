"""The second table of docs/changes.md, from the counts that `count_changes.py` keeps in counted.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.economy.changes import CHANGES

FIGURES = Path(__file__).with_name("counted.json")
PAGE = Path(__file__).parents[2] / "docs" / "changes.md"
BEGIN, END = "<!-- counted: written by tests/economy/count_changes.py -->", "<!-- end of counted -->"


def tables(figures: dict[str, Any]) -> str:
    """Stages that ran, a change a row; items made anew, a kind a row and a change a column, numbered as the rows."""
    changes = {name: change for name, change in CHANGES.items() if name in figures}
    rows = [["", "change", "stages that ran", "left as they were"], ["---:", "---", "---", "---"]]
    for number, (name, change) in enumerate(changes.items(), 1):
        rows.append([str(number), change.told, ", ".join(figures[name]["ran"]), str(len(figures[name]["left"]))])
    whole = figures["whole"]["made"]
    counts = [
        ["made anew", "whole set", *map(str, range(1, len(changes) + 1))],
        ["---", *["---:"] * (len(changes) + 1)],
    ]
    counts += [
        [kind, str(number), *(str(figures[name]["made"][kind]) for name in changes)] for kind, number in whole.items()
    ]
    return "\n\n".join("\n".join(f"| {' | '.join(row)} |" for row in table) for table in (rows, counts))


def page_with(text: str, written: str) -> str:
    """A page with something written between its marks."""
    before, _, rest = text.partition(BEGIN)
    assert END in rest, f"{PAGE.name} has no {BEGIN} and {END}"
    return f"{before}{BEGIN}\n\n{written}\n\n{END}{rest.partition(END)[2]}"


def write_page() -> None:
    """Write the table anew."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), tables(figures)), encoding="utf-8")
