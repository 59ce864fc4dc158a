"""The transcripts that systems without ears are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cares.bench.excerpt import heard_transcript, true_transcript
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import HeardWord

MakeScene = Callable[..., MixedScene]
MakeItems = Callable[..., list[Item]]


def of(items: list[Item], item_id: str) -> Item:
    return next(item for item in items if item.item_id == item_id)


@pytest.fixture
def scene(make_scene: MakeScene) -> MixedScene:
    return make_scene(0, ("pivot", "ambient"))


@pytest.fixture
def asked(scene: MixedScene, make_items: MakeItems) -> list[Item]:
    return make_items([scene])


def heard(scene: MixedScene) -> list[HeardWord]:
    return [
        HeardWord(word=word.word.upper(), start_sample=word.start_sample, end_sample=word.end_sample)
        for word in scene.words
    ]


def test_every_turn_has_a_line_with_its_time_and_every_sound_its_own(
    scene: MixedScene, asked: list[Item], names: dict[str, str]
) -> None:
    lines = true_transcript(scene, of(asked, "reactions-time/t00000-0/0"), names, 20, marked=True).splitlines()
    assert lines[0] == "[0:01.0] S1: w00 w01 w02 w03 w04 w05"
    sounds = [place for place, line in enumerate(lines) if "(sound: " in line]
    assert len(sounds) == 2
    first = sounds[0]
    assert lines[first - 1].endswith("S2: w10 w11 w12")
    assert lines[first] == f"[0:06.1] (sound: {names[scene.events[0].sound]})"
    assert lines[first + 1].endswith("S2: w13 w14 w15")
    plain = true_transcript(scene, of(asked, "scene/t00000-0"), names, 20, marked=True).splitlines()
    assert [line.partition("] ")[2] for line in lines] == plain[: len(lines)]


def test_a_turn_that_begins_before_the_last_one_ends_leaves_both_whole(
    scene: MixedScene, asked: list[Item], names: dict[str, str]
) -> None:
    item = of(asked, "scene/t00000-0")
    plain = true_transcript(scene, item, names, 20, marked=True)
    starts = {word.turn: word.start_sample for word in reversed(scene.words)}
    last_of_first = max(word.end_sample for word in scene.words if word.turn == 0)
    early = starts[1] - last_of_first + SAMPLE_RATE // 2
    words = tuple(
        word.model_copy(update={"start_sample": word.start_sample - early, "end_sample": word.end_sample - early})
        if word.turn == 1 and word.start_sample == starts[1]
        else word
        for word in scene.words
    )
    overlapping = scene.model_copy(update={"words": words})
    assert true_transcript(overlapping, item, names, 20, marked=True) == plain


def test_without_marks_only_words_are_told(scene: MixedScene, asked: list[Item], names: dict[str, str]) -> None:
    text = true_transcript(scene, of(asked, "summary-25/t00000-0"), names, 20, marked=False)
    assert "sound" not in text
    assert len(text.splitlines()) == 6


def test_the_muted_half_of_a_pair_lacks_the_mark_of_its_sound_alone(
    scene: MixedScene, asked: list[Item], names: dict[str, str]
) -> None:
    original, muted = (of(asked, f"grounding-{level}/t00000-0/0") for level in ("original", "muted"))
    first, second = (true_transcript(scene, item, names, 20, marked=True) for item in (original, muted))
    assert first.count("(sound:") == 2
    assert second.count("(sound:") == 1
    assert f"(sound: {names[scene.events[1].sound]})" in second
    assert true_transcript(scene, original, names, 20, marked=False) == true_transcript(
        scene, muted, names, 20, marked=False
    )


@pytest.mark.parametrize("level", ["time", "time_and_name"])
def test_only_what_is_near_a_told_time_is_shown(
    level: str, scene: MixedScene, asked: list[Item], names: dict[str, str]
) -> None:
    text = true_transcript(scene, of(asked, f"reactions-{level}/t00000-0/0"), names, 1.1, marked=True)
    assert [line.split("] ")[1] for line in text.splitlines()] == [
        "S2: w11 w12",
        f"(sound: {names[scene.events[0].sound]})",
        "S2: w13",
    ]
    whole = true_transcript(scene, of(asked, "reactions-neither/t00000-0/0"), names, 1.1, marked=True)
    assert len(whole.splitlines()) > 6


def test_an_unknown_sound_is_an_error(scene: MixedScene, asked: list[Item]) -> None:
    with pytest.raises(InputError, match="catalog sound"):
        true_transcript(scene, asked[0], {}, 20, marked=True)


def test_what_was_heard_has_no_speakers_and_times_where_one_is_told(scene: MixedScene, asked: list[Item]) -> None:
    text = heard_transcript(heard(scene), of(asked, "reactions-time/t00000-0/0"), 20)
    assert text.splitlines()[0] == "[0:01.0] W00 W01 W02 W03 W04 W05"
    text = heard_transcript(heard(scene), of(asked, "scene/t00000-0"), 20)
    assert text.splitlines()[0] == "W00 W01 W02 W03 W04 W05"
    assert "S1" not in text
    assert "sound" not in text


def test_a_line_of_what_was_heard_has_twelve_words_at_most(asked: list[Item]) -> None:
    words = [HeardWord(word=f"w{n}", start_sample=n * 1000, end_sample=n * 1000 + 900) for n in range(30)]
    lines = heard_transcript(words, of(asked, "scene/t00000-0"), 20).splitlines()
    assert [len(line.split()) for line in lines] == [12, 12, 6]
    later = [*words, HeardWord(word="late", start_sample=10 * SAMPLE_RATE, end_sample=11 * SAMPLE_RATE)]
    assert heard_transcript(later, of(asked, "scene/t00000-0"), 20).splitlines()[-1] == "late"


def test_the_place_of_a_sound_is_marked_only_where_the_question_tells_it(scene: MixedScene, asked: list[Item]) -> None:
    told = heard_transcript(heard(scene), of(asked, "reactions-time/t00000-0/0"), 20).splitlines()
    at = told.index("[0:06.1] (the sound in question)")
    assert told[at - 1].endswith("W10 W11 W12")
    assert told[at + 1].endswith("W13 W14 W15")
    for item in asked:
        if not (item.task == "reactions" and item.level != "neither"):
            assert "in question" not in heard_transcript(heard(scene), item, 20)


def test_silence_has_the_mark_alone(asked: list[Item]) -> None:
    assert heard_transcript([], of(asked, "reactions-time/t00000-0/0"), 20) == "[0:06.1] (the sound in question)"
    assert heard_transcript([], of(asked, "scene/t00000-0"), 20) == ""
