"""Files and folders that appear whole or not at all."""

import errno
import os
import stat

import pytest

from cares.core.atomic import replace_folder, write_bytes


def test_a_read_only_link_is_replaced_and_its_target_kept(tmp_path):
    cached = tmp_path / "cache"
    cached.write_bytes(b"old")
    cached.chmod(0o444)
    out = tmp_path / "out"
    out.symlink_to(cached)
    write_bytes(out, b"new")
    assert out.read_bytes() == b"new" and not out.is_symlink()
    assert cached.read_bytes() == b"old"


def test_the_umask_decides_the_mode(tmp_path):
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_folder_that_fails_leaves_the_old_one(tmp_path):
    out = tmp_path / "out"
    with replace_folder(out) as work:
        (work / "a").write_text("1")
    with pytest.raises(RuntimeError), replace_folder(out) as work:
        (work / "b").write_text("2")
        raise RuntimeError
    assert [entry.name for entry in out.iterdir()] == ["a"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_what_a_killed_run_left_is_cleared(tmp_path):
    (tmp_path / ".out.abc.part").mkdir()
    with replace_folder(tmp_path / "out"):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_is_told_with_the_file_and_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "metrics.json"
    write_bytes(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*metrics\.json") as caught:
        write_bytes(path, b"new")
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.json"]
