"""The whole pipeline at its smallest size, in a clone in a folder with a blank and an umlaut in its name.

One build serves all tests of this file; they run in the order in which they stand, and the later ones change the clone.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import imageio_ffmpeg
import pytest
import soundfile

pytestmark = [pytest.mark.repro, pytest.mark.timeout(3000)]

ROOT = Path(__file__).parents[1]
SCENES = 4
MODEL_STAGES = ("topics", "dialogues", "speech", "align")


def run(command, cwd, check=True, **environment):
    """Run a command in a clone, with the tests' environment first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    return done


def clone(target: Path) -> Path:
    """A git repository with the files of this checkout that git knows, as they are."""
    names = run(["git", "ls-files", "-z"], ROOT).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    run(["git", "init", "-q"], target)
    commit(target, "start")
    return target


def commit(target: Path, message: str) -> None:
    """Commit everything in a clone."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    run(["git", "add", "-A"], target)
    run(["git", *who, "commit", "-q", "-m", message], target)


def shrink(target: Path) -> None:
    """Set the smallest size in a clone's conf/, from which its params.yaml is composed."""
    for name, key, value in (("size/tiny", "scenes: 12", SCENES), ("models/embedded", "llm_sounds_per_label: 12", 2)):
        path = target / "conf" / f"{name}.yaml"
        text, count = re.subn(rf"\b{key}\b", f"{key.split(':')[0]}: {value}", path.read_text(encoding="utf-8"))
        assert count == 1
        path.write_text(text, encoding="utf-8")
    run([sys.executable, "-m", "cares.cli", "params"], target)


