"""A server on loopback with OpenAI's chat interface that truly decodes the recordings it is sent."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np
import soundfile
from numpy.typing import NDArray


class Question(NamedTuple):
    """What a request held; `samples` float64 [T]."""

    text: str
    samples: NDArray[np.float64]
    sample_rate: int
    subtype: str
    channels: int
    sha256: str
    body: dict[str, Any]
    headers: dict[str, str]


Reply = tuple[int, dict[str, Any]]
Script = Callable[[int, Question], Reply]


def said(text: str, reason: str = "stop", prompt_tokens: int = 30) -> Reply:
    """A reply of OpenAI's form."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 1}}


class Ears:
    """What the server heard, and what it says: `script(number of the request, question)`."""

    def __init__(self) -> None:
        self.script: Script = lambda number, question: said("B")
        self.heard: list[Question] = []
        self.pause_s = 0.0
        self.lock = threading.Lock()
        self.at_once = 0
        self.most_at_once = 0
        self.url = ""


def _question(body: dict[str, Any], headers: dict[str, str]) -> Question:
    sound, text = body["messages"][0]["content"]
    assert sound["type"] == "input_audio"
    assert sound["input_audio"]["format"] == "wav"
    data = base64.b64decode(sound["input_audio"]["data"], validate=True)
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        about = (file.samplerate, file.subtype, file.channels)
        samples = file.read(dtype="float64")
    digest = hashlib.sha256(data).hexdigest()
    return Question(text["text"], samples, *about, digest, body, headers)


@contextmanager
def listening() -> Iterator[Ears]:
    """A server with ears, for as long as the block lasts."""
    state = Ears()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(200, {"data": [{"id": "ears"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            question = _question(body, dict(self.headers))
            with state.lock:
                state.heard.append(question)
                number = len(state.heard)
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
            time.sleep(state.pause_s)
            reply = state.script(number, question)
            with state.lock:
                state.at_once -= 1
            self.reply(*reply)

        def reply(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that was killed is what one test is about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
