"""The evaluators `llm` and `both`: what is asked, how answers are read, what a quote is worth, and when two agree."""

import json
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder
from hypothesis import given
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.dialogue.both import BothEvaluator, agreed
from cares.dialogue.features import SoundNames
from cares.dialogue.judge_questions import QUOTE_CHARS, axis_request, marked_text, quoted_in, read_axis, read_topic
from cares.dialogue.llm_judge import LlmEvaluator
from cares.dialogue.marked import Heard, Said
from cares.dialogue.probes import load_probes
from cares.llm.types import ChatAnswer, failed
from cares.records.dialogue import Verdict
from cares.records.scene import REACTIONS

PROMPTS = Path(__file__).parents[2] / "prompts"
NAMES = SoundNames(load_catalog())
TALK = (
    Said(speaker="A", text="The fence is down again."),
    Said(speaker="B", text="Then we should get"),
    Heard(sound="dog_bark", event=0),
    Said(speaker="B", text="um, then we should get the metal one."),
    Said(speaker="A", text="That dog! It's at it again, isn't it?"),
    Heard(sound="foghorn_blast", event=1),
    Said(speaker="B", text="Metal costs forty a metre."),
)


def answer(quote="", word="no", text=None, reason="stop"):
    text = json.dumps({"quote": quote, "answer": word}) if text is None else text
    return ChatAnswer(text=text, finish_reason=reason, prompt_tokens=1, completion_tokens=1)


class Model:
    """Answers by a function of the request's text; keeps the waves."""

    def __init__(self, reply):
        self.reply, self.waves = reply, []

    def complete(self, wave):
        self.waves.append(len(wave))
        return [self.reply(request.messages[-1].content) for request in wave]


def evaluator(reply, wave_size=4, threshold=0.4):
    return LlmEvaluator(Model(reply), NAMES, HashedEncoder(), PROMPTS, wave_size, "llm/stand-in", threshold)


def test_the_sound_that_is_asked_about_is_marked_at_its_place():
    assert marked_text(TALK, NAMES, 2).splitlines() == [
        "A: The fence is down again.",
        "B: Then we should get [SOUND: dog barking] um, then we should get the metal one.",
        "A: That dog! It's at it again, isn't it?",
        "[sound: foghorn blast]",
        "B: Metal costs forty a metre.",
    ]
    alone = (Heard(sound="cough", event=0), Said(speaker="A", text="Yes."), Heard(sound="cough", event=1))
    assert marked_text(alone, NAMES, 2).splitlines() == ["[sound: cough]", "A: Yes.", "[SOUND: cough]"]


def test_the_two_axes_are_asked_apart_in_prompts_of_their_own():
    referred, flow = (axis_request(axis, TALK, 2, NAMES, PROMPTS) for axis in ("referred", "flow"))
    for request in (referred, flow):
        text = request.messages[0].content
        assert marked_text(TALK, NAMES, 2) in text and len(request.messages) == 1
        assert request.temperature == 0 and list(request.json_schema["properties"]) == ["quote", "answer"]
        assert not any(label in text for label in REACTIONS), "labels are never shown"
    assert referred.messages != flow.messages


@pytest.mark.parametrize(
    ("referred", "flow", "label"),
    [(True, True, "pivot"), (True, False, "verbal"), (False, True, "behavioral"), (False, False, "ambient")],
)
def test_the_label_follows_from_the_two_axes(referred, flow, label):
    def reply(text):
        yes = flow if "disturbed by the" in text else referred
        return answer("That dog!", "yes") if yes else answer()

    verdict = evaluator(reply).judge_many([TALK[:5]])[0][0]
    assert verdict.label == label and (verdict.event, verdict.sound) == (0, "dog_bark")
    assert verdict.scores == {"referred": float(referred), "flow": float(flow)}
    assert ("That dog!" in verdict.detail) == (referred or flow)


@pytest.mark.parametrize(
    "quote",
    [
        "That dog!", "that DOG", "it's at it again", "its at it again", "“It’s at it again, isn’t it?”",
        "A: That dog! It's at it again", "metal one. That dog", "Then we should get [SOUND: dog bark] um, then we",
        "B: um, then we should get the metal one.\nA: That dog!",
    ],
)  # fmt: skip
def test_a_quote_is_found_whatever_its_case_and_punctuation(quote):
    assert quoted_in(quote, TALK)


@pytest.mark.parametrize("quote", ["", " ...", "That cat!", "hat dog", "That do", "dog That", "[SOUND: dog bark]"])
def test_what_was_not_said_is_no_quote(quote):
    assert not quoted_in(quote, TALK)


def test_the_last_word_of_a_quote_of_full_length_may_be_cut():
    long = "The fence is down again Then we should get um then we should get the metal one That"
    cut = long[4 : 4 + QUOTE_CHARS - 1] + "五"
    assert len(cut) == QUOTE_CHARS and quoted_in(cut, TALK)
    assert not quoted_in(cut[1:], TALK) and not quoted_in(cut[20:], TALK), "a shorter one has room for its last word"


