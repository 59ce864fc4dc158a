"""Seconds to characters and back: budgets, bounds, predictions, and nothing new where no length is asked for."""

import json
from pathlib import Path
from statistics import fmean

import jsonschema
import pytest
from dialogue_world import CATALOG, PARAMS, Scripted, fill, scene
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.core.canonical import digest
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.rng import KeyedRandom
from cares.dialogue.budget import LETTERS, MARKS, OVER, budgeted, length_fault, mean_pace, words_of_scene
from cares.dialogue.context import check_context
from cares.dialogue.free import FreeWriter
from cares.dialogue.lengths import predicted_lengths, predicted_rows
from cares.dialogue.lint import spoken_line
from cares.dialogue.pace import letters_of, load_pace, marks_of, predicted_seconds, utterances
from cares.dialogue.plan import Planner, TurnPlan
from cares.dialogue.skeleton import fields, most_tokens, read_lines, schema
from cares.dialogue.surplus import without_surplus
from cares.dialogue.writer import SkeletonWriter
from cares.llm.params import LlmParams
from cares.records.dialogue import Segment, Turn

ROOT = Path(__file__).parents[2]
PROMPTS = ROOT / "prompts"
PACE = load_pace()
EVENTS = (("doorbell_chime", "pivot"), ("kettle_whistle", "behavioral"), ("vacuum_cleaner", "verbal"))


def timed(seconds=120.0, n_turns=22, events=EVENTS, number=0):
    """A scene that should last `seconds`."""
    return scene(*events, number=number, n_turns=n_turns).model_copy(update={"length_s": seconds})


def bounded(which, key=0):
    return budgeted(Planner(CATALOG, 1).plan(which, key), which, PACE, KeyedRandom(1, "lengths", key))


def spoken(text):
    return Turn(speaker="A", segments=(Segment(text=text),))


def test_letters_and_marks_are_those_that_are_said():
    assert letters_of("It's 40!") == 3 + 8
    assert marks_of("Well, it is. Why?") == 2, "behind the last mark nobody waits"


def test_what_is_joined_is_one_utterance():
    turn = Turn(
        speaker="B",
        segments=(Segment(text="We should"), Segment(event=0), Segment(text="go home.", delivery="joined")),
    )
    assert utterances(turn) == ["We should go home."]


def test_a_longer_text_takes_longer_and_a_sound_adds_its_gaps():
    short, long = ([spoken(text), spoken("Yes, I do.")] for text in ("Who knows?", "Who knows what it costs now?"))
    quiet, loud = scene(), scene(("doorbell_chime", "ambient"))
    assert predicted_seconds(long, quiet, PACE) > predicted_seconds(short, quiet, PACE)
    added = predicted_seconds(short, loud, PACE) - predicted_seconds(short, quiet, PACE)
    assert added == pytest.approx(2 * PACE.gap_s)


def test_pauses_count_and_who_interrupts_leaves_no_gap():
    turns = talk("Then we should get", "No, go on.", "Then we should get the metal one.")
    plain = predicted_seconds(turns, scene(), PACE)
    paused = Turn(speaker="A", segments=(Segment(text="Um."), Segment(text="Then we should get", pause_ms=500)))
    one = predicted_seconds([paused, *turns[1:]], scene(), PACE)
    um = PACE.F.seconds("Um.")
    assert one == pytest.approx(plain + um + 0.5)
    early = Turn(speaker="B", segments=(Segment(text="No, go on.", overlap_ms=200),))
    assert predicted_seconds([turns[0], early, turns[2]], scene(), PACE) == pytest.approx(plain - PACE.gap_s - 0.2)


def test_gaps_and_edges_are_the_means_of_the_time_line():
    timeline = read_yaml(ROOT / "params.yaml")["timeline"]
    assert fmean(timeline["gap_ms"]) / 1000 == pytest.approx(PACE.gap_s)
    assert (fmean(timeline["lead_in_ms"]) + fmean(timeline["lead_out_ms"])) / 1000 == pytest.approx(PACE.edges_s)


@settings(max_examples=40, deadline=None)
@given(seconds=st.floats(95, 150), n_turns=st.integers(18, 26), key=st.integers(0, 500))
def test_texts_of_the_length_aimed_at_fill_the_scene(seconds, n_turns, key):
    which = timed(round(seconds, 1), n_turns)
    voice = mean_pace(which, PACE)
    plans = bounded(which, key)
    assert len({plan.bounds for plan in plans}) > 8, "turns differ"
    total = PACE.silence(n_turns, len(which.events))
    for plan in plans:
        shortest, longest = plan.bounds
        assert 20 <= shortest < longest - 60
        texts = 2 if plan.kind == "verbal" else 1
        total += texts * (longest - OVER) * (LETTERS * voice.letter_s + MARKS * voice.mark_s)
    # what is given (remarks, openers, what a break says again) comes to that
    assert 0.8 * seconds < total < 1.05 * seconds


