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
from spoken_world import FAILURE, speak, value_of, write_speech
from test_site import Links

from cares.core.canonical import read_json, write_json
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, read_samples
from cares.core.record import read_records, write_records
from cares.records.dialogue import Dialogue, Segment, Turn
from cares.records.scene import Event, Scene
from cares.records.speech import SceneSpeech
from cares.report.clips import COLUMNS, Span, strip
from cares.report.inputs import read_inputs
from cares.report.site import write_site
from cares.report.speech_figures import figures
from cares.report.utterances import KINDS, SHOWN, Example, examples, kinds, said

EVIL = '<script>alert("x")</script>'
DOCS = Path(__file__).parents[2] / "docs/speech.md"


@pytest.fixture
def spoken(build: Any) -> list[SceneSpeech]:
    """The build of conftest.py with speech, and the records of that speech."""
    return write_speech(build.root, build.scenes)


@pytest.fixture
def page(build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]) -> Path:
    return write(build, sounds, places)


def write(build: Any, sounds: dict[str, str], places: dict[str, str]) -> Path:
    write_site(read_inputs(build.root), sounds, places, 60, 1, build.root / "report")
    return build.root / "report/listening.html"


def interrupted() -> tuple[Dialogue, Scene]:
    """A break that the other speaker falls into, then a plain answer."""
    turns = (
        Turn(
            speaker="A",
            segments=(
                Segment(text="We could take the", delivery="cut", spoken_as="We could take the early train home."),
                Segment(event=0),
                Segment(text="Er, the early", delivery="cut", spoken_as="Er, the early train home.", pause_ms=0),
            ),
        ),
        Turn(speaker="B", segments=(Segment(text="Sorry, go on.", overlap_ms=300),)),
        Turn(
            speaker="A",
            segments=(Segment(text="Where was I?"), Segment(text="We could take the early train.", pause_ms=400)),
        ),
        Turn(speaker="B", segments=(Segment(text="Yes, let us do that."),)),
    )
    given = read_records(Dialogue, Path(__file__).parents[1] / "data/dialogues_small.jsonl")[0]
    scene = read_records(Scene, Path(__file__).parents[1] / "data/scenes_small.jsonl")[0]
    event = Event(sound="dog_bark", reaction="behavioral", register="break_interrupted", slot=0)
    return given.model_copy(update={"turns": turns}), scene.model_copy(update={"events": (event,)})


def text_of(example: Example, dialogue: Dialogue, scene: Scene) -> list[str]:
    found = [said(one, dialogue.turns, scene, first=not n) for n, one in enumerate(example.utterances)]
    return [" ".join(f"[{part.event.sound}]" if part.event else part.words for part in one.parts) for one in found]


def test_every_kind_is_found_by_its_sound(build: Any, spoken: list[SceneSpeech]) -> None:
    found = {kind.kind: kind for kind in kinds(read_inputs(build.root), 1)}
    assert list(found) == list(KINDS)
    totals = {name: kind.total for name, kind in found.items()}
    assert totals["break_restart"] + totals["break_lost_thread"] == 2
    assert totals["ambient_run_on"] + totals["ambient_in_thought"] == 2
    assert totals["verbal"] == totals["pivot"] == totals["pivot_answer"] == 1
    assert totals["before_sound"] == 2 and totals["break_interrupted"] == totals["interruption"] == 0
    (verbal,) = found["verbal"].shown
    assert verbal.utterances[0].text.startswith("Wow, that dog")
    (answer,) = found["pivot_answer"].shown
    assert answer.utterances[0].text.startswith("Hold on, our train")
    plain = {one.utterances[0].text for one in found["plain"].shown}
    assert "Deal. I've got two big blankets in the car already." in plain
    assert not any(text.startswith("Hold on") for text in plain)


