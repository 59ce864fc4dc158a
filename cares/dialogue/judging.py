"""What every evaluator offers, whatever it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cares.dialogue.marked import Pieces
from cares.records.dialogue import Verdict

EvaluatorKind = Literal["classifier", "llm", "both"]
SCORE_DECIMALS = 4


class Evaluator(Protocol):
    """Reads a transcript with its sounds marked and recovers every sound's label, and the topic."""

    @property
    def name(self) -> str:
        """Its kind and the model behind it, such as "classifier/all-minilm-l6-v2"."""
        ...

    @property
    def topic_threshold(self) -> float:
        """Least similarity at which a topic counts as recovered."""
        ...

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """For each transcript a verdict on each of its sounds, in their order."""
        ...

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """Similarity, -1 to 1, of each topic to what the transcript beside it is about."""
        ...

    def close(self) -> None:
        """Free the memory of a language model that is open in this process, if there is one."""
        ...


def similarity(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Cosine of two unit vectors, to 4 decimals."""
    return round(float(one @ other), SCORE_DECIMALS)
