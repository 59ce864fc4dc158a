"""A remote over HTTP: connections that break, a pull that is killed, what can be pushed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from servers import Web, web
from small_set import TEST_FILES, cares, environment, remote, run, tree

from cares.core.errors import CaresError
from cares.remotes.cached import md5_of
from cares.remotes.pull import pull
from cares.remotes.push import push

MakeClone = Callable[..., Path]
WAV = "data/scenes/t00003-0.wav"


@pytest.fixture
def served(store: Path) -> Iterator[Web]:
    with web(store) as state:
        yield state


def address(md5: str) -> str:
    return f"/files/md5/{md5[:2]}/{md5[2:]}"


def test_a_connection_that_breaks_is_tried_again(served: Web, built: Path, make_clone: MakeClone) -> None:
    files = {name: address(md5_of(built / name)) for name in TEST_FILES}
    served.cut.update(dict.fromkeys(files.values(), 1))
    clone = make_clone(url=served.url)
    assert pull(clone, ["test"]).fetched == len(TEST_FILES)
    assert {name: data for name, data in tree(built).items() if name in TEST_FILES} == tree(clone)
    assert all(served.got[path] == 2 for path in files.values())


def test_a_pull_that_broke_off_goes_on_with_what_is_missing(served: Web, built: Path, make_clone: MakeClone) -> None:
    clone = make_clone(url=served.url)
    path = address(md5_of(built / WAV))
    served.cut[path] = 1000
    with pytest.raises(CaresError) as found:
        pull(clone, ["test"])
    assert f"{WAV} (" in str(found.value) and "1 of 4 files did not come; what came is kept" in str(found.value)
    assert set(tree(clone)) == TEST_FILES - {WAV}
    before = served.got.copy()
    served.cut.clear()
    assert pull(clone, ["test"]).fetched == 1
    assert served.got - before == {path: 1}
    assert tree(clone)[WAV] == (built / WAV).read_bytes()
    assert not list((clone / ".dvc").rglob("*.part"))


def test_a_killed_pull_goes_on_and_fetches_nothing_twice(served: Web, built: Path, make_clone: MakeClone) -> None:
    clone = make_clone(url=served.url)
    served.pause_s = 0.3
    command = [sys.executable, "-m", "cares.cli", "pull", "--split", "test", "--split", "train", "--jobs", "2"]
    process = subprocess.Popen(command, cwd=clone, env=environment(clone), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while len(served.got) < 9 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was at work"
    kept = {path for path in (clone / ".dvc/cache/files/md5").rglob("*") if path.is_file()}
    assert len(kept) >= 6
    assert all(md5_of(path) == (path.parent.name + path.name).removesuffix(".dir") for path in kept)
    served.pause_s = 0.0
    before = served.got.copy()
    pull(clone, ["test", "train"])
    again = {path for path, count in served.got.items() if count > before[path]}
    assert not {f"/files/md5/{path.parent.name}/{path.name}" for path in kept} & again
    assert tree(clone) == {name: data for name, data in tree(built).items() if "t00002" not in name}
    assert not list((clone / ".dvc").rglob("*.part"))
    pull(clone)
    assert run(clone, "dvc", "status", "-q", status=None).returncode == 0


def test_a_server_that_is_not_there_is_told_of(make_clone: MakeClone, tmp_path: Path) -> None:
    with web(tmp_path) as gone:
        url = gone.url
    clone = make_clone(url=url.replace("http://", "http://me:secret@"))
    with pytest.raises(CaresError, match=r"remote store: 2 of 2 files did not come[^!]*Connect") as found:
        pull(clone, ["test"])
    assert "secret" not in str(found.value)


def test_http_takes_outs_but_no_run_cache(pusher: Path, built: Path, make_clone: MakeClone, tmp_path: Path) -> None:
    with web(tmp_path / "written") as target:
        remote(pusher, target.url)
        done = cares(pusher, "push", "--runs", status=1)
        assert "HTTP remotes carry no run-cache" in done.stderr
        assert not (tmp_path / "written").exists(), "nothing was sent"
        assert push(pusher).files == len(tree(built))
        clone = make_clone(url=target.url)
        pull(clone)
    assert tree(clone) == tree(built)


def test_a_damaged_file_is_not_spread(pusher: Path, built: Path, tmp_path: Path) -> None:
    remote(pusher, str(tmp_path / "new"))
    md5 = md5_of(pusher / WAV)
    cached = pusher / ".dvc/cache/files/md5" / md5[:2] / md5[2:]
    cached.chmod(0o644)
    cached.write_bytes(b"damaged")
    cached.chmod(0o444)
    assert push(pusher).sent == len(tree(built)) + 2, "the tree had the right one; two listings"
    sent = tmp_path / "new/files/md5" / md5[:2] / md5[2:]
    assert sent.read_bytes() == (built / WAV).read_bytes()
    cached.chmod(0o644)
    cached.write_bytes(b"damaged")
    (pusher / WAV).write_bytes(b"damaged too")
    shutil.rmtree(tmp_path / "new")
    with pytest.raises(CaresError, match=r"1 files of the outs are not in this clone[^!]*t00003-0.wav[^!]*damaged"):
        push(pusher)
    assert not (tmp_path / "new").exists()