def test_a_yes_without_evidence_counts_as_no_and_says_so():
    made_up = read_axis("referred", answer("What a loud dog", "yes"), TALK, 2)
    assert made_up.answer is False and "not in the transcript" in made_up.detail and "What a loud dog" in made_up.detail
    before = read_axis("referred", answer("The fence is down", "yes"), TALK, 2)
    assert before.answer is False, "what was said before a sound is no reaction to it"
    assert read_axis("flow", answer("Then we should get", "yes"), TALK, 2).answer is True, "a break begins before it"
    assert read_axis("flow", answer("made up", "no"), TALK, 2).answer is False


@pytest.mark.parametrize(
    "bad",
    [
        failed("context overflow"),
        answer(text='{"quote":"That', reason="length"),
        answer(text=""),
        answer(text="yes"),
        answer(text="[]"),
        answer(text='{"answer":"yes"}'),
        answer("That dog!", "maybe"),
        answer(text='{"quote":3,"answer":"yes"}'),
    ],
)
def test_an_answer_that_cannot_be_read_gives_no_label_to_its_own_sound_only(bad):
    def reply(text):
        return bad if "[SOUND: dog barking]" in text and "disturbed by the" in text else answer()

    first, second = evaluator(reply).judge_many([TALK])[0]
    assert first.label is None and first.detail.startswith("referred: no; flow: ")
    assert second.label == "ambient"


@given(st.text(max_size=60), st.sampled_from(["stop", "length", "error"]))
def test_no_answer_is_too_strange_to_be_read(text, reason):
    one = ChatAnswer(text=text, finish_reason=reason, prompt_tokens=1, completion_tokens=1)
    assert read_axis("flow", one, TALK, 2).answer in (None, True, False)
    assert isinstance(read_topic(one), str)


def test_waves_follow_from_the_transcripts_and_answers_find_their_sounds():
    probes = load_probes()[:7]
    judge = evaluator(lambda text: answer())
    found = judge.judge_many([probe.pieces for probe in probes])
    sounds = [[p.sound for p in probe.pieces if isinstance(p, Heard)] for probe in probes]
    assert [[verdict.sound for verdict in verdicts] for verdicts in found] == sounds
    assert judge._model.waves == [4, 4, 4, 2]
    assert judge.judge_many([]) == [] and judge.judge_many([TALK[:2]]) == [[]]


def test_the_recovered_topic_is_compared_with_the_wanted_one():
    judge = evaluator(lambda text: answer(text='{"topic": "a new fence."}' if "fence" in text else "?"))
    assert judge.topics([TALK, TALK[6:]]) == ["a new fence", ""]
    assert judge.topic_similarities(["a new fence", "the new fence"], [TALK, TALK[6:]]) == [1.0, 0.0]
    with pytest.raises(ValueError):
        judge.topic_similarities(["one"], [])


def verdict(label, **scores):
    return Verdict(event=2, sound="dog_bark", label=label, scores=scores, detail="flow: no" if not scores else "")


def test_two_that_agree_give_their_label_and_both_are_kept():
    one = agreed(verdict("verbal", verbal=0.9), verdict("verbal"))
    assert (one.label, one.votes) == ("verbal", {"classifier": "verbal", "llm": "verbal"})
    assert one.scores == {"verbal": 0.9} and one.event == 2 and one.detail == "flow: no"


@pytest.mark.parametrize("other", ["pivot", None])
def test_two_that_disagree_give_no_label_and_say_why(other):
    one = agreed(verdict("verbal", verbal=0.9), verdict(other))
    assert one.label is None and one.votes == {"classifier": "verbal", "llm": other}
    assert one.detail.startswith(f"disagree: classifier verbal, llm {other or 'nothing'}")
    assert Verdict.parse(one.to_json(), "attempts.jsonl") == one


class Fixed:
    """An evaluator of given similarity and label."""

    def __init__(self, label, similarity, threshold):
        self.name, self.label, self.similarity, self.topic_threshold = "fixed", label, similarity, threshold
        self.closed = False

    def judge_many(self, transcripts):
        return [
            [Verdict(event=p.event, sound=p.sound, label=self.label, scores={}) for p in pieces if isinstance(p, Heard)]
            for pieces in transcripts
        ]

    def topic_similarities(self, topics, transcripts):
        return [self.similarity for _ in topics]

    def close(self):
        self.closed = True


@pytest.mark.parametrize(
    ("ours", "theirs", "passes"), [(0.3, 0.7, True), (0.1, 0.7, False), (0.3, 0.5, False), (0.2, 0.6, True)]
)
def test_a_topic_passes_only_with_both(ours, theirs, passes):
    first, second = Fixed("pivot", ours, 0.2), Fixed("pivot", theirs, 0.6)
    both = BothEvaluator(first, second, "both/x+y")
    assert (both.topic_similarities(["t"], [TALK])[0] >= both.topic_threshold) is passes
    assert [one.label for one in both.judge_many([TALK])[0]] == ["pivot", "pivot"]
    both.close()
    assert first.closed and second.closed
