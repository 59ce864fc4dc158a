"""A server on loopback that answers as Freesound's API does, and can be told to fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cares.sounds.freesound.client import Freesound, Patience

KEY = "s3cret-key"
CC0 = "http://creativecommons.org/publicdomain/zero/1.0/"
BY = "https://creativecommons.org/licenses/by/4.0/"
BY_NC = "https://creativecommons.org/licenses/by-nc/4.0/"
QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.05, answer_s=5.0)


@dataclass
class FakeFreesound:
    """Sounds by id (search answers all of them), bytes of previews, failures to come, and what was asked.

    failures: (status, headers) of the next answers, whatever is asked.
    missing_previews: statuses with which previews are refused, by id.
    """

    url: str = ""
    sounds: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)
    failures: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    missing_previews: dict[int, int] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str], str | None]] = field(default_factory=list)

    def add(self, sound_id: int, data: bytes, licence: str = CC0, author: str | None = None) -> None:
        """A sound with its preview."""
        self.files[sound_id] = data
        self.sounds[sound_id] = {
            "id": sound_id,
            "name": f"sound {sound_id}",
            "username": f"author {sound_id}" if author is None else author,
            "license": licence,
            "url": f"https://freesound.org/s/{sound_id}/",
            "duration": 1.0,
            "previews": {"preview-hq-ogg": f"{self.url}previews/{sound_id}.ogg", "preview-lq-mp3": "x"},
        }

    def searches(self) -> list[dict[str, str]]:
        """What was searched for."""
        return [given for path, given, _ in self.asked if path == "/apiv2/search/"]

    def answer(self, path: str, given: dict[str, str], key: str | None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        self.asked.append((path, given, key))
        if self.failures:
            status, headers = self.failures.pop(0)
            return status, headers, b'{"detail": "not now"}'
        if path.startswith("/apiv2/previews/"):
            number = int(path.split("/")[-1].split(".")[0])
            if status := self.missing_previews.get(number):
                return status, {}, b""
            return 200, {}, self.files[number]
        if key != f"Token {KEY}":
            return 401, {}, json.dumps({"detail": f"Invalid token: {key}"}).encode()
        if path == "/apiv2/search/":
            size, page = int(given["page_size"]), int(given["page"])
            ordered = list(self.sounds.values())
            there = ordered[(page - 1) * size : page * size]
            more = f"{self.url}search/?page={page + 1}" if page * size < len(ordered) else None
            return 200, {}, json.dumps({"count": len(ordered), "next": more, "results": there}).encode()
        number = int(path.rstrip("/").split("/")[-1])
        if number not in self.sounds:
            return 404, {}, b'{"detail": "Not found."}'
        return 200, {}, json.dumps(self.sounds[number]).encode()


@contextmanager
def serving() -> Iterator[FakeFreesound]:
    """The server while the block runs."""
    fake = FakeFreesound()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            given = {name: values[0] for name, values in parse_qs(parts.query).items()}
            status, headers, body = fake.answer(parts.path, given, self.headers.get("Authorization"))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/apiv2/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def connect(fake: FakeFreesound, key: str = KEY) -> Freesound:
    """A client of the server that does not wait long."""
    return Freesound(key, fake.url, QUICK)
