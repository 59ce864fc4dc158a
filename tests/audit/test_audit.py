"""The audit finds a leak that is there, finds none that is not, and says when there is too little to tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.audit.features import FEATURES, Example, scene_examples
from cares.audit.params import AuditParams
from cares.audit.score import audit
from cares.core.errors import InputError
from cares.core.pcm import write_samples
from cares.records.scene import REACTIONS, Reaction
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord

PARAMS = AuditParams(folds=5, bootstrap=300, context_ms=1000, regularisation=1.0)
RATE = 44_100


def examples(templates: int, leak: float, seed: int = 0) -> list[Example]:
    """Two scenes a template with an event of each label, whose measurements hold the label `leak` times the noise."""
    rng = np.random.default_rng(seed)
    made = []
    for template in range(templates):
        for place, label in enumerate(REACTIONS):
            measured = rng.normal(size=len(FEATURES))
            measured[3] += leak * place
            made.append(
                Example(f"t{template:05}", label, tuple(measured.tolist()), f"s{rng.integers(40)}", "so it goes on")
            )
    return made


def test_no_leak_gives_an_interval_around_chance() -> None:
    result = audit(examples(60, 0.0), PARAMS, 1)
    low, high = result["ci95"]
    assert low <= 0.25 <= high
    assert result["chance"] == 0.25
    assert result["folds"] == 5


def test_leak_is_found() -> None:
    result = audit(examples(60, 4.0), PARAMS, 1)
    assert result["balanced_accuracy"] > 0.8
    assert result["ci95"][0] > 0.7
    assert result["from_sound_identity"]["ci95"][0] < 0.3


def test_words_and_sounds_that_tell_the_label_are_found() -> None:
    told = [
        Example(e.template_id, e.reaction, e.measured, f"only-{e.reaction}", f"it was {e.reaction} again")
        for e in examples(20, 0.0)
    ]
    result = audit(told, PARAMS, 1)
    assert result["from_sound_identity"]["balanced_accuracy"] == 1.0
    assert result["from_transcript"]["balanced_accuracy"] == 1.0
    assert result["balanced_accuracy"] < 0.5


def test_a_template_never_helps_to_judge_itself() -> None:
    # every template has its own measured constant; a label occurs in two templates only, each with one label
    told = [
        Example(f"t{i}", label, (float(i),) * len(FEATURES), f"s{i}", f"w{i}")
        for i in range(8)
        for label in [REACTIONS[i % 4]] * 3
    ]
    result = audit(told, PARAMS, 1)
    assert result["folds"] == 2
    assert result["from_sound_identity"]["balanced_accuracy"] <= 0.5


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_gives_no_score(count: int) -> None:
    result = audit(examples(1, 0.0)[:count], PARAMS, 1)
    assert result["balanced_accuracy"] is None
    assert result["ci95"] is None
    assert "too few" in result["note"]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.sampled_from(REACTIONS)), min_size=1, max_size=20), st.integers(0, 99))
def test_tiny_sets_never_raise(rows: list[tuple[int, Reaction]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    tiny = [
        Example(f"t{template}", label, tuple(rng.normal(size=len(FEATURES)).tolist()), "dog_bark", "a few words")
        for template, label in rows
    ]
    result = audit(tiny, PARAMS, 1)
    score = result["balanced_accuracy"]
    assert (score is None) == (result["folds"] == 0)
    assert score is None or result["ci95"][0] <= result["ci95"][1]
    assert result == audit(tiny, PARAMS, 1)


def test_measures_what_is_in_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=10 * RATE) * 30
    signal[4 * RATE : 5 * RATE] += rng.normal(size=RATE) * 3000
    write_samples(tmp_path / "data/scenes/x.wav", np.round(signal).astype(np.int16))
    word = PlacedWord(turn=1, speaker="A", word="hello", start_sample=0, end_sample=5 * RATE, interpolated=False)
    event = PlacedEvent(
        event=0, sound="dog_bark", reaction="verbal", register_id="verbal_dry", take_id="dog_bark-01", turn=1,
        start_sample=4 * RATE, end_sample=5 * RATE, gap_start=4 * RATE + 4410, gap_end=4 * RATE + 8820,
        level_cdb=-2000, margin_cdb=600, peak_limited=False, take_faded=False, scene_extended=False,
    )  # fmt: skip
    scene = MixedScene(
        scene_id="x", template_id="t", split="train", path="data/scenes/x.wav", sha256="0" * 64, n_samples=10 * RATE,
        integrated_lufs_cdb=-2300, true_peak_cdb=-100, location="home_indoor", relation="friend",
        roles=("friend", "friend"), genders=("F", "M"), voices=("a", "b"), topic="a topic", transcript="A: hello",
        words=(word,), events=(event,),
    )  # fmt: skip
    (example,) = scene_examples(scene, tmp_path, 1000)
    measured = dict(zip(FEATURES, example.measured, strict=True))
    assert measured["gap_s"] == pytest.approx(0.1)
    assert measured["onset_before_gap_s"] == pytest.approx(0.1)
    assert measured["end_after_gap_s"] == pytest.approx(0.8)
    assert measured["length_s"] == measured["words_over_s"] == pytest.approx(1.0)
    assert measured["place"] == pytest.approx(0.4)
    assert measured["margin_db"] == pytest.approx(40, abs=0.5)
    assert measured["level_before_db"] == pytest.approx(measured["level_db"] - 40, abs=0.5)
    assert example.text == "hello"
    assert scene_examples(scene.model_copy(update={"events": ()}), tmp_path, 1000) == []
    with pytest.raises(InputError, match="gone"):
        scene_examples(scene.model_copy(update={"path": "gone.wav"}), tmp_path, 1000)


@pytest.mark.parametrize(
    ("field", "value"), [("folds", 1), ("bootstrap", 10), ("context_ms", 0), ("regularisation", 0)]
)
def test_bad_param_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"audit.{field}"):
        AuditParams.parse(PARAMS.to_json() | {field: value}, "params.yaml", "audit")