def records(path: Path) -> list:
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A clone in which the pipeline ran."""
    target = clone(tmp_path_factory.mktemp("a clone ü"))
    shrink(target)
    done = run(["dvc", "repro"], target)
    print(done.stdout[-4000:])
    commit(target, "built")
    return target


def test_scenes_are_there_and_their_sums_are_right(built):
    scenes = records(built / "data/scenes/scenes.jsonl")
    assert 1 <= len(scenes) <= SCENES
    run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], built / "data/scenes")
    assert len(list((built / "data/scenes").glob("*.wav"))) == len(scenes)


def test_every_wav_has_the_format_and_the_loudness_by_a_second_meter(built):
    for path in sorted((built / "data/scenes").glob("*.wav")):
        info = soundfile.info(path)
        assert (info.samplerate, info.channels, info.subtype) == (44100, 1, "PCM_16")
        meter = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-nostats", "-i", str(path)]
        heard = run([*meter, "-af", "ebur128=peak=true", "-f", "null", "-"], built).stderr.rsplit("Summary:", 1)[1]
        loudness = float(re.search(r"I:\s+(-?[\d.]+) LUFS", heard).group(1))
        peak = float(re.search(r"Peak:\s+(-?[\d.]+) dBFS", heard).group(1))
        assert abs(loudness + 23.0) <= 0.1, path.name
        assert peak <= -1.0, path.name


def test_words_and_events_lie_inside_their_file_and_labels_are_those_allocated(built):
    allocated = {scene["scene_id"]: scene for scene in records(built / "data/allocation/scenes.jsonl")}
    for scene in records(built / "data/scenes/scenes.jsonl"):
        for span in (*scene["words"], *scene["events"]):
            assert 0 <= span["start_sample"] < span["end_sample"] <= scene["n_samples"]
        found = [(event["sound"], event["reaction"]) for event in scene["events"]]
        wanted = [(event["sound"], event["reaction"]) for event in allocated[scene["scene_id"]]["events"]]
        assert found == wanted


def test_every_attempt_has_its_reason(built):
    attempts = records(built / "data/dialogues/attempts.jsonl")
    accepted = {dialogue["scene_id"] for dialogue in records(built / "data/dialogues/accepted.jsonl")}
    assert {a["scene_id"] for a in attempts if a["reason"] == "accepted"} == accepted
    assert all(a["reason"] for a in attempts)
    assert len({a["scene_id"] for a in attempts}) == SCENES


def test_metrics_hold_figures_for_every_system(built):
    for system in ("majority", "random", "oracle", "cascade"):
        tasks = json.loads((built / f"metrics/bench/{system}.json").read_text())["tasks"]
        assert {"scene", "sounds", "reactions-time_and_name", "grounding"} <= set(tasks)
        scores = tasks["reactions-time_and_name"]
        assert 0 <= scores["balanced_accuracy"]["value"] <= 1 and scores["n"] > 0
    rates = json.loads((built / "metrics/wer.json").read_text())
    assert 0 <= rates["dry"]["word_error_rate"] <= rates["mix"]["word_error_rate"] + 0.1 < 0.5
    assert "balanced_accuracy" in run(["dvc", "metrics", "show"], built).stdout


def test_no_tracked_output_holds_a_path_of_this_machine(built):
    for folder in ("data", "metrics", "report"):
        for path in sorted((built / folder).rglob("*")):
            if path.suffix in {".json", ".jsonl", ".csv", ".html", ".svg"}:
                assert str(built) not in path.read_text(encoding="utf-8"), path
                assert str(Path.home() / ".cache") not in path.read_text(encoding="utf-8"), path


def test_a_scene_can_be_shown_and_mixed_again_by_both_backends(built, tmp_path):
    scene = records(built / "data/scenes/scenes.jsonl")[0]
    name = scene["scene_id"]
    assert scene["topic"] in run(["cares", "show", name], built).stdout
    for backend in ("numpy", "torch"):
        run(["cares", "render", name, "--backend", backend, "--out", str(tmp_path / "x.wav")], built)
        assert (tmp_path / "x.wav").read_bytes() == (built / scene["path"]).read_bytes(), backend
    assert "report/index.html" in run(["cares", "summary"], built).stdout
    assert "whisper-base" in run(["cares", "doctor"], built).stdout
    done = run(["cares", "render", name, "--out", str(tmp_path / "x.mp3")], built, check=False)
    assert done.returncode == 1 and "--out" in done.stderr and "Traceback" not in done.stderr


def test_a_second_run_does_nothing_and_soon(built):
    start = time.monotonic()
    done = run(["dvc", "repro"], built)
    assert "didn't change" in done.stdout and "Running stage" not in done.stdout
    assert time.monotonic() - start < 60
    assert run(["git", "status", "--porcelain"], built).stdout == ""


def test_a_typo_in_the_params_stops_the_stage_and_is_named(built):
    path = built / "params.yaml"
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace("  margin_db: ", "  margin_bd: "), encoding="utf-8")
    done = run(["dvc", "repro", "mix"], built, check=False)
    path.write_text(good, encoding="utf-8")
    assert done.returncode != 0
    assert "params.yaml: mix.margin_bd" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], built / "data/scenes")
    run(["dvc", "repro", "-q"], built)
    assert run(["git", "status", "--porcelain"], built).stdout == "", "mended, it is what it was"


def test_a_second_run_at_the_same_time_is_told_to_wait(built):
    (built / "params.yaml").touch()
    lock = built / ".dvc/tmp/rwlock"
    first = subprocess.Popen(
        [str(Path(sys.executable).parent / "dvc"), "repro", "--force", "--single-item", "sounds"],
        cwd=built,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until(lambda: lock.exists() and "sounds" in lock.read_text())
        done = run(["dvc", "repro", "--force", "--single-item", "sounds"], built, check=False)
        assert done.returncode != 0 and "busy" in done.stderr
    finally:
        assert first.wait(timeout=300) == 0
    assert run(["git", "status", "--porcelain"], built).stdout == ""


def _wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


LONG = (
    "sounds",
    "rooms",
    "calibrate",
    "topics",
    "dialogues",
    "speech",
    "align",
    "timeline",
    "mix",
    "counterfactuals",
    "transcribe",
)
SHORT = ("models", "allocate", "audit", "items", "report")  # done before a hand could interrupt them


@pytest.mark.parametrize("stage", [*LONG, *SHORT, "bench oracle"])
def test_ctrl_c_in_a_stage_leaves_its_outs_as_they_were(built, tmp_path, stage):
    # with a store of its own the stage has work to do; it is interrupted as soon as it shows that it works
    env = {**os.environ, "CARES_STORE": str(tmp_path), "CARES_WORKERS": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", *f"stages.{stage}".split()],
        cwd=built,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.set_blocking(process.stderr.fileno(), False)
    errors, end = b"", time.monotonic() + 60
    while process.poll() is None and b"%|" not in errors and time.monotonic() < end:
        errors += process.stderr.read() or b""
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    os.set_blocking(process.stderr.fileno(), True)
    errors += process.stderr.read()
    # a short stage may be done, or be on its way out (-SIGINT), when the signal arrives
    done = stage in SHORT and process.returncode in (0, -signal.SIGINT)
    assert process.returncode == 130 or done, errors.decode()[-2000:]
    assert b"Traceback" not in errors, errors.decode()[-2000:]
    assert not list((built / "data").rglob("*.part"))
    assert run(["git", "status", "--porcelain"], built).stdout == ""
    assert run(["dvc", "status", "-q"], built).returncode == 0


@pytest.mark.parametrize(("stage", "items"), [("speech", 6), ("dialogues", 1), ("dialogues", 2)])
def test_a_killed_stage_goes_on_and_ends_with_the_same_bytes(built, tmp_path, stage, items):
    out = built / "data" / stage
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    env = {**os.environ, "CARES_STORE": str(tmp_path), "CARES_WORKERS": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", f"stages.{stage}"]
    process = subprocess.Popen(command, cwd=built, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_until(lambda: process.poll() is not None or _kept(tmp_path) >= items, 300)
    process.kill()
    process.wait()
    kept = {path for path in tmp_path.rglob("*") if path.is_file()}
    run(command, built, CARES_STORE=str(tmp_path))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert kept - {p for p in kept if p.name.endswith(".part")} <= {p for p in tmp_path.rglob("*") if p.is_file()}
    assert run(["git", "status", "--porcelain"], built).stdout == ""


def _kept(store: Path) -> int:
    return sum(path.is_file() and not path.name.endswith(".part") for path in store.rglob("*"))


def test_pulled_data_are_the_same_without_any_model(built, tmp_path):
    store = tmp_path / "store"
    run(["dvc", "remote", "add", "--default", "store", str(store)], built)
    run(["dvc", "push", "-q"], built)
    commit(built, "remote")
    run(["git", "clone", "-q", str(built), "other"], tmp_path)
    run(["dvc", "pull", "-q"], tmp_path / "other")
    run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], tmp_path / "other/data/scenes")
    sums = "data/scenes/SHA256SUMS"
    assert (tmp_path / "other" / sums).read_bytes() == (built / sums).read_bytes()
    assert (tmp_path / "other/report/index.html").is_file()


def test_a_mix_parameter_re_runs_only_what_depends_on_it(built):
    done = run(["dvc", "exp", "run", "-S", "mix.master_lufs=-20"], built, VLLM_PLUGINS="")
    ran = re.findall(r"Running stage '([^']+)'", done.stdout)
    assert "mix" in ran and "timeline" in ran
    assert not set(ran) & {*MODEL_STAGES, "sounds", "rooms", "allocate", "models", "calibrate"}
    assert "-20" in run(["dvc", "exp", "show", "--csv", "--only-changed"], built).stdout
    changed = run(["dvc", "metrics", "diff", "HEAD"], built).stdout
    assert "integrated" in changed or "lufs" in changed
