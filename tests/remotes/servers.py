"""Remotes on loopback: HTTP that can cut and slow down, S3 by moto, SSH by asyncssh."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USER, PASSWORD = "guest", "sesame-7"


class Web:
    """A folder behind HTTP.

    Attributes:
        got: how often each path was asked for by GET.
        cut: paths of which only the first half is sent, as often as the count says.
        pause_s: before each answer to GET.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.got: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self.pause_s = 0.0
        self.url = ""


@contextmanager
def web(folder: Path) -> Iterator[Web]:
    """Serve a folder for as long as the block lasts; POST writes files."""
    state = Web(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.send(body=False)

        def do_GET(self) -> None:
            state.got[self.path] += 1
            time.sleep(state.pause_s)
            self.send(body=True)

        def send(self, body: bool) -> None:
            path = state.folder / self.path.lstrip("/")
            data = path.read_bytes() if path.is_file() else None
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            if body and data is not None:
                if state.cut[self.path] > 0:
                    state.cut[self.path] -= 1
                    self.wfile.write(data[: len(data) // 2])
                    self.close_connection = True
                else:
                    self.wfile.write(data)

        def do_POST(self) -> None:
            if self.headers.get("Transfer-Encoding") == "chunked":
                data = b""
                while size := int(self.rfile.readline(), 16):
                    data += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                data = self.rfile.read(int(self.headers["Content-Length"]))
            path = state.folder / self.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that was killed is what one test is about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def bucket(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """An S3 server with an empty bucket; yields its address and the settings of a remote."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "secret-example", "region": "us-east-1"}
    try:
        client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name=keys["region"],
            aws_access_key_id=keys["access_key_id"],
            aws_secret_access_key=keys["secret_access_key"],
        )
        client.create_bucket(Bucket=name)
        yield url, {"endpointurl": url, **keys}
    finally:
        server.stop()


@contextmanager
def sftp(home: Path) -> Iterator[int]:
    """An SSH server for SFTP whose host key is in the known hosts of `home`; yields its port."""
    import asyncssh

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return (username, password) == (USER, PASSWORD)

    key = asyncssh.generate_private_key("ssh-ed25519")
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def start() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            Server, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=asyncssh.SFTPServer
        )

    acceptor = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    port = acceptor.get_port()
    known = home / ".ssh/known_hosts"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode().strip()}\n", encoding="utf-8")
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(acceptor.close)
        loop.call_soon_threadsafe(loop.stop)
