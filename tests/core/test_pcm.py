"""16-bit sound files."""

import numpy as np
import pytest
import soundfile

from cares.core.errors import InputError
from cares.core.pcm import encode, read_samples, samples_digest, write_samples


@pytest.mark.parametrize("suffix", [".wav", ".flac"])
def test_every_sample_comes_back(tmp_path, suffix):
    samples = np.array([-32768, -1, 0, 1, 32767, 5, 6, 7], np.int16)
    path = tmp_path / f"x{suffix}"
    write_samples(path, samples)
    assert np.array_equal(read_samples(path), samples)
    assert np.array_equal(read_samples(path, 2, 3), samples[2:5])
    assert soundfile.info(path).samplerate == 44100


def test_the_digest_is_that_of_the_samples():
    samples = np.arange(100, dtype=np.int16)
    assert samples_digest(samples) == samples_digest(samples.astype(">i2"))
    assert samples_digest(samples) != samples_digest(samples[1:])


@pytest.mark.parametrize(
    ("rate", "shape", "subtype"), [(48000, (9,), "PCM_16"), (44100, (9, 2), "PCM_16"), (44100, (9,), "PCM_24")]
)
def test_another_format_is_refused(tmp_path, rate, shape, subtype):
    path = tmp_path / "x.wav"
    soundfile.write(path, np.zeros(shape), rate, subtype=subtype)
    with pytest.raises(InputError, match=r"x\.wav: format"):
        read_samples(path)


def test_missing_short_and_broken_files_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_samples(tmp_path / "none.wav")
    write_samples(tmp_path / "short.wav", np.zeros(10, np.int16))
    with pytest.raises(InputError, match="length"):
        read_samples(tmp_path / "short.wav", 5, 6)
    (tmp_path / "bad.flac").write_bytes(b"not sound")
    with pytest.raises(InputError, match=r"bad\.flac"):
        read_samples(tmp_path / "bad.flac")


def test_only_int16_is_encoded():
    with pytest.raises(TypeError, match="int16"):
        encode(np.zeros(4))
