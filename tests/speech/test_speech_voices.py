"""The table of voices and who gets which."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from speech_world import scene

from cares.core.errors import InputError
from cares.models.registry import load_registry
from cares.speech.voices import (
    VOICES_FILE,
    Voice,
    cast_voices,
    load_voices,
    other_casts,
    read_table,
    speaking_rate,
)

VOICES = load_voices()


def many(count: int) -> list:
    pairs = ("FM", "MM", "MF", "FF", "FM", "FF", "MM")
    splits = ("train", "train", "train", "test", "validation")
    return [scene(f"t{i:05d}-{i % 3}", pairs[i % 7], splits[i % 5]) for i in range(count)]


def test_voices_have_the_gender_of_their_speakers_and_are_two() -> None:
    for one, (a, b) in zip(many(60), cast_voices(many(60), VOICES, 3).values(), strict=True):
        assert a != b
        assert (VOICES[a].gender, VOICES[b].gender) == one.genders


@pytest.mark.parametrize("count", [1, 12, 97])
def test_the_voices_of_a_gender_are_used_equally_often_in_every_split(count: int) -> None:
    scenes = many(count)
    casts = cast_voices(scenes, VOICES, 3)
    for split in {one.split for one in scenes}:
        used = Counter(voice for one in scenes if one.split == split for voice in casts[one.scene_id])
        for gender in "FM":
            counts = [used[name] for name, voice in VOICES.items() if voice.gender == gender]
            assert max(counts) - min(counts) <= 2


def test_voices_that_are_taken_for_one_another_share_no_scene() -> None:
    for a, b in cast_voices(many(97), VOICES, 3).values():
        assert b not in VOICES[a].alike
    others = other_casts(scene(genders="FF"), ("jf_alpha", "jf_nezumi"), VOICES, 3)
    alike = [b in VOICES[a].alike for a, b in others]
    assert alike == sorted(alike) and sum(alike) == 4


def test_scenes_added_behind_or_in_another_order_change_no_voice() -> None:
    casts = cast_voices(many(40), VOICES, 3)
    longer = cast_voices(many(55)[::-1], VOICES, 3)
    assert all(longer[scene_id] == cast for scene_id, cast in casts.items())


def test_another_seed_gives_other_voices() -> None:
    assert cast_voices(many(20), VOICES, 3) != cast_voices(many(20), VOICES, 4)


def test_other_casts_are_all_the_other_pairs() -> None:
    one = scene(genders="FF")
    others = other_casts(one, ("jf_alpha", "jf_nezumi"), VOICES, 3)
    assert len(others) == len(set(others)) == 4 * 3 - 1
    assert ("jf_alpha", "jf_nezumi") not in others
    assert other_casts(scene(genders="MM"), ("joe", "jm_kumo"), VOICES, 3) == [("jm_kumo", "joe")]


def test_pace_is_of_whole_percents_within_the_spread() -> None:
    paces = {speaking_rate(1, f"t{i:05d}-0", "A", 6) for i in range(200)}
    assert min(paces) >= 0.94
    assert max(paces) <= 1.06
    assert len(paces) == 13
    assert speaking_rate(1, "t00000-0", "A", 0) == 1.0


def test_a_voice_that_is_not_in_the_table_is_named() -> None:
    with pytest.raises(InputError, match=r"speech\.voices: got 'jf_none'"):
        load_voices(("jf_alpha", "jf_none"))


def test_two_voices_of_each_gender_are_needed() -> None:
    with pytest.raises(InputError, match="voices of gender M: got 1"):
        load_voices(("jf_alpha", "jf_nezumi", "joe"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("engine: piper", "engine: pipper", r"joe\.engine"),
        ("gender: M", "gender: X", r"jm_kumo\.gender"),
        ("accent: American, licence: CC0-1.0", "accent: American", r"joe\.licence"),
        ("jf_nezumi:\n", "jf_alpha:\n", "occurs twice"),
        ("default: true", "defautl: true", r"jf_alpha\.defautl: .*no such key"),
        ("default: true", "held_out: true", r"jf_alpha\.held_out: got True"),
        ("[jf_nezumi]", "[jf_alpha]", r"jf_gongitsune\.alike: got 'jf_alpha'"),
        ("default: true", "url: 'http://a'", r"jf_alpha: .*url and request are for the voices of a server"),
        ("{language: English, task_type: CustomVoice}", "{language: Chinese}", "qwen_serena: .*of the other voices"),
    ],
)
def test_a_fault_in_the_table_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "voices.yaml"
    path.write_text(VOICES_FILE.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_voices(path=path)


def test_a_missing_or_empty_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_voices(path=tmp_path / "none.yaml")
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="a mapping"):
        load_voices(path=tmp_path / "empty.yaml")


EIGHT = {
    f"{gender}{number}": Voice(engine="piper", model="m", voice=str(number), gender=gender, accent="x", licence="x")
    for gender in "FM"
    for number in range(4)
}  # fmt: skip


def table(tmp_path: Path) -> Path:
    path = tmp_path / "voices.yaml"
    path.write_text(json.dumps({name: voice.to_json() | {"default": True} for name, voice in EIGHT.items()}))
    return path


def test_the_default_voices_are_the_packaged_six() -> None:
    assert list(VOICES) == ["jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo", "joe"]
    assert not any(voice.non_commercial or voice.served for voice in VOICES.values())


def test_the_table_names_licences_and_marks_what_is_not_commercial() -> None:
    every = read_table()
    assert sum(name.startswith("vctk_") for name in every) == 108
    assert {voice.licence for voice in every.values() if voice.non_commercial} == {"CPML"}
    assert all(voice.non_commercial for voice in every.values() if voice.model == "coqui-xtts-v2")
    registry = load_registry()
    for voice in every.values():
        assert registry[voice.model].kind == "tts"
        assert registry[voice.model].licence == voice.licence
        assert registry[voice.model].served == voice.served
    assert read_table()["qwen_ryan"].recorded_engine == "openai (served)"


def test_other_voices_are_asked_for_by_pattern() -> None:
    chosen = load_voices(("vctk_p22*", "joe"))
    assert list(chosen) == ["joe", "vctk_p225", "vctk_p226", "vctk_p227", "vctk_p228", "vctk_p229"]
    with pytest.raises(InputError, match=r"speech\.voices: got 'vtck_\*'"):
        load_voices(("vtck_*",))


def test_held_out_voices_speak_in_the_test_split_alone(tmp_path: Path) -> None:
    voices = load_voices(path=table(tmp_path), held_out=("F0", "F3", "M1", "M2"))
    held = {name for name, voice in voices.items() if voice.held_out}
    assert held == {"F0", "F3", "M1", "M2"}
    scenes = many(200)
    casts = cast_voices(scenes, voices, 3)
    for one in scenes:
        assert all((name in held) == (one.split == "test") for name in casts[one.scene_id])
        others = other_casts(one, casts[one.scene_id], voices, 3)
        assert others
        assert all((name in held) == (one.split == "test") for cast in others for name in cast)
    assert {name for cast in casts.values() for name in cast} == set(EIGHT)


def test_without_held_out_voices_casting_stays_as_it_is(tmp_path: Path) -> None:
    assert cast_voices(many(60), load_voices(path=table(tmp_path)), 3) == cast_voices(many(60), EIGHT, 3)


@pytest.mark.parametrize(
    ("held_out", "said"),
    [
        (("F0", "M0", "M1"), "held-out voices of gender F: got 1, expected at least 2"),
        (("F0", "F1", "M0", "M1", "M2"), "other voices of gender M: got 1, expected at least 2"),
        (("F0", "F1"), "held-out voices of gender M: got 0"),
        (("X0",), r"speech\.held_out_voices: got 'X0', expected a voice of speech\.voices"),
    ],
)
def test_too_few_voices_on_one_side_are_told(tmp_path: Path, held_out: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_voices(path=table(tmp_path), held_out=held_out)


def test_an_items_key_depends_on_neither_the_servers_address_nor_the_split() -> None:
    one = read_table()["qwen_ryan"]
    assert one.key() == one.model_copy(update={"url": "http://here:1", "held_out": True, "accent": "y"}).key()
    assert one.key() != one.model_copy(update={"request": {"language": "German"}}).key()
