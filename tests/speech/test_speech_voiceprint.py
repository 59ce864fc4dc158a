"""The speaker encoder's spectra and windows, and with real weights that voices are told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cares.core.errors import CaresError, InputError
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.core.store import ItemStore
from cares.speech.voiceprint import (
    CHANNELS,
    PARTIAL_FRAMES,
    RATE,
    SpeakerEncoder,
    at_level,
    mel_filters,
    mel_power,
    partials,
)


def buzz(pitch: float, seconds: float = 2.0) -> Samples:
    n = np.arange(round(seconds * SAMPLE_RATE))
    wave = sum(np.sin(2 * np.pi * pitch * k / SAMPLE_RATE * n) / k for k in range(1, 12))
    return np.rint(3000 * wave).astype(np.int16)


def test_a_tone_is_strongest_in_its_own_channel_and_filters_cover_the_band() -> None:
    filters = mel_filters()
    assert filters.shape == (CHANNELS, 201)
    assert np.all(filters.sum(axis=0)[1:-1] > 0)
    for hertz in (250.0, 1000.0, 3000.0):
        n = np.arange(RATE)
        spectra = mel_power(np.sin(2 * np.pi * hertz / RATE * n).astype(np.float32))
        assert spectra.shape == (101, CHANNELS)
        assert np.argmax(spectra[50]) == np.argmax(filters[:, round(hertz / RATE * 400)])


@pytest.mark.parametrize(("frames", "count"), [(1, 1), (160, 1), (199, 1), (200, 2), (280, 3), (400, 4)])
def test_windows_overlap_by_half_and_the_last_is_used_from_three_quarters_on(frames: int, count: int) -> None:
    spectra = np.random.default_rng(1).random((frames, CHANNELS)).astype(np.float32)
    windows = partials(spectra)
    assert windows.shape == (count, PARTIAL_FRAMES, CHANNELS)
    np.testing.assert_array_equal(windows[0][: min(frames, 160)], spectra[:160])


def test_quiet_sound_is_raised_and_loud_sound_left() -> None:
    loud = buzz(120.0)

    def level_db(gain: float) -> float:
        sound = at_level(np.rint(loud * gain).astype(np.int16))
        return float(20 * np.log10(np.sqrt(np.mean(sound**2))))

    assert level_db(0.01) == pytest.approx(-30, abs=0.1)
    assert level_db(0.1) == pytest.approx(-30, abs=0.1)
    assert level_db(1.0) == pytest.approx(20 * np.log10(np.sqrt(np.mean((loud / 32768) ** 2))), abs=0.2)
    assert level_db(1.0) > -25
    assert not at_level(np.zeros(1000, np.int16)).any()


def test_a_file_that_is_no_checkpoint_of_tensors_is_refused(tmp_path: Path) -> None:
    import torch

    from cares.models.ge2e import checkpoint_to_safetensors

    path = tmp_path / "pretrained.pt"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(CaresError, match=r"pretrained\.pt: not a readable checkpoint"):
        checkpoint_to_safetensors(tmp_path, tmp_path)
    torch.save({"model_state": {"linear.weight": torch.zeros(2, 2)}}, path)
    with pytest.raises(InputError, match=r"model_state\.lstm\.weight_ih_l0: got None"):
        checkpoint_to_safetensors(tmp_path, tmp_path)
    torch.save({"model_state": Path("a class of its own")}, path)
    with pytest.raises(CaresError, match="not a readable checkpoint"):
        checkpoint_to_safetensors(tmp_path, tmp_path)


@pytest.mark.models
def test_a_voiceprint_has_length_one_and_is_kept(tmp_path: Path) -> None:
    encoder = SpeakerEncoder("ge2e-resemblyzer", ItemStore("voiceprint", tmp_path))
    first = encoder.voiceprint(buzz(110.0))
    assert first.shape == (256,)
    assert float(np.linalg.norm(first)) == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(encoder.voiceprint(buzz(110.0)), first)
    assert float(first @ encoder.voiceprint(buzz(112.0))) > float(first @ encoder.voiceprint(buzz(240.0)))
