"""Asks a model that runs in this process: the recording as 16 kHz samples and the question, in its own chat form."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from cares.bench.adapters.known import adapter_of
from cares.bench.adapters.params import TransformersParams
from cares.bench.adapters.pinned import model_digest, model_folder
from cares.bench.systems_audio import AUDIO_RATE, AudioQuestion, load_16k
from cares.core.errors import CaresError
from cares.llm.types import ChatAnswer, failed

Keep = Callable[[int, ChatAnswer, int], None]


class TransformersModel:
    """A pinned model; see `cares.bench.systems_audio.AudioSystem`.

    Args:
        params: which model.

    Raises:
        InputError: it is not pinned, or its code is not named.
        CaresError: torch or transformers is not installed, or the model does not load.
    """

    def __init__(self, params: TransformersParams) -> None:
        adapter = adapter_of(params.adapter)
        folder = model_folder(params, adapter)
        try:
            import torch
            import transformers
        except ImportError as error:
            raise CaresError(f"{params.adapter}: {error}; install the extra `build`") from None
        remote = adapter.code == "remote"
        try:
            processor_class = getattr(transformers, adapter.processor_class)
            processor = processor_class.from_pretrained(folder, trust_remote_code=remote)
            model = getattr(transformers, adapter.model_class).from_pretrained(
                folder, dtype=getattr(torch, params.dtype), trust_remote_code=remote, use_safetensors=True
            )
        except (OSError, ValueError, ImportError, AttributeError) as error:
            # among them torchvision, which the processors of the Omni models want although no picture is shown
            raise CaresError(f"{params.adapter}: does not load from {params.source}: {error}") from error
        if torch.cuda.is_available():
            model.to("cuda")
        self._set(params.adapter, model_digest(folder, params), processor, model)

    @classmethod
    def of(cls, name: str, identity: str, processor: Any, model: Any) -> Self:
        """A model that is loaded already, with the processor that makes its inputs."""
        made = cls.__new__(cls)
        made._set(name, identity, processor, model)
        return made

    def _set(self, name: str, identity: str, processor: Any, model: Any) -> None:
        import torch

        self.name, self.digest = name, identity
        self._torch, self._processor, self._model = torch, processor, model.eval()

    def body(self, question: AudioQuestion) -> dict[str, Any]:
        """What of a question decides the answer, beside the model and the recording."""
        return {"prompt": question.prompt, "max_tokens": question.max_tokens, "choices": question.choices}

    def answer(self, questions: Sequence[AudioQuestion], keep: Keep) -> None:
        """Answer one question after the other, greedily; `keep` gets place, answer and milliseconds of each."""
        for place, question in enumerate(questions):
            begin = time.monotonic()
            answer = self._one(question)
            keep(place, answer, round(1000 * (time.monotonic() - begin)))

    def close(self) -> None:
        """Give back the memory."""
        self._model = self._processor = None

    def inputs(self, question: AudioQuestion) -> Any:
        """What the model is called with: token ids [1, T], features of the recording, and their masks."""
        sound = load_16k(question.audio, question.audio_sha256).astype("float32") / 32768.0
        content = [{"type": "audio", "audio": sound}, {"type": "text", "text": question.prompt}]
        text = self._processor.apply_chat_template(
            [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
        )
        inputs = self._processor(
            text=[text], audio=[sound], sampling_rate=AUDIO_RATE, return_tensors="pt", padding=True
        )
        return inputs.to(self._model.device, self._model.dtype)

    def _one(self, question: AudioQuestion) -> ChatAnswer:
        prompt_tokens = 0
        try:
            inputs = self.inputs(question)
            prompt_tokens = int(inputs["input_ids"].shape[1])
            options: dict[str, Any] = {"max_new_tokens": question.max_tokens, "do_sample": False}
            if question.choices:
                options["prefix_allowed_tokens_fn"] = self._only(question.choices, prompt_tokens)
            with self._torch.inference_mode():
                written = self._model.generate(**inputs, **options)[0, prompt_tokens:].tolist()
        except (ValueError, RuntimeError, IndexError, TypeError) as error:
            # a recording that one model cannot take is that item's failure; memory that ran out is no RuntimeError
            # that passes, and is raised again
            if isinstance(error, getattr(self._torch, "OutOfMemoryError", MemoryError)):
                raise CaresError(f"{self.name}: out of memory: {error}") from error
            return failed(f"{type(error).__name__}: {error}", prompt_tokens)
        stopped = bool(written) and written[-1] in self._ends()
        return ChatAnswer(
            text=self._processor.tokenizer.decode(written, skip_special_tokens=True),
            finish_reason="stop" if stopped else "length",
            prompt_tokens=prompt_tokens,
            completion_tokens=len(written),
        )

    def _ends(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        ends = [ends] if isinstance(ends, int) else list(ends or [])
        with contextlib.suppress(AttributeError):
            ends.append(self._processor.tokenizer.eos_token_id)
        return {end for end in ends if end is not None}

    def _only(self, choices: Sequence[str], prompt_tokens: int) -> Callable[[int, Any], list[int]]:
        """The tokens that may follow, so that nothing but one of the choices can be written."""
        end = min(self._ends())
        ways = [[*self._processor.tokenizer.encode(choice, add_special_tokens=False), end] for choice in choices]

        def allowed(batch: int, ids: Any) -> list[int]:
            written = ids[prompt_tokens:].tolist()
            follow = {way[len(written)] for way in ways if len(way) > len(written) and way[: len(written)] == written}
            return sorted(follow) or [end]

        return allowed
