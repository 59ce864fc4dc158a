"""A topic that names a sound of its scene would give the sound away before it is heard: it is never used."""

from dataclasses import replace
from pathlib import Path

import pytest
from dialogue_world import CATALOG, Scripted, scene

from cares.core.errors import CaresError
from cares.dialogue.params import TopicsParams
from cares.dialogue.topics import find_topics, is_usable

PROMPTS = Path(__file__).parents[2] / "prompts"
PARAMS = TopicsParams(per_scene=1, group_scenes=4, attempts=2, temperature=1.0, min_p=0.05, longest_chars=90)


@pytest.mark.parametrize("label", ["pivot", "verbal", "behavioral", "ambient"])
def test_no_form_of_any_sound_stands_in_a_topic_of_its_scene(label):
    for sound in CATALOG.sounds.values():
        of = scene((sound.id, label))
        for named in (*sound.word_forms, *sound.names, sound.phrase, sound.display):
            for form in (named, named.upper(), named.replace(" ", "-"), f"{named}'s"):
                assert not is_usable(f"whether the {form} is worth it", of, CATALOG, set()), (sound.id, form)


def test_the_same_topic_is_good_for_a_scene_without_the_sound():
    topic = "whether the doorbell is worth forty euros"
    assert is_usable(topic, scene(("dog_bark", "ambient")), CATALOG, set())
    assert not is_usable(topic, scene(("doorbell_chime", "ambient")), CATALOG, set())


def test_a_writer_that_always_names_the_sound_is_asked_again_and_then_not_used():
    model = Scripted(lambda *_: ["whether to fix the doorbell before Easter"])
    topics = find_topics([scene(("doorbell_chime", "ambient"))], CATALOG, PARAMS, 1, PROMPTS, model)
    assert len(model.waves) == PARAMS.attempts
    assert len(topics) == 1 and "doorbell" not in topics[0].topic
    assert topics[0].topic in CATALOG.themes["moving_house"].examples


@pytest.mark.parametrize("answer", ["", "not JSON", '["half', '{"topics": []}', "[7]"])
def test_a_broken_answer_costs_an_attempt_and_no_scene(answer):
    topics = find_topics([scene()], CATALOG, PARAMS, 1, PROMPTS, Scripted(lambda *_: answer))
    assert [topic.scene_id for topic in topics] == ["t00000-0"]


def test_a_theme_whose_every_example_names_the_sound_is_an_error():
    theme = CATALOG.themes["moving_house"]
    naming = theme.model_copy(update={"examples": ("the old doorbell", "a doorbell")})
    themes = {**CATALOG.themes, "moving_house": naming}
    poor = replace(CATALOG, themes=themes)
    with pytest.raises(CaresError, match="moving_house"):
        find_topics([scene(("doorbell_chime", "ambient"))], poor, PARAMS, 1, PROMPTS, Scripted(lambda *_: ""))
