"""What is searched for at Freesound."""

from __future__ import annotations

from pathlib import Path

import pytest

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.sounds.freesound.terms import FILE, condition, load_terms, query, rule

CATALOG = load_catalog()


def test_every_sound_and_ambience_has_terms() -> None:
    terms = load_terms(CATALOG)
    asked: dict[str, str] = {}
    for name in CATALOG.sounds:
        words = query("event", name, CATALOG, terms)
        assert words[0] != "-" and len(words.split(" -")[0].split()) <= 4
        plain = words.split(" -")[0]
        assert plain not in asked, f"{name} and {asked[plain]} would find the same"
        asked[plain] = name
    for name in CATALOG.locations:
        assert "-music" in query("ambience", name, CATALOG, terms)
        assert condition("ambience", name, CATALOG).endswith("duration:[5 TO 600]")
    assert rule("passport being stamped") == "passport stamped"
    assert rule("bell over a door") == "bell door"
    assert "-ambience" not in query("ambience", "beach", CATALOG, terms)


def test_wrong_terms_are_named(tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8")
    for old, new, field in (
        ("  dog_bark:", "  dog:", "sounds.dog"),
        ("  beach:", "  seaside:", "ambiences.seaside"),
        ("{query: dog bark}", "{query: Dog AND bark}", "sounds.dog_bark.query"),
        ("{query: dog bark}", "{terms: dog bark}", "sounds.dog_bark.terms"),
    ):
        file = tmp_path / "terms.yaml"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            load_terms(CATALOG, file)
        assert caught.value.field == field
