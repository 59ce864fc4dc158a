"""Features by hand-made talk: each tells what it says it tells, and nothing else moves it."""

import numpy as np
import pytest
from hashed_encoder import HashedEncoder

from cares.catalog.load import load_catalog
from cares.dialogue.cues import load_cues
from cares.dialogue.features import EXPLAINED, SoundNames, features, head_and_rest
from cares.dialogue.marked import Heard, Said, around
from cares.dialogue.probes import Probe, TopicPair, load_probes, load_topic_pairs
from cares.dialogue.topic_match import topic_vector, topic_vectors
from cares.dialogue.topic_threshold import transcript_pairs

CUES, ENCODER, NAMES = load_cues(), HashedEncoder(), SoundNames(load_catalog())


def talk(*parts):
    """Pieces from ("A", text) and sound ids."""
    pieces = []
    for part in parts:
        if isinstance(part, tuple):
            pieces.append(Said(speaker=part[0], text=part[1]))
        else:
            pieces.append(Heard(sound=part, event=sum(isinstance(piece, Heard) for piece in pieces)))
    return tuple(pieces)


def seen(*parts):
    """Features of the first sound."""
    pieces = talk(*parts)
    place = next(i for i, piece in enumerate(pieces) if isinstance(piece, Heard))
    return features(around(pieces, place), NAMES, CUES, ENCODER)


def test_every_feature_is_explained():
    names = set(seen(("A", "The roof leaks."), "cough", ("B", "Then call him.")))
    by_sentences = {f"{turn}_{meaning}" for turn in ("remark", "next_turns") for meaning in CUES.meanings}
    assert names == set(EXPLAINED) | by_sentences
    assert all(text.endswith(tuple("abcdefghijklmnopqrstuvwxyz)")) for text in EXPLAINED.values())


def test_the_talk_elsewhere_is_what_surrounds_a_sound_and_its_window():
    pieces = talk(
        ("A", "One."), ("B", "Two"), "cough", ("B", "two."), ("A", "Three."), ("B", "Four"), "sneeze", ("B", "four."),
        ("A", "Five."), ("B", "Six."),
    )  # fmt: skip
    first, second = around(pieces, 2), around(pieces, 6)
    assert first.later == ("Three.", "Four") and first.beyond == ("Five.", "Six.")
    assert second.later == ("Five.", "Six.") and second.beyond == ()
    assert around(talk(("A", "One."), "cough"), 1).beyond == ()


def test_a_topic_that_comes_up_again_later_belongs_to_the_talk():
    start = (("A", "So we do that."), "cough", ("A", "Someone coughs."), ("B", "He coughs."), ("A", "He coughs a lot."))
    lost = seen(*start, ("B", "He needs some honey."))
    back = seen(*start, ("B", "He coughs and coughs a lot, someone coughs."))
    assert back["talk~next_turns"] > lost["talk~next_turns"]
    assert {name for name in lost if lost[name] != back[name]} <= {
        name for name in EXPLAINED if "talk" in name or "nearest" in name
    }


def test_a_question_for_the_lost_thread_is_no_remark():
    assert head_and_rest("Uh, where was I? We could rent it. In May.", CUES.repairs) == ("We could rent it.", "In May.")
    assert head_and_rest("Where was I?", CUES.repairs) == ("Where was I?", "")
    broken = seen(("A", "We could"), "dog_bark", ("A", "Sorry, where was I? We could rent it."), ("B", "When?"))
    assert broken["repairs"] == 1 and broken["begins_again"] == 2 and not broken["remark_asks"]


def test_a_remark_that_the_topic_joins_on_to():
    joined = seen(("A", "The roof leaks."), "dog_bark", ("A", "Those dogs bark again. And it is old."), ("B", "No."))
    stays = seen(("A", "The roof leaks."), "dog_bark", ("A", "That dog barks again. Whose is it?"), ("B", "Call him."))
    assert joined["rest_joins_on"] == 1 and stays["rest_joins_on"] == 0


@pytest.mark.parametrize("sound", ["foghorn_blast", "FoghornBlast", "nebelhorn", "x"])
def test_any_name_of_a_sound_is_read(sound):
    found = seen(("A", "The roof leaks."), sound, ("A", "What was that?"), ("B", "It blasts, the foghorn."))
    assert all(np.isfinite(value) for value in found.values())
    assert (found["named_in_next_turns"] > 0) == (sound == "foghorn_blast")


def test_pairs_of_topics_are_compared_as_transcripts_are_when_judged():
    probes = [probe for probe in load_probes() if probe.split == "dev"]
    pairs = [pair for pair in load_topic_pairs() if pair.split == "dev"]
    pivots = {probe.id: {e for e, label in enumerate(probe.labels) if label == "pivot"} for probe in probes}
    about = {probe.id: topic_vector(probe.pieces, pivots[probe.id], ENCODER) for probe in probes}
    asked = [pair.model_copy(update={"split": "test"}) for pair in pairs]
    fit, test = transcript_pairs([*pairs, *asked], about, ENCODER)
    assert np.array_equal(fit.matching, test.matching) and np.array_equal(fit.mismatching, test.mismatching)
    first = next(pair for pair in pairs if not pair.same)
    (topic,) = topic_vectors([first.other], ENCODER)
    assert fit.mismatching[0] == pytest.approx(topic @ about[first.probe], abs=1e-4)


def test_a_topic_in_its_own_words_is_nearer_than_another():
    text = {"speaker": "A", "text": "The roof leaks, so who pays for the roof?"}
    probe = Probe.parse(
        {"id": "p001", "split": "dev", "location": "office", "topic": "who pays for the roof", "labels": ["ambient"],
         "turns": [text, {"sound": "cough"}, text | {"speaker": "B"}], "registers": ["ambient_run_on"], "hard": [""]},
        "test",
    )  # fmt: skip
    pair = {"probe": "p001", "split": "dev", "one": probe.topic}
    pairs = [
        TopicPair.parse(pair | {"id": "t001", "other": "paying for a roof that leaks", "same": True}, "test"),
        TopicPair.parse(pair | {"id": "t002", "other": "choosing curtains", "same": False}, "test"),
    ]
    asked = [pair.model_copy(update={"split": "test"}) for pair in pairs]
    fit, _ = transcript_pairs([*pairs, *asked], {"p001": topic_vector(probe.pieces, (), ENCODER)}, ENCODER)
    own, in_other_words = fit.matching
    assert own > in_other_words > fit.mismatching[0]
