"""Acceptance: what is written again, what is kept, and that waves depend on nothing but ids and earlier outcomes."""

from pathlib import Path

import pytest
from dialogue_world import CATALOG, PARAMS, Scripted, fill, scene

from cares.core.errors import InputError
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.marked import Heard
from cares.dialogue.params import TopicsParams
from cares.dialogue.summary import acceptance_metrics, acceptance_rows
from cares.dialogue.topics import find_topics, is_usable, read_topics
from cares.dialogue.writer import SkeletonWriter
from cares.llm.types import ChatAnswer, failed
from cares.records.dialogue import Topic, Verdict

PROMPTS = Path(__file__).parents[2] / "prompts"
SCENES = [scene(("doorbell_chime", "behavioral"), number=n, n_turns=8) for n in range(6)]
TOPICS = [
    Topic(scene_id=s.scene_id, attempt=n, topic=f"why the rent went up, part {n}") for s in SCENES for n in range(2)
]


class FixedJudge:
    """Recovers the labels that it is told, for any transcript."""

    name = "fixed"
    topic_threshold = 0.5

    def __init__(self, label="behavioral", similarity=0.9):
        self.label, self.similarity = label, similarity

    def judge_many(self, transcripts):
        """The fixed label for every sound."""
        return [
            [Verdict(event=p.event, sound=p.sound, label=self.label, scores={}) for p in pieces if isinstance(p, Heard)]
            for pieces in transcripts
        ]

    def topic_similarities(self, topics, transcripts):
        """The fixed similarity."""
        return [self.similarity for _ in topics]


def run(answer, judge=None, scenes=SCENES, topics=TOPICS, params=PARAMS):
    model = Scripted(answer)
    writer = SkeletonWriter(CATALOG, params, 1, PROMPTS)
    return accept_dialogues(scenes, topics, writer, model, judge or FixedJudge(), params), model


def test_good_answers_are_accepted_at_once_in_groups():
    outcome, model = run(lambda wave, place, request: fill(request))
    assert [dialogue.scene_id for dialogue in outcome.accepted] == [s.scene_id for s in SCENES]
    assert [len(wave) for wave in model.waves] == [4, 4], "two groups; free places go to second candidates"
    assert outcome.refused == ()


def test_a_refused_scene_is_written_again_with_other_seeds_and_then_another_topic():
    outcome, _ = run(lambda wave, place, request: "no json")
    assert outcome.accepted == () and len(outcome.refused) == 6
    assert {attempt.reason for attempt in outcome.attempts} == {"broken_json"}
    seeds = [attempt.seed for attempt in outcome.attempts]
    assert len(set(seeds)) == len(seeds)
    of_first = [a for a in outcome.attempts if a.scene_id == SCENES[0].scene_id]
    assert [a.topic[-1] for a in of_first] == ["0", "0", "1"], "two waves a topic"
    assert all(a.text == "no json" for a in outcome.attempts)


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (FixedJudge(label="ambient"), "label_not_recovered"),
        (FixedJudge(label=None), "no_verdict"),
        (FixedJudge(similarity=0.49), "topic_not_recovered"),
    ],
)
def test_the_judge_can_refuse(judge, reason):
    outcome, _ = run(lambda wave, place, request: fill(request), judge)
    assert {attempt.reason for attempt in outcome.attempts} == {reason}
    assert outcome.accepted == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (failed("context overflow"), "request_failed"),
        (ChatAnswer(text="[", finish_reason="length", prompt_tokens=1, completion_tokens=9), "too_long"),
        ("", "empty_answer"),
        ("[]", "wrong_turns"),
    ],
)
def test_one_bad_answer_fails_alone(answer, reason):
    outcome, _ = run(lambda wave, place, request: answer if (wave, place) == (0, 2) else fill(request))
    assert len(outcome.accepted) == 6
    bad = [attempt for attempt in outcome.attempts if attempt.reason not in ("accepted", "not_chosen")]
    assert [(a.scene_id, a.reason) for a in bad] == [(SCENES[2].scene_id, reason)]


def written_waves(model):
    """The waves that ask for whole dialogues."""
    return [wave for wave in model.waves if len(wave[0].json_schema["required"]) > 2]


def repeating(request):
    """A clean answer whose fourth turn says again what the first did; a repair is clean."""
    answer = fill(request)
    if len(answer) > 2:
        keys = list(answer)
        answer[keys[3]] = answer[keys[0]]
    return answer


def test_one_faulty_turn_is_written_again_and_the_rest_stays():
    outcome, model = run(lambda wave, place, request: repeating(request))
    assert len(outcome.accepted) == 6 and outcome.refused == ()
    written, mended = ([a for a in outcome.attempts if bool(a.repaired_turns) is kind] for kind in (False, True))
    assert {a.reason for a in written} == {"repeated_line"}
    assert {(a.reason, a.repaired_turns) for a in mended} == {("accepted", (3,))}
    assert all(next(iter(request.json_schema["properties"])).startswith("4 ") for request in model.waves[1])
    assert len(model.waves[1]) == 4 * 2, "two candidates for each of the four scenes of the group"
    assert len({request.seed for wave in model.waves for request in wave}) == sum(map(len, model.waves))
    assert {a.completion_tokens for a in mended} == {20}, "all candidates are counted"
    assert {d.repaired_turns for d in outcome.accepted} == {(3,)}


