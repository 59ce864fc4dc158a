"""A vLLM server of ours: started on loopback, waited for, and always stopped with all its processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from cares.core.errors import CaresError
from cares.core.executor import progress
from cares.llm.inprocess import ENVIRONMENT, GIB
from cares.llm.params import LlmParams
from cares.llm.types import LlmError
from cares.models.ensure import ensure

HOST = "127.0.0.1"
GUARD = Path(__file__).with_name("guard.py")
START_S = 600.0


@contextmanager
def serve(model_id: str, params: LlmParams | None = None, port: int | None = None) -> Iterator[str]:
    """Serve a registered model with vLLM; yields the address of the OpenAI-compatible interface, ending in /v1.

    The server listens on loopback only. It ends with the block, also on an exception or Ctrl-C, and by itself if this
    process is killed.

    Args:
        model_id: a model of kind `llm` in the registry; it is served under this name.
        params: how to run it.
        port: a port to use; by default a free one.

    Raises:
        CaresError: the given port is taken.
        LlmError: the server does not start in time; the end of its messages is in the error.
    """
    params = params or LlmParams()
    port = _checked(port) if port is not None else _free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *_arguments(model_id, params, port)]
    environment = {
        **os.environ,
        **ENVIRONMENT,
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
        "VLLM_BATCH_INVARIANT": str(int(params.batch_invariant)),
        "VLLM_HOST_IP": HOST,
        "GLOO_SOCKET_IFNAME": "lo",  # else Gloo listens where this machine's name points to
    }
    with running(command, f"http://{HOST}:{port}/health", model_id, environment):
        yield f"http://{HOST}:{port}/v1"


@contextmanager
def running(
    command: Sequence[str], health_url: str, label: str, environment: dict[str, str], start_s: float = START_S
) -> Iterator[None]:
    """Run a server command under a guard until `health_url` answers 200, and end all its processes with the block.

    Raises:
        LlmError: it ended, or did not answer within `start_s` seconds.
    """
    with tempfile.TemporaryFile() as log:
        guard = subprocess.Popen(
            [sys.executable, str(GUARD), str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            _wait_for_health(guard, health_url, label, start_s, log.fileno())
            yield
        finally:
            _stop(guard)


def serve_until_interrupted(model_id: str, params: LlmParams | None = None, port: int | None = None) -> None:
    """The command `cares serve`: serve a model until Ctrl-C or SIGTERM, printing how to use it."""
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with serve(model_id, params, port) as url:
            print(f"{model_id} is served; use it with: export CARES_LLM_URL={url}\nCtrl-C stops it", flush=True)
            while _answers(url.removesuffix("/v1") + "/health"):
                time.sleep(2.0)
            raise LlmError(f"{model_id}: the server ended by itself")
    except KeyboardInterrupt:
        print(f"{model_id}: stopped", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _arguments(model_id: str, params: LlmParams, port: int) -> list[str]:
    values = {
        "--model": str(ensure(model_id)),
        "--served-model-name": model_id,
        "--host": HOST,
        "--port": str(port),
        "--dtype": params.dtype,
        "--seed": "0",
        "--max-model-len": str(params.context_tokens),
        "--max-num-seqs": str(params.wave_limit),
        "--max-num-batched-tokens": str(params.batched_tokens),
        "--kv-cache-memory-bytes": str(int(params.kv_cache_gib * GIB)),
        "--structured-outputs-config.backend": params.structured_output,
        "--structured-outputs-config.disable_any_whitespace": "true",
        "--generation-config": "vllm",
    }
    flags = [
        "--no-enable-chunked-prefill",
        "--no-enable-prefix-caching",
        "--enforce-eager",
        "--disable-log-stats",
        "--disable-uvicorn-access-log",
    ]
    return [*(part for pair in values.items() for part in pair), *flags]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def _checked(port: int) -> int:
    with socket.socket() as wanted:
        wanted.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            wanted.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CaresError(f"port {port} of {HOST}: {reason}; choose another or leave the port out") from None
    return port


def _wait_for_health(guard: subprocess.Popen[bytes], url: str, label: str, start_s: float, log: int) -> None:
    begin = time.monotonic()
    with progress(desc=f"{label}: starting the server", unit="look") as bar:
        while not _answers(url):
            if guard.poll() is not None:
                raise LlmError(f"{label}: the server ended while starting (status {guard.returncode}):\n{_tail(log)}")
            if time.monotonic() - begin > start_s:
                raise LlmError(f"{label}: no answer from the server within {start_s:.0f} s:\n{_tail(log)}")
            time.sleep(0.5)
            bar.update()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5.0, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _tail(log: int, lines: int = 15) -> str:
    size = os.fstat(log).st_size
    start = max(0, size - 20_000)
    text = os.pread(log, size - start, start).decode("utf-8", "replace")
    return "\n".join(text.strip().splitlines()[-lines:]) or "(it wrote nothing)"


def _stop(guard: subprocess.Popen[bytes]) -> None:
    """Ask the guard to end the server, which takes it a bounded time."""
    if guard.poll() is None:
        guard.terminate()
    guard.wait()
