"""What `cares check` finds out before a model is loaded."""

import re
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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  asr: whisper-base", "  asr: whisper-base-ct2", r"models\.asr.*whisper-base-ct2"),
        ("speech:\n", "speech:\n  recogniser: whisper-base-ct2\n", r"speech\.recogniser.*whisper-base-ct2"),
        ("speech:\n", "speech:\n  speaker_encoder: whisper-base\n", r"speech\.speaker_encoder.*kind speaker"),
        ("align:\n", "align:\n  recogniser: whisper-base-ct2\n", r"align\.recogniser.*such as whisper-base"),
        ("align:\n", "align:\n  backend: faster-whisper\n", r"align\.recogniser.*such as whisper-base-ct2"),
    ],
)
def test_a_recogniser_in_the_wrong_form_is_named_before_anything_is_spoken(tmp_path, old, new, said):
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    head, section = text.split(old, 1)
    if new.startswith(old):
        key = new.removeprefix(old).split(":")[0]
        section = re.sub(rf"^{key}: .*\n", "", section, count=1, flags=re.MULTILINE)
    (tmp_path / "params.yaml").write_text(head + new + section, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        check_inputs(tmp_path)


def test_faster_whisper_takes_a_model_in_its_own_form(tmp_path):
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    head, section = text.split("\nalign:\n")
    section = section.replace("recogniser: whisper-base\n", "recogniser: whisper-base-ct2\n", 1)
    section = section.replace("backend: whisper-timestamped", "backend: faster-whisper", 1)
    (tmp_path / "params.yaml").write_text(f"{head}\nalign:\n{section}", encoding="utf-8")
    assert check_inputs(tmp_path) > 10
