"""Voices of a server: a real one on the loopback, that says tones or what it is told to say."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from speech_world import World, dialogue

from cares.core.errors import CaresError, InputError
from cares.speech.engines import EngineError, load_engine
from cares.speech.engines.openai import OpenAIEngine, Patience, server_address, server_key
from cares.speech.script import script
from cares.speech.studio import Take
from cares.speech.voices import Voice

RATE = 16_000
QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.02, longest_asked_s=1.0, connect_s=2.0, answer_s=2.0)


def wav(text: str, speed: float = 1.0, channels: int = 1) -> bytes:
    n = np.arange(int(RATE * (0.2 + 0.05 * len(text)) / speed))
    tone = 0.3 * np.sin(2 * np.pi * 440 / RATE * n)
    stream = io.BytesIO()
    soundfile.write(stream, np.repeat(tone[:, None], channels, axis=1), RATE, format="WAV", subtype="PCM_16")
    return stream.getvalue()


class Server:
    """What came, and what to answer next: (status, headers, bytes); without one, a tone."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.url = ""

    def answer(self, status: int, body: object = b"", **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, data))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("CARES_TTS_URL", raising=False)
    monkeypatch.delenv("CARES_TTS_KEY", raising=False)
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, self.headers.get("Authorization", ""), body))
            status, headers, data = (
                state.answers.pop(0) if state.answers else (200, {}, wav(body["input"], body["speed"]))
            )
            self.send_response(status)
            for name, value in {"Content-Type": "audio/wav", "Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{running.server_port}"
    yield state
    running.shutdown()
    running.server_close()


def engine(server: Server, key: str | None = None, **request: str | bool) -> OpenAIEngine:
    return OpenAIEngine("qwen3-tts", server_address(server.url, "qwen3-tts"), key, request, QUICK)


def test_the_request_is_openais_and_the_sound_comes_back(server: Server) -> None:
    speech = engine(server, "secret", language="English", seed=True).speak("Hello there.", "vivian", 1.1, 7)
    assert server.requests == [
        (
            "/v1/audio/speech",
            "Bearer secret",
            {
                "model": "qwen3-tts",
                "input": "Hello there.",
                "voice": "vivian",
                "response_format": "wav",
                "speed": 1.1,
                "language": "English",
                "seed": 7,
            },
        )
    ]
    assert speech.rate == RATE
    assert speech.words is None
    assert speech.samples.dtype == np.float32
    assert abs(float(np.abs(speech.samples).max()) - 0.3) < 0.01


def test_the_seed_is_sent_only_where_the_table_says_so(server: Server) -> None:
    engine(server).speak("Hello.", "vivian", 1.0, 7)
    assert "seed" not in server.requests[0][2]
    assert server.requests[0][1] == ""


def test_two_channels_become_one(server: Server) -> None:
    server.answer(200, wav("Hello.", channels=2))
    assert engine(server).speak("Hello.", "vivian", 1.0, 1).samples.ndim == 1


def test_half_a_sound_file_is_asked_again(server: Server) -> None:
    whole = wav("Hello.")
    server.answer(200, whole[: len(whole) // 2])
    assert len(engine(server).speak("Hello.", "vivian", 1.0, 1).samples) == (len(whole) - 44) // 2
    assert len(server.requests) == 2


def test_a_streamed_sound_file_of_unknown_length_is_whole(server: Server) -> None:
    whole = wav("Hello.")
    server.answer(200, whole[:4] + b"\xff\xff\xff\xff" + whole[8:])
    assert len(engine(server).speak("Hello.", "vivian", 1.0, 1).samples)
    assert len(server.requests) == 1


def test_what_may_pass_is_asked_again(server: Server) -> None:
    server.answer(503, {"error": {"message": "loading"}})
    server.answer(429, b"", Retry_After="0")
    assert len(engine(server).speak("Hello.", "vivian", 1.0, 1).samples)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, {"error": {"message": "out of memory"}}, r"status 500: out of memory \(3 attempts\).*run again"),
        (200, b"<html>busy</html>", r"an answer that is no sound file \(audio/wav, 17 bytes\) \(3 attempts\)"),
    ],
)
def test_what_does_not_pass_ends_with_the_servers_words(server: Server, status: int, body: object, said: str) -> None:
    for _ in range(3):
        server.answer(status, body)
    with pytest.raises(CaresError, match=said):
        engine(server).speak("Hello.", "vivian", 1.0, 1)


