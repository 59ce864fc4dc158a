"""A server on loopback that says back the key it was sent, in every place where a server can say something."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-b7'Q\\9-do-not-show"
Reply = tuple[int, dict[str, str], Any]
Said = Callable[[str], Reply]
MODELS: Reply = (200, {}, {"data": [{"id": "toy"}]})


def chat(text: str, reason: Any = "stop", tokens: Any = 3) -> Reply:
    """A reply of OpenAI's form."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return 200, {}, {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}


class Echo:
    """`listing` and `said` get the Authorization header that came; `seen` are the headers of all requests."""

    def __init__(self) -> None:
        self.listing: Said = lambda key: MODELS
        self.said: Said = chat
        self.seen: list[dict[str, str]] = []
        self.url = ""


@contextmanager
def echoing() -> Iterator[Echo]:
    """The server, for as long as the block lasts."""
    state = Echo()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def answer(self, said: Said) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            state.seen.append(dict(self.headers))
            status, headers, body = said(self.headers.get("Authorization", ""))
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.answer(state.listing)

        def do_POST(self) -> None:
            self.answer(state.said)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
