"""The free writer: what its prompt says, the scripts that it takes, and what it refuses, each kind by its name."""

from pathlib import Path

import pytest
from dialogue_world import CATALOG, PARAMS, Scripted, scene
from fixed_judge import LabelJudge
from hypothesis import given
from hypothesis import strategies as st

from cares.core.errors import InputError
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.free import FreeWriter, make_writer, shown_lines
from cares.dialogue.free_script import ScriptFault, read_script, runs_on
from cares.dialogue.lint import faults
from cares.dialogue.prompts import render
from cares.dialogue.writer import SkeletonWriter
from cares.llm.types import ChatAnswer, failed
from cares.records.dialogue import Dialogue, Topic
from cares.speech.script import script

PROMPTS = Path(__file__).parents[2] / "prompts"
SHOWN = shown_lines(render(PROMPTS / "free_system.jinja"))
FREE = PARAMS.model_copy(update={"writer": "free"})
SCENE = scene(("dog_bark", "verbal"), ("doorbell_chime", "behavioral"), ("bag_zipping", "ambient"))
GOOD = """\
A: The rent goes up again in March and nobody in the house knows why.
B: I asked Selma about it on Friday. [SOUND: dog_bark] Wow, that dog is loud. Anyway, she only laughed.
A: Then we write to the owner before the month is over.
B: My brother did that and got forty euros back.
A: Bring it on Friday, because if page two says \u2014 [SOUND: doorbell_chime] uh, if page two says April, we win.
B: Forty is more than nothing, so let's try it this week. I've still got the contract upstairs.
A: Seven o'clock at my place, and not a minute later.
B: I could make the soup with beans [SOUND: bag_zipping] and leave some of it for Thursday.
A: Fine, but only when you cook that other one of yours.
B: Deal, and I'll write the first draft tonight.
"""
SWAPPED = GOOD.replace("dog_bark", "x").replace("doorbell_chime", "dog_bark").replace(": x]", ": doorbell_chime]")


def answer(text: str, reason: str = "stop") -> ChatAnswer:
    return ChatAnswer(text=text, finish_reason=reason, prompt_tokens=1, completion_tokens=10)


def read(text, of=SCENE):
    writer = FreeWriter(CATALOG, FREE, 1, PROMPTS)
    return writer.read(
        writer.draft(of, "why the rent went up", 0, 0), text if isinstance(text, ChatAnswer) else answer(text)
    )


def refused(text, of=SCENE) -> str:
    written = read(text, of)
    assert written.fault is not None and written.fault.detail is not None
    return written.fault.reason


def test_a_clean_script_is_taken_with_its_sounds_in_place():
    written = read(GOOD)
    assert written.fault is None
    assert [turn.speaker for turn in written.turns] == list("ABABABABAB")
    remark, broken, run_on = (written.turns[slot].segments for slot in (1, 4, 7))
    assert [s.event for s in remark] == [None, 0, None] and {s.delivery for s in remark} == {"plain"}
    assert remark[2].text == "Wow, that dog is loud. Anyway, she only laughed."
    assert broken[0].delivery == "cut" and broken[0].text == "Bring it on Friday, because if page two says"
    assert broken[0].spoken_as == "Bring it on Friday, because if page two says April, we win."
    assert broken[2].text == "Uh, if page two says April, we win."
    assert run_on[2].delivery == "joined" and run_on[2].text == "and leave some of it for Thursday."


