"""Sections `timeline` and `mix`: values out of range are errors with their name."""

from __future__ import annotations

import pytest
from mix_world import MIX, TIMELINE

from cares.core.errors import InputError
from cares.mix.params import MixParams, TimelineParams, to_cdb, to_samples


def test_defaults_of_the_tests_are_valid() -> None:
    assert TimelineParams.parse(TIMELINE.to_json(), "params.yaml") == TIMELINE
    assert MixParams.parse(MIX.to_json() | {"master_lufs": -20}, "params.yaml").master_lufs == -20.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("placement", "random"),
        ("gap_ms", [850, 500]),
        ("gap_ms", [-1, 500]),
        ("gap_ms", [0.5, 0.85]),
        ("event_gap_max_ms", 849),
        ("event_max_ms", 0),
        ("edge_fade_ms", 51),
        ("decoys", "yes"),
        ("gap_s", [0.5, 0.85]),
    ],
)
def test_bad_timeline_value_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=r"params.yaml: timeline"):
        TimelineParams.parse(TIMELINE.to_json() | {field: value}, "params.yaml", "timeline")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("master_lufs", 0),
        ("master_lufs", -23.005),
        ("true_peak_dbtp", 0.5),
        ("event_lufs", []),
        ("event_lufs", [-20, 3]),
        ("margin_db", -1),
        ("even_out_db", 13),
        ("duck_db", 13),
        ("duck_labels", "pivot"),
        ("voice_lufs", "loud"),
        ("ambience_offset_db", float("nan")),
    ],
)
def test_bad_mix_value_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"params.yaml: mix.{field}"):
        MixParams.parse(MIX.to_json() | {field: value}, "params.yaml", "mix")


def test_times_and_levels_become_integers_exactly() -> None:
    assert [to_samples(ms) for ms in (1, 10, 500, 850, 60_000)] == [44, 441, 22_050, 37_485, 2_646_000]
    assert [to_cdb(level) for level in (-23.0, -22.99, 0.29, -0.57)] == [-2300, -2299, 29, -57]
