"""A server on loopback that answers as a script says."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cares.llm.types import ChatMessage, ChatRequest

Reply = tuple[int, dict[str, str], bytes]
Script = Callable[[int, dict[str, Any]], Reply | None]


def request(text: str = "hello", **changed: Any) -> ChatRequest:
    values: dict[str, Any] = {"seed": 7, "max_tokens": 20, "temperature": 0.5, "top_p": 0.9, **changed}
    return ChatRequest(messages=(ChatMessage(role="user", content=text),), **values)


def answer(text: str, reason: str = "stop") -> Reply:
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    return 200, {}, json.dumps(body).encode()


def echo(body: dict[str, Any]) -> Reply:
    return answer("echo " + body["messages"][-1]["content"])


class Served:
    """What the server saw, and what it shall say: `script(number of the request, body)`; None breaks the connection.

    `listing` is the reply to the question for models, by default the list of `models`; `byte_s` is the time that each
    byte of a script's reply takes.
    """

    def __init__(self) -> None:
        self.script: Script = lambda number, body: echo(body)
        self.models = ["toy"]
        self.listing: Reply | None = None
        self.byte_s = 0.0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.url = ""


@contextlib.contextmanager
def serving(state: Served, port: int = 0) -> Iterator[None]:
    """Listen on loopback, at a free port or a given one, and answer as `state` says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            listing = (200, {}, json.dumps({"data": [{"id": name} for name in state.models]}).encode())
            self.reply(state.listing or listing, 0.0)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                state.bodies.append(body)
                state.headers.append(dict(self.headers))
                number = len(state.bodies)
            self.reply(state.script(number, body), state.byte_s)

        def reply(self, reply: Reply | None, byte_s: float) -> None:
            self.close_connection = reply is None
            status, headers, data = reply or (200, {}, b"x" * 100)
            self.send_response_only(status)  # no Date but a reply's own
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            data = data[:10] if reply is None else data
            for place in range(len(data)) if byte_s else ():
                self.wfile.write(data[place : place + 1])
                time.sleep(byte_s)
            self.wfile.write(b"" if byte_s else data)

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is what some tests are about."""

    server = Quiet(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def served() -> Iterator[Served]:
    state = Served()
    with serving(state):
        yield state
