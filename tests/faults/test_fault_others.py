"""A full disk, damaged entries and two runs at once, on the small pipeline."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.clones import Clone, forget, manifest, temporary, temporary_entries
from tests.faults.kills import differences
from tests.faults.mini import TALK_PIPELINE, mini_clone
from tests.faults.others import damage_store, full_disk, shared_store, small_disk, twice_at_once
from tests.faults.reference import Reference, build
from tests.faults.servers import Server, lose_server, served_reference

Built = tuple[Clone, Reference, Path]


def test_damaged_entries_are_told_and_made_again(built: Built) -> None:
    clone, reference, log = built
    found = damage_store(clone, reference, 1, log)
    assert found["status"] == 0 and found["differences"] == []
    assert found["damaged"] == found["told"] == 8


def test_a_second_run_is_told_to_wait_and_disturbs_nothing(built: Built) -> None:
    clone, reference, log = built
    found = twice_at_once(clone, reference, log)
    assert found["failure"] == "" and found["differences"] == []
    # on a busy machine the second may take the lock before the first
    assert 0 in (found["first"], found["second"])
    assert found["second"] == 0 or found["told"]


def test_a_stage_beside_the_same_stage_is_not_disturbed(built: Built) -> None:
    clone, reference, log = built
    forget(clone.root, set())
    for name in reference.costs["squares"].entries:
        (clone.store / name).unlink()
    running = [clone.start(sys.executable, "-m", "stages.squares", log=log) for _ in range(2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert differences(clone, reference) == []
    assert temporary(clone.root) == temporary_entries(clone.store) == []


def test_two_clones_build_at_once_with_one_store(built: Built, tmp_path: Path) -> None:
    clone, reference, log = built
    other = mini_clone(tmp_path / "other", clone.mark, CARES_STORE=str(clone.store))
    found = shared_store((clone, other), (reference, reference), log)
    assert found == {"status": [0, 0], "differences": [[], []], "stale": [[], []]}


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, mark: str) -> None:
    try:
        with small_disk(tmp_path / "disk", "16m") as disk:
            clone = mini_clone(disk / "clone", mark)
            reference = build(clone, tmp_path / "log", disk / "store")
            # room for some entries and no folder, and for all that the stage writes but not for DVC's copy of it
            for free in (80_000, 400_000):
                found = full_disk(clone, reference, {"squares"}, free, tmp_path / "log")
                assert found["damaged"] == found["differences"] == found["stale"] == [] and not found["failure"], found
                if free == 80_000:
                    assert found["status"] != 0
                    assert "squares" in str(found["message"]) and "No space left" in str(found["message"])
    except PermissionError as error:
        pytest.skip(f"no file system can be mounted here: {error}")


def test_a_cut_file_in_the_cache_of_dvc_is_not_handed_out(built: Built) -> None:
    clone, reference, log = built
    entry = next(out for out in reference.lock["total"]["outs"] if out["path"] == "data/total.jsonl")
    cached = clone.root / ".dvc/cache/files/md5" / entry["md5"][:2] / entry["md5"][2:]
    whole = cached.read_bytes()
    cached.chmod(0o644)
    cached.write_bytes(whole[:-7])
    (clone.root / "data/total.jsonl").unlink()
    done = clone.run("dvc", "repro", log=log)
    assert done.returncode == 0 and manifest(clone.root) == reference.files


def test_a_server_that_dies_in_mid_stage_is_named_and_finished_waves_are_not_asked_again(
    tmp_path: Path, mark: str
) -> None:
    server = Server("toy", tmp_path / "served")
    clone = mini_clone(tmp_path / "clone", mark, TALK_PIPELINE, CARES_LLM_URL=server.url)
    (tmp_path / "store").mkdir()
    served, answers = served_reference(clone, "talk", server, tmp_path / "store", tmp_path / "log")
    assert answers == 24
    lost = lose_server(clone, served, "talk", server, 14, False, tmp_path / "log")
    assert lost.status != 0 and server.url in lost.message and "Finished waves are kept" in lost.message
    assert lost.broken == lost.differences == []
    # three whole waves of four, and a part of the next
    assert (lost.new_entries, lost.asked_afterwards) == (3, 12)
