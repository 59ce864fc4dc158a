"""The catalog against the published label space, and against what prompts, lint and allocation need of it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from cares.catalog.catalog import Catalog
from cares.catalog.load import load_catalog
from cares.catalog.types import Location, Sound
from cares.records.scene import REACTIONS

DATA = Path(__file__).parents[1] / "data"
PUBLISHED = json.loads((DATA / "label_space.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_locations_and_relations_are_the_published_ones(catalog: Catalog) -> None:
    assert set(catalog.locations) == set(PUBLISHED["locations"]) and len(catalog.locations) == 13
    assert list(catalog.relations) == PUBLISHED["relations"] and len(catalog.relations) == 24


def test_sounds_groups_and_places_are_the_published_ones(catalog: Catalog) -> None:
    groups = PUBLISHED["sounds"]
    expected = {name: ("local", (place,)) for place, names in groups["local"].items() for name in names}
    expected |= {name: ("shared", tuple(places)) for name, places in groups["shared"].items()}
    for name, (group, places) in expected.items():
        assert (catalog.sounds[name].group, catalog.sounds[name].locations) == (group, places)
    for group in ("anywhere", "vocal", "rare"):
        assert [s.id for s in catalog.sounds.values() if s.group == group] == groups[group]
    counts = Counter(sound.group for sound in catalog.sounds.values())
    assert counts == {"local": 164, "shared": 4, "anywhere": 21, "vocal": 18, "rare": 12}
    assert len(catalog.sounds) == 219


def test_audioset_classes_exist_in_the_ontology(catalog: Catalog) -> None:
    lines = (DATA / "audioset_classes.tsv").read_text(encoding="utf-8").splitlines()
    known = {line.split("\t")[1] for line in lines if not line.startswith("#")}
    entries: list[Sound | Location] = [*catalog.sounds.values(), *catalog.locations.values()]
    assert {entry.id: entry.audioset for entry in entries if entry.audioset not in known} == {}


def test_every_category_and_sub_type_is_used(catalog: Catalog) -> None:
    used = {(sound.category, sound.sub_type) for sound in catalog.sounds.values()}
    assert used == {(name, sub) for name, subs in catalog.categories.items() for sub in subs}


def test_display_names_are_distinct(catalog: Catalog) -> None:
    assert len({sound.display for sound in catalog.sounds.values()}) == 219


def test_sentences_read_with_an_article_only_where_it_belongs(catalog: Catalog) -> None:
    for sound in catalog.sounds.values():
        first = sound.phrase.split()[0]
        following = sound.phrase.split()[1]
        if first in ("a", "an"):
            # "a h…" is right for every phrase of the catalog; only "hour" and its like would want "an"
            assert (first == "an") == (following[0] in "aeio"), sound.phrase
        for text in (sound.display, *sound.names):
            assert text.split()[0] not in ("a", "an", "the"), (sound.id, text)


def test_phrases_fit_every_cue(catalog: Catalog) -> None:
    for sound in catalog.sounds.values():
        assert not sound.phrase.endswith((".", "!", "?")) and sound.phrase == sound.phrase.strip()
        assert all(c.isascii() and (c.isalpha() or c in " '-") for c in sound.phrase + "".join(sound.names)), sound.id


def test_durations_leave_room_in_a_turn(catalog: Catalog) -> None:
    for sound in catalog.sounds.values():
        assert 0.15 <= sound.duration_s[0] < sound.duration_s[1] <= 4.0, sound.id


def test_rare_sounds_are_not_told_by_length(catalog: Catalog) -> None:
    def mean(groups: set[str]) -> float:
        lengths = [sum(s.duration_s) / 2 for s in catalog.sounds.values() if s.group in groups]
        return sum(lengths) / len(lengths)

    assert mean({"rare"}) < 2 * mean({"local", "shared", "anywhere", "vocal"})


def test_themes_are_many_concrete_and_name_no_sound(catalog: Catalog) -> None:
    assert len(catalog.themes) >= 40
    examples = [example for theme in catalog.themes.values() for example in theme.examples]
    assert len(set(examples)) == len(examples)
    for theme in catalog.themes.values():
        assert len(theme.examples) >= 3
        for text in (theme.phrase, *theme.examples):
            named = {sound.id: sound.mention_in(text) for sound in catalog.sounds.values() if sound.mention_in(text)}
            assert named == {}, text


def test_registers_realise_every_reaction(catalog: Catalog) -> None:
    for reaction in REACTIONS:
        assert len(catalog.registers_of(reaction)) >= 2
    assert sum(len(catalog.registers_of(reaction)) for reaction in REACTIONS) == len(catalog.registers)


def test_every_location_has_its_sounds_and_a_rare_one(catalog: Catalog) -> None:
    for location, names in PUBLISHED["sounds"]["local"].items():
        here = {sound.id for sound in catalog.sounds_at(location)}
        assert here >= set(names)
        assert {sound.id for sound in catalog.sounds_at(location, ["local"])} == set(names)
        assert len(catalog.sounds_at(location, ["rare"])) >= 3
        others = set().union(*(v for k, v in PUBLISHED["sounds"]["local"].items() if k != location))
        assert not here & others


def test_rooms_can_be_built_with_ordinary_walls(catalog: Catalog) -> None:
    """The mean absorption by Sabine's formula, 0.161 V / (S T), stays below 0.9 for the largest, driest room."""
    for location in catalog.locations.values():
        room = location.room
        length, width, height = room.length_m[1], room.width_m[1], room.height_m[1]
        surface = 2 * (length * width + length * height + width * height)
        absorption = 0.161 * length * width * height / (surface * room.rt60_s[0])
        assert (absorption < 0.9) == (room.kind != "outdoor"), location.id


def test_unknown_names_are_key_errors(catalog: Catalog) -> None:
    with pytest.raises(KeyError):
        catalog.sounds_at("moon")
    with pytest.raises(KeyError):
        catalog.confusable("moon_landing")


def test_confusable_is_symmetric_and_irreflexive(catalog: Catalog) -> None:
    for name in catalog.sounds:
        assert name not in catalog.confusable(name)
        assert all(name in catalog.confusable(other) for other in catalog.confusable(name))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("laugh", "giggle"),
        ("siren_police", "siren_ambulance"),
        ("cry", "sob"),
        ("door_opening", "door_closing"),
        ("ringtone_short", "phone_vibration"),  # no group: both are called "phone"
    ],
)
def test_sounds_that_cannot_be_told_apart(catalog: Catalog, one: str, other: str) -> None:
    assert other in catalog.confusable(one)


def test_two_sounds_of_a_scene_can_be_named_without_each_other(catalog: Catalog) -> None:
    for location in catalog.locations:
        for one, other in combinations(catalog.sounds_at(location), 2):
            if other.id not in catalog.confusable(one.id):
                assert not any(one.mention_in(text) for text in (other.phrase, *other.names))
                assert not any(other.mention_in(text) for text in (one.phrase, *one.names))


def test_enough_triples_stay_possible_at_every_location(catalog: Catalog) -> None:
    for location in catalog.locations:
        ordinary = [s.id for s in catalog.sounds_at(location) if s.group != "rare"]
        clashes = sum(b in catalog.confusable(a) for a, b in combinations(ordinary, 2))
        assert clashes < 0.1 * len(ordinary) * (len(ordinary) - 1) / 2, location
