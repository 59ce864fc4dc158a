"""The parts of engines that need no weights: times of words, damaged files, and which engine a name means."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from cares.core.errors import CaresError, InputError
from cares.models.unzip import unzip
from cares.repro.check import check_inputs
from cares.speech.engines import ENGINES, engine_version, load_engine
from cares.speech.engines.onnx import with_durations
from cares.speech.engines.timing import Phoneme, timed_words

ALONE = {"of": "ʌv", "the": "ðə", "thing": "θɪŋ", "in": "ɪn", "twenty-five": "twˈɛntifˈaɪv", "us": "ʌs"}


def said(phonemes: str) -> list[Phoneme]:
    return [Phoneme(symbol, 10 * place, 10 * place + 10) for place, symbol in enumerate(phonemes)]


def spans(words: str, phonemes: str) -> list[tuple[int | None, int | None]] | None:
    timed = timed_words(words.split(), said(phonemes), ALONE.__getitem__)
    return None if timed is None else [tuple(word) for word in timed]


def test_groups_of_phonemes_are_the_words_without_punctuation() -> None:
    assert spans("of us", "^ʌv, ʌs.$") == [(10, 30), (50, 70)]


def test_words_said_as_one_share_their_outer_ends() -> None:
    assert spans("of the thing", "ʌvðə θˈɪŋ.") == [(0, None), (None, 40), (50, 90)]
    assert spans("thing in the", "θɪŋ ɪnðə") == [(0, 30), (40, None), (None, 80)]


def test_a_word_said_as_two_is_one_from_the_first_to_the_last() -> None:
    assert spans("twenty-five of us", "twˈɛnti fˈaɪv ʌv ʌs") == [(0, 130), (140, 160), (170, 190)]


def test_phonemes_that_cannot_be_those_of_the_words_give_no_times() -> None:
    assert spans("of the thing in us", "") is None
    assert spans("of", "ʌ v ð ə θ ɪ") is None


def test_a_model_without_the_tensor_is_left_as_it_is() -> None:
    assert with_durations(b"\x08\x08 another graph", "/Ceil_output_0") == b"\x08\x08 another graph"
    longer = with_durations(b"/Ceil_output_0", "/Ceil_output_0")
    assert longer.startswith(b"/Ceil_output_0:")
    assert longer[15] == len(longer) - 16


@pytest.mark.parametrize("engine", ["kokoro", "piper", "openai"])
def test_what_a_key_says_of_an_engine_is_its_own(engine: str) -> None:
    mine = engine_version(engine)
    assert len(mine["code"]) == 64
    assert ("piper-tts" in mine) == (engine == "piper")
    assert all(
        engine_version(other)["code"] != mine["code"] for other in ("kokoro", "piper", "openai") if other != engine
    )


def test_an_unknown_engine_is_named_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(CaresError, match=f"'festival' is not an engine; known are {', '.join(ENGINES)}"):
        load_engine("festival", "any", tmp_path)
    with pytest.raises(CaresError, match="piper needs the folder of the weights of piper-joe"):
        load_engine("piper", "piper-joe", None)


def test_an_archive_is_unpacked_without_its_folders(tmp_path: Path) -> None:
    official, ready = tmp_path / "official", tmp_path / "ready"
    official.mkdir()
    ready.mkdir()
    with zipfile.ZipFile(official / "voice.zip", "w") as archive:
        archive.writestr("voice/config.json", "{}")
        archive.writestr("voice/../model_file.pth", b"weights")
    unzip(official, ready)
    assert sorted(path.name for path in ready.iterdir()) == ["config.json", "model_file.pth"]
    with pytest.raises(InputError, match="a name that occurs once"):
        unzip(official, ready)
    (official / "voice.zip").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(InputError, match=r"voice\.zip: .*a readable zip archive"):
        unzip(official, ready)
    (official / "voice.zip").unlink()
    with pytest.raises(InputError, match=r"one \.zip file"):
        unzip(official, ready)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  voices: []", "  voices: [qwen_*]", "CARES_TTS_URL"),
        ("  voices: []", "  voices: [qwne_*]", r"speech\.voices: got 'qwne_\*'"),
        ("  held_out_voices: []", "  held_out_voices: [joe]", "held-out voices of gender F: got 0"),
    ],
)
def test_the_check_before_a_run_finds_voices_that_cannot_speak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    monkeypatch.delenv("CARES_TTS_URL", raising=False)
    text = (Path(__file__).parents[2] / "params.yaml").read_text(encoding="utf-8")
    assert f"\n{old}\n" in text
    (tmp_path / "params.yaml").write_text(text.replace(f"\n{old}\n", f"\n{new}\n"), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        check_inputs(tmp_path)