def test_an_interruption_belongs_to_its_break_and_is_a_kind_of_its_own() -> None:
    dialogue, scene = interrupted()
    speech, _ = speak(dialogue)
    found = {one.kind: one for one in examples(speech, dialogue, scene)}
    assert list(found) == ["break_interrupted", "interruption", "plain"]
    assert [one.speaker for one in found["break_interrupted"].utterances] == ["A", "A", "B", "A", "A"]
    assert text_of(found["break_interrupted"], dialogue, scene) == [
        "We could take the— [dog_bark]",
        "Er, the early—",
        "Sorry, go on.",
        "Where was I?",
        "… We could take the early train.",
    ]
    heard = said(found["interruption"].utterances[0], dialogue.turns, scene, first=True)
    assert heard.early_ms == 300
    assert said(speech.utterances[0], dialogue.turns, scene, first=True).unsaid == "early train home."


def test_twenty_are_drawn_by_the_seed_whatever_the_order(build: Any, spoken: list[SceneSpeech]) -> None:
    inputs = read_inputs(build.root)
    one, dialogue, scene = spoken[0], inputs.dialogues[0], inputs.allocated[0]
    names = [f"t{number:05d}-0" for number in range(30)]
    inputs.speech = [one.model_copy(update={"scene_id": name}) for name in names]
    inputs.dialogues = [dialogue.model_copy(update={"scene_id": name}) for name in names]
    inputs.allocated = [scene.model_copy(update={"scene_id": name}) for name in names]

    def shown(seed: int) -> list[list[tuple[str, int]]]:
        found = [kind for kind in kinds(inputs, seed) if kind.total]
        assert all(len(kind.shown) == SHOWN == 20 for kind in found)
        return [[example.place for example in kind.shown] for kind in found]

    first = shown(1)
    assert first == [sorted(places) for places in first] and first != shown(2)
    inputs.speech.reverse()
    assert shown(1) == first


def test_clips_hold_the_samples_of_their_utterance_and_place(build: Any, spoken: list[SceneSpeech], page: Path) -> None:
    folder = page.parent / "listening"
    by_scene = {one.scene_id: one for one in spoken}
    dry = [path for path in folder.iterdir() if not path.stem.endswith("mix")]
    assert len(dry) > 15
    for path in dry:
        scene_id, _, index = path.stem.rpartition("-")
        utterance = by_scene[scene_id].utterances[int(index)]
        samples = read_samples(path)
        assert len(samples) == utterance.n_samples and set(samples.tolist()) == {value_of(utterance.index)}
    (mix,) = folder.glob("t00000-0-*-mix.flac")
    scene = build.scenes[0]
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


@pytest.mark.parametrize("name", ["speech", "breaks", "alignment", "wer"])
def test_a_missing_metrics_file_is_named(
    name: str, build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]
) -> None:
    (build.root / f"metrics/{name}.json").unlink()
    text = Links(write(build, sounds, places)).text
    assert f"Not there when this report was made: metrics/{name}.json" in text
    assert f"metrics/{name}.json is not there yet" in text


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
    name: str, lacks: str, told: str, build: Any, spoken: list[SceneSpeech]
) -> None:
    path = build.root / f"metrics/{name}.json"
    write_json(path, {key: value for key, value in read_json(path).items() if key != lacks})
    with pytest.raises(InputError, match=told):
        figures(read_inputs(build.root))


def test_records_that_do_not_fit_are_errors(
    build: Any, spoken: list[SceneSpeech], sounds: dict[str, str], places: dict[str, str]
) -> None:
    inputs = read_inputs(build.root)
    inputs.dialogues = inputs.dialogues[1:]
    with pytest.raises(InputError, match=r"accepted\.jsonl: scene_id: got 't00000-0'"):
        kinds(inputs, 1)
    inputs = read_inputs(build.root)
    inputs.dialogues[0] = inputs.dialogues[0].model_copy(update={"turns": inputs.dialogues[0].turns[:2]})
    with pytest.raises(InputError, match=r"speech\.jsonl: t00000-0: got \(2, 0\)"):
        kinds(inputs, 1)
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


def test_the_same_build_gives_the_same_bytes(page: Path, build: Any, sounds: dict[str, str], places: Any) -> None:
    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in [page, *sorted((page.parent / "listening").iterdir())]}

    first = content()
    write(build, sounds, places)
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
