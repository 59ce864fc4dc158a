"""Words in the mix: inside what is heard of their utterance, in order, and never without length."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cares.mix.pieces import Piece
from cares.mix.timeline import LEAST_WORD, spans_within
from cares.records.speech import Word


def piece(start: int, end: int, spans: list[tuple[int, int]]) -> Piece:
    words = tuple(
        Word(utterance=0, word="w", start_sample=first, end_sample=last, confidence=1.0, interpolated=False)
        for first, last in spans
    )
    return Piece(turn=0, speaker="A", utterance=0, start=start, end=end, words=words)


def test_words_that_fit_stay_where_they_are() -> None:
    spans = [(1000, 3000), (3000, 9000), (12_000, 15_000)]
    assert spans_within(piece(0, 20_000, spans)) == spans


def test_a_word_beyond_the_end_takes_ten_milliseconds_of_the_one_before() -> None:
    # the aligner left "it?" only the silence that is kept after an utterance, which the mix leaves out
    found = spans_within(piece(0, 168_021, [(142_443, 155_673), (155_673, 168_021), (168_021, 169_847)]))
    assert found == [(142_443, 155_673), (155_673, 168_021 - LEAST_WORD), (168_021 - LEAST_WORD, 168_021)]


def test_a_word_before_the_beginning_takes_ten_milliseconds_of_the_one_behind() -> None:
    assert spans_within(piece(500, 9000, [(0, 400), (400, 5000)])) == [(500, 941), (941, 5000)]


@given(
    st.integers(0, 5000),
    st.integers(20, 5000),
    st.lists(st.integers(0, 12_000), min_size=2, max_size=16).map(sorted),
)
def test_every_word_has_length_inside_the_piece_and_none_overlaps(start: int, length: int, edges: list[int]) -> None:
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    found = spans_within(piece(start, start + length, spans))
    assert all(start <= first < last <= start + length for first, last in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
