"""The page about leaks draws what the audit wrote, and escapes it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cares.core.canonical import write_json
from cares.core.errors import InputError
from cares.report.audit_inputs import read_audit
from cares.report.audit_page import corpus_row, panels, views
from cares.report.inputs import read_inputs
from cares.report.site import write_site

EDGES = [0.0, 1.0, 2.0]
COUNTS = {"pivot": [1, 3], "verbal": [2, 2], "behavioral": [4, 0], "ambient": [0, 4]}
RESULT = {
    "balanced_accuracy": 0.31,
    "ci95": [0.28, 0.34],
    "n_events": 16,
    "note": "",
    "features": [{"name": "gap_s", "gives_away": True}, {"name": "level_db", "gives_away": False}],
    "from_transcript": {"balanced_accuracy": None, "ci95": None, "note": "nothing is said"},
    "corpus": {"scenes": 8, "seconds": {"mean": 50.5}, "lengths": "one law for all labels"},
    "params": {"changed": ["timeline.placement=paper"]},
    "distributions": {"gap_s": {"edges": EDGES, "counts": COUNTS}},
}


class Shapes(HTMLParser):
    """Counts elements and keeps the descriptions of pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.bars = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "svg" and given.get("role") == "img":
            self.labels.append(given["aria-label"] or "")
        self.bars += tag == "rect" and given.get("class") == "sounding"


def write_tables(root: Path) -> None:
    rows = [
        f"gap_s,{label},{low},{high},{count}\n"
        for label, counts in COUNTS.items()
        for low, high, count in zip(EDGES[:-1], EDGES[1:], counts, strict=True)
    ]
    folder = root / "metrics/plots"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit_distributions.csv").write_text("feature,label,low,high,events\n" + "".join(rows))
    (folder / "audit_features.csv").write_text(
        "group,feature,importance,p,gives_away,auc_pivot,auc_verbal,auc_behavioral,auc_ambient\n"
        "sound,gap_s,0.05,0.001,True,0.6,0.5,0.2,0.9\n"
    )


def test_a_panel_has_a_row_a_label_and_says_its_medians() -> None:
    (panel,) = panels({"gap_s": {"edges": EDGES, "counts": COUNTS}})
    assert [label for label, _ in panel.rows] == ["pivot", "verbal", "behavioral", "ambient"]
    assert [len(bars) for _, bars in panel.rows] == [2, 2, 1, 1]
    assert float(panel.rows[3][1][0].height) == max(float(bar.height) for _, bars in panel.rows for bar in bars)
    assert "behavioral 0.5" in panel.text and "ambient 1.5" in panel.text


def test_scores_say_whether_chance_is_within() -> None:
    first, transcript = views(RESULT)
    assert not first.holds_chance and first.interval == "28.0 % to 34.0 %"
    assert transcript.score == "none" and transcript.note == "nothing is said"


def test_a_corpus_names_what_gives_it_away() -> None:
    row = corpus_row("paper", RESULT)
    assert row.given_away == ("length of the gap that was placed",)
    assert "timeline.placement=paper" in row.made and "8 scenes" in row.made
    assert len(row.panels) == 1


def test_what_is_not_there_is_missing_and_what_is_wrong_is_an_error(tmp_path: Path) -> None:
    missing: list[str] = []
    found = read_audit(tmp_path, missing)
    assert missing == ["metrics/plots/audit_features.csv", "metrics/plots/audit_distributions.csv"]
    assert not found.bins and not found.corpora
    write_json(tmp_path / "metrics/audit_corpus/wrong.json", [1])
    with pytest.raises(InputError, match=r"wrong\.json"):
        read_audit(tmp_path, [])


def test_page_draws_tables_and_corpora(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    write_tables(build.root)
    write_json(build.root / "metrics/audit_corpus/a<b.json", RESULT)
    write_site(read_inputs(build.root), sounds, places, 3, 1, build.root / "report")
    page = (build.root / "report/audit.html").read_text()
    shapes = Shapes(page)
    assert shapes.bars == 12 and len(shapes.labels) == 2
    assert all("Medians: pivot" in label for label in shapes.labels)
    assert "a&lt;b" in page and "a<b" not in page
    assert "length of the gap that was placed, s" in page