def test_the_same_draw_gives_the_same_bounds():
    assert bounded(timed(), 3) == bounded(timed(), 3) != bounded(timed(), 4)


def test_bounds_are_in_the_schema():
    for which in (timed(), timed(events=(("doorbell_chime", "ambient"),), n_turns=20)):
        plans = bounded(which)
        rule = schema(plans, PARAMS)
        answer = {}
        for plan in plans:
            for field, form in fields(plan, PARAMS).items():
                if field == "remark":
                    text = plan.remarks[0]
                else:
                    lead = (plan.openers[0] if plan.openers else "") + (f" {plan.names[0]} " if plan.names else "")
                    size = form.longest - 12
                    text = lead + ("It" if not lead else "it") + " goes on and on" * size
                    text = text[: size + len(lead)].rstrip(" ") + "n."
                answer[next(k for k in rule["properties"] if k not in answer)] = text
        jsonschema.validate(answer, rule)
        assert read_lines(json.dumps(answer), plans, PARAMS)
        first = next(iter(answer))
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(answer | {first: "Too short."}, rule)
        assert len(json.dumps(answer)) / 3.5 < most_tokens(plans, PARAMS)


@pytest.mark.parametrize(("seconds", "n_turns"), [(600.0, 13), (120.0, 9), (40.0, 26)])
def test_a_length_that_the_turns_cannot_hold_is_an_error_with_its_field(seconds, n_turns):
    with pytest.raises(InputError, match=r"allocation\.length.*characters in each of"):
        bounded(timed(seconds, n_turns, events=()))
    with pytest.raises(InputError, match=r"allocation\.length"):
        words_of_scene(timed(seconds, n_turns, events=()), PACE)


def test_a_context_that_is_too_small_is_an_error_before_any_model_is_opened():
    writer = SkeletonWriter(CATALOG, PARAMS, 1, PROMPTS)
    check_context([timed(), scene()], writer, LlmParams(context_tokens=4096))
    with pytest.raises(InputError, match=r"llm\.context_tokens.*t00000-0"):
        check_context([timed()], writer, LlmParams(context_tokens=1024))
    # where nothing is asked, nothing is checked
    check_context([scene()], writer, LlmParams(context_tokens=1024))


def test_room_for_the_answer_grows_with_the_scene():
    writer = SkeletonWriter(CATALOG, PARAMS, 1, PROMPTS)
    short, long = (writer.draft(timed(s, n), "the rent", 0, 0).request for s, n in ((80.0, 14), (160.0, 28)))
    assert short.max_tokens < long.max_tokens <= 3000
    assert writer.draft(scene(), "the rent", 0, 0).request.max_tokens == PARAMS.max_tokens


def test_without_a_length_the_skeleton_is_what_it_was():
    plans = (
        TurnPlan("A", "Rita", "plain", "names a price"),
        TurnPlan("B", "Carl", "verbal", "asks", 0, "hears it", ("The bell again.", "A bell.")),
        TurnPlan("A", "Rita", "behavioral", "doubts it", 1),
        TurnPlan("B", "Carl", "ambient", "asks back", 2),
        TurnPlan("A", "Rita", "pivot", "asks", 3, "hears it", ("A dog.",)),
        TurnPlan("B", "Carl", "stay", "stays with it", openers=("It's ", "No, ")),
        TurnPlan("A", "Rita", "stay", "says more", openers=("Then the",), names=("dog", "barking")),
    )
    assert digest(schema(plans, PARAMS)) == "1120821d64f39c795a1a328ea37e6a90c48d795d95a826443fedf14c2303e4e4"


def test_a_free_request_tells_the_words_only_where_a_length_is_asked_for():
    writer = FreeWriter(CATALOG, PARAMS, 1, PROMPTS)
    asked = writer.draft(timed(), "the rent", 0, 0).request
    words = words_of_scene(timed(), PACE)
    assert f"exactly 22 lines, from A: to B:, about {words} words in all:" in asked.messages[-1].content
    plain = writer.draft(scene(*EVENTS, n_turns=22), "the rent", 0, 0).request
    assert "Length: exactly 22 lines, from A: to B:.\n" in plain.messages[-1].content
    assert 280 < words < 400 and asked.max_tokens >= 3 * words and plain.max_tokens == PARAMS.max_tokens


