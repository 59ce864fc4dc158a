"""What evaluators see of a transcript, and that verdicts depend on the transcript alone."""

import numpy as np
import pytest
from hashed_encoder import HashedEncoder
from hypothesis import given
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.dialogue.classifier import LinearModel, train
from cares.dialogue.classifier_judge import FeatureReader, judge
from cares.dialogue.cues import is_unfinished, load_cues, sentences_of
from cares.dialogue.features import SoundNames, head_and_rest
from cares.dialogue.marked import Heard, Said, around, from_turns, spoken_turns
from cares.dialogue.probes import load_probes
from cares.dialogue.repeats import begins_again, longest_run, repeats_end, stutters
from cares.dialogue.topic_match import topic_blocks
from cares.records.dialogue import Segment, Turn
from cares.records.scene import REACTIONS

READER = FeatureReader(HashedEncoder(), load_catalog(), load_cues())
NAMES = SoundNames(load_catalog())


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
    return READER.rows(talk(*parts))[0][1]


@pytest.fixture(scope="module")
def model():
    probes = [probe for probe in load_probes() if probe.split == "train"]
    rows = [found for probe in probes for _, found in READER.rows(probe.pieces)]
    labels = [label for probe in probes for label in probe.labels]
    return train(READER.names(), np.array([list(row.values()) for row in rows]), labels, 0.1)


def test_written_turns_become_pieces_and_back():
    turns = [
        Turn(speaker="A", segments=(Segment(text="The fence is down."),)),
        Turn(
            speaker="B",
            segments=(
                Segment(text="Then we should get", delivery="cut", spoken_as="Then we should get wood."),
                Segment(event=0),
                Segment(text="Then we should get the metal one."),
            ),
        ),
    ]
    pieces = from_turns(turns, ["train_horn"])
    assert pieces[2] == Heard(sound="train_horn", event=0)
    assert spoken_turns(pieces) == ["The fence is down.", "Then we should get Then we should get the metal one."]
    with pytest.raises(IndexError):
        from_turns(turns, [])


def test_what_is_around_a_sound_ends_at_the_next_sound():
    pieces = talk(
        ("A", "One."), ("B", "Two"), "cough", ("B", "two again."),
        ("A", "Three"), "sneeze", ("A", "four."), ("B", "Five."),
    )  # fmt: skip
    first, second = around(pieces, 2), around(pieces, 5)
    assert (first.earlier, first.tail, first.after, first.later) == (("One.",), "Two", "two again.", ("Three",))
    assert (second.earlier, second.tail) == (("One.", "Two two again."), "Three")
    assert (second.after, second.later) == ("four.", ("Five.",))
    assert first.resumes and second.resumes


def test_sounds_at_the_edges_and_side_by_side_are_judged_without_error(model):
    pieces = talk("cough", ("A", "Yes, it is late."), "sneeze", "cough", ("B", "Then let's go."), "sigh")
    verdicts = judge(model, READER, pieces)
    assert [(verdict.event, verdict.sound) for verdict in verdicts] == [
        (0, "cough"), (1, "sneeze"), (2, "cough"), (3, "sigh"),
    ]  # fmt: skip
    assert judge(model, READER, talk(("A", "No sound here."))) == []


def test_a_restart_shows_as_words_said_again():
    broken = seen(("A", "Then we"), "cough", ("A", "Uh, then we could ask the bank."), ("B", "Yes."))
    fluent = seen(("A", "Then we"), "cough", ("A", "could ask the bank."), ("B", "Yes."))
    assert broken["begins_again"] == 2 and broken["unfinished_before"] and not broken["goes_on_seamlessly"]
    assert fluent["begins_again"] == 0 and fluent["goes_on_seamlessly"] and fluent["goes_on_in_lower_case"]


def test_a_name_of_the_sound_counts_only_if_it_is_news():
    new = seen(("A", "The roof leaks."), "dog_bark", ("A", "That dog again. It leaks badly."), ("B", "Call him."))
    old = seen(("A", "The dog is ill."), "dog_bark", ("A", "That dog again. It eats nothing."), ("B", "Call him."))
    assert new["named_in_remark"] and not old["named_in_remark"]


