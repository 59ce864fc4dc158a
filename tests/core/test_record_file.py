"""Records that stay in their file, and files that are written line by line."""

from pathlib import Path

import pytest

from cares.core.canonical import write_jsonl
from cares.core.errors import InputError
from cares.core.executor import stream_items
from cares.core.record import Record, iter_records, read_records, write_records
from cares.core.record_file import LazyMapping, LazySequence, RecordFile, by_id


class Part(Record):
    """A record of the tests."""

    scene_id: str
    size: int


PARTS = [Part(scene_id=name, size=size) for name, size in (("b ü", 2), ("a", 1), ("c", 3))]


@pytest.fixture
def path(tmp_path):
    write_records(tmp_path / "parts.jsonl", PARTS)
    return tmp_path / "parts.jsonl"


def test_records_are_found_by_their_id_in_the_order_of_the_file(path):
    found = RecordFile(Part, path)
    assert list(found) == ["b ü", "a", "c"] and list(found.values()) == PARTS == read_records(Part, path)
    assert found["c"].size == 3 and "d" not in found and found.get("d") is None
    with pytest.raises(KeyError):
        found["d"]


def test_nothing_of_a_record_is_held(path):
    found = RecordFile(Part, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"size":3', '"size":9'), encoding="utf-8")
    assert found["c"].size == 9


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"scene_id":"a","size":1}', r"line 4\.scene_id: got 'a', expected an id that is not already in line 2"),
        ('{"size":1}', r"line 4\.scene_id: got None"),
        ("[1]", r"line 4\.scene_id: got None"),
        ('{"scene_id":', "line 4: .*valid JSON"),
    ],
)
def test_a_line_without_an_id_of_its_own_is_named(path, line, told):
    with path.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=rf"parts\.jsonl: {told}"):
        RecordFile(Part, path)


def test_a_wrong_field_is_named_when_its_record_is_asked_for(path):
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"scene_id":"d","size":"large"}\n')
    found = RecordFile(Part, path)
    assert found["c"].size == 3
    with pytest.raises(InputError, match=r"parts\.jsonl: line 4\.size: got 'large'"):
        found["d"]


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="dvc repro"):
        RecordFile(Part, tmp_path / "none.jsonl")


def test_items_are_made_one_by_one_when_they_are_asked_for(path):
    made = []
    items = LazySequence([3, 1, 2], lambda key: made.append(key) or 10 * key)
    assert len(items) == 3 and made == []
    assert items[-1] == 20 and list(items[:2]) == [30, 10] and list(items) == [30, 10, 20]
    with pytest.raises(IndexError):
        items[3]
    made.clear()
    results = stream_items(abs, items, desc="test", workers=1)
    assert next(results) == 30 and made == [3]
    sizes = LazyMapping(RecordFile(Part, path), lambda part: part.size)
    assert dict(sizes) == {"b ü": 2, "a": 1, "c": 3}


def test_records_by_their_id(path):
    found = RecordFile(Part, path)
    assert by_id(found) is found and by_id(PARTS) == dict(found)


def test_a_file_is_written_line_by_line_and_not_at_all_when_its_values_fail(path):
    before = path.read_bytes()

    def values():
        yield {"n": 1}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_jsonl(path, values())
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]
    # a file may be written anew from itself
    assert write_records(path, (part for part in iter_records(Part, path) if part.size > 1)) == 2
    assert [part.scene_id for part in read_records(Part, path)] == ["b ü", "c"]


def test_a_value_that_cannot_be_read_is_not_told_of_the_file_that_is_written(path, tmp_path):
    gone = tmp_path / "gone"
    with pytest.raises(FileNotFoundError) as found:
        write_jsonl(path, (place.read_text() for place in (gone,)))
    assert Path(found.value.filename) == gone
