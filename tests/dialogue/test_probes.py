"""The probes are what their data card says, and faults in such a file are found and named."""

import json
from collections import Counter
from pathlib import Path

import pytest

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.dialogue.marked import Heard, Said, spoken_turns
from cares.dialogue.probes import PROBES, Probe, load_probes, near_duplicates
from cares.records.scene import REACTIONS

ALL = load_probes()
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
}


def written(tmp_path, *values):
    path = tmp_path / "probes.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def turns_of(probe):
    return len(spoken_turns(probe.pieces))


def test_labels_are_balanced_in_every_split():
    for split in ("train", "dev", "test"):
        counts = Counter(label for probe in ALL if probe.split == split for label in probe.labels)
        assert set(counts) == set(REACTIONS)
        assert len(set(counts.values())) == 1, (split, counts)


def test_at_least_a_third_is_held_out():
    assert len(ALL) >= 200
    assert 3 * sum(probe.split == "test" for probe in ALL) >= len(ALL)


def test_every_location_of_the_catalog_has_each_label():
    found = {(probe.location, label) for probe in ALL for label in probe.labels}
    assert found == {(location, label) for location in load_catalog().locations for label in REACTIONS}


def test_many_sounds_occur_and_none_gives_its_label_away():
    labels = {}
    for probe in ALL:
        for piece in probe.pieces:
            if isinstance(piece, Heard):
                labels.setdefault(piece.sound, []).append(probe.labels[piece.event])
    assert len(labels) >= 150
    often = {sound: found for sound, found in labels.items() if len(found) >= 4}
    assert often
    assert all(len(set(found)) > 1 for found in often.values())


def test_lengths_and_speakers():
    for probe in ALL:
        assert 3 <= turns_of(probe) <= 8, probe.id
        assert {piece.speaker for piece in probe.pieces if isinstance(piece, Said)} == {"A", "B"}, probe.id
        assert isinstance(probe.pieces[0], Said) and isinstance(probe.pieces[-1], Said), probe.id


def test_silent_reactions_do_not_name_their_sound_around_it():
    catalog = load_catalog()
    for probe in ALL:
        for place, piece in enumerate(probe.pieces):
            if isinstance(piece, Heard) and probe.labels[piece.event] == "behavioral" and piece.sound in catalog.sounds:
                after = probe.pieces[place + 1]
                assert isinstance(after, Said)
                assert catalog.sounds[piece.sound].mention_in(after.text) is None, probe.id


def test_no_two_probes_are_alike():
    assert near_duplicates(ALL, share=0.3) == []


def test_the_data_card_counts_right():
    card = (PROBES.parent / "README.md").read_text()
    for split in ("train", "dev", "test"):
        chosen = [probe for probe in ALL if probe.split == split]
        sounds = sum(len(probe.labels) for probe in chosen)
        each = " | ".join(str(sounds // 4) for _ in REACTIONS)
        assert f"| {split} | {len(chosen)} | {sounds} | {each} |" in card


def test_near_duplicates_are_found_across_splits():
    first = next(probe for probe in ALL if probe.split == "train")
    copy = first.to_json() | {"id": "p999", "split": "test", "topic": "another topic altogether"}
    copy["turns"][0]["text"] = "Well then. " + copy["turns"][0]["text"]
    found = near_duplicates([*ALL, Probe.parse(copy, "copy")])
    assert [(pair.one, pair.other, pair.crosses_splits) for pair in found] == [(first.id, "p999", True)]
    assert "p999" in str(found[0]) and "different splits" in str(found[0])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"labels": ["ambient", "verbal"]}, "1 sounds but 2 labels"),
        ({"labels": ["loud"]}, "labels.0"),
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
