"""The page to listen to: every kind, the right samples, the text as it is said, and the figures of the speech."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from spoken_world import FAILURE, value_of, write_speech
from test_site import Links

from cares.core.canonical import read_json, write_json
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, read_samples
from cares.core.record import read_records, write_records
from cares.records.dialogue import Dialogue, Segment
from cares.records.speech import SceneSpeech
from cares.report.clips import COLUMNS, Span, strip
from cares.report.inputs import read_inputs
from cares.report.site import write_site
from cares.report.speech_figures import figures

EVIL = '<script>alert("x")</script>'
DOCS = Path(__file__).parents[2] / "docs/speech.md"


@pytest.fixture
def spoken(build: Any) -> list[SceneSpeech]:
    """The build of conftest.py with speech, and the records of that speech."""
    return write_speech(build.root, build.scenes)


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory, new_build: Any, sounds: dict[str, str], places: dict[str, str]
) -> Any:
    """Such a build with its page, for tests that only read."""
    build = new_build(tmp_path_factory.mktemp("listening") / "ein Bündel")
    write_speech(build.root, build.scenes)
    write(build, sounds, places)
    return build


@pytest.fixture(scope="module")
def page(finished: Any) -> Path:
    """The page of `finished`."""
    return Path(finished.root / "report/listening.html")


def write(build: Any, sounds: dict[str, str], places: dict[str, str]) -> Path:
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    return build.root / "report/listening.html"


def test_clips_hold_the_samples_of_their_utterance_and_place(finished: Any, page: Path) -> None:
    folder = page.parent / "listening"
    by_scene = {one.scene_id: one for one in read_records(SceneSpeech, finished.root / "data/speech/speech.jsonl")}
    dry = [path for path in folder.iterdir() if not path.stem.endswith("mix")]
    assert len(dry) > 15
    for path in dry:
        scene_id, _, index = path.stem.rpartition("-")
        utterance = by_scene[scene_id].utterances[int(index)]
        samples = read_samples(path)
        assert len(samples) == utterance.n_samples and set(samples.tolist()) == {value_of(utterance.index)}
    (mix,) = folder.glob("t00000-0-*-mix.flac")
    scene = finished.scenes[0]
    words = [word for word in scene.words if word.turn == 4]
    samples = read_samples(mix)
    assert samples[0] == (words[0].start_sample - SAMPLE_RATE // 2) // 100
    assert len(list(folder.glob("*-mix.flac"))) == 2


def test_every_player_has_its_file_a_name_and_a_picture(page: Path) -> None:
    parsed = Links(page)
    assert parsed.open == [] and parsed.scripts == 0
    source = page.read_text()
    players = re.findall(r'<audio controls preload="none" src="([^"]+)" aria-label="[^"]+">', source)
    assert len(players) == source.count("<audio") == source.count('class="strip"') > 20
    assert all((page.parent / name).is_file() for name in players)
    assert {link for link in parsed.links if link.endswith(".flac")} == set(players)
    for link in parsed.links:
        name, _, anchor = link.partition("#")
        if name and "docs" not in name:
            target = page.parent / name
            assert target.is_file() and (not anchor or f'id="{anchor}"' in target.read_text()), link
        elif not name:
            assert f'id="{anchor}"' in source, link


def test_links_into_the_docs_lead_to_headings(page: Path) -> None:
    headings = {line[3:].lower().replace(" ", "-") for line in DOCS.read_text().splitlines() if line.startswith("## ")}
    anchors = {link.partition("#")[2] for link in Links(page).links if "docs/speech.md" in link}
    assert anchors and anchors <= headings


def test_a_break_is_read_with_its_cut_and_heard_in_the_mix(page: Path) -> None:
    text = Links(page).text
    assert "A I can drive her if you— church bell · behavioral (cut; the engine went on: look after the" in text
    assert "A Sorry, I can drive her if you look after the blankets." in text
    assert "The same place in the mix" in text
    assert "jf_alpha by kokoro" in text and "likeness to the speaker's others 0.91" in text
    assert "word error rate 12.5 % · pace 14.2 letters a second" in text
    assert "pace not recorded" in text and "longest pause 210 ms · tries 2" in text
    assert "Good, and somebody needs to pick her up at about 11:30, bicycle bell · ambient because" in text
    source = page.read_text()
    assert 'class="unsure"' in source and 'class="shade behavioral"' in source
    assert "none in this build" in text and "all 1" in text


def test_the_tables_say_what_the_metrics_say(page: Path) -> None:
    text = Links(page).text
    assert "misheard 9 other_voice 2" in text
    assert "pace, letters a second without pauses 9.5 11 14.5 19 20.9" in text
    assert "likeness of a scene's two speakers" not in text
    assert "dry voices 4 4 2 mix 4 4 2" in text
    assert "pauses and pitch 1.000 (1.000 to 1.000) 1.000 (1.000 to 1.000)" in text
    assert "pauses and pitch, of voices not learnt from" in text
    assert "break_restart 4 1.000 1.000" in text
    assert "pauses after the sound 21.5 1.5 21.5 1.5" in text
    assert "without a time of their own 1.0 %" in text
    assert "piper, starts of words 8 124 32.5 132 -4" in text and "piper, ends of words 8 0 32.5 132 none" in text
    assert "dry voices 1.5 % 0.9 % to 2.2 % 1643 mix 4.8 % none 1643" in text


def test_a_scene_without_speech_is_listed_with_its_failure(page: Path) -> None:
    assert f"t00003-0 {FAILURE}" in Links(page).text
    assert "<b>heard</b>" not in page.read_text()


def test_nothing_that_was_written_is_markup(
    build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]
) -> None:
    path = build.root / "data/dialogues/accepted.jsonl"
    one, *others = read_records(Dialogue, path)
    turn = one.turns[0].model_copy(update={"segments": (Segment(text=f"{EVIL} & 'so'"),)})
    write_speech(build.root, build.scenes, [one.model_copy(update={"turns": (turn, *one.turns[1:])}), *others])
    write_records(path, [one.model_copy(update={"turns": (turn, *one.turns[1:])}), *others])
    speech = read_json(build.root / "metrics/speech.json")
    write_json(build.root / "metrics/speech.json", {**speech, "faults": {EVIL: 1}})
    page = write(build, sounds, places)
    assert Links(page).scripts == 0 and "<script" not in page.read_text()
    assert Links(page).text.count(EVIL) == 4, "a fault, the text, the word under the waveform, and its title"
    assert f"A {EVIL} & 'so'" in Links(page).text


def test_missing_metrics_files_are_named(
    build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]
) -> None:
    names = [f"metrics/{name}.json" for name in ("speech", "breaks", "alignment", "wer")]
    for name in names:
        (build.root / name).unlink()
    text = Links(write(build, sounds, places)).text
    assert f"Not there when this report was made: {', '.join(names)}." in text
    assert all(f"{name} is not there yet" in text for name in names)


@pytest.mark.parametrize(
    ("name", "lacks", "told"),
    [
        ("speech", "tries", r"metrics/speech\.json: tries"),
        ("breaks", "dry", r"metrics/breaks\.json: dry"),
        ("alignment", "words", r"metrics/alignment\.json: words"),
        ("wer", "mix", r"metrics/wer\.json: mix"),
    ],
)
def test_a_metrics_file_without_a_figure_is_an_error_that_names_it(
    name: str, lacks: str, told: str, finished: Any
) -> None:
    inputs = read_inputs(finished.root)
    del inputs.metrics[name][lacks]
    with pytest.raises(InputError, match=told):
        figures(inputs)


def test_a_damaged_speech_file_is_an_error(
    build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]
) -> None:
    (build.root / spoken[0].path).write_bytes(b"fLaC")
    with pytest.raises(InputError, match=r"t00000-0\.flac"):
        write(build, sounds, places)


def test_a_build_without_speech_or_mixes_says_so(build: Any, sounds: dict[str, str], places: dict[str, str]) -> None:
    assert "An utterance to listen to is not there yet" in Links(write(build, sounds, places)).text
    write_speech(build.root, build.scenes)
    write_records(build.root / "data/scenes/scenes.jsonl", build.scenes[1:])
    (build.root / "data/alignment.jsonl").unlink()
    text = Links(write(build, sounds, places)).text
    assert "This scene was not mixed." in text and "the times of the words, is not there yet" in text


def test_the_same_build_gives_the_same_bytes(
    page: Path, finished: Any, sounds: dict[str, str], places: dict[str, str]
) -> None:
    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in [page, *sorted((page.parent / "listening").iterdir())]}

    first = content()
    write(finished, sounds, places)
    assert content() == first
    assert soundfile.info(io.BytesIO(first["t00000-0-000.flac"])).subtype == "PCM_16"


def test_a_strip_draws_the_loud_half_and_the_words_in_place() -> None:
    samples = np.concatenate([np.zeros(SAMPLE_RATE, np.int16), np.full(SAMPLE_RATE, -32_768, np.int16)])
    drawn = strip(samples, [Span(SAMPLE_RATE, 2 * SAMPLE_RATE, "so", "word")], [])
    heights = [float(height) for height in re.findall(r"v([0-9.]+)", drawn.wave)]
    assert len(heights) == COLUMNS and heights[:86] == [0.5] * 86 and heights[-86:] == [36.0] * 86
    assert (drawn.words[0].x, drawn.words[0].width) == ("350.00", "350.00")
    assert drawn.words[0].title == "so, 1.00 to 2.00 s" and drawn.seconds == ("350.00",)
    assert strip(np.zeros(3, np.int16), [], []).wave.count("M") == COLUMNS


@pytest.mark.browser
def test_a_browser_shows_it_without_complaint(page: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    shot = tmp_path / "shot.png"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=2000"]
    done = subprocess.run(
        [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert shot.stat().st_size > 10_000
    assert "CONSOLE" not in done.stderr
