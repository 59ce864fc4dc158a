"""The site: complete, self-contained, and safe whatever a model wrote."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from cares.core.canonical import write_jsonl
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.report.inputs import read_inputs
from cares.report.params import ReportParams
from cares.report.site import spread, write_site


class Links(HTMLParser):
    """Every href and src, every tag that is not closed, and all visible text of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []
        self.scripts = 0
        self.words: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.scripts += tag == "script"
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def site(build: Any, sounds: dict[str, str], places: dict[str, str]) -> Path:
    assert write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report") == 3
    return build.root / "report"


def test_every_link_leads_to_a_file_of_the_repository(site: Path) -> None:
    pages = [site / "index.html", *(site / "scenes").iterdir()]
    assert len(pages) == 4
    pages += [site / "words.html", site / "benchmark.html"]
    optional = {"attempts.jsonl", "ATTRIBUTION.csv"}
    for page in pages:
        parsed = Links(page)
        assert parsed.open == []
        for link in parsed.links:
            assert not re.match(r"[a-z]+:|//", link)
            if not link.startswith("#"):
                name, _, anchor = link.partition("#")
                target = page.parent / unquote(name)
                assert not anchor or f'id="{anchor}"' in target.read_text()
                assert target.is_file() or target.name in optional, link


def test_a_scene_has_player_transcript_labels_and_picture(build: Any, site: Path) -> None:
    page = Links(site / "scenes/t00000-0.html")
    assert "../../data/scenes/t00000-0.wav" in page.links
    assert "Oh, she will love that. dog bark · verbal · " in page.text
    assert "Good, and somebody needs to pick her up at about 11:30, bicycle bell · ambient · " in page.text
    assert "I can drive her if you church bell · behavioral · " in page.text
    assert "✓ oracle: verbal" in page.text
    assert "✗ oracle: empty" in page.text
    source = (site / "scenes/t00000-0.html").read_text()
    assert source.count('class="sounding ') == 3
    assert source.count('class="word"') == len(build.scenes[0].words)


def test_the_index_has_scores_metrics_failures_and_sources(site: Path) -> None:
    text = Links(site / "index.html").text
    assert "3 of 4 scenes finished" in text
    assert "oracle 6 25.0 % 10.0 % to 62.5 % 0.0 % 50.0 % none 100.0 % 2 verbal, 50.0 %" in text
    assert "mix.word_error_rate 0.0712" in text
    assert "ci95 0.18, 0.36" in text
    assert "t00003-0 dialogues 2 names_the_sound turn 3: dog" in text
    assert "procedural CC0-1.0 CARES 3" in text
    assert "The list of models is not there yet" in text


def test_what_a_model_wrote_is_never_markup(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    evil = '<script>alert("x")</script><img src=x onerror=alert(1)> & "quoted" \'single\''
    first = build.scenes[0]
    words = (first.words[0].model_copy(update={"word": "</span><script>1</script>"}), *first.words[1:])
    scenes = [first.model_copy(update={"topic": evil, "words": words, "roles": (evil, evil)}), *build.scenes[1:]]
    write_records(build.root / "data/scenes/scenes.jsonl", scenes)
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    index = build.root / "report/index.html"
    page = build.root / "report/scenes/t00000-0.html"
    assert Links(index).scripts == 0
    assert Links(page).scripts == 1
    for source in (index.read_text(), page.read_text()):
        assert "<script>alert" not in source
        assert "<img" not in source
    assert 'alert("x")' in Links(page).text


def test_the_stage_waits_for_every_metric_that_the_site_shows() -> None:
    stages = yaml.safe_load((Path(__file__).parents[2] / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    made = {name for stage in stages.values() for metric in stage.get("metrics", []) for name in metric}
    shown = {name for name in made if Path(name).parent == Path("metrics")}
    assert len(shown) > 10 and shown <= set(stages["report"]["deps"])


def test_a_build_that_did_not_come_far_says_what_is_missing(
    build: Any, sounds: dict[str, str], places: dict[str, str]
) -> None:
    for path in ("metrics", "data/bench", "data/dialogues", "data/allocation", "data/sounds"):
        shutil.rmtree(build.root / path)
    (build.root / "data/timelines.jsonl").unlink()
    (build.root / "data/calibration.json").unlink()
    inputs = read_inputs(build.root)
    assert len(inputs.missing) == 17
    write_site(inputs, sounds, places, 60, 1, build.root / "report")
    text = Links(build.root / "report/index.html").text
    for what in ("The benchmark", "The allocation", "The record of attempts", "The bank of sounds", "Any metrics file"):
        assert f"{what} is not there yet" in text
    words = Links(build.root / "report/words.html").text
    for what in ("The record of acceptance", "The record of attempts", "The variety of words", "An accepted dialogue"):
        assert f"{what} is not there yet" in words
    assert "metrics/calibration.json is not there yet" in words


def test_no_scene_at_all_still_gives_a_page(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    write_jsonl(build.root / "data/scenes/scenes.jsonl", [])
    assert write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report") == 0
    assert "0 of 4 scenes finished" in Links(build.root / "report/index.html").text


def test_a_damaged_input_is_an_error_with_its_name(build: Any) -> None:
    (build.root / "metrics/wer.json").write_text("{")
    with pytest.raises(InputError, match=r"wer\.json"):
        read_inputs(build.root)
    (build.root / "data/scenes/scenes.jsonl").unlink()
    with pytest.raises(InputError, match="dvc repro"):
        read_inputs(build.root)


def test_the_same_build_gives_the_same_bytes(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    def bytes_of() -> dict[str, bytes]:
        write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
        return {p.name: p.read_bytes() for p in sorted((build.root / "report").rglob("*")) if p.is_file()}

    first = bytes_of()
    assert first == bytes_of()
    assert not any(str(build.root).encode() in content for content in first.values())


def test_only_so_many_scenes_get_a_page(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    assert write_site(read_inputs(build.root), sounds, places, 2, 1, build.root / "report") == 2
    assert "2 of 3 scenes have a page" in Links(build.root / "report/index.html").text
    assert [scene.scene_id for scene in spread(build.scenes, 2)] == ["t00000-0", "t00001-0"]


@pytest.mark.parametrize("value", [0, -1, 1.5, "many"])
def test_a_wrong_number_of_scenes_is_an_error(value: object) -> None:
    with pytest.raises(InputError, match=r"report\.scenes"):
        ReportParams.parse({"scenes": value}, "params.yaml", "report")


@pytest.mark.browser
def test_a_browser_shows_it_without_complaint(site: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    shot = tmp_path / "shot.png"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=2000"]
    page = (site / "scenes/t00000-0.html").as_uri()
    done = subprocess.run(
        [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}", page],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert shot.stat().st_size > 10_000
    assert "CONSOLE" not in done.stderr
