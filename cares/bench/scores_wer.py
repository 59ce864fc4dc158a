"""Word error rate of a recogniser over scenes, with an interval from a bootstrap of whole templates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cares.asr.wer import WordErrors
from cares.bench.statistics import codes, figure, ratio, resampled, sums
from cares.core.canonical import Json
from cares.core.errors import InputError


def word_error_figure(counts: Sequence[WordErrors], templates: Sequence[str], resamples: int, seed: int) -> Json:
    """All errors over all reference words, {"value", "ci95"}; a block of the bootstrap is a template's scenes.

    Utterances of a scene, and scenes of a template, are not independent, so neither is resampled by itself (Bisani and
    Ney, "Bootstrap estimates for confidence intervals in ASR performance evaluation", ICASSP 2004).

    Args:
        counts: one a scene (`cares.asr.wer.word_errors`).
        templates: each scene's template.
        resamples: bootstrap resamples.
        seed: the data set's seed.

    Raises:
        InputError: not one template a scene.
    """
    if len(counts) != len(templates):
        raise InputError("scenes.jsonl", "", len(templates), f"a template for each of {len(counts)} scenes")
    blocks = codes(templates)
    column = np.zeros(len(counts), np.int64)
    errors = np.array([one.substitutions + one.deletions + one.insertions for one in counts], np.int64)
    words = np.array([one.n_reference for one in counts], np.int64)
    table = np.concatenate([sums(blocks, column, 1, errors), sums(blocks, column, 1, words)], axis=1)
    drawn = resampled(table, resamples, seed)
    value = float(ratio(table[:, 0].sum(), table[:, 1].sum()))
    return figure(value, ratio(drawn[:, 0], drawn[:, 1]), len(blocks.names), share=False)
