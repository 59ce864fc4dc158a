"""The evaluator `llm`: a language model asked about each sound on two axes apart, with evidence that is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from cares.dialogue.features import Encoder, SoundNames
from cares.dialogue.judge_questions import (
    AXES,
    LABELS,
    Axis,
    Finding,
    axis_request,
    read_axis,
    read_topic,
    topic_request,
)
from cares.dialogue.judging import similarity
from cares.dialogue.marked import Heard, Pieces
from cares.llm.types import ChatAnswer, ChatRequest
from cares.records.dialogue import Verdict


class Asked(Protocol):
    """What answers a wave, such as `cares.llm.waves.StoredWaves`."""

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        ...


class LlmEvaluator:
    """See `cares.dialogue.judging.Evaluator`.

    Args:
        model: answers waves of requests.
        names: how sounds are called.
        encoder: compares a recovered topic with the wanted one.
        prompts: folder of the prompts judge_referred, judge_flow and judge_topic.
        wave_size: most requests handed over at once. The waves follow from the transcripts and their order alone.
        name: how records call it.
        topic_threshold: least similarity of two topic phrases at which the topic counts as recovered.
        close: frees the model.
    """

    def __init__(
        self,
        model: Asked,
        names: SoundNames,
        encoder: Encoder,
        prompts: Path,
        wave_size: int,
        name: str,
        topic_threshold: float,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self.topic_threshold, self._close = name, topic_threshold, close
        self._model, self._names, self._encoder = model, names, encoder
        self._prompts, self._wave_size = prompts, wave_size

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """See `Evaluator`; `scores` has 1 for yes and 0 for no on each axis, and `detail` the evidence.

        A sound has no label when an answer about it cannot be read.
        """
        sounds = [
            (number, place)
            for number, pieces in enumerate(transcripts)
            for place, piece in enumerate(pieces)
            if isinstance(piece, Heard)
        ]
        asked: list[tuple[Axis, Pieces, int]] = [
            (axis, transcripts[number], place) for number, place in sounds for axis in AXES
        ]
        answers = self._ask([axis_request(axis, pieces, at, self._names, self._prompts) for axis, pieces, at in asked])
        found = [read_axis(axis, one, pieces, at) for (axis, pieces, at), one in zip(asked, answers, strict=True)]
        verdicts: list[list[Verdict]] = [[] for _ in transcripts]
        for (number, place), pair in zip(sounds, zip(found[::2], found[1::2], strict=True), strict=True):
            heard = transcripts[number][place]
            assert isinstance(heard, Heard)
            verdicts[number].append(_verdict(heard, *pair))
        return verdicts

    def topics(self, transcripts: Sequence[Pieces]) -> list[str]:
        """What each transcript is about, in a few words; "" where the answer cannot be read."""
        return [read_topic(one) for one in self._ask([topic_request(pieces, self._prompts) for pieces in transcripts])]

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """See `Evaluator`; ValueError unless there is a topic for each transcript."""
        if len(topics) != len(transcripts):
            raise ValueError(f"{len(topics)} topics for {len(transcripts)} transcripts")
        pairs = zip(self._encoder.encode(topics), self._encoder.encode(self.topics(transcripts)), strict=True)
        return [similarity(wanted, recovered) for wanted, recovered in pairs]

    def close(self) -> None:
        """See `Evaluator`."""
        self._close()

    def _ask(self, requests: Sequence[ChatRequest]) -> list[ChatAnswer]:
        answers: list[ChatAnswer] = []
        for start in range(0, len(requests), self._wave_size):
            answers += self._model.complete(requests[start : start + self._wave_size])
        return answers


def _verdict(heard: Heard, referred: Finding, flow: Finding) -> Verdict:
    scores: dict[str, float] = {
        axis: float(finding.answer)
        for axis, finding in zip(AXES, (referred, flow), strict=True)
        if finding.answer is not None
    }
    readable = referred.answer is not None and flow.answer is not None
    return Verdict(
        event=heard.event,
        sound=heard.sound,
        label=LABELS[bool(referred.answer), bool(flow.answer)] if readable else None,
        scores=scores,
        detail=f"{referred.detail}; {flow.detail}",
    )