@pytest.mark.parametrize(
    ("status", "message", "kind", "said"),
    [
        (400, "Voice 'vivian' not supported", InputError, "voice: got 'vivian', expected a voice of qwen3-tts"),
        (400, "Input is too long: maximum length is 4096", EngineError, "too long"),
        (413, "payload", EngineError, "status 413"),
        (422, "unknown field language", CaresError, "status 422 for 'qwen3-tts': unknown field language"),
        (401, "no", CaresError, "It wants a key: set CARES_TTS_KEY"),
        (404, "nothing here", CaresError, "does it offer the model 'qwen3-tts'"),
    ],
)
def test_what_is_refused_is_told_and_not_asked_again(
    server: Server, status: int, message: str, kind: type[Exception], said: str
) -> None:
    server.answer(status, {"error": {"message": message}})
    with pytest.raises(kind, match=said):
        engine(server).speak("Hello.", "vivian", 1.0, 1)
    assert len(server.requests) == 1


def test_a_refused_key_is_not_shown(server: Server) -> None:
    server.answer(403, {"error": {"message": "the key hush-hush is not mine"}})
    with pytest.raises(CaresError, match=r"the key \(key\) is not mine\. It refuses the key in CARES_TTS_KEY") as told:
        engine(server, "hush-hush").speak("Hello.", "vivian", 1.0, 1)
    assert "hush-hush" not in str(told.value)


def test_a_pause_that_is_too_long_is_not_waited_for(server: Server) -> None:
    server.answer(429, b"", Retry_After="3600")
    with pytest.raises(CaresError, match="come back after 3600 s"):
        engine(server).speak("Hello.", "vivian", 1.0, 1)


def test_a_server_that_is_not_there_is_told(server: Server) -> None:
    absent = OpenAIEngine("qwen3-tts", "http://127.0.0.1:9/v1/", None, None, QUICK)
    with pytest.raises(CaresError, match=r"127\.0\.0\.1:9: .*\(3 attempts\)"):
        absent.speak("Hello.", "vivian", 1.0, 1)


def test_a_sound_without_samples_is_an_error_of_the_text(server: Server) -> None:
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros(0), RATE, format="WAV")
    server.answer(200, stream.getvalue())
    with pytest.raises(EngineError, match="without samples"):
        engine(server).speak("Hello.", "vivian", 1.0, 1)


@pytest.mark.parametrize(
    "given",
    [
        "ftp://a",
        "http://",
        "http://me:word@somewhere:80",
        "http://[::1",
        "http://me:word@somewhere:99999",
        "http://a:99999",
        "http://a/v1?key=word",
    ],
)
def test_a_wrong_address_or_key_is_told_without_its_secret(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_TTS_URL", given)
    with pytest.raises(InputError, match="CARES_TTS_URL") as told:
        load_engine("openai", "qwen3-tts", None)
    assert "word" not in str(told.value).replace("a password", "")
    monkeypatch.setenv("CARES_TTS_KEY", "two words")
    with pytest.raises(InputError, match="CARES_TTS_KEY: got 'a key that is not shown'"):
        server_key()


def test_the_environment_names_the_server_before_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARES_TTS_URL", raising=False)
    assert server_address("http://table:1/v1", "m") == "http://table:1/v1/"
    monkeypatch.setenv("CARES_TTS_URL", "http://here:2/")
    assert server_address("http://table:1", "m") == "http://here:2/v1/"
    monkeypatch.delenv("CARES_TTS_URL")
    with pytest.raises(InputError, match="the address of the server that offers m"):
        server_address("", "m")


def test_the_store_keeps_what_a_server_said_and_the_record_says_that_it_was_served(
    server: Server, tmp_path: Path
) -> None:
    voice = Voice(engine="openai", model="m", voice="x", gender="F", accent="x", licence="x", url=server.url)
    line = script(dialogue([{"text": "Hello there."}]))[0]

    def take() -> Take:
        studio = World(tmp_path).studio
        studio.voices = {"a": voice}
        studio._open_engine = lambda voice: OpenAIEngine("m", server_address(voice.url, "m"), None, None, QUICK)
        studio._model_digest = lambda model: pytest.fail("the weights of a served model are not here")
        return studio.speak(line, "t00000-0", 0, "a", 1.0, 0)

    first = take()
    assert first.engine == "openai (served)"
    assert len(first.samples) > RATE // 4
    np.testing.assert_array_equal(take().samples, first.samples)
    assert len(server.requests) == 1


def test_a_fault_of_a_server_is_not_kept(server: Server, tmp_path: Path) -> None:
    voice = Voice(engine="openai", model="m", voice="x", gender="F", accent="x", licence="x", url=server.url)
    line = script(dialogue([{"text": "Hello there."}]))[0]
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros(RATE), RATE, format="WAV")
    server.answer(200, stream.getvalue())
    studio = World(tmp_path).studio
    studio.voices = {"a": voice}
    studio._open_engine = lambda voice: OpenAIEngine("m", server_address(voice.url, "m"), None, None, QUICK)
    assert studio.speak(line, "t00000-0", 0, "a", 1.0, 0).fault == "silent"
    assert studio.speak(line, "t00000-0", 0, "a", 1.0, 0).fault != "silent"
    assert len(server.requests) == 2
