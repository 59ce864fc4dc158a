"""The loader: what is wrong in a catalog is an error that names file, entry and field."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cares.catalog
from cares.catalog.load import load_catalog
from cares.core.errors import InputError

SOURCE = Path(cares.catalog.__file__).parent
SOUNDS = load_catalog().sounds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small catalog of some of the real files, in a folder with a space and letters outside ASCII."""
    copy = tmp_path / "catálogo mío"
    (copy / "sounds").mkdir(parents=True)
    for file in SOURCE.glob("*.yaml"):
        shutil.copy(file, copy / file.name)
    for name in ("office", "shared", "vocal"):
        shutil.copy(SOURCE / "sounds" / f"{name}.yaml", copy / "sounds")
    (copy / "confusable.yaml").write_text(
        "- [laugh, chuckle, giggle]\n- [cry, sob]\n- [gulp, swallow]\n", encoding="utf-8"
    )
    return copy


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_another_folder_is_read_and_only_once(folder: Path) -> None:
    catalog = load_catalog(folder)
    assert dict(catalog.sounds) == {name: SOUNDS[name] for name in catalog.sounds}
    assert "dog_bark" in catalog.sounds and "owl_hoot" not in catalog.sounds
    assert load_catalog(folder) is catalog


def test_the_catalog_cannot_be_changed() -> None:
    catalog = load_catalog()
    with pytest.raises(TypeError):
        catalog.sounds["new"] = catalog.sounds["dog_bark"]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        catalog.sounds = {}  # type: ignore[misc]


FAULTS = [
    ("sounds/shared.yaml", "audioset: Bark", "audiosett: Bark", "dog_bark.audiosett"),
    ("sounds/shared.yaml", "display: dog barking", "display: dog barking, colour: brown", "dog_bark.colour"),
    ("sounds/shared.yaml", "id: car_horn", "id: dog_bark", "dog_bark.id"),
    ("sounds/shared.yaml", "id: car_horn", "id: printer", "printer.id"),
    ("sounds/shared.yaml", "id: car_horn", "id: Car Horn", "Car Horn.id"),
    ("sounds/shared.yaml", "group: shared", "group: sharde", "dog_bark.group"),
    ("sounds/shared.yaml", "locations: [public_park, rural]", "locations: [public_park, rurall]", "dog_bark.locations"),
    ("sounds/shared.yaml", "locations: [public_park, rural]", "locations: [rural, rural]", "dog_bark.locations"),
    ("sounds/shared.yaml", "locations: [public_park, rural]", "locations: [rural]", "dog_bark.locations"),
    ("sounds/shared.yaml", "locations: [public_park, rural]", "locations: []", "dog_bark.locations"),
    ("sounds/shared.yaml", "category: animal", "category: animals", "dog_bark.category"),
    ("sounds/shared.yaml", "sub_type: pet", "sub_type: pets", "dog_bark.sub_type"),
    ("sounds/shared.yaml", "duration_s: [0.5, 2.0]", "duration_s: [2.0, 0.5]", "dog_bark.duration_s"),
    ("sounds/shared.yaml", "duration_s: [0.5, 2.0]", "duration_s: [0, 0.5]", "dog_bark.duration_s.0"),
    ("sounds/shared.yaml", "duration_s: [0.5, 2.0]", "duration_s: [0.5, .nan]", "dog_bark.duration_s.1"),
    ("sounds/shared.yaml", "duration_s: [0.5, 2.0]", "duration_s: [0.5]", "dog_bark.duration_s.1"),
    ("sounds/shared.yaml", "word_forms: [dog, dogs,", "word_forms: [Dog, dogs,", "dog_bark.word_forms"),
    ("sounds/shared.yaml", "word_forms: [dog, dogs,", "word_forms: [dog, dog,", "dog_bark.word_forms"),
    ("sounds/shared.yaml", "word_forms: [dog, dogs,", 'word_forms: ["", dogs,', "dog_bark.word_forms"),
    ("sounds/shared.yaml", "phrase: a dog barking", "phrase: an animal", "dog_bark.phrase"),
    ("sounds/shared.yaml", "names: [dog,", "names: [animal,", "dog_bark.names"),
    ("sounds/office.yaml", "locations: [office]", "locations: [office, airport]", "printer.locations"),
    ("locations.yaml", "height_m: [2.4, 2.8]", "height_m: [2.8, 2.4]", "home_indoor.room.height_m"),
    ("locations.yaml", "rt60_s: [0.30, 0.55]", "rt60_s: [-0.1, 0.55]", "home_indoor.room.rt60_s"),
    ("locations.yaml", "kind: indoor", "kind: inside", "home_indoor.room.kind"),
    ("relations.yaml", "manner:", "maner:", "close friend.maner"),
    ("themes.yaml", "- id: cooking", "- idd: cooking", "entry 1.idd"),
    ("registers.yaml", "reaction: pivot", "reaction: pivvot", "pivot_question.reaction"),
    ("registers.yaml", "asks about {sound}", "asks about it", "pivot_question.cues"),
    ("registers.yaml", "gives a detail of the topic", "hears {sound}", "ambient_in_thought.cues"),
    ("confusable.yaml", "[laugh, chuckle,", "[laugh, chukle,", "group 1"),
    ("confusable.yaml", "[gulp, swallow]", "[gulp]", "group 3"),
    ("categories.yaml", "animal: [", "animal: [bird, ", "animal"),
]


