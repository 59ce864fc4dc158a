"""The plan of a dialogue, its schema, and what becomes of an answer."""

import json
import re

import jsonschema
import pytest
from dialogue_world import CATALOG, PARAMS, good_answer, good_lines, scene
from hypothesis import given
from hypothesis import strategies as st

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import run_on_turn
from cares.dialogue.examples import draw_example, load_examples
from cares.dialogue.lint import spoken_line
from cares.dialogue.plan import Planner, load_moves, load_remarks
from cares.dialogue.realise import realise, trimmed
from cares.dialogue.skeleton import SkeletonFault, cut_texts, read_lines, schema, write_lines

PLANNER = Planner(CATALOG, 1)
ALL = scene(("doorbell_chime", "pivot"), ("kettle_whistle", "behavioral"), ("vacuum_cleaner", "verbal"), n_turns=11)


def realised(which):
    plans = PLANNER.plan(which, 0)
    lines = read_lines(json.dumps(good_answer(plans)), plans, PARAMS)
    return realise(lines, plans, which, [KeyedRandom(1, "t", turn) for turn in range(len(plans))])


def changed(number, **fields):
    """A good answer to the plan of ALL with other texts in turn `number`; the key of "says" stays."""
    plans = PLANNER.plan(ALL, 0)
    lines = good_lines(plans)
    lines[number] |= fields
    return write_lines(lines, plans), plans


def test_speakers_alternate_and_a_pivot_holds_three_turns():
    plans = PLANNER.plan(ALL, 0)
    assert [plan.speaker for plan in plans] == list("ABABABABABA")
    assert [plan.kind for plan in plans][1:8] == ["pivot", "stay", "stay", "behavioral", "plain", "plain", "verbal"]
    assert plans[3].names == CATALOG.sounds["doorbell_chime"].names, "the third turn names the sound again"
    after = PLANNER.plan(scene(("doorbell_chime", "pivot")), 0)[4]
    assert after.openers == load_moves().returns, "then the talk returns to its topic"


def test_speakers_have_names_of_their_genders_that_no_attempt_changes():
    names = {plan.speaker: plan.name for attempt in range(5) for plan in PLANNER.plan(ALL, attempt)}
    assert len({(p.speaker, p.name) for attempt in range(5) for p in PLANNER.plan(ALL, attempt)}) == 2
    assert names["A"][0] != names["B"][0]
    known = {name for example in load_examples() for line in example.lines for name in line.split()}
    assert not known & set(names.values())


def test_a_pivot_without_room_is_refused():
    with pytest.raises(InputError, match="slot"):
        PLANNER.plan(scene(("doorbell_chime", "ambient"), ("kettle_whistle", "pivot"), n_turns=6), 0)


def test_cues_vary_with_the_attempt_and_tell_no_silent_label():
    assert PLANNER.plan(ALL, 0) != PLANNER.plan(ALL, 1)
    quiet = PLANNER.plan(scene(("doorbell_chime", "ambient")), 0)[1]
    broken = PLANNER.plan(scene(("doorbell_chime", "behavioral")), 0)[1]
    assert quiet.cue == broken.cue, "the writer must not know that a sentence will break"


def test_no_move_is_made_twice_in_a_dialogue():
    cues = [plan.cue for plan in PLANNER.plan(ALL, 3) if plan.kind != "stay"]
    assert len(set(cues)) == len(cues)


def test_every_remark_names_every_sound():
    for sound in CATALOG.sounds.values():
        for forms in load_remarks().values():
            for form in forms:
                said = form.format(phrase=sound.phrase)
                assert sound.mention_in(said), f"{sound.id}: {said}"


def test_no_sentence_of_a_remark_stands_out_by_being_said_in_many_scenes():
    for forms in load_remarks().values():
        for sentence in re.findall(r"[^.?!]+[.?!]", " ".join(forms)):
            assert "{phrase}" in sentence or len(sentence.split()) < 5, sentence


def test_every_good_answer_matches_the_schema_and_no_other():
    plans = PLANNER.plan(ALL, 0)
    rule = schema(plans, PARAMS)
    good = good_answer(plans)
    jsonschema.validate(good, rule)
    assert list(good) == list(rule["properties"]), "in the order in which it is spoken"
    first = next(iter(good))
    for bad in (
        good | {first: "no capital."},
        good | {first: "It has no end"},
        good | {first: "It is a 'quotation' of somebody."},
        good | {first: "It is,but without a blank after the mark."},
        good | {"12 more": "One turn more than there are."},
        {key: text for key, text in good.items() if key != first},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, rule)


