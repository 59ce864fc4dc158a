"""The item store: what is kept comes back, and what is damaged is made again."""

import pytest

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


def test_every_part_of_a_key_counts():
    assert item_key(a=1, b=2) == item_key(b=2, a=1)
    assert len({item_key(a=1), item_key(a=2), item_key(b=1), item_key(a="1")}) == 4


def test_the_source_digest_tells_packages_apart():
    assert source_digest("cares.core") != source_digest("cares.records")
    assert source_digest("cares.core", "cares.records") == source_digest("cares.records", "cares.core")
