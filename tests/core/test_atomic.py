"""Files and folders that appear whole or not at all."""

import contextlib
import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cares.core.atomic import remove_abandoned, replace_folder, write_bytes


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


HOLD = """
import os, sys, time
from pathlib import Path
from cares.core import atomic
if sys.argv[2] == "folder":
    with atomic.replace_folder(Path(sys.argv[1])) as work:
        (work / "theirs").write_text("1")
        print("ready", flush=True)
        sys.stdin.read()
else:
    os.fsync = lambda _: (print("ready", flush=True), sys.stdin.read())
    atomic.write_bytes(Path(sys.argv[1]), b"theirs")
"""


@contextlib.contextmanager
def writer(path, kind):
    """Another process in the middle of writing."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_two_who_write_a_folder_at_once_do_not_disturb_each_other(tmp_path):
    with writer(tmp_path / "out", "folder") as other:
        with replace_folder(tmp_path / "out") as work:
            (work / "ours").write_text("1")
        assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["ours"]
        other.communicate("")
        assert other.returncode == 0
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["theirs"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_two_who_write_a_file_at_once_do_not_disturb_each_other(tmp_path):
    with writer(tmp_path / "out", "file") as other:
        write_bytes(tmp_path / "out", b"ours")
        assert (tmp_path / "out").read_bytes() == b"ours"
        other.communicate("")
        assert other.returncode == 0
    assert (tmp_path / "out").read_bytes() == b"theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_killed_writers_left_is_gone_after_the_next_write(tmp_path, kind):
    out = tmp_path / "out"
    with writer(out, kind) as one, writer(out, kind) as two:
        for process in (one, two):
            process.kill()
            process.wait()
    assert len(list(tmp_path.iterdir())) == 2
    if kind == "file":
        write_bytes(out, b"")
    else:
        with replace_folder(out):
            pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_only_what_nobody_writes_any_more_is_removed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.killed.0.part").write_text("")
    (tmp_path / "sub/.killed.xyz.part").mkdir()
    (tmp_path / "sub/named.part").write_text("somebody's own")
    with writer(tmp_path / "file", "file"), writer(tmp_path / "folder", "folder"):
        assert len(remove_abandoned(tmp_path)) == 2
        assert len(list(tmp_path.glob(".*.part"))) == 2
    assert [entry.name for entry in (tmp_path / "sub").iterdir()] == ["named.part"]


def test_a_folder_is_seen_whole_while_it_is_replaced(tmp_path, monkeypatch):
    out, seen = tmp_path / "out", []
    removed = shutil.rmtree

    def watched(path, **options):
        # when something is removed, the place holds all of the new or all of the old
        seen.append(sorted(entry.name for entry in out.iterdir()) if out.exists() else None)
        removed(path, **options)

    monkeypatch.setattr(shutil, "rmtree", watched)
    for names in (["a", "b"], ["c", "d"]):
        with replace_folder(out) as work:
            for name in names:
                (work / name).write_text(name)
    assert seen[-1] == ["c", "d"]
    assert all(entry in (None, ["a", "b"], ["c", "d"]) for entry in seen)


def test_a_folder_comes_back_when_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    out = tmp_path / "out"
    with replace_folder(out) as work:
        (work / "a").write_text("1")
    rename = Path.rename

    def full(self, target):
        if target == out and "a" not in [entry.name for entry in self.iterdir()]:
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="No space"), replace_folder(out) as work:
        (work / "b").write_text("2")
    assert [entry.name for entry in out.iterdir()] == ["a"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
