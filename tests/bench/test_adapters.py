"""Adapters: what is refused, what pins a model, and tiny random models of each class up to their answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models

from cares.bench.adapters.known import ADAPTERS, adapter_of
from cares.bench.adapters.params import TransformersParams
from cares.bench.adapters.pinned import model_digest, model_folder
from cares.bench.adapters.run import TransformersModel
from cares.bench.systems_audio import AudioQuestion
from cares.core.canonical import file_digest
from cares.core.errors import CaresError, InputError
from cares.core.pcm import SAMPLE_RATE, encode
from cares.llm.types import ChatAnswer

REVISION = "0123456789abcdef0123456789abcdef01234567"
Saver = Callable[[Path], None]


def params(**values: object) -> TransformersParams:
    return TransformersParams.parse({"adapter": "qwen2-audio", "source": "owner/name", **values}, "test")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Forty seconds of a rising tone."""
    t = np.arange(40 * SAMPLE_RATE) / SAMPLE_RATE
    path = tmp_path / "tone.wav"
    path.write_bytes(encode(np.round(8000 * np.sin(2 * np.pi * (100 + 20 * t) * t)).astype(np.int16), container="WAV"))
    return path


def question(recording: Path, **changes: Any) -> AudioQuestion:
    asked = AudioQuestion("i/1", "How do they react?", recording, file_digest(recording), 6, 1)
    return asked._replace(**changes)


def answers_of(model: TransformersModel, *questions: AudioQuestion) -> list[ChatAnswer]:
    found: list[ChatAnswer] = []
    model.answer(questions, lambda place, answer, milliseconds: found.append(answer))
    return found


def test_every_adapter_says_what_was_tried_and_names_no_revision() -> None:
    assert {
        "qwen2.5-omni",
        "qwen3-omni",
        "audio-flamingo-3",
        "kimi-audio",
        "midashenglm",
        "mimo-audio",
        "moss-audio",
    } <= set(ADAPTERS)
    assert all(adapter.tried for adapter in ADAPTERS.values())


def test_native_classes_are_in_the_library() -> None:
    import transformers

    for adapter in ADAPTERS.values():
        if adapter.code == "native":
            assert hasattr(transformers, adapter.model_class)
            assert hasattr(transformers, adapter.processor_class)


@pytest.mark.parametrize("name", ["kimi-audio", "mimo-audio"])
def test_a_model_whose_code_is_a_package_is_refused_with_the_way_to_ask_it(name: str) -> None:
    with pytest.raises(InputError, match="--base-url"):
        adapter_of(name)


def test_an_unknown_adapter_is_refused() -> None:
    with pytest.raises(InputError, match=r"one of qwen2\.5-omni"):
        adapter_of("gpt-ears")


@pytest.mark.parametrize("name", ["midashenglm", "moss-audio"])
def test_remote_code_is_refused_unless_it_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "modeling.py").write_text("raise SystemExit('it ran')\n")
    given = params(adapter=name, source=str(tmp_path))
    with pytest.raises(InputError, match=r"code_sha256.*not in transformers.*Read the code"):
        TransformersModel(given)


def test_code_must_be_as_it_is_named(tmp_path: Path) -> None:
    code = tmp_path / "modeling.py"
    code.write_text("print('one')\n")
    named = {"modeling.py": file_digest(code)}
    adapter = ADAPTERS["midashenglm"]
    given = params(adapter="midashenglm", source=str(tmp_path), code_sha256=named)
    assert model_folder(given, adapter) == tmp_path
    code.write_text("print('two')\n")
    with pytest.raises(InputError, match="not what was named"):
        model_folder(given, adapter)
    code.write_text("print('one')\n")
    (tmp_path / "helper.py").write_text("print('three')\n")
    with pytest.raises(InputError, match=r"helper\.py.*to be named"):
        model_folder(given, adapter)
    with pytest.raises(InputError, match=r"other\.py"):
        model_folder(params(adapter="midashenglm", source=str(tmp_path), code_sha256={"other.py": "0" * 64}), adapter)


