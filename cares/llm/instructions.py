"""Which vector instructions a language model uses on a CPU: the same ones on every processor that has them.

A product of matrices in bfloat16 is summed in another order by AMX tiles than by AVX-512, and after some hundred tokens
a word comes out differently. oneDNN and vLLM take the most that the processor has; here they are held to one set, so
that processors with and without AMX write the same text.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from cares.llm.params import LlmParams

ONEDNN_LIMITS = {"avx512_bf16": "AVX512_CORE_BF16"}
"""oneDNN's names (environment variable ONEDNN_MAX_CPU_ISA) of the sets that `llm.cpu_instructions` names."""


@contextlib.contextmanager
def held_instructions(params: LlmParams) -> Iterator[None]:
    """Hold oneDNN and vLLM's attention to `params.cpu_instructions` while a model is open.

    oneDNN reads its limit once in a process, at its first use. On a processor without the set a note on stderr says
    that the text may be another one.
    """
    limit = ONEDNN_LIMITS.get(params.cpu_instructions)
    if limit is None:
        yield
        return
    import torch

    if not torch.cuda.is_available() and not has_instructions(params.cpu_instructions):
        print(
            f"llm: this processor has no {params.cpu_instructions}; what is written may differ from other machines",
            file=sys.stderr,
        )
    before, has_tiles = os.environ.get("ONEDNN_MAX_CPU_ISA"), torch.cpu._is_amx_tile_supported
    os.environ["ONEDNN_MAX_CPU_ISA"] = limit
    torch.cpu._is_amx_tile_supported = _no_tiles
    try:
        yield
    finally:
        torch.cpu._is_amx_tile_supported = has_tiles
        if before is None:
            os.environ.pop("ONEDNN_MAX_CPU_ISA", None)
        else:
            os.environ["ONEDNN_MAX_CPU_ISA"] = before


def has_instructions(name: str, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor names this flag; True where that cannot be known."""
    if not cpuinfo.is_file():
        return True
    for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("flags"):
            return name in line.partition(":")[2].split()
    return True


def _no_tiles() -> bool:
    return False
