"""The probes are what their data card says, and faults in such files are found and named."""

import json
from collections import Counter
from pathlib import Path

import pytest
import typer
from hashed_encoder import HashedEncoder
from typer.testing import CliRunner

from cares.catalog.load import load_catalog
from cares.commands import probes as command
from cares.core.errors import InputError
from cares.core.paths import repo_root
from cares.dialogue.marked import Heard, Said, spoken_turns
from cares.dialogue.probe_checks import check_probes, repeated_topics, shared_situations, unbalanced
from cares.dialogue.probes import (
    HARD_NEGATIVES,
    PROBE_SPLITS,
    Probe,
    load_probes,
    load_topic_pairs,
    near_duplicates,
)
from cares.records.scene import REACTIONS

ALL = load_probes()
PAIRS = load_topic_pairs()
CATALOG = load_catalog()
GOOD = {
    "id": "p001",
    "split": "train",
    "location": "office",
    "topic": "who waters the plants",
    "turns": [
        {"speaker": "A", "text": "I did it on Monday."},
        {"sound": "cough"},
        {"speaker": "B", "text": "And it is Friday."},
    ],
    "labels": ["ambient"],
    "registers": ["ambient_run_on"],
    "hard": [""],
}
PAIR = {"id": "t001", "probe": "p001", "topic": "taking care of the flowers", "same": True}


