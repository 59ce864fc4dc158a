"""The page about words, what stands on every page, and how a page is added."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from test_site import Links

from cares.core.canonical import read_json, write_json
from cares.core.errors import InputError
from cares.core.record import read_records, write_records
from cares.records.dialogue import Attempt, Dialogue
from cares.report import site as site_module
from cares.report.inputs import Inputs, read_inputs
from cares.report.pages import Page, Tools
from cares.report.site import write_site
from cares.report.words import SHOWN, drawn

EVIL = '<script>alert("x")</script><b>'


@pytest.fixture
def page(build: Any, sounds: dict[str, str], places: dict[str, str]) -> Path:
    return write(build, sounds, places) / "words.html"


def write(build: Any, sounds: dict[str, str], places: dict[str, str], seed: int = 1) -> Path:
    write_site(read_inputs(build.root), sounds, places, 60, seed, build.root / "report")
    return build.root / "report"


def test_the_tables_say_what_the_metrics_say(page: Path) -> None:
    text = Links(page).text
    assert "3 of 4 scenes have an accepted dialogue" in text
    assert "25.0 % of first attempts accepted as written 50.0 % accepted once" in text
    assert "812.3 tokens for each accepted scene" in text
    assert "Seconds for each accepted scene are not the same twice" in text
    assert "pivot 4 75.0 % 25.0 % 0 none ambient 4 75.0 % 25.0 % 5 80.0 %" in text, "the order of the labels"
    assert "verbal_dry 4 75.0 %" in text
    assert "pivot1, ambient2 2 50.0 % 50.0 % 2.5" in text
    assert "1 75.0 % 12.5 %" in text and "8 75.0 % 100.0 %" in text
    assert "label_not_recovered 1" in text and "5 attempts in all" in text
    assert "pairs of words among all pairs 0.800 0.900 0.889" in text
    assert "less is more varied none 10.500 none" in text
    assert "7 lines of five words or more stand in two scenes or more, 2 of them in more than 1 %" in text
    assert "so that is what she said line 2" in text


def test_dialogues_can_be_read_with_sounds_and_labels(page: Path) -> None:
    text = Links(page).text
    assert "All 3 accepted dialogues." in text
    assert (
        "A Oh, she will love that. dog bark · verbal Wow, that dog" in text or "dog bark · verbal Wow, that dog" in text
    )
    assert "I can drive her if you— church bell · behavioral" in text
    assert "scenes/t00000-0.html" in Links(page).links
    assert page.read_text().count("<article>") == 4, "three to read, one refused"


def test_refused_scenes_have_reasons_and_a_text(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    path = build.root / "data/dialogues/attempts.jsonl"
    attempts = read_records(Attempt, path)
    attempts[-1] = attempts[-1].model_copy(update={"text": f"so {EVIL}"})
    write_records(path, attempts)
    text = Links(write(build, sounds, places) / "words.html").text
    assert "2 attempts: label_not_recovered 1, names_the_sound 1." in text
    assert f"names_the_sound , turn 3: dog so {EVIL}" in text


def test_nothing_that_was_written_is_markup(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    path = build.root / "data/dialogues/accepted.jsonl"
    one, *others = read_records(Dialogue, path)
    turn = one.turns[0]
    turn = turn.model_copy(update={"segments": (turn.segments[0].model_copy(update={"text": EVIL}),)})
    write_records(path, [one.model_copy(update={"topic": EVIL, "writer": EVIL, "turns": (turn,)}), *others])
    (build.root / "metrics/plots/repeated_phrases.csv").write_text(
        f"kind,words,scenes\nline,{EVIL.replace(chr(34), '')},2\n"
    )
    words = read_json(build.root / "metrics/dialogues.json")
    words["registers"][EVIL] = words["registers"]["verbal_dry"]
    write_json(build.root / "metrics/dialogues.json", words)
    page = write(build, sounds, places) / "words.html"
    assert Links(page).scripts == 0
    assert Links(page).text.count(EVIL) == 4


def test_twenty_are_drawn_by_the_seed(build: Any) -> None:
    inputs = read_inputs(build.root)
    one, scene = inputs.dialogues[0], inputs.allocated[0]
    names = [f"t{number:05d}-0" for number in range(50)]
    inputs.dialogues = [one.model_copy(update={"scene_id": name}) for name in names]
    inputs.allocated = [scene.model_copy(update={"scene_id": name}) for name in names]

    def ids(seed: int) -> list[str]:
        return [read.scene.scene_id for read in drawn(inputs, Tools(None, seed, frozenset()))]  # type: ignore[arg-type]

    assert len(ids(1)) == SHOWN == 20
    assert ids(1) == sorted(ids(1))
    assert ids(1) != ids(2)
    inputs.dialogues.reverse()
    assert ids(1) == ids(1), "the order of the file does not matter"


def test_every_page_states_the_evaluators_accuracy(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    note = (
        "the evaluator classifier/some-encoder: balanced accuracy 90.2 % (90 % interval 83.7 % to 95.7 %) on 112 "
        "sounds of held-out probes. Writer and evaluator are of different model families (qwen; bert)."
    )
    for page in write(build, sounds, places).rglob("*.html"):
        assert note in Links(page).text, page.name
    figures = read_json(build.root / "metrics/calibration.json")
    write_json(build.root / "metrics/calibration.json", figures | {"same_family": True})
    write_json(build.root / "data/calibration.json", {"accuracy": {"confidence": 0.99}})
    text = Links(write(build, sounds, places) / "index.html").text
    assert "99 % interval" in text and "are of one model family" in text
    del figures["same_family"]
    write_json(build.root / "metrics/calibration.json", figures)
    write_json(build.root / "data/calibration.json", {})
    note = Links(write(build, sounds, places) / "words.html").text.partition("Labels were checked")[2]
    assert "95 % interval" in note and "famil" not in note


def test_metrics_of_an_earlier_version_leave_tables_out(
    build: Any, sounds: dict[str, str], places: dict[str, str]
) -> None:
    write_json(build.root / "metrics/dialogues.json", {"scenes": 4, "accepted": 3})
    text = Links(write(build, sounds, places) / "words.html").text
    assert "3 of 4 scenes" in text and "The variety of words is not there yet" in text and "By label" not in text


def test_a_wrong_table_of_phrases_is_an_error(build: Any) -> None:
    (build.root / "metrics/plots/repeated_phrases.csv").write_text("words,scenes\n")
    with pytest.raises(InputError, match=r"repeated_phrases\.csv: line 1"):
        read_inputs(build.root)


def test_a_page_is_added_by_a_function(
    build: Any, sounds: dict[str, str], places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def extra(inputs: Inputs, tools: Tools) -> Page:
        body = Markup("<h2>{}</h2>").format(f"{len(inputs.scenes)} <scenes>")
        return Page("extra.html", "More & more", body, {"pictures/a.png": b"png"})

    monkeypatch.setattr(site_module, "PAGES", (*site_module.PAGES, extra))
    out = write(build, sounds, places)
    assert "3 <scenes>" in Links(out / "extra.html").text
    assert "More & more" in Links(out / "index.html").text
    assert "../extra.html" in Links(out / "scenes/t00000-0.html").links
    assert (out / "pictures/a.png").read_bytes() == b"png"


def test_pages_can_be_read_without_eyes(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    for page in write(build, sounds, places).rglob("*.html"):
        source = page.read_text()
        assert '<html lang="en">' in source
        levels = [int(level) for level in re.findall(r"<h([1-6])", source)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels)), "no level left out"
        assert not re.search(r"<th(?! scope)[ >]", source)
        assert not re.search(r"<svg(?![^>]*(aria-label|aria-hidden))", source)
        for region in re.findall(r'<div class="wide"[^>]*>', source):
            assert "aria-label=" in region and 'tabindex="0"' in region, "what scrolls can be reached with the keyboard"
        ids = re.findall(r'\bid="([^"]*)"', source)
        assert len(ids) == len(set(ids))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_from_the_page_by_day_and_night(page: Path) -> None:
    style = (page.parent / "style.css").read_text()
    themes = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part)) for part in style.split("@media", 1)]
    for theme in themes:
        for name in ("text", "quiet", "link", "pivot", "verbal", "behavioral", "ambient"):
            for ground in ("page", "panel"):
                light, dark = sorted((luminance(theme[name]), luminance(theme[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{name} on {ground}: WCAG 2.2, 1.4.3"
