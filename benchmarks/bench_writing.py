"""What the forms of the skeleton cost: a wave of dialogues, against vLLM alone on a plain list of as many requests.

Both run in one engine and in turns; the plain list has the same prompts, no schema, and texts of the same length. It
prints tokens per second and their ratio, at the end the medians of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from cares.allocation.standalone import allocate_with
from cares.catalog.load import load_catalog
from cares.core.params import Params
from cares.dialogue.params import DialoguesParams
from cares.dialogue.writer import SkeletonWriter
from cares.llm.inprocess import InProcessModel
from cares.llm.params import LlmParams


def main() -> None:
    """Measure one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--scenes", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    params, catalog = Params(), load_catalog()
    section = params.section("dialogues", DialoguesParams)
    writer = SkeletonWriter(catalog, section, params.seed, Path("prompts"))
    scenes = allocate_with(arguments.scenes, 1, params.seed, None).scenes
    model = InProcessModel(arguments.model, params.section("llm", LlmParams))
    ratios, written_rates, plain_rates = [], [], []
    for number in range(arguments.rounds):
        wave = [writer.draft(scene, catalog.themes[scene.theme].examples[0], number, 0).request for scene in scenes]
        begin = time.perf_counter()
        answers = model.complete(wave)
        written = sum(answer.completion_tokens for answer in answers) / (time.perf_counter() - begin)
        plain = _plain(model, wave, [answer.completion_tokens for answer in answers])
        written_rates.append(written)
        plain_rates.append(plain)
        ratios.append(written / plain)
        print(f"round {number + 1}: stage {written:.1f} tokens/s, vLLM alone {plain:.1f}, ratio {written / plain:.2f}")
    model.close()
    middle = [statistics.median(values) for values in (written_rates, plain_rates, ratios)]
    print(f"median: stage {middle[0]:.1f} tokens/s, vLLM alone {middle[1]:.1f}, ratio {middle[2]:.2f}")


def _plain(model: InProcessModel, wave, lengths) -> float:
    from vllm import SamplingParams

    sampling = [
        SamplingParams(
            temperature=request.temperature,
            top_p=request.top_p,
            min_p=request.min_p,
            presence_penalty=request.presence_penalty,
            frequency_penalty=request.frequency_penalty,
            seed=request.seed,
            max_tokens=length,
            min_tokens=length,
        )
        for request, length in zip(wave, lengths, strict=True)
    ]
    talks = [[message.to_json() for message in request.messages] for request in wave]
    begin = time.perf_counter()
    outputs = model._llm.chat(talks, sampling, use_tqdm=False)  # the very engine that the stage uses
    seconds = time.perf_counter() - begin
    return sum(len(output.outputs[0].token_ids) for output in outputs) / seconds


if __name__ == "__main__":
    main()