@pytest.mark.parametrize(("file", "old", "new", "field"), FAULTS)
def test_a_fault_names_file_entry_and_field(folder: Path, file: str, old: str, new: str, field: str) -> None:
    edit(folder / file, old, new)
    with pytest.raises(InputError) as caught:
        load_catalog(folder)
    assert (Path(caught.value.file), caught.value.field) == (folder / file, field)
    assert f"{file.split('/')[-1]}: {field}: got " in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "just words", "id: x", "- [", "- a: 1\n  a: 2"])
def test_a_file_that_is_no_list_of_entries(folder: Path, text: str) -> None:
    (folder / "relations.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"relations\.yaml"):
        load_catalog(folder)


@pytest.mark.parametrize("name", ["themes.yaml", "locations.yaml", "categories.yaml", "confusable.yaml"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        load_catalog(folder)


def test_no_sounds_at_all(folder: Path) -> None:
    shutil.rmtree(folder / "sounds")
    with pytest.raises(InputError, match="sounds"):
        load_catalog(folder)


@pytest.mark.parametrize(
    ("sound", "text", "found"),
    [
        ("dog_bark", "Is that your Dog?", "dog"),
        ("dog_bark", "The neighbour’s dog’s at it again", "dog"),
        ("dog_bark", "dogma and barkeepers", None),
        ("walkie_talkie_squawk", "a Walkie  Talkie", "walkie  talkie"),
        ("washing_machine", "the washing-machine", "washing-machine"),
        ("washing_machine", "washing the machine", None),
        ("plane_take_off", "take-offs", "take-offs"),
        ("can_opening", "I can do that", None),
        ("can_opening", "Who opened the can?", "the can"),
        ("handsaw_cutting", "I saw him", None),
    ],
)
def test_mentions(sound: str, text: str, found: str | None) -> None:
    assert SOUNDS[sound].mention_in(text) == found


@given(sound=st.sampled_from(sorted(SOUNDS)), data=st.data())
def test_a_form_is_found_as_a_whole_word_only(sound: str, data: st.DataObject) -> None:
    entry = SOUNDS[sound]
    form = data.draw(st.sampled_from(entry.word_forms))
    before, after = (data.draw(st.sampled_from(["", " ", "-", ", ", "“", "…", "'"])) for _ in range(2))
    assert entry.mention_in(f"{before}{form.upper()}{after}") is not None
    assert entry.mention_in(f"xq{form.replace(' ', 'xq').replace('-', 'xq')}xq") is None
