"""Recipes: what a wrong one is told, and what the package's own cover."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.sounds.procedural.numbers import Cycle, Points, Span
from cares.sounds.procedural.recipes import load_recipes
from cares.sounds.procedural.vocabulary import Recipe

GOOD = {"layers": [{"source": {"kind": "tone", "hz": 500}, "length_s": 1}]}


def layer(**fields: object) -> object:
    return {"layers": [{"source": {"kind": "tone", "hz": 500}, "length_s": 1, **fields}]}


def tone(**fields: object) -> object:
    return {"layers": [{"source": {"kind": "tone", **fields}, "length_s": 1}]}


def written(folder: Path, **files: object) -> Path:
    for name, data in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("recipe", "field", "expected"),
    [
        (tone(hz=5), "layers.0.source.tone.hz", "10 to 20000"),
        (tone(hz=[500, 400]), "layers.0.source.tone.hz", "10 to 20000"),
        (tone(hz="high"), "layers.0.source.tone.hz", "10 to 20000"),
        (tone(hz=True), "layers.0.source.tone.hz", "10 to 20000"),
        (tone(hz=float("nan")), "layers.0.source.tone.hz", "10 to 20000"),
        (tone(hz=[[0, 300], [0.5, 400]]), "layers.0.source.tone.hz", "from 0 to 1"),
        (tone(hz=[[0, 300]]), "layers.0.source.tone.hz", "two points"),
        (tone(hz={"low": 300, "high": 400}), "layers.0.source.tone.hz", "rate_hz"),
        (tone(hz={"low": 300, "high": 400, "rate_hz": 1, "form": "sine"}), "layers.0.source.tone.hz", "form"),
        (tone(hz={"low": 300, "high": 400, "rate_hz": 1, "shape": "saw"}), "layers.0.source.tone.hz", "square"),
        (tone(hz=300, harmonics=200), "layers.0.source.tone.harmonics", "80"),
        (tone(hz=300, loudness=3), "layers.0.source.tone.loudness", "no such key"),
        (layer(gain_db=3), "layers.0.gain_db", "-60 to 0"),
        (layer(envelope={"attack": 1}), "layers.0.envelope.attack", "no such key"),
        (layer(repeat={"count": 3}), "layers.0.repeat.period_s", "present"),
        ({"layers": [{"source": {"kind": "choir"}, "length_s": 1}]}, "layers.0.source", "bubbles"),
        ({"layers": [{"source": {"kind": "noise"}}]}, "", "length_s"),
        ({"layers": []}, "layers", "at least 1"),
        ({**GOOD, "volume": 1}, "volume", "no such key"),
    ],
)
def test_a_wrong_recipe_is_an_error_with_file_sound_and_field(
    tmp_path: Path, recipe: object, field: str, expected: str
) -> None:
    folder = written(tmp_path, car={"car_horn": recipe})
    with pytest.raises(InputError) as caught:
        load_recipes(folder)
    assert caught.value.file == str(folder / "car.yaml")
    assert caught.value.field == (f"car_horn.{field}" if field else "car_horn")
    assert expected in str(caught.value)


def test_ids_are_those_of_the_catalog(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dog_barking"):
        load_recipes(written(tmp_path, rural={"dog_barking": GOOD}))


def test_a_location_has_its_recipe_in_ambiences_only(tmp_path: Path) -> None:
    good, wrong = tmp_path / "good", tmp_path / "wrong"
    for folder in (good, wrong):
        folder.mkdir()
    assert list(load_recipes(written(good, ambiences={"beach": GOOD})).ambiences) == ["beach"]
    with pytest.raises(InputError, match="id of a location"):
        load_recipes(written(wrong, ambiences={"car_horn": GOOD}))


def test_a_sound_has_one_recipe(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.yaml has one"):
        load_recipes(written(tmp_path, a={"car_horn": GOOD}, b={"car_horn": tone(hz=600)}))


def test_two_sounds_of_one_location_do_not_share_a_recipe(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another recipe than that of"):
        load_recipes(written(tmp_path, car={"turn_signal": GOOD, "gear_shift": GOOD}))


def test_sounds_that_never_meet_may_share_a_recipe(tmp_path: Path) -> None:
    assert len(load_recipes(written(tmp_path, car={"turn_signal": GOOD, "owl_hoot": GOOD})).sounds) == 2


def test_a_folder_without_recipes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \*\.yaml file"):
        load_recipes(tmp_path)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (300, Span),
        ([200, 300], Span),
        ([[0, 300], [1, [400, 500]]], Points),
        ({"low": 300, "high": [400, 500], "rate_hz": 2, "shape": "square"}, Cycle),
    ],
)
def test_a_number_is_written_as_it_was_read(value: object, kind: type) -> None:
    recipe = Recipe.parse(tone(hz=value), "file")
    again = Recipe.parse(recipe.to_json(), "file")
    assert again == recipe
    assert isinstance(recipe.layers[0].source.hz, kind)  # type: ignore[union-attr]


def test_the_package_covers_every_location() -> None:
    book, catalog = load_recipes(), load_catalog()
    assert set(book.ambiences) == set(catalog.locations)
    groups = {name: catalog.sounds[name].group for name in book.sounds}
    assert sum(group == "anywhere" for group in groups.values()) >= 10
    assert sum(group == "rare" for group in groups.values()) >= 5
    for location in catalog.locations:
        here = {sound.id for sound in catalog.sounds_at(location, ("local", "shared"))}
        assert len(here & set(book.sounds)) >= 5, location


def test_no_voice_is_synthesised() -> None:
    catalog = load_catalog()
    offered = {(catalog.sounds[name].group, catalog.sounds[name].sub_type) for name in load_recipes().sounds}
    assert not [pair for pair in offered if pair[0] == "vocal" or pair[1] in ("voice", "crying", "laughter", "breath")]
