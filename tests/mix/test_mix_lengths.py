"""Figures and histogram of the finished scenes' lengths."""

from types import SimpleNamespace

from cares.mix.lengths import describe_lengths, length_rows

SECONDS = {"a": 112.0, "b": 133.0, "c": 61.0}


def build(targets):
    mixed = [SimpleNamespace(scene_id=name, n_samples=int(s * 44_100)) for name, s in SECONDS.items()]
    return mixed, [SimpleNamespace(scene_id=name, length_s=target) for name, target in targets.items()]


def test_lengths_are_set_against_their_targets():
    figures = describe_lengths(*build({"a": 110.0, "b": 100.0, "c": 60.0}))
    assert (figures["mean_s"], figures["target_mean_s"]) == (102.0, 90.0)
    assert figures["off"] == round(102 / 90 - 1, 4)
    assert figures["within_a_tenth"] == 0.6667
    assert figures["deviation_s"] == 30.23


def test_a_build_that_asks_for_no_length_has_its_own_figures_only():
    figures = describe_lengths(*build(dict.fromkeys(SECONDS)))
    assert figures["mean_s"] == 102.0
    assert figures["target_mean_s"] is figures["off"] is figures["within_a_tenth"] is None


def test_a_target_of_a_scene_that_was_left_out_counts_for_nothing():
    assert describe_lengths(*build({"a": 110.0, "z": 500.0}))["target_mean_s"] == 110.0
    assert length_rows(*build({"a": 110.0, "z": 500.0}))[-1]["seconds"] == "130-135"


def test_every_scene_is_in_one_bar_and_no_bar_is_left_out():
    rows = length_rows(*build({"a": 50.0, "b": 100.0, "c": 60.0}))
    assert sum(row["scenes"] for row in rows) == sum(row["targets"] for row in rows) == 3
    assert [row["seconds"] for row in rows[:2]] == ["050-055", "055-060"] and rows[-1]["seconds"] == "130-135"
    assert len(rows) == 17
