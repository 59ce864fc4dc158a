"""Known weaknesses of the pinned packages, by pip-audit: a report, which says so when it could not ask.

    python -m cares.repro.packages constraints.txt

It never fails: a weakness that is made public today is no fault of the change that is tested today.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cares.core.text import plain

TIMEOUT_S = 20.0
SHOWN = 40


def audit(pins: Path, timeout_s: float = TIMEOUT_S, command: Sequence[str] = ()) -> list[str]:
    """The lines of the report: how many packages could be asked about, and every known weakness of these.

    Args:
        pins: a file of requirements, each with one version.
        timeout_s: how long the advisories are waited for.
        command: what is run instead of pip-audit, for tests.
    """
    asking = list(command) or [sys.executable, "-m", "pip_audit"]
    options = ["--requirement", str(pins), "--no-deps", "--disable-pip", "--vulnerability-service", "pypi"]
    shape = ["--format", "json", "--progress-spinner", "off", "--timeout", str(max(1, round(timeout_s / 2)))]
    try:
        done = subprocess.run([*asking, *options, *shape], capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return [_not_asked(f"no answer within {timeout_s:g} s")]
    except OSError as error:
        return [_not_asked(f"pip-audit cannot be started ({error.strerror})")]
    try:
        packages = json.loads(done.stdout)["dependencies"]
        return _report(pins, [dict(package) for package in packages])
    except (ValueError, KeyError, TypeError):
        said = plain((done.stderr.strip() or "no message").splitlines()[-1])
        return [_not_asked(f"pip-audit ended with status {done.returncode}: {said[:200]}")]


def _report(pins: Path, packages: Sequence[dict[str, Any]]) -> list[str]:
    asked = [package for package in packages if "skip_reason" not in package]
    if not asked:
        return [_not_asked(f"the index tells nothing of any of the {len(packages)} packages")]
    found = [
        f"{package['name']} {package['version']}: {weakness['id']}, {_mended(weakness)}"
        for package in asked
        for weakness in package["vulns"]
    ]
    head = f"audit-packages: {len(found)} known weaknesses in {len(asked)} of the {len(packages)} packages of {pins}"
    if left := len(packages) - len(asked):
        head += f"; {left} could not be asked about"
    rest = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [head, *(f"  {plain(line)}" for line in [*found[:SHOWN], *rest])]


def _mended(weakness: dict[str, Any]) -> str:
    versions = weakness.get("fix_versions") or []
    return f"mended in {', '.join(map(str, versions))}" if versions else "no mended version"


def _not_asked(why: str) -> str:
    return f"audit-packages: nothing is known of the packages, because {why}. This is a report and fails nothing"


if __name__ == "__main__":
    print("\n".join(audit(Path(sys.argv[1]))))
