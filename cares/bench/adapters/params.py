"""Which model the system `transformers` runs: its adapter, where its files are, and what pins them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cares.core.record import Record
from cares.records.bank import Sha256


class TransformersParams(Record):
    """One model.

    adapter: a name of `cares.bench.adapters.known.ADAPTERS`.
    source: a repository of the hub ("owner/name"), or a folder with the files.
    revision: the full commit id, 40 hex digits; None only for a folder, whose files are hashed instead.
    code_sha256: SHA-256 of each Python file of the model, by file name. Only code that is named here, and is as named,
        is run; most adapters need none, because their code is a part of the library.
    dtype: number type of weights and activations.
    """

    adapter: str
    source: Annotated[str, Field(min_length=1)]
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    code_sha256: dict[str, Sha256] = Field(default_factory=dict)
    dtype: Annotated[str, Field(pattern=r"^(?:bfloat16|float16|float32)$")] = "bfloat16"
