"""Speed and memory of the mix: a scene of two minutes (or --seconds) with 1 s responses, on every backend there is."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from cares.core.pcm import SAMPLE_RATE, samples_digest, write_samples
from cares.mix.backend import Backend, cuda_available, make_backend
from cares.mix.loudness import integrated_lufs, to_float, true_peak_dbtp
from cares.mix.render import render
from cares.records.timeline import Clip, ResponseRef, Timeline

TURN = 5 * SAMPLE_RATE


def write_scene(root: Path, seconds: int) -> Timeline:
    """Speech-like noise, an ambience and three responses below `root`, and a timeline over them."""
    rng = np.random.default_rng(0)
    total = seconds * SAMPLE_RATE
    speech = np.clip(np.round(rng.laplace(size=total) * 1800), -32768, 32767).astype(np.int16)
    write_samples(root / "speech.flac", speech)
    decay = rng.normal(size=(3, SAMPLE_RATE)) * np.exp(-np.arange(SAMPLE_RATE) / 6000) * 0.05
    decay[:, 0] = 1
    (root / "data/rooms").mkdir(parents=True)
    np.save(root / "data/rooms/responses.npy", np.round(decay * 2**20).astype(np.int32).ravel())

    def clip(track: str, place: int, at: int, length: int, gain_cdb: int) -> Clip:
        response = ResponseRef(room_id="room", offset=place * SAMPLE_RATE, n_samples=SAMPLE_RATE)
        values = {"track": track, "path": "speech.flac", "pcm_sha256": samples_digest(speech), "source_start": at}
        values |= {"n_samples": length, "at_sample": at, "gain_cdb": gain_cdb, "fade_in": 220, "fade_out": 220}
        return Clip.model_validate(values | {"response": None if track == "ambience" else response})

    turns = range(0, total - TURN + 1, TURN)
    clips = [clip("AB"[index % 2], index % 2, at, TURN * 9 // 10, -400) for index, at in enumerate(turns)]
    clips += [clip("event", 2, share * total // 4, 2 * SAMPLE_RATE, -800) for share in (1, 2, 3)]
    clips.append(clip("ambience", 0, 0, total, -1600))
    return Timeline(
        scene_id="t00000-0", template_id="t00000", split="train", location="home_indoor", genders=("F", "M"),
        n_samples=total, room_id="room", ambience_take="none", clips=tuple(clips), ducks={}, master_gain_cdb=-300,
        master_lufs_cdb=-2300, words=(), events=(), gaps=(),
    )  # fmt: skip


def timed(what: str, seconds: int, work: object) -> None:
    """Run `work` and print its time and how many times faster than real time it is."""
    assert callable(work)
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{what:<24} {wall:7.2f} s  {seconds / wall:7.0f} x real time  {processor:7.2f} s of processor time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=120)
    seconds = parser.parse_args().seconds
    names = ["numpy", "torch-cpu"] + (["torch-cuda"] if cuda_available() else [])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        timeline = write_scene(root, seconds)
        files = {}
        for name in names:
            backend: Backend = make_backend(name)
            files[name] = render(timeline.scene_id, [timeline], root, backend)
            timed(f"render, {name}", seconds, lambda backend=backend: render("t00000-0", [timeline], root, backend))
        same = all(np.array_equal(samples, files["numpy"]) for samples in files.values())
        signal = to_float(files["numpy"])
        timed("integrated loudness", seconds, lambda: integrated_lufs(signal))
        timed("true peak", seconds, lambda: true_peak_dbtp(signal))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds} s scene; the same samples on {', '.join(names)}: {same}; peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
