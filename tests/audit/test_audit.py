"""The audit finds a leak that is there, finds none that is not, and says when there is too little to tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from audit_world import PARAMS, examples, shift
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.audit.features import FEATURES, PLACED, SCENE, SOUND, TALK, Example
from cares.audit.models import measured_view
from cares.audit.params import AuditParams
from cares.audit.run import audit, compact, feature_rows, lines
from cares.audit.score import score
from cares.core.canonical import dumps
from cares.core.errors import InputError
from cares.records.scene import REACTIONS, Reaction


def test_no_leak_gives_an_interval_around_chance() -> None:
    result = audit(examples(60), PARAMS, 1)
    low, high = result["ci95"]
    assert low <= 0.25 <= high
    assert result["chance"] == 0.25
    assert result["folds"] == 5
    assert not any(row["gives_away"] for row in result["features"])


def test_interval_holds_chance_in_about_95_of_100_sets_without_a_leak() -> None:
    quick = PARAMS.model_copy(update={"bootstrap": 200})
    inside = 0
    for seed in range(200):
        made = examples(24, seed=seed)
        low, high = score(made, measured_view(made, SOUND[:4], quick), quick, seed)["ci95"]
        inside += low <= 0.25 <= high
    # 95 % of 200 is 190; a binomial count falls below 180 once in 800 times
    assert 180 <= inside <= 200


def test_a_longer_gap_of_behavioral_sounds_is_found_and_named() -> None:
    result = audit(examples(80, shift("heard_gap_s", "behavioral", 2.0)), PARAMS, 1)
    assert result["ci95"][0] > 0.3
    assert result["recall"]["behavioral"] > 0.6
    first = result["features"][0]
    assert first["name"] == "heard_gap_s" and first["gives_away"]
    assert first["auc"]["behavioral"] > 0.85
    assert first["median"]["behavioral"] > first["median"]["ambient"] + 1
    assert [row["name"] for row in result["features"] if row["gives_away"]] == ["heard_gap_s"]
    assert result["from_talk"]["ci95"][0] < 0.25
    assert any("given away by: heard_gap_s" in line for line in lines(result))


def test_a_leak_of_the_talk_is_not_one_of_the_mix() -> None:
    result = audit(examples(80, shift("into_turn_s", "ambient", 3.0)), PARAMS, 1)
    assert result["ci95"][0] <= 0.25 <= result["ci95"][1]
    assert result["from_talk"]["ci95"][0] > 0.3
    assert result["from_all_measured"]["ci95"][0] > 0.3


def test_trees_find_what_is_not_linear() -> None:
    rng = np.random.default_rng(0)

    def far_out(reaction: Reaction, measured: np.ndarray) -> None:
        if reaction == "pivot":
            measured[FEATURES.index("level_db")] = rng.choice([-3.0, 3.0])

    result = audit(examples(80, far_out), PARAMS.model_copy(update={"trees": 60}), 1)
    assert result["from_sound_by_trees"]["ci95"][0] > 0.3
    assert result["from_sound_by_trees"]["balanced_accuracy"] > result["balanced_accuracy"] + 0.05


def test_words_and_sounds_that_tell_the_label_are_found() -> None:
    told = [
        Example(e.template_id, e.reaction, e.measured, f"only-{e.reaction}", f"it was {e.reaction} again")
        for e in examples(20)
    ]
    result = audit(told, PARAMS, 1)
    assert result["from_sound_identity"]["balanced_accuracy"] == 1.0
    assert result["from_sound_identity"]["contrary_balanced_accuracy"] == 0.0
    assert result["from_transcript"]["balanced_accuracy"] == 1.0
    assert result["balanced_accuracy"] < 0.5


def test_a_sound_with_all_its_labels_evenly_tells_what_it_will_not_be() -> None:
    balanced = [
        Example(f"t{4 * sound + place:05}", label, e.measured, f"s{sound}", "so it goes on")
        for sound in range(30)
        for place, (label, e) in enumerate(zip(REACTIONS, examples(1, seed=sound), strict=True))
    ]
    identity = audit(balanced, PARAMS, 1)["from_sound_identity"]
    assert identity["ci95"][1] < 0.25
    assert identity["contrary_ci95"][0] > 0.25


def test_without_words_there_is_no_score_from_them() -> None:
    result = audit(examples(20, text=None), PARAMS, 1)
    assert result["from_transcript"]["balanced_accuracy"] is None
    assert "could be read" in result["from_transcript"]["note"]


def test_rare_sounds_are_scored_apart() -> None:
    made = examples(60)
    rare = [
        Example(f"r{i:05}", "pivot", tuple(9.0 if name == "level_db" else 0.0 for name in FEATURES), "siren", "a word")
        for i in range(60)
    ]
    result = audit([*made, *rare], PARAMS, 1, {"siren"})
    assert result["rare_left_out"] == 60
    assert result["n_events"] == len(made)
    assert result["ci95"][0] <= 0.25 <= result["ci95"][1]
    assert result["with_rare_sounds"]["n_events"] == len(made) + 60
    assert result["with_rare_sounds"]["recall"]["pivot"] > 0.45


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
def test_too_few_gives_a_note_instead_of_a_score(count: int) -> None:
    result = audit(examples(1)[:count], PARAMS, 1)
    assert result["balanced_accuracy"] is None
    assert result["ci95"] is None
    assert result["features"] == []
    assert "too few" in result["note"]
    assert any("no score: too few" in line for line in lines(result))


def test_one_label_alone_gives_a_note() -> None:
    result = audit([e for e in examples(20) if e.reaction == "verbal"], PARAMS, 1)
    assert result["balanced_accuracy"] is None
    assert result["labels"] == {"verbal": 20}


def test_a_wide_interval_is_said_to_be_wide() -> None:
    assert "points wide" in audit(examples(4), PARAMS, 1)["note"]


def test_what_cannot_be_measured_is_no_error_and_can_be_a_leak() -> None:
    def unknown(reaction: Reaction, measured: np.ndarray) -> None:
        measured[FEATURES.index("gap_floor_db")] = math.nan
        if reaction == "ambient":
            measured[FEATURES.index("pause_after_s")] = math.nan

    result = audit(examples(60, unknown), PARAMS, 1)
    assert result["recall"]["ambient"] > 0.9
    rows = {row["name"]: row for row in result["features"]}
    assert rows["gap_floor_db"]["p"] is None
    assert "ambient" not in rows["pause_after_s"]["auc"]
    dumps(result)


def test_repeats_are_reproducible_and_narrow_the_interval() -> None:
    made = examples(40, shift("heard_gap_s", "pivot", 0.5))
    view = measured_view(made, SOUND[:4], PARAMS)
    once, often, again = (score(made, view, PARAMS.model_copy(update={"repeats": n}), 1) for n in (1, 6, 6))
    assert often == again
    assert often["ci95"][1] - often["ci95"][0] < once["ci95"][1] - once["ci95"][0]


def test_confusion_and_recall_agree() -> None:
    result = audit(examples(30), PARAMS, 1)
    for label in REACTIONS:
        assert result["confusion"][label][label] == result["recall"][label]
        assert sum(result["confusion"][label].values()) == pytest.approx(1, abs=0.001)


def test_metrics_file_holds_scores_and_the_names_of_what_leaks() -> None:
    result = audit(examples(80, shift("heard_gap_s", "behavioral", 2.0)), PARAMS, 1)
    small = compact(result)
    assert small["given_away_by"] == ["heard_gap_s"]
    assert "features" not in small and "features" not in small["from_talk"]
    assert small["from_talk"]["balanced_accuracy"] == result["from_talk"]["balanced_accuracy"]
    assert sorted(row["name"] for row in feature_rows(result)) == sorted([*SOUND, *TALK, *SCENE, *PLACED])


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.sampled_from(REACTIONS)), min_size=1, max_size=20), st.integers(0, 99))
def test_tiny_sets_never_raise(rows: list[tuple[int, Reaction]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    tiny = [
        Example(f"t{template}", label, tuple(rng.normal(size=len(FEATURES)).tolist()), "dog_bark", "a few words")
        for template, label in rows
    ]
    result = audit(tiny, PARAMS, 1)
    figure = result["balanced_accuracy"]
    assert (figure is None) == (result["folds"] == 0)
    assert figure is None or 0 <= result["ci95"][0] <= figure <= result["ci95"][1] <= 1
    assert result == audit(tiny, PARAMS, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("folds", 1), ("repeats", 0), ("bootstrap", 10), ("context_ms", 0), ("regularisation", 0), ("trees", -1)],
)
def test_bad_param_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"audit.{field}"):
        AuditParams.parse(PARAMS.to_json() | {field: value}, "params.yaml", "audit")
