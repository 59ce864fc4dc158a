"""A scene made of whole numbers only, so that its samples are the same on every machine and with every library.

Run as a script it prints the SHA-256 of the finished samples, for a comparison between environments:
python tests/mix/fixed_scene.py [numpy|torch-cpu|torch-cuda]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from cares.core.pcm import Samples, samples_digest, write_samples
from cares.mix.backend import make_backend
from cares.mix.render import render
from cares.mix.sources import taps_digest
from cares.records.timeline import Clip, Duck, PlacedEvent, ResponseRef, Rules, Timeline

RATE = 44_100
SCENE = 9 * RATE
RULES = Rules(
    placement="matched", decoys_wanted=0, decoys=0, duck_labels="behavioral", voice_cdb=-2000,
    ambience_drawn_cdb=-3200, ambience_lowered_cdb=0, margin_cdb=600, master_cdb=-2300, true_peak_cdb=-100,
)  # fmt: skip
GOLDEN = "91c1e06f542ad5092f5e9fc66218b9f3cbfa38bf263986d5e4cc33c1ac2d5731"


def whole_noise(key: int, n_samples: int, bits: int) -> Samples:
    """Noise of `bits` bits from the raw words of Philox, which no version of numpy may change; it dies away slowly."""
    words = np.random.Philox(key=key).random_raw(n_samples)
    centred = (words >> np.uint64(64 - bits)).astype(np.int64) - (1 << (bits - 1))
    fall = 1024 - np.arange(n_samples) * 768 // max(1, n_samples)
    return ((centred * fall) >> 10).astype(np.int16)


def fixed_scene(root: Path) -> Timeline:
    """Write the sources below `root`; responses of 1, 300 and 6,000 taps; returns the timeline over them."""
    files = {
        "speech.flac": whole_noise(1, 7 * RATE, 13),
        "take.flac": whole_noise(2, RATE, 15),
        "ambience.flac": whole_noise(3, 4 * RATE, 12),
    }
    for name, samples in files.items():
        write_samples(root / name, samples)
    taps = [np.array([1 << 20])]
    for key, length in ((4, 300), (5, 6_000)):
        words = np.random.Philox(key=key).random_raw(length)
        tail = ((words >> np.uint64(46)).astype(np.int64) - (1 << 17)) * (length - np.arange(length)) // length
        tail[0] = 1 << 20
        taps.append(tail)
    (root / "data/rooms").mkdir(parents=True)
    np.save(root / "data/rooms/responses.npy", np.concatenate(taps).astype(np.int32))
    one, small, large = (
        ResponseRef(room_id="room", offset=offset, n_samples=len(part), taps_sha256=taps_digest(part))
        for offset, part in zip((0, 1, 301), taps, strict=True)
    )

    def clip(track: str, name: str, start: int, n: int, at: int, gain: int, **more: object) -> Clip:
        values = {"track": track, "path": name, "pcm_sha256": samples_digest(files[name]), "source_start": start}
        return Clip.model_validate(values | {"n_samples": n, "at_sample": at, "gain_cdb": gain} | more)

    clips = (
        clip("A", "speech.flac", 0, 2 * RATE, 20_000, 301, fade_in=352, fade_out=352, response=small),
        clip("B", "speech.flac", 2 * RATE, 3 * RATE, 130_000, -57, fade_in=352, fade_out=352, response=large),
        clip("A", "speech.flac", 5 * RATE, 2 * RATE, 300_000, 301, fade_in=1, fade_out=2 * RATE, response=small),
        clip("event", "take.flac", 0, RATE, 105_000, -701, event=0, fade_out=5_000, response=large),
        clip("event", "take.flac", 7, 30_000, SCENE - 30_000, -1_203, event=1, response=one),
        clip("ambience", "ambience.flac", 0, 4 * RATE, 0, -1_234, fade_in=352, fade_out=22_050),
        clip("ambience", "ambience.flac", 0, 4 * RATE, 4 * RATE - 22_050, -1_234, fade_in=22_050, fade_out=22_050),
        clip("ambience", "ambience.flac", 0, SCENE - 8 * RATE + 44_100, 8 * RATE - 44_100, -1_234, fade_in=22_050),
    )
    duck = Duck(start_sample=140_000, end_sample=160_001, depth_cdb=333, ramp_samples=2_205, reason="event")
    peak = Duck(start_sample=150_000, end_sample=152_000, depth_cdb=90, ramp_samples=441, reason="peak")
    return Timeline(
        scene_id="t00000-0", template_id="t00000", split="train", location="home_indoor", genders=("F", "M"),
        n_samples=SCENE, room_id="room", ambience_take="ambience", clips=clips, ducks={"A": (), "B": (duck, peak)},
        master_gain_cdb=-923, master_lufs_cdb=-2300, words=(), events=tuple(map(_event, (0, 1), clips[3:5])), gaps=(),
        rules=RULES,
    )  # fmt: skip


def _event(index: int, clip: Clip) -> PlacedEvent:
    end = clip.at_sample + clip.n_samples
    return PlacedEvent(
        event=index, sound="dog_bark", reaction="ambient", register_id="none", take_id="take", turn=0,
        start_sample=clip.at_sample, end_sample=end, gap_start=clip.at_sample, gap_end=end, level_cdb=-2000,
        margin_cdb=600, peak_limited=False, take_faded=False, scene_extended=False,
        drawn_level_cdb=-2000,
    )  # fmt: skip


def digest(name: str) -> str:
    """SHA-256 of the scene's samples on a backend."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return samples_digest(render("t00000-0", [fixed_scene(root)], root, make_backend(name)))


if __name__ == "__main__":
    print(f"numpy {np.__version__}, {sys.argv[1:] or 'numpy'}: {digest(*(sys.argv[1:] or ['numpy']))}")
