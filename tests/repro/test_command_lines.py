"""Options that cannot be meant: refused at once, with the option and its value."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("render t00000-0 --stem event:0 --mute 0 --out x.wav", "--mute: got 'event:0'"),
        ("audit --set mix.master_lufs=-20", "--set: got 'mix.master_lufs=-20'"),
        ("audit --corpus 12 --set mix.master_lufs=abc", "mix.master_lufs: got 'abc'"),
        ("audit --corpus 12 --seed -1", "--seed: got -1"),
        ("audit --corpus 12 --out .", "--out: got '.'"),
        ("params =3", "conf: got"),
        ("params --out .", "--out: got '.'"),
    ],
)
def test_an_option_that_cannot_be_meant_is_named_at_once(command, named):
    done = subprocess.run(
        [sys.executable, "-m", "cares.cli", *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert named in done.stderr and "Traceback" not in done.stderr
