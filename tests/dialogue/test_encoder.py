"""Sentence embeddings do not depend on what else a process has set or loaded."""

from __future__ import annotations

import numpy as np
import pytest

from cares.dialogue.encoder import SentenceEncoder

TEXTS = [f"We could meet at {n} and talk about the {n * 7} things that are left." for n in range(2, 32)]


@pytest.mark.models
def test_other_kernels_give_the_same_vectors():
    import torch

    usual = SentenceEncoder("all-minilm-l6-v2").encode(TEXTS)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with torch.backends.mkldnn.flags(enabled=False):
            other = SentenceEncoder("all-minilm-l6-v2").encode(TEXTS[::-1])[::-1]
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(usual, other)
    np.testing.assert_allclose(np.linalg.norm(usual, axis=1), 1.0, atol=1e-4)
