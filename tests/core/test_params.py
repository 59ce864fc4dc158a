"""params.yaml: unknown keys, wrong types and repeated keys are errors with file, field and value."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from cares.core.errors import InputError
from cares.core.params import Params, read_yaml
from cares.core.record import Record, read_records, write_records


class Mix(Record):
    master_lufs: Annotated[float, Field(ge=-40, le=-10)]
    gap_ms: tuple[int, int]


def params(tmp_path: Path, text: str) -> Params:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return Params(path)


def test_a_good_section(tmp_path):
    found = params(tmp_path, "seed: 3\nmix: {master_lufs: -23, gap_ms: [1, 2]}\n")
    assert found.seed == 3
    assert found.section("mix", Mix) == Mix(master_lufs=-23.0, gap_ms=(1, 2))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mix: {master_luf: -23, master_lufs: -23, gap_ms: [1, 2]}", "mix.master_luf"),
        ("mix: {gap_ms: [1, 2]}", "mix.master_lufs"),
        ("mix: {master_luf: -23, gap_ms: [1, 2]}", "mix.master_luf: got -23, expected no such key"),
        ("mix: {master_lufs: -3, gap_ms: [1, 2]}", "mix.master_lufs: got -3"),
        ("mix: {master_lufs: loud, gap_ms: [1, 2]}", "mix.master_lufs: got 'loud'"),
        ("mix: {master_lufs: .nan, gap_ms: [1, 2]}", "mix.master_lufs"),
        ("mix: {master_lufs: -23, gap_ms: [1.5, 2]}", "mix.gap_ms.0: got 1.5"),
        ("seed: 1", "mix: got 'no such section'"),
    ],
)
def test_a_bad_value_is_named(tmp_path, text, named):
    with pytest.raises(InputError) as caught:
        params(tmp_path, text).section("mix", Mix)
    assert str(tmp_path / "params.yaml") in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize("text", ["mixx: {}", "- a", "seed: 1\nseed: 2", "seed: [", ""])
def test_a_bad_file_is_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"params\.yaml"):
        params(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("seed: 1\nmix: {master_lufs: -23", "line 2, column 23: got \"expected ',' or '}'"),
        ("seed: 1\nmix:\n\tx: 2", "line 3, column 1: got \"found character '\\\\t'"),
        ("seed: 1\nmix: 2\nseed: 2", "line 3, column 1: got \"key 'seed' occurs twice\""),
        ("seed: 1\nmix: a: b", "line 2, column 7: got 'mapping values are not allowed here'"),
        ("seed: 1\nmix: \x07", "special characters are not allowed"),
    ],
)
def test_what_is_no_yaml_has_its_line_and_column(tmp_path, text, where):
    path = tmp_path / ("a-rather-long-folder-name" * 4) / "params.yaml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    for read in (Params, read_yaml):
        with pytest.raises(InputError) as caught:
            read(path)
        assert where in str(caught.value)


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    (tmp_path / "params.yaml").write_bytes(b"seed: 1 # caf\xe9\n")
    with pytest.raises(InputError, match=r"params\.yaml: byte 13"):
        Params(tmp_path / "params.yaml")


@pytest.mark.parametrize("seed", ["-1", "1.5", "true", "x"])
def test_a_bad_seed_is_refused(tmp_path, seed):
    with pytest.raises(InputError, match="seed"):
        _ = params(tmp_path, f"seed: {seed}").seed


def test_records_come_back_and_a_bad_line_is_named(tmp_path):
    path = tmp_path / "mix.jsonl"
    records = [Mix(master_lufs=-23.0, gap_ms=(1, 2)), Mix(master_lufs=-20.5, gap_ms=(3, 4))]
    assert write_records(path, records) == 2
    assert read_records(Mix, path) == records
    path.write_text(path.read_text() + '{"master_lufs": -23.0}\n')
    with pytest.raises(InputError, match=r"line 3\.gap_ms"):
        read_records(Mix, path)
