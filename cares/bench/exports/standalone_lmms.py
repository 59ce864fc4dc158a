"""What the YAML files of CARES call in lmms-eval (https://github.com/EvolvingLMMs-Lab/lmms-eval)."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cares_reader import mentions, read_choice  # noqa: E402

Doc = dict[str, Any]


def doc_to_visual(doc: Doc) -> list[Doc]:
    """The recording as samples, as lmms-eval's audio models take it: array float32 [T], sampling_rate in Hz."""
    import soundfile

    array, rate = soundfile.read(HERE / doc["audio"], dtype="float32")
    return [{"array": array, "sampling_rate": rate}]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Doc | None = None) -> str:
    """The frozen question; prompts of single models would change the benchmark, so none is added."""
    return str(doc["question"])


def doc_to_messages(doc: Doc, lmms_eval_specific_kwargs: Doc | None = None) -> list[Doc]:
    """The same as a conversation."""
    audio = {"type": "audio", "url": doc_to_visual(doc)[0]}
    return [{"role": "user", "content": [audio, {"type": "text", "text": doc_to_text(doc)}]}]


def process_choice(doc: Doc, results: list[str]) -> Doc:
    """Whether the answer is right; what cannot be read is wrong."""
    choice = read_choice(results[0], list(doc["choices"]), list(doc["texts"]))
    found = {
        "score": float(choice == doc["answer"]),
        "answer": doc["answer"],
        "pair": doc["pair"],
        "template_id": doc["template_id"],
        "unreadable": float(choice is None),
    }
    return {"accuracy": found, "balanced_accuracy": found, "unreadable": found, "pair_accuracy": found}


def process_summary(doc: Doc, results: list[str]) -> Doc:
    """The share of the scene's sounds that the summary names."""
    named = mentions(results[0], list(doc["sounds"]))
    return {"mention_rate": {"named": sum(named), "sounds": len(named), "template_id": doc["template_id"]}}


def aggregate_accuracy(results: list[Doc]) -> float:
    """Share of right answers."""
    return float(sum(result["score"] for result in results) / len(results))


def aggregate_balanced_accuracy(results: list[Doc]) -> float:
    """Mean over the right answers of the share of items with this answer that are right."""
    by_answer = defaultdict(list)
    for result in results:
        by_answer[result["answer"]].append(result["score"])
    return float(sum(sum(scores) / len(scores) for scores in by_answer.values()) / len(by_answer))


def aggregate_unreadable(results: list[Doc]) -> float:
    """Share of answers that could not be read."""
    return float(sum(result["unreadable"] for result in results) / len(results))


def aggregate_pair_accuracy(results: list[Doc]) -> float:
    """Share of pairs with both halves right."""
    pairs = defaultdict(list)
    for result in results:
        pairs[result["pair"]].append(result["score"])
    return float(sum(min(scores) for scores in pairs.values()) / len(pairs))


def aggregate_mention_rate(results: list[Doc]) -> float:
    """Sounds named over sounds there are."""
    return float(sum(result["named"] for result in results) / max(1, sum(result["sounds"] for result in results)))
