"""Where the store and the weights are: in a clone, in an experiment's temporary copy, and as the environment says."""

from pathlib import Path

import pytest

from cares.core.paths import store_root, weights_root

COPIES = (".dvc/tmp/exps/standalone/tmpab12", ".dvc/tmp/exps/tmpab12")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.delenv("CARES_STORE", raising=False)
    monkeypatch.delenv("CARES_CACHE", raising=False)
    root = tmp_path / "clone"
    for folder in ("", *COPIES):
        (root / folder).mkdir(parents=True)
        (root / folder / "dvc.yaml").touch()
    return root


@pytest.mark.parametrize("folder", ["", *COPIES])
def test_a_copy_shares_the_store_of_its_repository(clone, monkeypatch, folder):
    monkeypatch.chdir(clone / folder)
    assert store_root() == clone / ".cares/store"
    monkeypatch.setenv("CARES_STORE", "kept")
    monkeypatch.setenv("CARES_CACHE", "weights")
    assert (store_root(), weights_root()) == (clone / "kept", clone / "weights")


def test_absolute_folders_and_the_home_are_taken_as_they_are(clone, monkeypatch):
    monkeypatch.chdir(clone / COPIES[0])
    monkeypatch.setenv("CARES_STORE", "/somewhere/else")
    monkeypatch.setenv("CARES_CACHE", "~/weights")
    assert (store_root(), weights_root()) == (Path("/somewhere/else"), Path.home() / "weights")


def test_a_clone_in_a_folder_of_that_name_is_no_copy(tmp_path, monkeypatch):
    monkeypatch.delenv("CARES_STORE", raising=False)
    root = tmp_path / ".dvc" / "clone"
    root.mkdir(parents=True)
    (root / "dvc.yaml").touch()
    monkeypatch.chdir(root)
    assert store_root() == root / ".cares/store"
