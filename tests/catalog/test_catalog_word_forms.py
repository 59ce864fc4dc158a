"""A sound that cannot be named: without word forms nobody could check who speaks of it, so the catalog is refused."""

import shutil
from pathlib import Path

import pytest
import yaml

import cares.catalog
from cares.catalog.load import load_catalog
from cares.core.errors import InputError


@pytest.mark.parametrize("field", ["word_forms", "names"])
@pytest.mark.parametrize("value", [None, [], "gone"])
def test_a_sound_without_word_forms_is_an_error_that_names_it(tmp_path, field, value):
    folder = tmp_path / "catalog"
    shutil.copytree(Path(cares.catalog.__file__).parent, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    file = folder / "sounds" / "shared.yaml"
    sounds = yaml.safe_load(file.read_text(encoding="utf-8"))
    sound = next(entry for entry in sounds if entry["id"] == "dog_bark")
    if value == "gone":
        del sound[field]
    else:
        sound[field] = value
    file.write_text(yaml.safe_dump(sounds), encoding="utf-8")
    with pytest.raises(InputError, match=rf"shared\.yaml.*dog_bark\.{field}"):
        load_catalog(folder)