def test_the_repaired_dialogue_is_judged_as_a_whole():
    outcome, _ = run(lambda wave, place, request: repeating(request), FixedJudge(similarity=0.1))
    assert outcome.accepted == ()
    assert {a.reason for a in outcome.attempts if a.repaired_turns} == {"topic_not_recovered"}


def test_a_label_that_is_not_recovered_blames_the_turn_of_its_sound():
    _, model = run(lambda wave, place, request: fill(request), FixedJudge(label="ambient"))
    slot = SCENES[0].events[0].slot
    assert all(next(iter(request.json_schema["properties"])).startswith(f"{slot + 1} ") for request in model.waves[1])


def test_without_a_turn_to_blame_or_with_too_many_nothing_is_repaired():
    def all_alike(wave, place, request):
        answer = fill(request)
        return {
            key: answer[next(iter(answer))] if "enum" not in rule else rule["enum"][0]
            for key, rule in request.json_schema["properties"].items()
        }

    for answer in (all_alike, lambda *_: "no json"):
        _, model = run(answer)
        assert len(written_waves(model)) == len(model.waves)


def test_a_repair_of_which_nothing_can_be_used_is_an_attempt_with_a_reason():
    def answer(wave, place, request):
        return "no json" if len(request.json_schema["required"]) == 1 else repeating(request)

    outcome, _ = run(answer)
    assert {a.reason for a in outcome.attempts if a.repaired_turns} == {"no_repair"}


def test_a_repair_that_does_not_fit_the_wave_waits_for_the_next_attempt():
    params = PARAMS.model_copy(update={"repair_places": 3, "repair_candidates": 5})
    outcome, model = run(lambda wave, place, request: repeating(request), params=params)
    assert max(len(wave) for wave in model.waves if len(wave[0].json_schema["required"]) == 1) == 3
    assert len(outcome.accepted) == 6 and max(dialogue.attempt for dialogue in outcome.accepted) == 1


class UnsureJudge(FixedJudge):
    """Is the surer of a dialogue the longer its second turn is."""

    def judge_many(self, transcripts):
        """The fixed label, with a probability by length."""
        verdicts = super().judge_many(transcripts)
        return [
            [verdict.model_copy(update={"scores": {self.label: len(str(pieces)) / 1e5}}) for verdict in found]
            for pieces, found in zip(transcripts, verdicts, strict=True)
        ]


def test_of_several_good_candidates_the_surest_counts():
    def answer(wave, place, request):
        filled = fill(request)
        keys = list(filled)
        return filled | (
            {keys[0]: "This one is by far the longest of all the lines that were offered."} if place == 3 else {}
        )

    outcome, _ = run(answer, UnsureJudge(), scenes=SCENES[:2], topics=TOPICS)
    assert outcome.accepted[1].turns[0].segments[0].text.startswith("This one is by far")
    assert [d.candidate for d in outcome.accepted] == [0, 1]
    assert [(a.scene_id[:6], a.candidate) for a in outcome.attempts if a.reason == "not_chosen"] == [
        ("t00000", 1),
        ("t00001", 0),
    ]
    assert not outcome.accepted[0].turns[0].segments[0].text.startswith("This one")


def test_a_further_scene_touches_only_its_own_group():
    _, small = run(lambda wave, place, request: fill(request), scenes=SCENES[:5], topics=TOPICS)
    _, large = run(lambda wave, place, request: fill(request))
    assert small.waves[0] == large.waves[0]
    assert small.waves[1] != large.waves[1]


def test_a_scene_without_a_topic_is_an_error():
    with pytest.raises(InputError, match="t00005-0"):
        run(lambda *_: "", topics=TOPICS[:-2])


def test_the_figures_add_up():
    outcome, _ = run(lambda wave, place, request: "x" if wave == 0 and place == 0 else fill(request))
    figures = acceptance_metrics(outcome, SCENES)
    assert figures["accepted"] == 6 and figures["refused"] == []
    assert figures["first_attempt_accepted"] == round(5 / 6, 4)
    assert sum(figures["reasons"].values()) == figures["attempts"] == len(outcome.attempts)
    behavioral = figures["labels"]["behavioral"]
    assert (behavioral["events"], behavioral["accepted"], behavioral["first_accepted"]) == (6, 6, 5)
    assert acceptance_rows(outcome)[-1]["accepted"] == 6


TOPIC_PARAMS = TopicsParams(per_scene=2, group_scenes=4, attempts=2, temperature=1.0, min_p=0.05, longest_chars=90)


def test_topics_are_new_and_name_no_sound_of_the_scene():
    lines = ["why the doorbell must be fixed before Easter", "how to split the rent when one room is empty"]
    topics = find_topics(SCENES, CATALOG, TOPIC_PARAMS, 1, PROMPTS, Scripted(lambda *_: lines))
    by_scene = {s.scene_id: [t.topic for t in topics if t.scene_id == s.scene_id] for s in SCENES}
    assert all(len(found) == 2 for found in by_scene.values())
    assert not any("doorbell" in topic for found in by_scene.values() for topic in found)
    assert lines[1] in by_scene["t00000-0"] and lines[1] not in by_scene["t00001-0"], "a topic is used once in a group"


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '"why"', "[[]]"])
def test_an_answer_without_topics_gives_none(text):
    assert read_topics(text) == []


@pytest.mark.parametrize(
    "topic", ["rent", "why we should go to the", "whether the xkcd is right", "what two people say of the rent"]
)
def test_a_malformed_topic_is_not_used(topic):
    assert not is_usable(topic, SCENES[0], CATALOG, set())