def written(tmp_path, *values, name="probes.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def turns_of(probe):
    return len(spoken_turns(probe.pieces))


def by_split(names):
    """A row of the data card: how often something occurs in each split, and in all."""
    counts = Counter(names)
    return [counts[split] for split in PROBE_SPLITS] + [sum(counts.values())]


def test_there_are_enough_of_each_label_and_kind():
    assert len(ALL) >= 480
    labels = Counter(label for probe in ALL for label in probe.labels)
    assert min(labels[label] for label in REACTIONS) >= 120
    assert 3 * sum(probe.split == "test" for probe in ALL) >= len(ALL)
    hard = Counter((probe.split, kind) for probe in ALL for kind in probe.hard if kind)
    assert set(hard) == {(split, kind) for split in PROBE_SPLITS for kind in HARD_NEGATIVES}
    assert len(PAIRS) >= 120 and 2 * sum(pair.same for pair in PAIRS) == len(PAIRS)
    assert {pair.split for pair in PAIRS} == set(PROBE_SPLITS)


def test_nothing_is_found_by_the_check_of_words():
    assert [str(finding) for finding in check_probes(ALL, PAIRS, CATALOG)] == []


@pytest.mark.models
def test_nothing_is_found_by_the_check_of_meanings():
    from cares.dialogue.encoder import SentenceEncoder

    assert [str(f) for f in check_probes(ALL, PAIRS, CATALOG, SentenceEncoder("all-minilm-l6-v2"))] == []


def test_the_earlier_test_probes_are_still_held_out():
    early = [probe for probe in ALL if int(probe.id[1:]) <= 304]
    assert sum(probe.split == "test" for probe in early) == 106


def test_every_location_of_the_catalog_has_each_label():
    found = {(probe.location, label) for probe in ALL for label in probe.labels}
    assert found == {(location, label) for location in CATALOG.locations for label in REACTIONS}


def test_many_sounds_occur_and_none_gives_its_label_away():
    labels = {}
    for probe in ALL:
        for piece in probe.pieces:
            if isinstance(piece, Heard):
                labels.setdefault(piece.sound, []).append(probe.labels[piece.event])
    assert len(labels) >= 250
    assert 25 <= sum(sound not in CATALOG.sounds for sound in labels) <= len(labels) / 2
    often = {sound: found for sound, found in labels.items() if len(found) >= 5}
    assert often
    assert all(len(set(found)) > 1 for found in often.values())


def test_lengths_and_speakers_are_those_of_generated_dialogues_too():
    for probe in ALL:
        assert 3 <= turns_of(probe) <= 12, probe.id
        assert {piece.speaker for piece in probe.pieces if isinstance(piece, Said)} == {"A", "B"}, probe.id
        assert isinstance(probe.pieces[0], Said) and isinstance(probe.pieces[-1], Said), probe.id
    for split in PROBE_SPLITS:
        long = [probe for probe in ALL if probe.split == split and turns_of(probe) >= 7]
        assert len(long) >= 25 and {label for probe in long for label in probe.labels} == set(REACTIONS)
    assert {len(probe.labels) for probe in ALL} == {1, 2, 3}


def test_silent_reactions_do_not_name_their_sound_after_it():
    for probe in ALL:
        for place, piece in enumerate(probe.pieces):
            if isinstance(piece, Heard) and probe.labels[piece.event] == "behavioral" and piece.sound in CATALOG.sounds:
                after = probe.pieces[place + 1]
                assert isinstance(after, Said)
                assert CATALOG.sounds[piece.sound].mention_in(after.text) is None, probe.id


def test_the_data_card_counts_right():
    rows = {
        "probes": by_split(probe.split for probe in ALL),
        "of seven turns or more": by_split(probe.split for probe in ALL if turns_of(probe) >= 7),
        "with two sounds or more": by_split(probe.split for probe in ALL if len(probe.labels) > 1),
        "all sounds": by_split(probe.split for probe in ALL for _ in probe.labels),
        "same topic in other words": by_split(pair.split for pair in PAIRS if pair.same),
        "similar but different topic": by_split(pair.split for pair in PAIRS if not pair.same),
    }
    rows |= {name: by_split(p.split for p in ALL for label in p.labels if label == name) for name in REACTIONS}
    rows |= {name: by_split(p.split for p in ALL for r in p.registers if r == name) for name in CATALOG.registers}
    rows |= {name: by_split(p.split for p in ALL for _ in p.labels if p.location == name) for name in CATALOG.locations}
    rows |= {name: by_split(p.split for p in ALL for kind in p.hard if kind == name) for name in HARD_NEGATIVES}
    card = (repo_root() / "docs/probes.md").read_text()
    shown = [line for line in card.splitlines() if line.startswith("| ") and "| train |" not in line]
    assert sorted(shown) == sorted(f"| {name} | {' | '.join(map(str, counts))} |" for name, counts in rows.items())
    assert f"\n{len({piece.sound for p in ALL for piece in p.turns if piece.sound})} sounds occur." in card
    assert f"Few probes ({sum(len(probe.labels) >= 3 for probe in ALL)}) hold three sounds" in card


def test_near_duplicates_are_found_across_splits():
    first = next(probe for probe in ALL if probe.split == "train")
    copy = first.to_json() | {"id": "p999", "split": "test", "topic": "another topic altogether"}
    copy["turns"][0]["text"] = "Well then. " + copy["turns"][0]["text"]
    found = near_duplicates([*ALL, Probe.parse(copy, "copy")])
    assert [(pair.one, pair.other, pair.crosses_splits) for pair in found] == [(first.id, "p999", True)]
    assert "p999" in str(found[0]) and "different splits" in str(found[0])


def changed(probe, **values):
    return Probe.parse(probe.to_json() | values, "changed")


def test_the_check_names_each_fault_with_its_ids():
    first = ALL[0]
    turns = [{"speaker": "A", "text": "Nothing of this was said before."}, {"sound": "cough"}]
    turns.append({"speaker": "B", "text": ALL[40].turns[3].text.replace("corner", "bend")})
    late = changed(first, id="p999", split="test", topic=first.topic.replace("who pays", "Who pays"), turns=turns)
    found = check_probes([*ALL[:60], late], PAIRS, CATALOG)
    assert [(f.kind, f.ids) for f in found if f.kind == "shared_situation"] == [
        ("shared_situation", (first.id, "p999"))
    ]
    assert [f.ids for f in found if f.kind == "repeated_line"] == [(ALL[40].id, "p999")]
    assert "p999" in str(found[0])
    one_sided = [probe for probe in ALL if probe.split != "dev" or set(probe.labels) == {"pivot"}]
    kinds = {(f.kind, f.detail.split(",")[0]) for f in unbalanced(one_sided, CATALOG)}
    assert ("unbalanced", "dev has 0 sounds that are verbal") in kinds
    assert ("missing", "dev has no break_restart") in kinds
    twice = [PAIRS[0], PAIRS[0].model_copy(update={"id": "t999"}), PAIRS[1].model_copy(update={"other": PAIRS[1].one})]
    assert [f.ids for f in repeated_topics(twice)] == [(PAIRS[1].id,), (PAIRS[0].id, "t999")]


def test_the_command_exits_with_the_ids_of_what_it_found(monkeypatch):
    app = typer.Typer()
    command.register(app)
    app.command("other")(lambda: None)
    good = CliRunner().invoke(app, ["probes", "check", "--words-only"])
    assert good.exit_code == 0 and "623 probes and 180 pairs of topics read, 0 faults found" in good.output
    double = changed(ALL[0], id="p999", split="test", topic="another topic altogether")
    monkeypatch.setattr("cares.dialogue.probes.load_probes", lambda: [*ALL, double])
    bad = CliRunner().invoke(app, ["probes", "check", "--words-only"])
    assert bad.exit_code == 1 and f"near_duplicate: {ALL[0].id} and p999" in bad.output


def test_situations_are_compared_by_meaning_too():
    one = changed(ALL[0], topic="the barking dog next door at night", split="train")
    other = changed(ALL[1], topic="at night, next door, the dog barking and barking", split="test")
    same_split = changed(ALL[2], topic="the barking dog next door by night", split="train")
    assert shared_situations([one, other]) == []
    found = shared_situations([one, other, same_split], HashedEncoder())
    assert [f.ids for f in found] == [(one.id, other.id), (other.id, same_split.id)]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"labels": ["ambient", "verbal"]}, "1 sounds but 2 labels"),
        ({"registers": []}, "1 sounds but 0 registers"),
        ({"hard": ["", ""]}, "1 sounds but 2 hard"),
        ({"hard": ["loud"]}, "hard.0"),
        (
            {"labels": ["pivot"], "registers": ["pivot_action"], "hard": ["loud_ignored"]},
            "loud_ignored cannot be pivot",
        ),
        ({"labels": ["loud"]}, "labels.0"),
        ({"registers": ["break_restart"]}, "a register of ambient"),
        ({"registers": ["ambient_shout"]}, "a register of ambient"),
        ({"location": "moon"}, "a location of the catalog"),
        ({"split": "validation"}, "split"),
        ({"speaker": "A"}, "speaker"),
        ({"topic": "short"}, "topic"),
        ({"turns": [*GOOD["turns"], {"speaker": "A", "text": "Hi.", "sound": "cough"}]}, "turns.3"),
        ({"turns": [*GOOD["turns"], {"text": "Nobody says this."}]}, "turns.3"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, change, named):
    path = written(tmp_path, GOOD, GOOD | {"id": "p002"} | change)
    with pytest.raises(InputError) as error:
        load_probes(path)
    assert "line 2" in str(error.value) and named in str(error.value)


