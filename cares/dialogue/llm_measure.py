"""What the language model says about held-out probes, for its figures in the calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cares.core.rng import KeyedRandom
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import JudgeSettings
from cares.dialogue.features import Encoder
from cares.dialogue.judging import similarity
from cares.dialogue.llm_judge import LlmEvaluator
from cares.dialogue.probes import Probe, TopicPair
from cares.dialogue.topic_threshold import all_pairs, phrase_pairs, topic_figures, youden_threshold
from cares.llm.waves import promised
from cares.records.scene import REACTIONS, Reaction


@dataclass(frozen=True)
class LlmFindings:
    """Labels by probe id for the probes that the model was asked about, and how it is set up as a judge."""

    labels: Mapping[str, Sequence[Reaction | None]]
    settings: JudgeSettings


def judge_settings(
    model_id: str, pairs: Sequence[TopicPair], encoder: Encoder, params: CalibrationParams, seed: int
) -> JudgeSettings:
    """The threshold of the evaluator `llm` for two topic phrases: the given one, or found on pairs written for it."""
    topic, _ = youden_threshold(*phrase_pairs(pairs, encoder), params, seed, params.llm_topic_threshold)
    return JudgeSettings(model=model_id, promised=promised(), topic=topic, recovered=None)


def ask_about_probes(
    judge: LlmEvaluator,
    probes: Sequence[Probe],
    encoder: Encoder,
    settings: JudgeSettings,
    params: CalibrationParams,
    seed: int,
) -> LlmFindings:
    """Ask the language model about the sounds and the topics of (a sample of) the test probes.

    The recovered topics are measured by the threshold of `settings`, which come back with the figures filled in.
    """
    chosen = sample([probe for probe in probes if probe.split == "test"], params.llm_sounds_per_label, seed)
    transcripts = [probe.pieces for probe in chosen]
    verdicts = judge.judge_many(transcripts)
    recovered = encoder.encode(judge.topics(transcripts))
    wanted = encoder.encode([probe.topic for probe in chosen])
    pairs = all_pairs(np.array([[similarity(one, other) for one in wanted] for other in recovered]))
    figures = topic_figures(pairs, settings.topic.threshold, params, seed)
    labels = {probe.id: [one.label for one in found] for probe, found in zip(chosen, verdicts, strict=True)}
    return LlmFindings(labels, settings.model_copy(update={"recovered": figures}))


def sample(probes: Sequence[Probe], per_label: int | None, seed: int) -> list[Probe]:
    """Probes that hold at least `per_label` sounds of each label (or all there are), in their order; None takes all.

    They are drawn by their ids, so that a further probe changes the sample little.
    """
    if per_label is None:
        return list(probes)
    drawn = sorted(probes, key=lambda probe: KeyedRandom(seed, "judge_sample", probe.id).word())
    counts: dict[Reaction, int] = dict.fromkeys(REACTIONS, 0)
    taken: set[str] = set()
    for probe in drawn:
        if any(counts[label] < per_label for label in probe.labels):
            taken.add(probe.id)
            for label in probe.labels:
                counts[label] += 1
    return [probe for probe in probes if probe.id in taken]
