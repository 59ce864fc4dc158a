"""The transcript shown with a question: only what is near, the sound at its exact place."""

from __future__ import annotations

from collections.abc import Callable

from cares.bench.excerpt import marked_hearing, marked_speech
from cares.bench.items import build_items
from cares.bench.params import ItemsParams
from cares.core.pcm import SAMPLE_RATE
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import HeardWord, in_time_order

MakeScene = Callable[..., MixedScene]


def item_of(scene: MixedScene, names: dict[str, str], event: int) -> Item:
    params = ItemsParams(tasks=("reactions",), splits=("train",))
    return build_items([scene], names, params, 1)[event]


def test_the_sound_stands_between_its_two_words_and_no_other_is_marked(
    make_scene: MakeScene, names: dict[str, str]
) -> None:
    scene = make_scene(0, ("verbal", "ambient"))
    text = marked_speech(scene, item_of(scene, names, 1), 120)
    assert text.count("[SOUND]") == 1
    assert "S1: w20 w21 w22 [SOUND] w23 w24 w25" in text.splitlines()


def test_speakers_are_not_called_by_the_letters_of_options(make_scene: MakeScene, names: dict[str, str]) -> None:
    scene = make_scene(0, ("verbal",))
    lines = marked_speech(scene, item_of(scene, names, 0), 120).splitlines()
    assert [line[:3] for line in lines] == ["S1:", "S2:"] * 3


def test_only_words_within_reach(make_scene: MakeScene, names: dict[str, str]) -> None:
    scene = make_scene(0, ("verbal",))
    assert marked_speech(scene, item_of(scene, names, 0), 1.3) == "S2: w10 w11 w12 [SOUND] w13 w14 w15"


def test_a_sound_with_no_word_near_still_has_its_speaker(make_scene: MakeScene, names: dict[str, str]) -> None:
    scene = make_scene(0, ("verbal",))
    assert marked_speech(scene, item_of(scene, names, 0), 0.01) == "S2: [SOUND]"


def test_heard_words_around_the_sound(make_scene: MakeScene) -> None:
    scene = make_scene(0, ("verbal",))
    event = scene.events[0]
    heard = [
        HeardWord(word="far", start_sample=0, end_sample=100),
        HeardWord(word="before", start_sample=event.start_sample - 9000, end_sample=event.start_sample - 100),
        HeardWord(word="after", start_sample=event.start_sample, end_sample=event.start_sample + 100),
    ]
    assert marked_hearing(heard, event, 1) == "before [SOUND] after"
    assert marked_hearing([], event, 1) == "[SOUND]"


def test_a_word_that_runs_into_the_gap_belongs_to_the_side_of_its_middle(make_scene: MakeScene) -> None:
    event = make_scene(0, ("verbal",)).events[0]
    start = event.gap_start
    early = HeardWord(word="early", start_sample=start - 300, end_sample=start + 200)
    late = HeardWord(word="late", start_sample=start - 200, end_sample=start + 300)
    assert in_time_order([late, early], [event]) == [early, event, late]


def test_a_sound_after_the_last_word_comes_last(make_scene: MakeScene) -> None:
    event = make_scene(0, ("verbal",)).events[0]
    word = HeardWord(word="a", start_sample=0, end_sample=SAMPLE_RATE // 10)
    assert in_time_order([word], [event]) == [word, event]
