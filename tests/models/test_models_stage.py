"""What data/models.json names: every model that params.yaml asks for, in whichever section."""

from __future__ import annotations

from pathlib import Path

import pytest

import stages.models
from cares.core.canonical import read_json
from cares.models.registry import registered
from cares.models.schema import ReadyModel

ROOT = Path(__file__).parents[2]


def named(model_id: str) -> ReadyModel:
    """The entry of a model without its files, so that none is fetched."""
    model = registered(model_id)
    return ReadyModel(
        id=model_id,
        official=(),
        ready=(),
        **{
            field: getattr(model, field)
            for field in ("name", "kind", "licence", "host", "repository", "revision", "convert")
        },
    )


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        ("  backend: whisper-timestamped", "  backend: whisper-timestamped", set()),
        ("  voices: []", "  voices: [vctk_*]", {"coqui-vits-vctk"}),
        ("  voices: []", "  voices: [qwen_*]", set()),
        ("align:\n  recogniser: whisper-base", "align:\n  recogniser: whisper-base-ct2", {"whisper-base-ct2"}),
    ],
)
def test_models_of_voices_and_of_the_aligner_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, more: set[str]
) -> None:
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    monkeypatch.setattr(stages.models, "ready_model", named)
    (tmp_path / "data").mkdir()
    stages.models.main()
    found = set(read_json(tmp_path / "data/models.json"))
    usual = {
        "qwen2.5-coder-1.5b-instruct", "all-minilm-l6-v2", "kokoro-82m", "piper-joe", "whisper-base",
        "ge2e-resemblyzer",
    }  # fmt: skip
    assert found == usual | more
