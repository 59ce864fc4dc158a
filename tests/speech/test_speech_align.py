"""Words in time: packing into windows, spreading over written words, filling what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from speech_world import World, dialogue, scene

from cares.core.pcm import SAMPLE_RATE
from cares.speech.align import align_scene, fill_spans
from cares.speech.packing import GAP, LIMIT, align_together, pack, texts_together
from cares.speech.scene import speak_scene

spans = st.lists(st.none() | st.tuples(st.integers(0, 1200), st.integers(0, 1200)), max_size=12)


@given(spans, st.integers(1, 1000), st.data())
def test_filled_spans_rise_within_the_utterance_whatever_came_in(given_spans, n_samples: int, data) -> None:
    letters = data.draw(st.lists(st.integers(0, 9), min_size=len(given_spans), max_size=len(given_spans)))
    filled = fill_spans(given_spans, letters, n_samples)
    assert len(filled) == len(given_spans)
    flat = [edge for span in filled for edge in span]
    assert flat == sorted(flat)
    assert all(0 <= edge <= n_samples for edge in flat)


def test_missing_words_share_their_gap_by_letters() -> None:
    assert fill_spans([(0, 100), None, None, (400, 500)], [3, 2, 1, 3], 600) == [
        (0, 100),
        (100, 300),
        (300, 400),
        (400, 500),
    ]
    assert fill_spans([None, (300, 400), None], [1, 1, 1], 600) == [(0, 300), (300, 400), (400, 600)]
    assert fill_spans([(10, 20), None], [2, 0], 50) == [(10, 20), (20, 20)]


@given(st.lists(st.integers(1, 20 * SAMPLE_RATE), max_size=12))
def test_windows_hold_every_clip_once_in_order_and_within_the_limit(lengths: list[int]) -> None:
    clips = [np.broadcast_to(np.int16(index + 1), length) for index, length in enumerate(lengths)]
    windows = pack(clips)
    placed = []
    for window in windows:
        assert len(window.samples) <= LIMIT or len(window.starts) == 1
        for offset, (start, length) in enumerate(zip(window.starts, window.lengths, strict=True)):
            placed.append(window.first + offset)
            assert length == lengths[placed[-1]]
            assert window.samples[start] == window.samples[start + length - 1] == placed[-1] + 1
            if offset:
                assert np.all(window.samples[start - GAP : start] == 0)
    assert placed == list(range(len(lengths)))


def test_words_heard_together_go_back_to_their_clips(tmp_path: Path) -> None:
    world = World(tmp_path)
    texts = ["one two three", "four", "five six"] * 8
    clips = [np.rint(8000 * world.engine.speak(text, "", 1.0, 0).samples).astype(np.int16).repeat(2) for text in texts]
    clips = [clip[: len(clip) // 882 * 882] for clip in clips]
    assert len(pack(clips)) > 1
    heard = texts_together(clips, world.listener)
    assert [len(text.split()) for text in heard] == [len(text.split()) for text in texts]
    for clip, words in zip(clips, align_together(clips, texts, world.listener), strict=True):
        assert all(word.timed and 0 <= word.start_sample < word.end_sample <= len(clip) for word in words)


def test_written_words_have_the_times_of_all_that_is_said_for_them(tmp_path: Path) -> None:
    world = World(tmp_path)
    talk = dialogue([{"text": "It was $180 - really."}], [{"text": "Dr. No said so."}])
    spoken = speak_scene(scene(), talk, ("jf_alpha", "joe"), world.studio, "x")
    aligned = align_scene(spoken.record, spoken.samples, world.listener)
    assert [word.word for word in aligned.words] == ["It", "was", "$180", "-", "really.", "Dr.", "No", "said", "so."]
    assert [word.interpolated for word in aligned.words] == [word.word == "-" for word in aligned.words]
    money, dash = aligned.words[2:4]
    assert money.end_sample - money.start_sample > 1.5 * SAMPLE_RATE
    assert dash.start_sample == dash.end_sample
    for utterance in spoken.record.utterances:
        own = [word for word in aligned.words if word.utterance == utterance.index]
        edges = [edge for word in own for edge in (word.start_sample, word.end_sample)]
        assert edges == sorted(edges)
        assert utterance.start_sample <= edges[0]
        assert edges[-1] <= utterance.start_sample + utterance.n_samples
        assert edges[0] - utterance.start_sample == pytest.approx(0.02 * SAMPLE_RATE, abs=450)


def test_a_word_without_a_time_is_interpolated_and_flagged(tmp_path: Path) -> None:
    world = World(tmp_path)
    spoken = speak_scene(scene(), dialogue([{"text": "Ask Xiu about it."}]), ("jf_alpha", "joe"), world.studio, "x")
    world.listener.untimed = {"xiu"}
    words = align_scene(spoken.record, spoken.samples, world.listener).words
    assert [word.interpolated for word in words] == [False, True, False, False]
    assert words[0].end_sample == words[1].start_sample
    assert words[1].end_sample == words[2].start_sample
