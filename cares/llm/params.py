"""The section `llm` of params.yaml: everything of the engine that decides what is written."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record


class LlmParams(Record):
    """How language models are run in this process.

    Attributes:
        context_tokens: longest prompt and answer together, in tokens.
        wave_limit: most requests in one wave; all of them run in one batch.
        batched_tokens: most prompt tokens computed in one step. Prompts are never split, so a wave whose prompts are
            longer together is computed in several steps.
        kv_cache_gib: memory for keys and values, GiB. A wave that does not fit is refused, not shuffled.
        dtype: number type of weights and activations.
        structured_output: the one library that enforces schemas. `guidance` joins `pattern` with length bounds;
            `xgrammar` refuses that pair.
        batch_invariant: vLLM's batch-invariant kernels (GPU only).
    """

    context_tokens: Annotated[int, Field(ge=256, le=1_048_576)] = 4096
    wave_limit: Annotated[int, Field(ge=1, le=1024)] = 16
    batched_tokens: Annotated[int, Field(ge=256)] = 16_384
    kv_cache_gib: Annotated[float, Field(gt=0, le=1024)] = 2.0
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    structured_output: Literal["guidance", "xgrammar"] = "guidance"
    batch_invariant: bool = False

    @model_validator(mode="after")
    def _a_prompt_fits_a_step(self) -> Self:
        if self.batched_tokens < self.context_tokens:
            raise ValueError("batched_tokens must be at least context_tokens, or a long prompt would be split")
        return self