def test_sounds_outside_the_catalog_go_by_their_id():
    assert "foghorn_blast" not in load_catalog().sounds
    assert NAMES.display("foghorn_blast") == "foghorn blast"
    assert NAMES.is_named("foghorn_blast", "They are blasting again.")
    assert not NAMES.is_named("foghorn_blast", "What a lovely evening.")
    assert NAMES.is_named("dog_bark", "Is that the dog?")


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [("Then we", True), ("Then we,", True), ("Then we -", True), ("Then...", True), ("Then we…", True), ("", False),
     ("Then we go.", False), ("Why?", False), ('He said "no."', False)],
)  # fmt: skip
def test_unfinished_sentences(text, unfinished):
    assert is_unfinished(text) is unfinished


def test_a_remark_is_the_first_sentence_or_two_if_the_first_is_short():
    assert head_and_rest("Wow. What a siren. So, the roof.") == ("Wow. What a siren.", "So, the roof.")
    assert head_and_rest("What a loud siren that is. So, the roof.") == ("What a loud siren that is.", "So, the roof.")
    assert head_and_rest("") == ("", "")


words = st.lists(st.sampled_from(list("abcdef")), max_size=20)


@given(words, words)
def test_repeats_are_bounded_and_an_exact_restart_is_found(before, after):
    for measure in (longest_run, begins_again, repeats_end):
        assert 0 <= measure(before, after) <= min(5, len(before), len(after))
    assert begins_again(before[:4], before[:4]) == len(before[:4])
    assert repeats_end(before, before[-2:] + after) >= min(2, len(before))
    assert 0 <= stutters(after) <= 3


@given(st.text(alphabet="ab .?!…", max_size=40))
def test_no_word_is_lost_between_sentences(text):
    assert " ".join(sentences_of(text)).split() == text.split()


def test_verdicts_do_not_depend_on_company_or_order(model):
    probes = load_probes()[:24]
    alone = [judge(model, READER, probe.pieces) for probe in probes]
    backwards = [judge(model, READER, probe.pieces) for probe in reversed(probes)]
    assert alone == backwards[::-1]
    rows = np.array([list(found.values()) for probe in probes for _, found in READER.rows(probe.pieces)])
    together = model.probabilities(rows)
    assert np.array_equal(together, np.concatenate([model.probabilities(row[None]) for row in rows]))
    assert np.allclose(together.sum(axis=1), 1)


def test_a_model_survives_its_json_and_training_is_repeatable(model):
    again = LinearModel.parse(model.to_json(), "calibration.json")
    assert again == model
    assert model.labels == REACTIONS


def test_training_does_not_depend_on_the_order_of_rows():
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(80, 3))
    rows[:, 2] = 1.0
    labels = [REACTIONS[i % 4] for i in range(80)]
    order = draw.permutation(80)
    one = train(["x", "y", "constant"], rows, labels, 0.5)
    other = train(["x", "y", "constant"], rows[order], [labels[i] for i in order], 0.5)
    assert one == other
    assert all(row[2] == 0 for row in one.coefficients)


def test_training_without_a_label_is_an_error():
    with pytest.raises(ValueError, match="no training row for ambient"):
        train(["x"], np.ones((3, 1)), ["pivot", "verbal", "behavioral"], 1.0)


def test_the_topic_leaves_out_what_belongs_to_a_pivot():
    pieces = talk(
        ("A", "The loan."), "siren_police", ("A", "Hear that?"), ("B", "A siren."), ("A", "Near."), ("B", "The bank."),
        "cough", ("B", "It wants more."),
    )  # fmt: skip
    assert topic_blocks(pieces, {0}) == ["The loan. The bank. It wants more."]
    assert topic_blocks(pieces, ()) == ["The loan. Hear that? A siren. Near. The bank. It wants more."]
    assert topic_blocks(talk("cough", ("A", "Oh."), ("B", "Oh!")), {0}) == ["Oh. Oh!"]
    long = talk(*(("AB"[i % 2], f"Turn {i}.") for i in range(13)))
    assert [block.count("Turn") for block in topic_blocks(long, ())] == [5, 4, 4]
