"""The item store: what is kept comes back, and what is damaged is made again."""

import errno
import hashlib
import json
from pathlib import Path

import pytest

from cares.core.canonical import digest
from cares.core.store import ItemStore, item_key, source_digest


@pytest.fixture
def store(tmp_path):
    return ItemStore("test", tmp_path)


def test_value_and_bytes_come_back(store):
    key = item_key(scene="t1", params={"a": 1})
    assert store.get(key) is None
    kept = store.put(key, {"x": (1, 2)}, b"\n\x00\nraw")
    assert store.get(key) == kept
    assert kept.value == {"x": [1, 2]}, "a fresh run must see what a resumed run sees"
    assert kept.blob == b"\n\x00\nraw"


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: b"", lambda d: b"{}\n", lambda d: d[:-1] + b"?", lambda d: b"x"]
)
def test_a_damaged_entry_counts_as_absent_and_is_said(store, capsys, damage):
    key = item_key(a=1)
    store.put(key, [1, 2, 3], b"blob")
    path = store.path(key)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(key) is None
    assert key in capsys.readouterr().err
    store.put(key, [1, 2, 3], b"blob")
    assert store.get(key).value == [1, 2, 3]


def test_a_sound_entry_of_another_key_is_not_taken(store, capsys):
    one, other = item_key(a=1), item_key(a=2)
    store.put(one, 1)
    path = store.path(other)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(store.path(one).read_bytes())
    assert store.get(other) is None
    assert "another key" in capsys.readouterr().err
    assert store.get(one).value == 1


def test_a_bit_that_flipped_anywhere_is_noticed(store, capsys):
    key = item_key(a=1)
    whole = store.put(key, [1, {"b": "ü"}], b"\nblob")
    path = store.path(key)
    good = path.read_bytes()
    for place in range(len(good)):
        for bit in (0, 5):
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            path.write_bytes(bad)
            # what is read is what was kept, or nothing
            assert store.get(key) in (None, whole), (place, bit)
    assert "made again" in capsys.readouterr().err


@pytest.mark.parametrize("size", [0, -3, 4, 10**9, None, "3", 2.0, True])
@pytest.mark.parametrize("has_sum", [False, True])
def test_a_header_that_lies_is_noticed(store, capsys, size, has_sum):
    # the JSON 123 and the bytes "\n4": cut elsewhere, it would be another value of the right kind
    key, body = item_key(a=1), b"123\n4"
    header = {"json": size, "sha256": hashlib.sha256(body).hexdigest()}
    if has_sum:
        header |= {"key": key, "header": digest({**header, "json": 3, "key": key})}
    path = store.path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    assert store.get(key) is None
    assert key in capsys.readouterr().err


def test_a_header_with_a_sum_cannot_cut_a_number(store, capsys):
    key, body = item_key(a=1), b"123"
    facts = {"json": 3, "key": key, "sha256": hashlib.sha256(body).hexdigest()}
    path = store.path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps({**facts, "json": 1, "header": digest(facts)}).encode() + b"\n" + body)
    assert store.get(key) is None
    assert "header's hash differs" in capsys.readouterr().err


def test_an_entry_of_an_earlier_version_is_still_taken(store):
    key, body = item_key(a=1), b'{"x":1.5}\nblob'
    path = store.path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps({"json": 9, "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n" + body)
    assert store.get(key) == ({"x": 1.5}, b"\nblob")


def test_a_disk_that_cannot_read_an_entry_does_not_stop_the_run(store, capsys, monkeypatch):
    key = item_key(a=1)
    store.put(key, 1)

    def broken(_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", broken)
        assert store.get(key) is None
    assert "cannot be read" in capsys.readouterr().err
    assert store.get(key).value == 1


def test_every_part_of_a_key_counts():
    assert item_key(a=1, b=2) == item_key(b=2, a=1)
    assert len({item_key(a=1), item_key(a=2), item_key(b=1), item_key(a="1")}) == 4


def test_the_source_digest_tells_packages_apart():
    assert source_digest("cares.core") != source_digest("cares.records")
    assert source_digest("cares.core", "cares.records") == source_digest("cares.records", "cares.core")