def test_what_is_taken_can_be_spoken():
    spoken = script(
        Dialogue(
            scene_id="t00000-0", topic="why the rent went up", attempt=0, writer="w", evaluator="e",
            topic_similarity=1.0, turns=read(GOOD).turns,
        )
    )  # fmt: skip
    assert [line.turn for line in spoken if line.cut] == [4]
    assert len(spoken) == 10 + 2, "the remark and the broken sentence are two utterances each, the run-on is one"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A: The rent", "```\nA: The rent"),
        ("A: The rent", "**A:** The rent"),
        ("[SOUND: dog_bark]", "[sound: Dog Bark]"),
        ("\u2014 [SOUND: doorbell_chime] uh", "- [SOUND: doorbell_chime] \u2014 uh"),
        ("\u2014 [SOUND: doorbell_chime]", "\u2026 [SOUND: doorbell_chime]"),
        ("I've", "I\u2019ve"),
        ("\nB: My brother", "\n\nB: My brother"),
    ],
)
def test_what_means_nothing_is_left_aside(before, after):
    assert before in GOOD
    assert read(GOOD.replace(before, after)).turns == read(GOOD).turns


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty_answer"),
        ("  \n ", "empty_answer"),
        (answer(GOOD[:200], "length"), "too_long"),
        (answer(GOOD[:200] + "and so on and on, " * 60, "length"), "endless_repetition"),
        (failed("context overflow"), "request_failed"),
        (GOOD + "B: Deal.\n" * 40, "endless_repetition"),
        ("I'm sorry, but I can't write a dialogue about that.", "refusal"),
        ("As an AI language model, I do not hear sounds.", "refusal"),
        ("Unfortunately, I cannot help with this.\n" + GOOD, "refusal"),
        ("Here is the dialogue you asked for:\n" + GOOD, "narration"),
        (GOOD.replace("B: My brother", "They walk on for a while.\nB: My brother"), "narration"),
        ("Title: The rent\n" + GOOD, "wrong_speaker"),
        (GOOD.replace("B: My brother", "Speaker B: My brother"), "wrong_speaker"),
        (GOOD.replace("B: My brother", "C: My brother"), "wrong_speaker"),
        (GOOD.replace("B: My brother", "A: My brother"), "wrong_speaker"),
        (GOOD.rsplit("B: Deal", 1)[0], "wrong_turns"),
        (GOOD + "A: See you then, and thanks for the soup.\n", "wrong_turns"),
        ('{"turns": [{"speaker": "A"', "narration"),
        (GOOD.replace("dog is loud", "dog (laughs) is loud"), "stage_direction"),
        (GOOD.replace("Deal, and", "*sighs* Deal, and"), "stage_direction"),
        (GOOD.replace("Deal, and", "[door closes] Deal, and"), "stage_direction"),
        (GOOD.replace("Friday. [SOUND: dog_bark] Wow", "Fri[SOUND: dog_bark]day. Wow"), "marker_in_word"),
        (GOOD.replace("[SOUND: dog_bark] ", ""), "missing_marker"),
        (GOOD.replace("[SOUND: dog_bark]", "[SOUND: dog_bark] [SOUND: dog_bark]"), "doubled_marker"),
        (GOOD.replace("[SOUND: dog_bark]", "[SOUND: siren]"), "unknown_marker"),
        (GOOD.replace("[SOUND: dog_bark]", "[SOUND]"), "unknown_marker"),
        (SWAPPED, "marker_order"),
        (
            GOOD.replace(" [SOUND: dog_bark]", "").replace("before the month", "[SOUND: dog_bark] before the month"),
            "marker_in_wrong_turn",
        ),
        (GOOD.replace("B: I asked Selma about it on Friday. [SOUND", "B: [SOUND"), "marker_at_edge"),
        (GOOD.replace("] Wow, that dog is loud. Anyway, she only laughed.", "]"), "empty_text"),
        (GOOD.replace("beans [SOUND", "beans \u2014 [SOUND"), "unwanted_break"),
        (GOOD.replace("Friday. [SOUND", "Friday - [SOUND"), "unwanted_break"),
        (GOOD.replace("Friday. [SOUND", "Friday [SOUND"), "unwanted_break"),
        (GOOD.replace(" \u2014 [SOUND", " [SOUND"), "no_break"),
        (GOOD.replace("two says \u2014 [SOUND", "two says it. \u2014 [SOUND"), "no_break"),
        (GOOD.replace("the first draft tonight.", "the first draft \u2014"), "cut_text"),
        (GOOD.replace("Deal, and", "Deal \U0001f600 and"), "odd_character"),
        (GOOD.replace("B: Deal, and I'll write the first draft tonight.", "B: ..."), "empty_text"),
        (GOOD.replace("Wow, that dog is loud.", "Wow, how loud."), "no_reference"),
        (GOOD.replace("only when you cook", "only when the doorbell works and you cook"), "unwanted_reference"),
        (GOOD.replace("My brother did that", "A says my brother did that"), "narration"),
        (GOOD.replace("The rent goes up again in March", SHOWN[0][:-1]), "copies_example"),
    ],
)  # fmt: skip
def test_every_other_answer_is_refused_by_name(text, reason):
    assert refused(text) == reason


@pytest.mark.parametrize(
    "lines",
    [
        [
            "Die Miete steigt im Maerz schon wieder, und niemand weiss warum.",
            "Hast du Selma am Freitag danach gefragt?",
        ],
        ["Le loyer augmente encore en mars et personne ne sait pourquoi.", "Tu as demande a Selma vendredi dernier?"],
        ["La renta sube otra vez en marzo y nadie sabe por que.", "Le preguntaste a Selma el viernes pasado?"],
        ["\u623f\u79df\u4e09\u6708\u53c8\u6da8\u4e86\u3002", "\u4f60\u95ee\u8fc7\u585e\u5c14\u739b\u5417\uff1f"],
        [
            "\u0410\u0440\u0435\u043d\u0434\u0430 \u0440\u0430\u0441\u0442\u0451\u0442.",
            "\u041f\u043e\u0447\u0435\u043c\u0443?",
        ],
    ],
)
def test_another_language_is_known(lines):
    text = f"A: {lines[0]}\nB: {lines[1]}\n"
    assert refused(text) == "other_language"
    assert refused(GOOD.replace(GOOD.splitlines()[3], f"B: {lines[0]}")) == "other_language"


def test_the_prompt_names_place_topic_turns_and_every_sound_in_order():
    writer = FreeWriter(CATALOG, FREE, 1, PROMPTS)
    draft = writer.draft(SCENE, "why the rent went up", 0, 0)
    system, asked = (message.content for message in draft.request.messages)
    assert len(SHOWN) == 2 and f"A: {SHOWN[0]}\nB: {SHOWN[1]}\n" in system
    assert "why the rent went up" in asked and "exactly 10 lines" in asked
    assert CATALOG.locations[SCENE.location].phrase in asked and "two roommates" in asked
    places = [asked.index(f"[SOUND: {event.sound}]") for event in SCENE.events]
    assert places == sorted(places)
    assert "Line 2, spoken by B: [SOUND: dog_bark] (a dog barking). Passing remark" in asked
    for event in SCENE.events:
        assert CATALOG.registers[event.register_id].description in asked
    assert draft.request.json_schema is None, "free text needs no structured output"


def test_a_pivot_is_told_how_long_to_stay_and_a_scene_may_have_no_sound():
    writer = FreeWriter(CATALOG, FREE, 1, PROMPTS)
    asked = writer.draft(scene(("dog_bark", "pivot")), "why the rent went up", 0, 0).request.messages[-1].content
    assert "lines 2 to 4 stay with it, then they find back to the topic" in asked
    assert "No sound occurs" in writer.draft(scene(), "why the rent went up", 0, 0).request.messages[-1].content


def test_attempts_and_candidates_differ_and_repeat():
    writer = FreeWriter(CATALOG, FREE, 1, PROMPTS)
    drafts = {(a, c): writer.draft(SCENE, "why the rent went up", a, c).request for a in range(3) for c in range(3)}
    assert len({request.seed for request in drafts.values()}) == 9
    assert writer.draft(SCENE, "why the rent went up", 2, 1).request == drafts[2, 1]


def test_a_register_of_another_reaction_is_an_error():
    wrong = SCENE.model_copy(update={"events": (SCENE.events[0].model_copy(update={"register_id": "break_restart"}),)})
    with pytest.raises(InputError, match="break_restart"):
        FreeWriter(CATALOG, FREE, 1, PROMPTS).draft(wrong, "why the rent went up", 0, 0)


def test_the_params_choose_the_writer():
    assert isinstance(make_writer(CATALOG, FREE, 1, PROMPTS), FreeWriter)
    assert isinstance(make_writer(CATALOG, PARAMS, 1, PROMPTS), SkeletonWriter)


def test_written_answers_go_the_same_way_to_acceptance():
    scenes = [scene(*[(e.sound, e.reaction) for e in SCENE.events], number=n) for n in range(3)]
    topics = [Topic(scene_id=s.scene_id, attempt=0, topic="why the rent went up") for s in scenes]
    model = Scripted(lambda wave, place, request: GOOD if (wave, place) != (0, 1) else "I'm sorry, but I cannot.")
    judge = LabelJudge({event.sound: event.reaction for event in SCENE.events})
    outcome = accept_dialogues(scenes, topics, make_writer(CATALOG, FREE, 1, PROMPTS), model, judge, FREE)
    assert [d.scene_id for d in outcome.accepted] == [s.scene_id for s in scenes] and outcome.refused == ()
    assert "refusal" in {attempt.reason for attempt in outcome.attempts}
    assert all(not list(faults(d.turns, s, CATALOG, ())) for d, s in zip(outcome.accepted, scenes, strict=True))


@given(st.lists(st.sampled_from([*GOOD.splitlines(), "A:", "B: [SOUND: dog_bark]", "[SOUND", "]", "\u2014", "x", ""])))
def test_no_answer_breaks_the_reader(rows):
    try:
        turns = read_script("\n".join(rows), SCENE)
    except ScriptFault as fault:
        assert fault.reason
    else:
        assert len(turns) == SCENE.n_turns


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text):
    with pytest.raises(ScriptFault):
        read_script(text, SCENE)


@pytest.mark.parametrize("text", ["", "A: Yes, yes, yes, I know.", GOOD])
def test_talk_is_no_endless_repetition(text):
    assert not runs_on(text)
