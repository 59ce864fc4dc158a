"""Speed and memory of the mix: a scene of two minutes (13 utterances, 3 events, ambience, responses of 1 s, -23 LUFS).

Measured in processes of their own, on one core, after one run to warm up:
- decide: gains of all clips, margins, true peak and master gain, as the timeline stage does it;
- mix: reading the sources, rendering and writing the WAV, as `cares render` does it;
- peak resident memory of a process that does both once.

With --scaper-python PATH (an interpreter with scaper 1.6.5) scaper renders the same clips, dry, in turns with CARES,
which reverberates; medians. Without it that part is left out. With CUDA, batches of scenes are timed too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def work(folder: Path, backend_name: str) -> None:
    """A worker: for each line on stdin it decides and mixes the scene once, and prints times as JSON."""
    from benchmarks.mix_scene import PARAMS, read_scene, timeline_of
    from cares.core.atomic import write_bytes
    from cares.core.pcm import encode, samples_digest
    from cares.mix.backend import make_backend
    from cares.mix.engine import Mixer
    from cares.mix.levels import settle
    from cares.mix.loudness import integrated_lufs, to_float
    from cares.mix.render import render, render_batch
    from cares.mix.sources import Sources
    from cares.mix.true_peak import true_peak_dbtp

    scene = read_scene(folder)
    backend = make_backend(backend_name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("ready", flush=True)

    def timed(what: Callable[[], object]) -> tuple[object, tuple[float, float]]:
        wall, processor = time.perf_counter(), time.process_time()
        result = what()
        return result, (time.perf_counter() - wall, time.process_time() - processor)

    for line in sys.stdin:
        mixer = Mixer(Sources(folder), backend, keep=True)
        levels, decide = timed(
            lambda mixer=mixer: settle(
                list(scene.clips), {"A": [], "B": []}, scene.choices, PARAMS, scene.n_samples, mixer, backend
            )
        )
        del mixer
        timeline = timeline_of(levels, scene.n_samples)  # type: ignore[arg-type]

        def mix(timeline: object = timeline) -> object:
            samples = render("t00000-0", [timeline], folder, backend)  # type: ignore[list-item]
            write_bytes(folder / "cares.wav", encode(samples, container="WAV"))
            return samples

        samples, mixing = timed(mix)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        told = {"decide": decide, "mix": mixing, "rss_mib": peak, "inputs_mib": before / 1024}
        told |= {"sha256": samples_digest(samples)}  # type: ignore[arg-type]
        if line.strip() == "measure":
            signal = to_float(samples)  # type: ignore[arg-type]
            told |= {"lufs": integrated_lufs(signal), "dbtp": true_peak_dbtp(signal)}
        if line.startswith("batch"):
            count = int(line.split()[1])
            told["batch"] = timed(lambda t=timeline, n=count: render_batch([t] * n, folder, backend))[1]
        print(json.dumps(told), flush=True)


class Worker:
    """A process that does one thing once for each line it is sent."""

    def __init__(self, command: list[str], core: int | None) -> None:
        def pin() -> None:
            if core is not None:
                os.sched_setaffinity(0, {core})

        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **SINGLE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=pin,
        )
        self.greeting = self._read()

    def once(self, line: str = "go") -> str:
        """One run; what the worker says about it."""
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker ended: {self._process.wait()}")
        return line.strip()


def our_worker(folder: Path, backend: str, core: int | None) -> Worker:
    """A worker that decides and mixes with CARES."""
    return Worker([sys.executable, __file__, "--worker", str(folder), "--backend", backend], core)


def line(what: str, seconds: int, wall: list[float], processor: list[float]) -> None:
    """One line of figures: medians, and how many times faster than real time."""
    middle, busy = statistics.median(wall), statistics.median(processor)
    print(
        f"{what:<34} {middle:7.3f} s  {seconds / middle:5.0f} x real time   "
        f"(processor {busy:.3f} s, {seconds / busy:.0f} x)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--backends", nargs="+", default=["numpy", "torch-cpu"])
    parser.add_argument("--scaper-python", type=Path)
    parser.add_argument("--batch", type=int, default=8, help="scenes in a batch, with torch-cuda only")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--backend", default="numpy", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.backend)
        return
    seconds, core = options.seconds, min(os.sched_getaffinity(0))
    sums = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        # made in another process, whose memory is not to be counted
        code = "from benchmarks.mix_scene import write_scene; from pathlib import Path; "
        code += f"write_scene(Path({place!r}), {seconds})"
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
        for name in options.backends:
            worker = our_worker(folder, name, None if name == "torch-cuda" else core)
            told = [json.loads(worker.once("measure")) for _ in range(options.runs + 1)]
            sums[name] = told[0]["sha256"]
            for what in ("decide", "mix"):
                line(f"{name}: {what}", seconds, *map(list, zip(*(run[what] for run in told[1:]), strict=True)))
            both = [[a + b for a, b in zip(run["decide"], run["mix"], strict=True)] for run in told[1:]]
            line(f"{name}: decide and mix", seconds, *map(list, zip(*both, strict=True)))
            print(f"{name}: {told[0]['lufs']:.2f} LUFS, {told[0]['dbtp']:.2f} dBTP, peak memory "
                  f"{told[0]['rss_mib']:.0f} MiB ({told[0]['inputs_mib']:.0f} MiB before)")  # fmt: skip
            if name == "torch-cuda":
                batches = [json.loads(worker.once(f"batch {options.batch}"))["batch"] for _ in range(options.runs)]
                line(
                    f"{name}: mix of {options.batch} scenes",
                    seconds * options.batch,
                    *map(list, zip(*batches, strict=True)),
                )
            worker.close()
        print(f"the same samples on {', '.join(sums)}: {len(set(sums.values())) == 1}")
        if options.scaper_python:
            compare(folder, seconds, options.runs, options.scaper_python, core)
        else:
            print("scaper: left out; give --scaper-python an interpreter that has scaper 1.6.5 (docs/mixing.md)")


def compare(folder: Path, seconds: int, runs: int, python: Path, core: int) -> None:
    """scaper and CARES in turns on the same clips and the same core."""
    ours = our_worker(folder, "numpy", core)
    theirs = Worker([str(python), str(ROOT / "benchmarks" / "mix_scaper_worker.py"), str(folder)], core)
    found: dict[str, list[list[float]]] = {"mix": [], "both": [], "theirs": []}
    for run in range(runs + 1):
        told = json.loads(ours.once())
        both = [a + b for a, b in zip(told["decide"], told["mix"], strict=True)]
        other = [float(value) for value in theirs.once().split()]
        if run:
            found["mix"].append(told["mix"])
            found["both"].append(both)
            found["theirs"].append(other)
    ours.close()
    theirs.close()
    line("CARES: mix, wet", seconds, *map(list, zip(*found["mix"], strict=True)))
    line("CARES: decide and mix, wet", seconds, *map(list, zip(*found["both"], strict=True)))
    line("scaper, dry", seconds, *map(list, zip(*found["theirs"], strict=True)))
    print(
        f"scaper is {theirs.greeting.removeprefix('ready ')}; its render measures each clip's loudness, scales and sums"
    )
    for name, what in (("mix", "mix"), ("both", "decide and mix")):
        pairs = zip(found[name], found["theirs"], strict=True)
        ratios = [[other / one for one, other in zip(*pair, strict=True)] for pair in pairs]
        wall, processor = (statistics.median(column) for column in zip(*ratios, strict=True))
        print(
            f"{what}: {wall:.1f} times as fast as scaper by the clock, {processor:.1f} by processor time ({runs} runs)"
        )


if __name__ == "__main__":
    main()
