"""What `cares check` finds out before a model is loaded."""

from pathlib import Path

import pytest

from cares.core.errors import InputError
from cares.repro.check import check_inputs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("field", ["group_scenes", "repair_places"])
def test_waves_that_the_engine_cannot_take_are_named_at_once(tmp_path, field):
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    (tmp_path / "params.yaml").write_text(text)
    assert check_inputs(tmp_path) > 10
    head, section = text.split("\ndialogues:\n")
    changed = "\n".join(f"  {field}: 64" if line.startswith(f"  {field}:") else line for line in section.split("\n"))
    (tmp_path / "params.yaml").write_text(f"{head}\ndialogues:\n{changed}")
    with pytest.raises(InputError, match=rf"dialogues\.{field}.*64.*wave_limit"):
        check_inputs(tmp_path)
