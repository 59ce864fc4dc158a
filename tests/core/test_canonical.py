"""Canonical JSON and the strict readers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.canonical import digest, dumps, read_json, read_jsonl, write_json, write_jsonl
from cares.core.errors import InputError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_a_value_comes_back(value):
    assert json.loads(dumps(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_the_order_of_keys_does_not_matter(value):
    assert digest(value) == digest(dict(reversed(value.items())))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1.0, -float("inf")]])
def test_nan_and_infinity_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps(value)


def test_lines_end_in_lf_and_are_utf8(tmp_path):
    path = tmp_path / "x.jsonl"
    assert write_jsonl(path, [{"b": 1, "a": "é"}, []]) == 2
    assert path.read_bytes() == '{"a":"é","b":1}\n[]\n'.encode()
    assert list(read_jsonl(path)) == [{"a": "é", "b": 1}, []]


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(InputError, match=r"x\.jsonl: line 2"):
        list(read_jsonl(path))


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": "caf\xe9"}\n')
    with pytest.raises(InputError, match=r"x\.jsonl: line 2"):
        list(read_jsonl(path))


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="dvc repro"):
        list(read_jsonl(tmp_path / "none.jsonl"))
    with pytest.raises(InputError, match="no such file"):
        read_json(tmp_path / "none.json")


def test_a_failed_value_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]
