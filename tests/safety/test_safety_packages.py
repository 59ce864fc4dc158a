"""The report on the packages: what it says of weaknesses, and that it never calls what it could not ask about safe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cares.repro.packages import audit

ROOT = Path(__file__).parents[2]
SKIPPED = {"name": "torch", "skip_reason": "not found"}
SOUND = {"name": "numpy", "version": "2.0", "vulns": []}
WEAK = {
    "name": "jinja2",
    "version": "3.1.2",
    "vulns": [
        {"id": "GHSA-1", "fix_versions": ["3.1.3"], "aliases": [], "description": "x"},
        {"id": "GHSA-2\x1b[2J", "fix_versions": [], "aliases": [], "description": "x"},
    ],
}


def report(tmp_path: Path, body: str, timeout_s: float = 30.0) -> list[str]:
    """The report where pip-audit is a script of one line."""
    script = tmp_path / "stand_in.py"
    script.write_text(body)
    pins = tmp_path / "pins.txt"
    pins.write_text("jinja2==3.1.2\n")
    return audit(pins, timeout_s, [sys.executable, str(script)])


def answered(*packages: dict[str, Any]) -> str:
    return f"print({json.dumps({'dependencies': packages, 'fixes': []})!r})"


def test_weaknesses_are_told_with_the_version_that_mends_them(tmp_path: Path) -> None:
    head, *lines = report(tmp_path, answered(WEAK, SOUND, SKIPPED) + "\nraise SystemExit(1)")
    assert "2 known weaknesses in 2 of the 3 packages" in head and "1 could not be asked about" in head
    assert lines == [
        "  jinja2 3.1.2: GHSA-1, mended in 3.1.3",
        "  jinja2 3.1.2: GHSA-2?[2J, no mended version",
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (answered(SKIPPED, SKIPPED), "the index tells nothing of any of the 2 packages"),
        (answered(), "the index tells nothing of any of the 0 packages"),
        ("raise SystemExit('no network')", "pip-audit ended with status 1: no network"),
        ("print('{}')", "pip-audit ended with status 0: no message"),
        ("print('[')", "pip-audit ended with status 0"),
    ],
)
def test_what_could_not_be_asked_is_not_called_safe(tmp_path: Path, body: str, why: str) -> None:
    (line,) = report(tmp_path, body)
    assert "nothing is known of the packages" in line and why in line
    assert "0 known weaknesses" not in line


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    (line,) = report(tmp_path, "import time\ntime.sleep(60)", timeout_s=0.5)
    assert "no answer within 0.5 s" in line


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    (line,) = audit(tmp_path / "pins.txt", 5.0, [str(tmp_path / "absent")])
    assert "cannot be started" in line


def test_the_report_fails_nothing(tmp_path: Path) -> None:
    """Whatever pip-audit says of a file that is not even there, the status is 0."""
    command = [sys.executable, "-m", "cares.repro.packages", str(tmp_path / "absent.txt")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "nothing is known of the packages" in done.stdout


def test_it_is_part_of_what_ci_runs() -> None:
    assert "make audit-packages" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    made = subprocess.run(["make", "-n", "audit-packages"], capture_output=True, text=True, cwd=ROOT, check=True)
    assert "cares.repro.packages constraints.txt" in made.stdout
