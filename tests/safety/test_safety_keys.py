"""Keys: in no error, no answer, no log, no file and no other host's hands, whatever a server says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from echoing import KEY, MODELS, Echo, Reply, Said, chat, echoing

from cares.bench.run_journal import Journal
from cares.bench.systems_audio import AudioQuestion
from cares.bench.systems_openai import AudioServer
from cares.core.canonical import dumps, file_digest
from cares.core.errors import CaresError, InputError
from cares.core.keys import hide, hide_secret
from cares.core.pcm import write_samples
from cares.llm.hidden import HiddenKeyModel
from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.server import Patience
from cares.llm.types import ChatMessage, ChatRequest
from cares.llm.waves import StoredWaves
from cares.repro.environment import findings
from cares.speech.engines.openai import OpenAIEngine
from cares.speech.engines.openai import Patience as SpeechPatience

QUICK = Patience(attempts=2, first_pause_s=0.01, answer_s=20.0)
REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="hello"),), seed=1, max_tokens=9, temperature=0.0, top_p=1.0
)


def error(status: int, message: Any) -> Said:
    return lambda key: (status, {}, {"error": {"message": [key, message] if message else f"no: {key}"}})


PLACES: dict[str, Said] = {
    "the answer": lambda key: chat(f"You sent {key}."),
    "the reason for the end": lambda key: chat("x", reason=key),
    "a count of tokens": lambda key: chat("x", tokens=key),
    "an object instead of an answer": lambda key: (200, {}, {"error": {"message": key}}),
    "a refused request": error(400, ""),
    "a refused key": error(401, ""),
    "a reason that is no text": error(400, "and more"),
    "an unknown model": error(404, ""),
    "a failure": error(500, ""),
    "an address": lambda key: (403, {}, {"error": f"GET /?key={quote(key, safe='')}"}),
    "plain text": lambda key: (400, {}, key.encode()),
    "the reason in the head": lambda key: (302, {"Location": f"http://127.0.0.1:9/?{quote(key)}"}, {"message": key}),
}


def is_hidden(*texts: object) -> None:
    """No text holds the key, nor a form of it."""
    for text in map(str, texts):
        for form in (KEY, repr(KEY)[1:-1], json.dumps(KEY)[1:-1], quote(KEY, safe=""), KEY[4:14]):
            assert form not in text


def below(folder: Path) -> list[str]:
    return [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Echo]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with echoing() as state:
        yield state


@pytest.mark.parametrize("place", PLACES)
def test_a_writers_server_cannot_bring_its_key_into_what_is_kept(
    echo: Echo, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    echo.said = PLACES[place]
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CARES_LLM_URL", echo.url)
    monkeypatch.setenv("CARES_LLM_KEY", KEY)
    monkeypatch.setattr(HiddenKeyModel.__init__, "__defaults__", (QUICK,))
    told = ""
    try:
        with StoredWaves("toy", LlmParams()) as waves:
            told = dumps([answer.to_json() for answer in waves.complete([REQUEST])])
    except CaresError as failure:
        told = str(failure)
    assert told and echo.seen[-1]["Authorization"] == f"Bearer {KEY}"
    is_hidden(told, *capfd.readouterr(), *below(tmp_path))


def test_a_list_of_models_that_repeats_the_key_is_told_without_it(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    echo.listing = lambda key: (200, {}, {"data": [{"id": key}]})
    monkeypatch.setenv("CARES_LLM_URL", echo.url)
    monkeypatch.setenv("CARES_LLM_KEY", KEY)
    with pytest.raises(CaresError, match=r"offers Bearer \(key\), not 'toy'") as caught, open_llm("toy", LlmParams()):
        pass
    is_hidden(caught.value)


@pytest.fixture
def question(tmp_path: Path) -> AudioQuestion:
    path = tmp_path / "x.wav"
    write_samples(path, np.arange(4410, dtype=np.int16))
    return AudioQuestion("i", "What is heard?", path, file_digest(path), 9, 1)


@pytest.mark.parametrize("place", PLACES)
def test_a_model_under_test_cannot_bring_its_key_into_the_results(
    echo: Echo, place: str, question: AudioQuestion, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    echo.said = PLACES[place]
    out = tmp_path / "out"
    told = []
    try:
        system = AudioServer("toy", echo.url, KEY, QUICK)
        with Journal(out / "asked.jsonl") as journal:

            def keep(number: int, answer: Any, milliseconds: int) -> None:
                journal.put("k", answer, milliseconds)
                told.append(dumps(answer.to_json()))

            system.answer([question], keep)
    except CaresError as failure:
        told.append(str(failure))
    assert told and echo.seen[-1]["Authorization"] == f"Bearer {KEY}"
    is_hidden(*told, *capfd.readouterr(), *below(out))


@pytest.mark.parametrize("place", [*PLACES, "the type"])
def test_a_server_that_speaks_cannot_bring_its_key_into_an_error(
    echo: Echo, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    typed: Said = lambda key: (200, {"Content-Type": key}, b"no sound")  # noqa: E731
    echo.said = PLACES.get(place, typed)
    patience = SpeechPatience(attempts=2, first_pause_s=0.01)
    engine = OpenAIEngine("toy", f"{echo.url}/v1/", KEY, patience=patience)
    with pytest.raises(CaresError) as caught:
        engine.speak("hello", "voice", 1.0, 1)
    assert echo.seen[-1]["Authorization"] == f"Bearer {KEY}"
    is_hidden(caught.value, *capfd.readouterr())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_does_not_follow_to_another_host(echo: Echo, question: AudioQuestion, status: int) -> None:
    from cares.sounds.freesound.client import Freesound, FreesoundError
    from cares.sounds.freesound.client import Patience as SearchPatience

    with echoing() as other:

        def elsewhere(key: str) -> Reply:
            return status, {"Location": f"{other.url}/v1/chat/completions"}, {}

        model = HiddenKeyModel("toy", echo.url, KEY, QUICK)
        system = AudioServer("toy", echo.url, KEY, QUICK)
        engine = OpenAIEngine("toy", f"{echo.url}/v1/", KEY, patience=SpeechPatience(attempts=1))
        echo.said = echo.listing = elsewhere
        with pytest.raises(CaresError, match=f"status {status}"):
            model.complete([REQUEST])
        with pytest.raises(CaresError, match=f"status {status}"):
            system.answer([question], lambda *_: None)
        with pytest.raises(CaresError, match=f"status {status}"):
            engine.speak("hello", "voice", 1.0, 1)
        with (
            pytest.raises(FreesoundError, match=f"status {status}"),
            Freesound(KEY, echo.url, SearchPatience(attempts=1)) as service,
        ):
            service.sound(1)
        assert other.seen == []


def test_what_the_service_of_sounds_repeats_is_not_written_down(echo: Echo) -> None:
    from cares.sounds.freesound.client import Freesound, FreesoundError

    echo.listing = lambda key: (200, {}, {"results": [{"id": 1, "url": f"https://x/{key.removeprefix('Token ')}"}]})
    with (
        pytest.raises(FreesoundError, match="repeats the key in CARES_FREESOUND_KEY") as caught,
        Freesound("sk-long-enough-key", echo.url) as service,
    ):
        list(service.search("dog", ""))
    assert "sk-long" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://me:hush-hush@a",
        "me:hush-hush@a:8000",
        "http://me:hush-hush@a",
        "http://me:hush-hush@[a",
        "http://me:hush-hush@a:port",
        "//me:hush-hush@a",
        "http://me:hush-hush@",
    ],
)
def test_a_password_in_an_address_is_shown_nowhere(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from cares.sounds.freesound.client import Freesound
    from cares.speech.engines.openai import server_address

    monkeypatch.setenv("CARES_LLM_URL", address)
    monkeypatch.setenv("CARES_TTS_URL", address)
    monkeypatch.setenv("CARES_FREESOUND_URL", address)
    told = [str(found) for found in findings()]
    with pytest.raises(CaresError) as first, open_llm("toy", LlmParams()):
        pass
    with pytest.raises(CaresError) as second:
        AudioServer("toy", address)
    with pytest.raises(InputError) as third:
        server_address("", "toy")
    told += map(str, (first.value, second.value, third.value))
    with pytest.raises(InputError) as fourth:
        Freesound("sk-long-enough-key", address)
    told.append(str(fourth.value))
    assert len(told) >= 7
    assert not [one for one in told if "hush" in one]


@pytest.mark.parametrize("name", ["CARES_LLM_KEY", "CARES_LLM_KEYS", "CARES_LMM_KEY", "CARES_HF_TOKEN", "CARES_PASSWD"])
def test_the_doctor_does_not_show_a_key_even_where_its_name_is_misspelt(name: str) -> None:
    (found,) = findings({name: KEY})
    is_hidden(found)


def test_a_token_of_the_hub_is_not_in_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    from cares.models.registry import registered
    from cares.models.sources import hub_file

    def refuses(*args: object, **options: object) -> str:
        raise OSError(f"401: Bearer {huggingface_hub.get_token()} is not accepted")

    monkeypatch.setenv("HF_TOKEN", KEY)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuses)
    model = registered("all-minilm-l6-v2")
    with pytest.raises(CaresError, match=r"401: Bearer \(key\) is not accepted") as caught:
        hub_file(model, model.files[0], tmp_path)
    is_hidden(caught.value)


def test_a_password_of_the_package_index_is_not_in_the_error(
    echo: Echo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cares.models.schema import PackagePart
    from cares.models.sources import _download

    echo.listing = lambda key: (404, {}, {"message": key})
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", echo.url.replace("//", "//me:hush-hush@") + "/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(CaresError, match="could not be downloaded") as caught:
        _download(PackagePart(distribution="cares-no-such-package", version="1.0", file="*"), tmp_path)
    assert echo.seen and "hush" not in str(caught.value)


def test_a_short_key_such_as_those_of_servers_without_one_changes_no_answer() -> None:
    assert hide_secret("The box is EMPTY.", "EMPTY") == "The box is EMPTY."
    assert hide("refused: EMPTY", "EMPTY") == "refused: (key)"
    assert hide("as it was", None) == hide_secret("as it was", None) == "as it was"
    assert MODELS[0] == 200


def test_no_tracked_file_of_dvc_has_a_place_for_a_key() -> None:
    root = Path(__file__).parents[2]
    for name in ("dvc.yaml", "params.yaml", ".dvc/config"):
        text = (root / name).read_text(encoding="utf-8")
        assert "_KEY" not in text and "_URL" not in text, name
