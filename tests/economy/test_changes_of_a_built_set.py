"""A set built by DVC grows by ten scenes, and is mixed again: what is made anew, and what stays as it was.

All models have stand-ins. Only stages up to the questions are run: what follows works on the set as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.economy.changed_set import SCENES, Built, ChangedSet, Ran

pytestmark = [pytest.mark.repro, pytest.mark.timeout(3000)]

ADDED = 10
RECORDS = (
    "data/allocation/scenes.jsonl",
    "data/allocation/templates.jsonl",
    "data/topics.jsonl",
    "data/dialogues/accepted.jsonl",
    "data/dialogues/attempts.jsonl",
    "data/speech/speech.jsonl",
    "data/alignment.jsonl",
    "data/timelines.jsonl",
    "data/scenes/scenes.jsonl",
    "data/bench/counterfactuals/manifest.jsonl",
    "data/bench/items.jsonl",
)
SOUNDS = ("data/speech", "data/scenes", "data/bench/counterfactuals")


class Changes(NamedTuple):
    """What each run did; lines and files of the first that the second took away or changed; lines that it added."""

    first: Ran
    grown: Ran
    remixed: Ran
    lost: dict[str, set[str]]
    changed: list[str]
    more: dict[str, int]


@pytest.fixture(scope="module")
def changes(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Changes:
    copy = ChangedSet(tmp_path_factory.mktemp("changes") / "copy", built.set)
    lines, files = copy.lines(*RECORDS), copy.files(*SOUNDS)
    copy.set_params("allocation", added=[ADDED])
    grown = copy.repro("items")
    lines_after, files_after = copy.lines(*RECORDS), copy.files(*SOUNDS)
    copy.set_params("mix", master_lufs=-20.0)
    return Changes(
        built.first,
        grown,
        copy.repro("mix"),
        {name: before - lines_after[name] for name, before in lines.items()},
        [name for name, data in files.items() if files_after.get(name) != data],
        {name: len(lines_after[name]) - len(before) for name, before in lines.items()},
    )


def test_ten_more_scenes_leave_what_was_there_as_it_was(changes: Changes) -> None:
    assert changes.lost == {name: set() for name in RECORDS}
    assert changes.changed == []
    assert changes.more["data/scenes/scenes.jsonl"] == ADDED


def test_ten_more_scenes_cost_ten_scenes(changes: Changes) -> None:
    first, grown = changes.first, changes.grown
    assert not set(grown.stages) & {"models", "sounds", "rooms", "calibrate"} and grown.stages[0] == "allocate"
    assert len(grown.made["timeline"]) == len(grown.made["mix"]) == ADDED
    assert len(grown.made["counterfactual"]) == changes.more["data/bench/counterfactuals/manifest.jsonl"]
    for name, more, whole in (
        ("requests", grown.requests, first.requests),
        ("tokens", grown.tokens, first.tokens),
        ("utterances", len(grown.made["speech"]), len(first.made["speech"])),
        ("recognised", len(grown.made["asr"]), len(first.made["asr"])),
    ):
        assert 0 < more <= 1.3 * whole * ADDED / SCENES, name


def test_a_mix_parameter_mixes_again_and_loads_no_model(changes: Changes) -> None:
    ran = changes.remixed
    assert ran.stages == ("timeline", "mix")
    assert ran.loaded == frozenset() and ran.requests == 0
    assert len(ran.made["mix"]) == SCENES + ADDED
    assert not ran.made["sounds"] and not ran.made["speech"] and not ran.made["asr"]
