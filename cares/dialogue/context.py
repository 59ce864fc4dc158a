"""Whether the longest requests for dialogues fit into what a model can hold at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cares.core.errors import InputError
from cares.dialogue.skeleton import CHARS_OF_A_TOKEN
from cares.dialogue.writer import Writer
from cares.llm.params import LlmParams
from cares.records.scene import Scene

TOPIC = "x" * 120


def check_context(scenes: Sequence[Scene], writer: Writer, llm: LlmParams) -> None:
    """Check the scenes that should be longest, one for each number of turns, before any model is opened.

    Tokens are counted from characters, with fewer characters a token than English has.

    Raises:
        InputError: prompt and answer may together be longer than `llm.context_tokens`, or a scene cannot be budgeted.
    """
    longest: dict[int, Scene] = {}
    for scene in scenes:
        if scene.length_s is not None:
            best = longest.get(scene.n_turns)
            if best is None or scene.length_s > (best.length_s or 0):
                longest[scene.n_turns] = scene
    for scene in longest.values():
        request = writer.draft(scene, TOPIC, 0, 0).request
        prompt = math.ceil(sum(len(message.content) for message in request.messages) / CHARS_OF_A_TOKEN)
        if prompt + request.max_tokens > llm.context_tokens:
            need = f"room for {prompt} tokens of prompt and {request.max_tokens} of answer ({scene.scene_id})"
            hint = "Raise it, or lower allocation.length."
            raise InputError("params.yaml", "llm.context_tokens", llm.context_tokens, need, hint)