def test_a_dialogue_that_misses_its_length_is_refused_by_name():
    turns = [spoken("The rent goes up again in March and nobody told us why.")] * 22
    assert length_fault(turns, scene(n_turns=22), PACE, 0.2) is None, "nothing was asked"
    due = predicted_seconds(turns, scene(n_turns=22), PACE)
    assert length_fault(turns, timed(round(due), events=()), PACE, 0.2) is None
    for seconds in (due / 1.3, due * 1.3):
        fault = length_fault(turns, timed(round(seconds), events=()), PACE, 0.2)
        assert fault.reason == "length_of_scene" and fault.turn is None


def test_both_writers_refuse_by_length():
    which = timed(150.0, 22, events=())
    writer = SkeletonWriter(CATALOG, PARAMS, 1, PROMPTS)
    draft = writer.draft(which, "the rent", 0, 0)
    answer = Scripted(lambda *_: fill(draft.request)).complete([draft.request])[0]
    assert "length_of_scene" in {fault.reason for fault in writer.read(draft, answer).faults}
    free = FreeWriter(CATALOG, PARAMS, 1, PROMPTS)
    script = "\n".join(f"{'AB'[n % 2]}: The plumber of house {n} came over for us today." for n in range(22))
    said = answer.model_copy(update={"text": script})
    assert "length_of_scene" in {f.reason for f in free.read(free.draft(which, "the rent", 0, 0), said).faults}


def test_figures_of_predictions():
    rows = [("a", 110.0, 100.0), ("b", 130.0, 140.0), ("c", 50.0, "")]
    figures = predicted_lengths(rows)
    assert figures["target_s"] == {"mean": 120.0, "deviation": 20.0, "min": 100.0, "max": 140.0}
    assert (figures["off"], figures["within_a_tenth"], figures["predicted_s"]["mean"]) == (0.0, 1.0, 96.67)
    assert predicted_lengths([])["predicted_s"] is None
    assert predicted_rows([], [], PACE) == []


def talk(*texts):
    return [Turn(speaker="AB"[n % 2], segments=(Segment(text=text),)) for n, text in enumerate(texts)]


THREE = "The rent goes up in March. Nobody told us why it does. Shall we ask them?"
TWO = "I have the old contract upstairs. It is in the blue folder."


def test_what_is_too_much_goes_from_the_middle_first():
    turns = talk(TWO, THREE, *[TWO] * 4)
    exact = predicted_seconds(turns, scene(n_turns=6), PACE)
    for less, left in ((0.0, THREE), (2.2, "The rent goes up in March. Shall we ask them?")):
        kept = without_surplus(turns, timed(round(exact - less, 1), 6, events=()), PACE)
        assert [spoken_line(turn) for turn in kept] == [TWO, left, *[TWO] * 4]
    kept = without_surplus(turns, timed(round(exact / 2), 6, events=()), PACE)
    assert spoken_line(kept[0]) == "I have the old contract upstairs.", "one sentence of a turn at most"
    assert spoken_line(kept[1]) == "The rent goes up in March. Shall we ask them?"


def test_a_dialogue_ends_near_its_target_and_never_far_below_it():
    turns = talk(*[THREE, TWO] * 10)
    exact = predicted_seconds(turns, scene(n_turns=20), PACE)
    for share in (0.85, 0.9, 0.95, 0.99):
        which = timed(round(exact * share, 1), 20, events=())
        found = predicted_seconds(without_surplus(turns, which, PACE), which, PACE)
        assert -1.1 <= found - which.length_s <= 2.5


def test_nothing_is_taken_near_a_sound_and_no_question():
    sound = Turn(speaker="A", segments=(Segment(text=TWO), Segment(event=0), Segment(text="That bell. Well.")))
    asked = "It is in the blue folder. Who has been up there?"
    turns = [sound, *talk(asked, TWO, THREE, asked, TWO)]
    kept = without_surplus(turns, timed(20.0, 6, events=(("doorbell_chime", "verbal"),)), PACE)
    assert list(kept[:5]) == turns[:5] and kept[5] != turns[5]


def test_without_a_length_nothing_is_taken():
    turns = talk(*[THREE, TWO] * 5)
    assert without_surplus(turns, scene(n_turns=10), PACE) == tuple(turns)
