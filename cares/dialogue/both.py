"""The evaluator `both`: a label is recovered only where the classifier and the language model agree on it."""

from __future__ import annotations

from collections.abc import Sequence

from cares.dialogue.judging import SCORE_DECIMALS, Evaluator
from cares.dialogue.marked import Pieces
from cares.records.dialogue import Verdict


class BothEvaluator:
    """See `cares.dialogue.judging.Evaluator`.

    Args:
        classifier: the first to be asked; topics are on its scale.
        llm: the second.
        name: how records call it.
    """

    def __init__(self, classifier: Evaluator, llm: Evaluator, name: str) -> None:
        self.name = name
        self._classifier, self._llm = classifier, llm

    @property
    def topic_threshold(self) -> float:
        """See `Evaluator`; the classifier's."""
        return self._classifier.topic_threshold

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """See `Evaluator`; a verdict keeps both votes and both scores."""
        pairs = zip(self._classifier.judge_many(transcripts), self._llm.judge_many(transcripts), strict=True)
        return [[agreed(*two) for two in zip(ours, theirs, strict=True)] for ours, theirs in pairs]

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """See `Evaluator`. The one that is nearer to its threshold, or further below it, decides.

        The language model's similarity is shifted by the difference of the two thresholds, so that a topic passes if
        and only if it passes with both.
        """
        shift = self._classifier.topic_threshold - self._llm.topic_threshold
        ours = self._classifier.topic_similarities(topics, transcripts)
        theirs = self._llm.topic_similarities(topics, transcripts)
        return [min(one, round(other + shift, SCORE_DECIMALS)) for one, other in zip(ours, theirs, strict=True)]

    def close(self) -> None:
        """See `Evaluator`."""
        self._classifier.close()
        self._llm.close()


def agreed(classifier: Verdict, llm: Verdict) -> Verdict:
    """One verdict of two on the same sound: their label if they agree, else None with the reason in `detail`."""
    same = classifier.label == llm.label
    votes = f"classifier {classifier.label or 'nothing'}, llm {llm.label or 'nothing'}"
    return Verdict(
        event=classifier.event,
        sound=classifier.sound,
        label=classifier.label if same else None,
        scores=classifier.scores | llm.scores,
        detail=llm.detail if same else f"disagree: {votes}; {llm.detail}",
        votes={"classifier": classifier.label, "llm": llm.label},
    )
