"""What is measured is what is in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from audit_world import RATE, event, scene, word

from cares.audit.distributions import BINS, distributions
from cares.audit.features import FEATURES, Example, measure, scene_examples
from cares.core.errors import InputError
from cares.core.pcm import Samples, write_samples


def signal(seconds: int = 10, rms: float = 30.0, bursts: tuple[tuple[float, float, float], ...] = ()) -> Samples:
    """Noise of a given RMS, with louder bursts (start, end, RMS)."""
    rng = np.random.default_rng(0)
    made = rng.normal(size=seconds * RATE) * rms
    for start, end, loud in bursts:
        part = made[round(start * RATE) : round(end * RATE)]
        part += rng.normal(size=len(part)) * loud
    return np.round(made).astype(np.int16)


def values(example: Example) -> dict[str, float]:
    return dict(zip(FEATURES, example.measured, strict=True))


def test_times_and_levels_of_an_event(tmp_path: Path) -> None:
    samples = signal(bursts=((4.0, 5.0, 3000.0),))
    write_samples(tmp_path / "data/scenes/x.wav", samples)
    made = scene((word(0, 4.1), word(4.2, 5.0)), (event(4, 5, (4.1, 4.2)),))
    (example,) = scene_examples(made, tmp_path, 1000)
    found = values(example)
    assert found["gap_s"] == pytest.approx(0.1)
    assert found["onset_before_gap_s"] == pytest.approx(0.1)
    assert found["end_after_gap_s"] == pytest.approx(0.8)
    assert found["heard_gap_s"] == pytest.approx(0.1)
    assert found["length_s"] == pytest.approx(1.0)
    assert found["words_over_s"] == pytest.approx(0.9)
    assert found["place"] == pytest.approx(0.4)
    assert found["pause_before_s"] == pytest.approx(-0.1)
    assert found["pause_after_s"] == pytest.approx(-0.8)
    assert found["margin_db"] == pytest.approx(40, abs=0.5)
    assert found["level_before_db"] == pytest.approx(found["level_db"] - 40, abs=0.5)
    assert found["onset_step_db"] == pytest.approx(40, abs=0.5)
    assert found["end_step_db"] == pytest.approx(-40, abs=0.5)
    assert found["overlap_step_db"] == pytest.approx(0, abs=0.5)
    assert found["sounds_in_scene"] == 1 and found["order"] == 0
    assert example.text == "hello hello"
    np.testing.assert_array_equal(measure(made, samples, 1000)[0].measured, example.measured)
    assert measure(made, samples, 1000, with_text=False)[0].text is None
    assert scene_examples(made.model_copy(update={"events": ()}), tmp_path, 1000) == []
    with pytest.raises(InputError, match="gone"):
        scene_examples(made.model_copy(update={"path": "gone.wav"}), tmp_path, 1000)


def test_a_longer_gap_and_a_louder_voice_are_measured() -> None:
    samples = signal(bursts=((1.0, 2.0, 1000.0), (2.8, 4.0, 2000.0)))
    made = scene((word(1, 1.6), word(1.6, 2), word(2.8, 3.4), word(3.4, 4)), (event(2, 2.7, (2.0, 2.8)),))
    found = values(measure(made, samples, 1500)[0])
    assert found["voice_step_db"] == pytest.approx(6, abs=0.3)
    assert found["into_turn_s"] == pytest.approx(1.0)
    assert found["rest_of_turn_s"] == pytest.approx(1.2)
    assert found["last_word_s"] == pytest.approx(0.4)
    assert found["next_word_s"] == pytest.approx(0.6)
    assert found["words_per_s_before"] == pytest.approx(2.0)
    assert found["spoken_before"] == pytest.approx(1.0 / 1.5)
    assert found["pause_after_s"] == pytest.approx(0.1)


def test_centroid_follows_the_pitch() -> None:
    time = np.arange(RATE) / RATE
    low, high = ((8000 * np.sin(2 * np.pi * hertz * time)).astype(np.int16) for hertz in (200, 2000))
    made = scene((word(0, 0.1),), (event(0.2, 0.9, (0.2, 0.9)),), seconds=1)
    below, above = (values(measure(made, samples, 1000)[0])["log_centroid"] for samples in (low, high))
    assert 10**below == pytest.approx(200, rel=0.1)
    assert 10**above == pytest.approx(2000, rel=0.05)


@pytest.mark.parametrize("samples", [np.zeros(10 * RATE, np.int16), np.full(10 * RATE, -32_768, np.int16)])
def test_silence_and_full_scale_have_finite_levels(samples: Samples) -> None:
    made = scene((word(1, 2), word(3, 4)), (event(1.9, 2.9, (2, 3)),))
    found = values(measure(made, samples, 1000)[0])
    assert all(np.isfinite(level) for name, level in found.items() if name.endswith("_db"))


def test_an_event_at_either_end_or_without_words_has_values_or_none() -> None:
    samples = signal()
    for one in (event(0, 1, (0, 0.5)), event(9, 10, (9.5, 10))):
        (example,) = measure(scene((), (one,)), samples, 1000)
        found = values(example)
        assert np.isnan(found["pause_before_s"]) and np.isnan(found["into_turn_s"])
        assert np.isfinite(found["level_db"])


def test_distributions_count_every_event_once() -> None:
    samples = signal()
    made = [measure(scene((word(0, 1),), (event(1 + n / 10, 3, (1.5, 2)),)), samples, 1000)[0] for n in range(5)]
    found = distributions(made)
    assert sum(found["onset_before_gap_s"]["counts"]["verbal"]) == 5
    assert len(found["onset_before_gap_s"]["edges"]) == BINS + 1
    assert "gap_s" not in found, "what does not vary has no distribution"
