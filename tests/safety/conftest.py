"""The small finished build of the tests of the report, for those of what it must withstand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

# a conftest of another folder cannot be imported by its name, which they all share
_FILE = Path(__file__).parents[1] / "report/conftest.py"
_SPEC = importlib.util.spec_from_file_location("report_world", _FILE)
assert _SPEC is not None and _SPEC.loader is not None
report_world = importlib.util.module_from_spec(_SPEC)
sys.modules["report_world"] = report_world
_SPEC.loader.exec_module(report_world)
