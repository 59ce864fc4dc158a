"""Renders the benchmark's clips with scaper; run by the Python that has scaper (1.6.5), not by the project's.

scaper measures each clip's loudness, scales it to its level above the background, sums, and writes a WAV. No
reverberation is asked of it. For each line on stdin one line on stdout: wall time and processor time of a render.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
# scaper looks for a sox command when it is imported and complains on stderr; the bindings do not need it
sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
import scaper  # noqa: E402


def render(root: Path, spec: dict) -> None:
    scene = scaper.Scaper(spec["seconds"], str(root / "foreground"), str(root / "background"), random_state=0)
    scene.sr, scene.n_channels, scene.bitdepth, scene.ref_db = 44100, 1, 16, -32
    scene.add_background(("const", "room"), ("const", spec["background"]), ("const", 0))
    for event in spec["events"]:
        scene.add_event(
            label=("const", event["label"]), source_file=("const", event["path"]), source_time=("const", 0),
            event_time=("const", event["at_s"]), event_duration=("const", event["duration_s"]),
            snr=("const", event["snr_db"]), pitch_shift=None, time_stretch=None,
        )  # fmt: skip
    scene.generate(str(root / "scaper.wav"), allow_repeated_label=True, reverb=None, disable_sox_warnings=True)


def main() -> None:
    root = Path(sys.argv[1])
    spec = json.loads((root / "clips.json").read_text(encoding="utf-8"))
    print("ready", scaper.__version__, "with", scaper.core.sox.__name__, flush=True)
    for _ in sys.stdin:
        wall, processor = time.perf_counter(), time.process_time()
        render(root, spec)
        print(time.perf_counter() - wall, time.process_time() - processor, flush=True)


main()