@pytest.mark.parametrize("reference", ['"x/y--modeling.Model"', '[null, "x/y--modeling.Model"]'])
def test_code_of_another_repository_is_refused(tmp_path: Path, reference: str) -> None:
    code, config = tmp_path / "modeling.py", tmp_path / "config.json"
    code.write_text("print('one')\n")
    given = params(adapter="midashenglm", source=str(tmp_path), code_sha256={"modeling.py": file_digest(code)})
    config.write_text('{"auto_map": {"AutoModelForCausalLM": "modeling.Model"}}')
    assert model_folder(given, ADAPTERS["midashenglm"]) == tmp_path
    config.write_text(f'{{"auto_map": {{"AutoModelForCausalLM": {reference}}}}}')
    with pytest.raises(InputError, match=r"config\.json: auto_map.*not pinned"):
        model_folder(given, ADAPTERS["midashenglm"])


@pytest.mark.parametrize("revision", ["main", "v1.0", REVISION[:12], REVISION.upper()])
def test_a_revision_is_a_full_commit(revision: str) -> None:
    with pytest.raises(InputError, match="revision"):
        params(revision=revision)


def test_a_repository_without_a_revision_is_refused() -> None:
    with pytest.raises(InputError, match=r"revision.*owner/name"):
        model_folder(params(), ADAPTERS["qwen2-audio"])


def test_a_repository_that_cannot_be_had_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CaresError, match=rf"owner/name @ {REVISION}: not here"):
        model_folder(params(revision=REVISION), ADAPTERS["qwen2-audio"])


def test_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    given = params(source=str(tmp_path))
    first = model_digest(tmp_path, given)
    assert model_digest(tmp_path, given) == first
    assert model_digest(tmp_path, params(source=str(tmp_path), dtype="float32")) != first
    (tmp_path / "config.json").write_text("{} ")
    assert model_digest(tmp_path, given) != first


@pytest.mark.parametrize(
    ("name", "save", "tokens"),
    [("qwen2-audio", tiny_models.save_qwen2_audio, 750), ("audio-flamingo-3", tiny_models.save_audio_flamingo_3, 1000)],
)
def test_a_tiny_model_of_the_class_answers_from_its_files(
    name: str, save: Saver, tokens: int, recording: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    save(folder)
    model = TransformersModel(params(adapter=name, source=str(folder), dtype="float32"))
    free, bound = answers_of(model, question(recording), question(recording, choices=("A", "B", "C", "D")))
    # 25 positions a second: the one hears the first 30 s of 40, the other all
    assert tokens < free.prompt_tokens < tokens + 120
    assert 1 <= free.completion_tokens <= 6
    assert (bound.text in set("ABCD"), bound.finish_reason, bound.completion_tokens) == (True, "stop", 2)
    assert answers_of(model, question(recording))[0] == free
    missing = recording.with_name("none.wav")
    with pytest.raises(InputError, match="cares pull"):
        answers_of(model, question(recording, audio=missing))
    model.close()


@pytest.mark.parametrize(
    ("name", "made", "tokens"),
    [("qwen2.5-omni", tiny_models.qwen25_omni, 1000), ("qwen3-omni", tiny_models.qwen3_omni, 500)],
)
def test_a_tiny_thinker_answers(name: str, made: Callable[[], tuple[Any, Any]], tokens: int, recording: Path) -> None:
    processor, thinker = made()
    model = TransformersModel.of(name, "0" * 64, processor, thinker)
    inputs = model.inputs(question(recording))
    assert int(inputs["input_ids"].shape[1]) >= tokens
    free, bound = answers_of(model, question(recording), question(recording, choices=("A", "B")))
    assert free.finish_reason in ("stop", "length")
    assert free.prompt_tokens == int(inputs["input_ids"].shape[1])
    assert bound.text in ("A", "B")


def test_a_folder_without_a_model_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CaresError, match="qwen2-audio: does not load from"):
        TransformersModel(params(source=str(tmp_path)))
