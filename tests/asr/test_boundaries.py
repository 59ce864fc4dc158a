"""Word boundaries: on pauses where there are any, always in order and inside the sound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.asr.boundaries import HOP, LATE_S, Span, place_words
from cares.core.pcm import SAMPLE_RATE, Samples


def tone(pieces: list[tuple[float, int]]) -> Samples:
    """Seconds and level of each piece of a 300 Hz tone."""
    parts = []
    for seconds, level in pieces:
        time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
        parts.append(np.round(level * np.sin(2 * np.pi * 300 * time)))
    return np.concatenate(parts).astype(np.int16)


def spans(*pairs: tuple[float, float]) -> list[Span]:
    return [Span(start - LATE_S, end - LATE_S) for start, end in pairs]


def near(found: tuple[int, int], start_s: float, end_s: float) -> bool:
    return all(
        abs(sample - seconds * SAMPLE_RATE) <= HOP for sample, seconds in zip(found, (start_s, end_s), strict=True)
    )


def test_words_lie_between_pauses() -> None:
    sound = tone([(0.1, 0), (0.4, 9000), (0.2, 0), (0.3, 9000), (0.5, 0), (0.4, 9000), (0.3, 0)])
    found = place_words(spans((0.1, 0.58), (0.62, 1.2), (1.33, 1.8)), sound)
    assert near(found[0], 0.1, 0.5)
    assert near(found[1], 0.7, 1.0)
    assert near(found[2], 1.5, 1.9)


def test_a_pause_belongs_to_one_boundary_only() -> None:
    sound = tone([(0.5, 9000), (0.2, 0), (0.6, 9000)])
    found = place_words(spans((0.0, 0.4), (0.4, 0.62), (0.62, 0.9), (0.9, 1.3)), sound)
    assert near((found[1][1], found[2][0]), 0.5, 0.7)
    assert all(end - start >= 5 * HOP for start, end in found)


def test_the_closure_of_a_plosive_is_no_pause() -> None:
    sound = tone([(0.4, 9000), (0.05, 0), (0.55, 9000)])
    found = place_words(spans((0.0, 0.7), (0.7, 1.0)), sound)
    assert found[0][1] == found[1][0]
    assert abs(found[1][0] / SAMPLE_RATE - 0.7) <= 0.06


def test_without_a_pause_the_quietest_place_is_taken() -> None:
    sound = tone([(0.48, 9000), (0.03, 1500), (0.49, 9000)])
    found = place_words(spans((0.0, 0.52), (0.52, 1.0)), sound)
    assert found[0][1] == found[1][0]
    assert 0.47 <= found[1][0] / SAMPLE_RATE <= 0.52


def test_silence_gives_empty_words() -> None:
    assert place_words(spans((0, 1), (1, 2)), np.zeros(SAMPLE_RATE, np.int16)) == [(0, 0), (0, 0)]
    assert place_words([], tone([(0.2, 9000)])) == []
    assert place_words(spans((0, 1)), np.zeros(0, np.int16)) == [(0, 0)]


@given(
    st.lists(st.tuples(st.floats(0.01, 0.5), st.sampled_from([0, 30, 2000, 9000, 32767])), min_size=1, max_size=12),
    st.lists(st.floats(-0.5, 4.0), min_size=1, max_size=15),
)
@settings(max_examples=150, deadline=None)
def test_words_are_in_order_and_inside_whatever_attention_says(
    pieces: list[tuple[float, int]], times: list[float]
) -> None:
    sound = tone(pieces)
    edges = sorted(times)
    found = place_words([Span(a, b) for a, b in zip(edges, [*edges[1:], edges[-1]], strict=True)], sound)
    flat = [sample for pair in found for sample in pair]
    assert flat == sorted(flat)
    assert flat[0] >= 0 and flat[-1] <= len(sound)


@pytest.mark.parametrize("level", [200, 32767])
def test_places_do_not_depend_on_the_level(level: int) -> None:
    shape = [(0.3, 1.0), (0.15, 0.0), (0.4, 1.0)]
    quiet, loud = (tone([(seconds, round(part * to)) for seconds, part in shape]) for to in (level, 9000))
    wanted = spans((0.0, 0.36), (0.36, 0.8))
    assert place_words(wanted, quiet) == place_words(wanted, loud)