def test_repeated_ids_shared_situations_and_empty_files_are_errors(tmp_path):
    with pytest.raises(InputError, match="no other probe"):
        load_probes(written(tmp_path, GOOD, GOOD))
    with pytest.raises(InputError, match="one split only"):
        load_probes(written(tmp_path, GOOD, GOOD | {"id": "p002", "split": "test"}))
    with pytest.raises(InputError, match="at least one probe"):
        load_probes(written(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        load_probes(Path(tmp_path / "absent.jsonl"))


def test_a_pair_takes_its_topic_and_split_from_its_probe(tmp_path):
    probes = load_probes(written(tmp_path, GOOD))
    (pair,) = load_topic_pairs(written(tmp_path, PAIR, name="pairs.jsonl"), probes)
    assert (pair.one, pair.other, pair.split, pair.same) == (GOOD["topic"], PAIR["topic"], "train", True)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"probe": "p777"}, "the id of a probe"),
        ({"id": "t001"}, "no other pair"),
        ({"same": "perhaps"}, "same"),
        ({"topic": "short"}, "topic"),
        ({"split": "train"}, "split"),
    ],
)
def test_a_wrong_pair_is_named(tmp_path, change, named):
    probes = load_probes(written(tmp_path, GOOD))
    with pytest.raises(InputError) as error:
        load_topic_pairs(written(tmp_path, PAIR, PAIR | {"id": "t002"} | change, name="pairs.jsonl"), probes)
    assert "line 2" in str(error.value) and named in str(error.value)
