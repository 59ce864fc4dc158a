"""Every server that is started listens on loopback alone, and no key stands on a command line."""

from __future__ import annotations

import ast
import ipaddress
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cares.llm import serve as module
from cares.llm.serve import serve

ROOT = Path(__file__).parents[2]
SECRET = "sk-not-on-a-command-line"
# listens as vLLM does: everywhere, unless it is told a host
STAND_IN = """
import http.server, socketserver, sys
options = dict(zip(sys.argv[1::1], sys.argv[2::1]))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.HTTPServer((options.get("--host", ""), int(options["--port"])), Handler).serve_forever()
"""


def is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def listening(process: psutil.Process) -> list[str]:
    """Addresses at which a process and its children listen."""
    found = []
    for one in (process, *process.children(recursive=True)):
        found += [c.laddr.ip for c in one.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return found


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package called vllm whose server is a few lines; every option is given as the real one gets it."""
    package = tmp_path / "stand in/vllm/entrypoints/openai"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").touch()
    (package / "api_server.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'stand in'}:{ROOT}")
    monkeypatch.setattr(module, "ensure", lambda model_id: tmp_path)
    monkeypatch.setenv("CARES_LLM_KEY", SECRET)
    yield


def test_what_listens_everywhere_would_be_found() -> None:
    import socket

    with socket.socket() as everywhere:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        assert not all(map(is_loopback, listening(psutil.Process())))
    assert not is_loopback("::") and is_loopback("::ffff:127.0.0.1")


@pytest.mark.usefixtures("stand_in")
def test_the_server_of_a_model_listens_on_loopback_and_has_no_key_on_its_command_line() -> None:
    with serve("smollm2-135m-instruct") as url:
        assert url.startswith("http://127.0.0.1:")
        children = psutil.Process().children(recursive=True)
        lines = [" ".join(child.cmdline()) for child in children]
        server = [child for child, line in zip(children, lines, strict=True) if "api_server" in line]
        assert server and all("--host 127.0.0.1" in line for line in lines if "api_server" in line)
        found = [address for child in server for address in listening(child)]
        environments = [child.environ() for child in server]
    assert found and all(map(is_loopback, found))
    assert not any(SECRET in line for line in lines)
    # what torch opens beside the server's port
    assert all((e["GLOO_SOCKET_IFNAME"], e["VLLM_HOST_IP"]) == ("lo", "127.0.0.1") for e in environments)


def test_a_process_group_of_torch_listens_on_loopback_when_told_so(tmp_path: Path) -> None:
    """As vLLM starts one in this process: through a file, by Gloo."""
    import subprocess
    import sys

    code = f"""
import os, psutil
from cares.llm.open import LOOPBACK_ONLY
os.environ.setdefault(*LOOPBACK_ONLY)
import torch.distributed as d
d.init_process_group("gloo", init_method="file://{tmp_path}/store", rank=0, world_size=1)
print(*[c.laddr.ip for c in psutil.Process().net_connections("inet") if c.status == "LISTEN"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    found = done.stdout.split()
    assert found and all(map(is_loopback, found))


def test_no_server_of_the_tests_listens_elsewhere() -> None:
    """Each names 127.0.0.1: an empty host, or another, would be reached from outside."""
    hosts = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func).endswith(("HTTPServer", "TCPServer"))
                and node.args
            ):
                hosts.append((path.name, ast.unparse(node.args[0])))
    assert len(hosts) >= 3
    assert [one for one in hosts if "127.0.0.1" not in one[1]] == []
