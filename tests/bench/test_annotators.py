"""Agreement measures against published examples, and annotation files of every fault."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cares.bench.agreement import agreement, cohen, fleiss, krippendorff
from cares.bench.agreement_files import Annotation, read_annotations
from cares.cli import app
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.scene import REACTIONS
from tests.bench.answering import reaction_item

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), example C: 4 observers, 12 units, 0 is missing
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 0 0 0
1 2 3 3 2 2 4 1 2 5 0 3
0 3 3 3 2 3 4 2 2 5 1 0
1 2 3 3 2 4 4 1 2 5 1 0
"""
# Fleiss' kappa of 14 raters, 10 subjects, 5 categories: the worked example of statistics courses, kappa 0.210
FLEISS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""
# Landis and Koch, Biometrics 33 (1977), table 1, patients of Winnipeg: kappa 0.208
NEUROLOGISTS = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]


def numbers(text: str) -> np.ndarray:
    return np.array([line.split() for line in text.strip().splitlines()], np.int64)


def test_krippendorffs_own_example() -> None:
    assert round(krippendorff(numbers(KRIPPENDORFF).T - 1), 3) == 0.743


def test_the_worked_example_of_fleiss_kappa() -> None:
    counts = numbers(FLEISS)
    table = np.array([np.repeat(np.arange(5), row) for row in counts])
    assert round(fleiss(table), 3) == 0.210


def test_the_published_kappa_of_two_neurologists() -> None:
    pairs = [(a, b) for a, row in enumerate(NEUROLOGISTS) for b, count in enumerate(row) for _ in range(count)]
    assert round(cohen(np.array(pairs)), 3) == 0.208


def annotations(rows: list[tuple[str, str, str]]) -> list[Annotation]:
    return [Annotation(*row, f"line {number}") for number, row in enumerate(rows, 1)]


def test_perfect_agreement_and_none() -> None:
    same = annotations([(f"i{n}", who, REACTIONS[n % 4]) for n in range(12) for who in "abc"])
    found = agreement(same, 100, 1)
    assert (found["items"], found["annotators"]) == (12, 3)
    assert found["cohen"]["value"] == found["fleiss"]["value"] == found["krippendorff"]["value"] == 1.0
    draw = np.random.default_rng(0)
    random = annotations([(f"i{n}", who, REACTIONS[draw.integers(4)]) for n in range(300) for who in "abc"])
    found = agreement(random, 100, 1)
    for name in ("cohen", "fleiss", "krippendorff"):
        low, high = found[name]["ci95"]
        assert low < 0 < high
        assert high - low < 0.2


def test_missing_labels_are_borne_where_they_can_be() -> None:
    rows = [(f"i{n}", who, REACTIONS[n % 3]) for n in range(9) for who in "abc" if (n, who) != (0, "a")]
    found = agreement(annotations(rows), 100, 1)
    assert found["fleiss"]["items"] == 8
    assert found["krippendorff"]["items"] == 9
    assert found["cohen"]["by_pair"]["a, b"] == {"value": 1.0, "items": 8}


def test_nothing_varies_so_nothing_is_defined() -> None:
    found = agreement(annotations([(f"i{n}", who, "pivot") for n in range(5) for who in "ab"]), 100, 1)
    for name in ("cohen", "fleiss", "krippendorff"):
        assert found[name]["value"] is None


def test_against_the_right_labels_a_tie_is_wrong() -> None:
    rows = [("i0", "a", "pivot"), ("i0", "b", "verbal"), ("i1", "a", "verbal"), ("i1", "b", "verbal")]
    gold = {"i0": "pivot", "i1": "verbal"}
    found = agreement(annotations(rows), 100, 1, gold=gold)["gold"]
    assert {name: figure["value"] for name, figure in found.items()} == {"a": 1.0, "b": 0.5, "majority": 0.5}