def test_a_name_stands_as_a_word_of_its_own():
    plans = PLANNER.plan(ALL, 0)
    opener, name = plans[3].openers[0], plans[3].names[0]
    rule = schema(plans, PARAMS, only=3)["properties"][f"4 {plans[3].who}"]["pattern"]
    assert re.search(rule, f"{opener} {name} has been loud for days.")
    assert not re.search(rule, f"{opener}{name} has been loud for days.")
    assert not re.search(rule, f"{opener} {name}has been loud for days.")


def test_sounds_fall_where_the_slots_say():
    turns = realised(ALL)
    where = {
        s.event: (n, k) for n, turn in enumerate(turns) for k, s in enumerate(turn.segments) if s.event is not None
    }
    assert where == {0: (1, 1), 1: (4, 1), 2: (7, 1)}
    assert [s.delivery for s in turns[4].segments] == ["cut", "plain", "plain"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "broken_json"),
        ("{", "broken_json"),
        ("[]", "wrong_turns"),
        ("{}", "wrong_turns"),
        (json.dumps(["Yes."] * 11), "wrong_turns"),
        ("I'm sorry, I can't help with that.", "broken_json"),
        (changed(0, says=" ")[0], "empty_text"),
        (json.dumps(json.loads(changed(0)[0]) | {"12 Rita, adds": "One turn too many."}), "wrong_turns"),
    ],
)
def test_an_answer_that_is_no_skeleton_is_refused_by_name(text, reason):
    with pytest.raises(SkeletonFault) as caught:
        read_lines(text, PLANNER.plan(ALL, 0), PARAMS)
    assert caught.value.reason == reason


def test_a_sentence_that_its_limit_cut_is_left_out():
    whole = "This one is whole and may stay."
    text, plans = changed(0, says=f"{whole} {'and so on ' * 20}"[: PARAMS.says_chars] + "n.")
    lines = read_lines(text, plans, PARAMS)
    assert lines[0]["says"] == whole
    assert cut_texts(lines, plans, PARAMS) == []


def test_a_line_that_its_limit_cut_and_that_has_no_other_is_named_with_its_turn():
    text, plans = changed(0, says="X" * (PARAMS.says_chars - 1) + ".")
    assert [turn for turn, _ in cut_texts(read_lines(text, plans, PARAMS), plans, PARAMS)] == [0]


def test_a_sentence_that_a_dialogue_can_do_without_is_left_out():
    _, plans = changed(0)
    lines = good_lines(plans)
    kept = "We could ask the people on the second floor."
    for number, bad in (
        (5, lines[0]["says"]),
        (5, "Rent goes up in our house."),
        (8, "The kettle is on."),
        (8, "A goes back to the house."),
    ):
        tried = [dict(line) for line in lines]
        tried[number]["says"] = f"{bad} {kept}"
        example = ["The rent goes up in our house every spring."]
        assert trimmed(tried, plans, ALL, CATALOG, example)[number]["says"] == kept, bad
    alone = [dict(line) for line in lines]
    alone[5]["says"] = lines[0]["says"]
    assert trimmed(alone, plans, ALL, CATALOG, [])[5]["says"] == lines[0]["says"], "the lint has the last word"


def test_an_example_shows_what_is_asked_for_and_none_of_its_sounds():
    chosen = [draw_example(load_examples(), ALL, KeyedRandom(1, "e", n)) for n in range(20)]
    for example in chosen:
        kinds = {register.split("_")[0] for register in example.registers}
        assert kinds == {"pivot", "verbal"}
        assert not set(example.sounds) & {event.sound for event in ALL.events}
    assert len({example.id for example in chosen}) > 1, "they change"


def test_every_register_that_names_a_sound_is_shown_by_two_examples():
    shown = [register for example in load_examples() for register in example.registers]
    asked = [r.id for r in CATALOG.registers.values() if r.reaction in ("pivot", "verbal")]
    assert min(shown.count(register) for register in asked) >= 2
    for example in load_examples():
        assert set(example.sounds) <= set(CATALOG.sounds)
        assert all(
            any(CATALOG.sounds[sound].mention_in(turn.remark) for sound in example.sounds)
            for turn in example.turns
            if turn.remark
        )


SENTENCE = "Fine. Then we should get the metal one, not the cheap wood again."


@given(key=st.integers(min_value=0, max_value=200))
def test_an_ambient_sound_falls_between_two_words_and_changes_none(key):
    before, sound, after = run_on_turn(SENTENCE, 1, KeyedRandom(1, "r", key))
    assert f"{before.text} {after.text}" == SENTENCE
    assert (sound.event, after.delivery) == (1, "joined")
    assert before.text.split()[-1].lower() not in ("the", "a", "not the")


def test_the_spoken_line_leaves_the_sound_out():
    quiet = scene(("doorbell_chime", "ambient"))
    assert spoken_line(realised(quiet)[1]) == good_lines(PLANNER.plan(quiet, 0))[1]["says"]
