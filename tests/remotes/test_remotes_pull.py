"""`cares pull` from a folder: what comes, what DVC says of it, and what becomes of damaged files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from small_set import METADATA, TEST_FILES, cares, run, tree

from cares.core.errors import CaresError, InputError
from cares.remotes.cached import md5_of
from cares.remotes.project import without_keys
from cares.remotes.pull import pull, told

MakeClone = Callable[..., Path]
WAV = "data/scenes/t00003-0.wav"
OTHER = "data/scenes/t00004-0.wav"


def spoil(path: Path) -> None:
    """Change one byte and nothing else: neither size nor time nor mode."""
    times, mode = path.stat(), path.stat().st_mode
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    path.chmod(mode)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def in_cache(clone: Path, md5: str) -> Path:
    return clone / ".dvc/cache/files/md5" / md5[:2] / md5[2:]


def test_only_the_test_split_comes_and_dvc_completes_it(built: Path, make_clone: MakeClone) -> None:
    clone = make_clone()
    done = cares(clone, "pull", "--split", "test")
    whole = tree(built)
    assert tree(clone) == {name: whole[name] for name in TEST_FILES}
    assert "split test: 4 recordings" in done.stdout and "data/scenes: 4 files" in done.stdout
    assert "in part: data/bench/counterfactuals data/scenes" in done.stdout
    assert "file/s" in done.stderr
    # what is there is right for DVC, and it misses the rest of these folders and nothing else
    said = run(clone, "dvc", "data", "status", "--granular", "--json").stdout
    changes = yaml.safe_load(said)["uncommitted"]
    assert set(changes["deleted"]) == set(whole) - TEST_FILES
    assert set(changes["modified"]) == {"data/scenes/", "data/bench/counterfactuals/"}
    assert "6 files fetched" in run(clone, "dvc", "pull").stdout, "the others, and none twice"
    assert tree(clone) == whole
    assert "up to date" in run(clone, "dvc", "status").stdout
    assert run(clone, "git", "status", "--porcelain").stdout == ""


def test_only_the_metadata_come(built: Path, make_clone: MakeClone) -> None:
    clone = make_clone()
    pulled = pull(clone, metadata=True)
    assert set(tree(clone)) == METADATA
    assert pulled.fetched == len(METADATA) and not pulled.recordings
    pulled = pull(clone, ["validation"], metadata=True)
    assert set(tree(clone)) - METADATA == {"data/scenes/t00002-0.wav", "data/bench/counterfactuals/t00002-0-0.wav"}
    assert pulled.fetched == 2


def test_all_comes_and_what_another_version_left_goes(built: Path, make_clone: MakeClone) -> None:
    clone = make_clone()
    pull(clone)
    assert tree(clone) == tree(built)
    # a version with other scenes, of which one more; its files are in the cache, as DVC left them
    make = (clone / "make.py").read_text().replace('"test", "test"]', '"test", "test", "test"]')
    (clone / "make.py").write_text(make)
    (clone / "params.yaml").write_text("seed: 2\n")
    run(clone, "dvc", "repro", "-q")
    assert tree(clone)[WAV] != tree(built)[WAV]
    run(clone, "git", "checkout", "-q", ".")
    part = pull(clone, ["test"])
    assert part.fetched == 0 and not part.damaged, "another version is not damage"
    assert {name: tree(clone)[name] for name in TEST_FILES} == {name: tree(built)[name] for name in TEST_FILES}
    assert "data/scenes/t00005-0.wav" in part.other and "another version" in "\n".join(told(part))
    assert pull(clone).fetched == 0
    assert tree(clone) == tree(built)


def test_what_is_there_is_not_fetched_again(store: Path, make_clone: MakeClone) -> None:
    clone = make_clone()
    first = pull(clone, ["test"])
    assert (first.fetched, first.damaged) == (len(TEST_FILES), [])
    shutil.rmtree(clone / "data/scenes")
    assert pull(clone, ["test"]).fetched == 0, "the cache has it"
    shutil.rmtree(clone / ".dvc/cache")
    assert pull(clone, ["test"]).fetched == 0, "the tree has it"
    assert not list((clone / ".dvc").rglob("*.part")) and not list(clone.rglob("cares-pull*"))


@pytest.mark.parametrize("places", [("tree",), ("cache",), ("tree", "cache")])
def test_a_damaged_file_is_found_said_and_fetched_again(
    places: tuple[str, ...], built: Path, make_clone: MakeClone
) -> None:
    clone = make_clone()
    pull(clone, ["test"])
    md5 = md5_of(built / WAV)
    # DVC trusts a read-only file of its cache, and a file of the tree whose size and time it knows
    for place in places:
        spoil(clone / WAV if place == "tree" else in_cache(clone, md5))
    done = cares(clone, "pull", "--split", "test")
    assert done.stdout.count(f"damaged: {WAV}: md5 ") == len(places)
    assert f"{len(set(places) & {'cache'}) if places != ('cache',) else 0} files fetched" in done.stdout
    assert (clone / WAV).read_bytes() == (built / WAV).read_bytes()
    assert md5_of(in_cache(clone, md5)) == md5
    assert not pull(clone, ["test"]).damaged


def test_a_file_that_is_damaged_on_the_remote_stays_nowhere(
    built: Path, own_store: Path, make_clone: MakeClone
) -> None:
    clone = make_clone(url=str(own_store))
    md5 = md5_of(built / WAV)
    on_remote = own_store / "files/md5" / md5[:2] / md5[2:]
    good = on_remote.read_bytes()
    on_remote.chmod(0o644)
    on_remote.write_bytes(b"x" + good[1:])
    done = cares(clone, "pull", "--split", "test", status=1)
    assert WAV in done.stderr and "damaged on the remote" in done.stderr and md5 in done.stderr
    assert "Traceback" not in done.stderr
    assert not (clone / WAV).exists() and not in_cache(clone, md5).exists()
    assert set(tree(clone)) == TEST_FILES - {WAV}, "the others came"
    on_remote.write_bytes(good)
    assert pull(clone, ["test"]).fetched == 1
    # damaged on the remote and in the tree as well: it does not stay there either
    on_remote.write_bytes(b"x" + good[1:])
    spoil(clone / WAV)
    spoil(in_cache(clone, md5))
    with pytest.raises(CaresError, match="found damaged and removed"):
        pull(clone, ["test"])
    assert not (clone / WAV).exists() and not in_cache(clone, md5).exists()


def test_a_file_that_the_remote_lacks_is_named_and_the_others_come(
    built: Path, own_store: Path, make_clone: MakeClone
) -> None:
    clone = make_clone(url=str(own_store))
    md5 = md5_of(built / WAV)
    (own_store / "files/md5" / md5[:2] / md5[2:]).unlink()
    with pytest.raises(CaresError) as found:
        pull(clone, ["test"])
    assert f"{WAV} ({md5}): the remote does not have it" in str(found.value) and "store" in str(found.value)
    assert set(tree(clone)) == TEST_FILES - {WAV}


def test_wrong_wishes_are_clear_errors(built: Path, make_clone: MakeClone, tmp_path: Path) -> None:
    clone = make_clone()
    done = cares(clone, "pull", "--split", "tset", status=1)
    assert "--split: got 'tset', expected one of train, validation, test" in done.stderr
    done = cares(clone, "pull", "--remote", "nowhere", status=1)
    assert "nowhere" in done.stderr and "Traceback" not in done.stderr
    (clone / ".dvc/config.local").unlink()
    with pytest.raises(CaresError, match="no default remote"):
        pull(clone, ["test"])
    gone = make_clone("other", url=str(tmp_path / "no folder"))
    with pytest.raises(CaresError, match=r"data/scenes .*the remote does not have it"):
        pull(gone, ["test"])
    assert tree(gone) == {}


def test_a_split_without_scenes_and_a_file_that_no_out_has(make_clone: MakeClone) -> None:
    clone = make_clone()
    (clone / "make.py").write_text((clone / "make.py").read_text().replace('"validation"', '"train"'))
    run(clone, "dvc", "repro", "-q")
    with pytest.raises(InputError, match="expected a split with scenes"):
        pull(clone, ["validation"])
    (clone / "make.py").write_text((clone / "make.py").read_text().replace('"audio": f"data/scenes', '"audio": f"../x'))
    run(clone, "dvc", "repro", "-q")
    with pytest.raises(InputError, match=r"dvc.lock: got '../x/t00003-0.wav', expected a file of an out"):
        pull(clone, ["test"])


def test_another_command_at_work_is_waited_for_and_then_told_of(make_clone: MakeClone) -> None:
    clone = make_clone()
    from dvc.repo import Repo, lock_repo

    with Repo(str(clone)) as repo, lock_repo(repo):
        done = cares(clone, "pull", "--split", "test", status=1)
    assert "lock" in done.stderr.lower() and "Traceback" not in done.stderr
    assert tree(clone) == {}


def test_no_password_of_an_address_is_told() -> None:
    text = without_keys("cannot reach http://me:secret@host/x?sig=secret and s3://bucket/x, ssh://me@host:22/x")
    assert "secret" not in text and "host/x" in text and "s3://bucket/x" in text


def test_clones_that_share_a_cache_do_not_disturb_each_other(make_clone: MakeClone, tmp_path: Path) -> None:
    first, second = make_clone("first"), make_clone("second")
    for clone in (first, second):
        with (clone / ".dvc/config.local").open("a") as stream:
            stream.write(f"[cache]\n    dir = {tmp_path / 'shared'}\n    type = hardlink,symlink\n")
    pull(first, ["test"])
    assert pull(second, ["test"]).fetched == 0
    assert (first / WAV).samefile(second / WAV)
    spoil(second / WAV)
    found = pull(second, ["test"])
    assert found.fetched == 1 and {where for where, _ in found.damaged} == {WAV}
    assert (second / OTHER).samefile(first / OTHER)
