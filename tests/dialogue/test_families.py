"""Who writes and who judges: families are known, checked against the registry, and must differ."""

import pytest

from cares.core.errors import InputError
from cares.dialogue.families import families
from cares.models.params import ModelsParams
from cares.models.registry import load_registry

QWEN, SMOL = "qwen2.5-coder-1.5b-instruct", "smollm2-135m-instruct"


def models(**changed):
    value = {
        "writer": QWEN,
        "judge": QWEN,
        "encoder": "all-minilm-l6-v2",
        "tts": ["kokoro-82m"],
        "asr": "whisper-base",
        "speaker": "ge2e-resemblyzer",
    }
    return ModelsParams.parse({**value, **changed}, "params.yaml", "models")


def test_every_model_that_may_write_or_judge_has_a_family():
    lacking = [name for name, one in load_registry().items() if one.kind in ("llm", "encoder") and not one.family]
    assert lacking == []


def test_the_classifier_is_of_the_family_of_its_encoder():
    found = families(models(), "classifier", False, "params.yaml")
    assert (found.writer, found.evaluator, found.same, found.remark) == ("qwen2.5", ("minilm",), False, "")


@pytest.mark.parametrize("evaluator", ["llm", "both"])
def test_equal_families_are_an_error_that_names_both_fields(evaluator):
    with pytest.raises(InputError, match=r"models\.judge_family.*qwen2\.5.*models\.writer_family.*allow_same_family"):
        families(models(), evaluator, False, "params.yaml")
    found = families(models(), evaluator, True, "params.yaml")
    assert found.same and "same family" in found.remark and "qwen2.5" in found.remark


@pytest.mark.parametrize(("evaluator", "expected"), [("llm", ("smollm2",)), ("both", ("minilm", "smollm2"))])
def test_another_family_may_judge(evaluator, expected):
    found = families(models(judge=SMOL), evaluator, False, "params.yaml")
    assert found.evaluator == expected and not found.same


def test_a_served_model_needs_its_family_in_the_params():
    served = {"writer": "Qwen/Qwen3-235B-A22B", "judge": "meta-llama/Llama-4-Maverick"}
    with pytest.raises(InputError, match=r"models\.writer_family.*Qwen3"):
        families(models(**served), "llm", False, "params.yaml")
    with pytest.raises(InputError, match=r"models\.judge_family.*Llama-4"):
        families(models(**served, writer_family="qwen3"), "llm", False, "params.yaml")
    found = families(models(**served, writer_family="qwen3", judge_family="llama-4"), "llm", False, "params.yaml")
    assert (found.writer, found.evaluator) == ("qwen3", ("llama-4",))
    with pytest.raises(InputError, match=r"models\.judge_family"):
        families(models(**served, writer_family="qwen3", judge_family="qwen3"), "llm", False, "params.yaml")


def test_an_encoder_without_a_family_is_named_by_the_key_that_there_is():
    unknown = models(encoder="kokoro-82m")
    with pytest.raises(InputError, match=r"models\.encoder: got 'kokoro-82m', expected a model whose family"):
        families(unknown, "classifier", False, "params.yaml")


def test_who_writes_the_topics_is_a_writer_too():
    topics = models(topics=SMOL, judge=SMOL)
    with pytest.raises(InputError, match=r"models\.judge_family.*smollm2.*models\.topics.*allow_same_family"):
        families(topics, "llm", False, "params.yaml")
    found = families(topics, "llm", True, "params.yaml")
    assert (found.writer, found.topics, found.same) == ("qwen2.5", "smollm2", True)
    assert found.remark == " (same family as the topics' writer: smollm2)"
    apart = families(topics, "classifier", False, "params.yaml")
    assert (apart.topics, apart.same, apart.remark) == ("smollm2", False, "")
    assert families(models(topics=QWEN), "classifier", False, "params.yaml").topics is None, "no other model"
    with pytest.raises(InputError, match=r"models\.topics: got 'served/one'"):
        families(models(topics="served/one"), "classifier", False, "params.yaml")


def test_a_family_that_is_not_the_registry_s_is_an_error():
    with pytest.raises(InputError, match=r"models\.judge_family.*'llama'.*smollm2"):
        families(models(judge=SMOL, judge_family="llama"), "llm", False, "params.yaml")


def test_without_a_judge_only_the_classifier_can_judge():
    none = models(judge=None)
    assert families(none, "classifier", False, "params.yaml").evaluator == ("minilm",)
    with pytest.raises(InputError, match=r"models\.judge: got None"):
        families(none, "both", False, "params.yaml")
    with pytest.raises(InputError, match="judge_family needs a judge"):
        models(judge=None, judge_family="llama")


def test_models_are_fetched_once_each():
    assert models().ids() == (QWEN, "all-minilm-l6-v2", "kokoro-82m", "whisper-base", "ge2e-resemblyzer")
    assert models(judge=SMOL).ids()[:2] == models(judge=SMOL).language_models == (QWEN, SMOL)