def test_an_annotator_of_the_name_that_the_majority_has_is_an_error() -> None:
    rows = [("i0", "a", "pivot"), ("i0", "majority", "verbal")]
    with pytest.raises(InputError, match="another name"):
        agreement(annotations(rows), 100, 1, gold={"i0": "pivot"})


def test_one_annotator_is_compared_with_the_right_labels() -> None:
    rows = [(f"i{number}", "a", "pivot" if number < 3 else "verbal") for number in range(4)]
    found = agreement(annotations(rows), 100, 1, gold={f"i{number}": "pivot" for number in range(4)})
    assert (found["gold"]["a"]["value"], set(found["gold"])) == (0.75, {"a"})
    assert {found[name]["value"] for name in ("cohen", "fleiss", "krippendorff")} == {None}


def test_one_annotator_is_an_error() -> None:
    with pytest.raises(InputError, match="two annotators or more"):
        agreement(annotations([("i0", "a", "pivot")]), 100, 1)


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    rows = [("i0", "a", "pivot"), ("i0", "b", "verbal"), ("i1", "a", "")]
    table, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    table.write_text(
        "\ufeffitem_id,annotator,label,comment\n" + "".join(f"{','.join(row)},fine\n" for row in rows), encoding="utf-8"
    )
    lines.write_text(
        "".join(json.dumps({"item_id": i, "annotator": a, "label": label, "at": 1}) + "\n" for i, a, label in rows)
    )
    wanted = [("i0", "a", "pivot"), ("i0", "b", "verbal")]
    for path in (table, lines):
        assert [one[:3] for one in read_annotations([path])] == wanted


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.csv", "item,annotator,label\n", r"line 1: got .*the columns item_id, annotator, label"),
        ("a.csv", "item_id,annotator,label\n,a,pivot\n", r"line 2\.item_id"),
        ("a.csv", "item_id,annotator,label\ni0,a,pivot\ni0,a,verbal\n", r"line 3.*one label an annotator and item"),
        ("a.csv", "item_id,annotator,label\nxx,a,pivot\n", r"line 2\.item_id: got 'xx'"),
        (
            "a.csv",
            "item_id,annotator,label\ni0,a,Pivot\n",
            r"line 2\.label: got 'Pivot', expected one of pivot, verbal",
        ),
        ("a.csv", "item_id,annotator,label\ni0\n", r"line 2\.annotator: got None"),
        ("a.jsonl", '{"item_id": "i0", "annotator": "a"}\n', r"line 1\.label: got None"),
        ("a.jsonl", "[1]\n", "line 1: got"),
        ("a.jsonl", "{\n", "line 1.*valid JSON"),
        ("a.txt", "", r"ends in \.csv or \.jsonl"),
    ],
)
def test_a_faulty_file_is_an_error_that_says_where(tmp_path: Path, name: str, text: str, fault: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=fault):
        read_annotations([path], {"i0": REACTIONS})


def test_a_missing_or_unreadable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_annotations([tmp_path / "none.csv"])
    (tmp_path / "latin.csv").write_bytes("item_id,annotator,label\ni0,Bj\xf6rn,x\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_annotations([tmp_path / "latin.csv"])


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    items = [reaction_item(number, REACTIONS[number % 4], number // 2) for number in range(12)]
    write_records(tmp_path / "items.jsonl", items)
    rows = [f"{item.item_id},{who},{item.answer}" for item in items for who in ("ann", "bo")]
    (tmp_path / "a.csv").write_text("item_id,annotator,label\n" + "\n".join(rows) + "\n")
    arguments = [str(tmp_path / "a.csv"), "--items", str(tmp_path / "items.jsonl"), "--out", str(tmp_path / "o.json")]
    done = CliRunner().invoke(app, ["agreement", *arguments, "--resamples", "100"])
    assert done.exit_code == 0, done.output
    assert "Krippendorff's alpha           1.000" in done.output
    assert "right labels, majority" in done.output
    assert json.loads((tmp_path / "o.json").read_text())["gold"]["ann"]["value"] == 1.0
