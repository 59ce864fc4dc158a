"""Files of others that are judged: what is taken, what is refused and how it is named, and `cares judge` as a whole."""

import json
import shutil
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cares.catalog.load import load_catalog
from cares.cli import app
from cares.core.canonical import write_json
from cares.core.errors import CaresError, InputError
from cares.dialogue.calibration import EncoderId, calibrate
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import JudgeSettings
from cares.dialogue.families import Families
from cares.dialogue.judge_files import answer_line, read_transcripts, sound_id
from cares.dialogue.marked import Heard, Said
from cares.dialogue.probes import load_probes, load_topic_pairs
from cares.records.dialogue import Verdict

ROOT = Path(__file__).parents[2]
TURNS = [
    {"speaker": "A", "text": "The fence is down again."},
    {"sound": "Dog Bark"},
    {"speaker": "B", "text": "That dog! Anyway, metal costs forty."},
]


def line(**changed):
    return json.dumps({"id": "x1", "turns": TURNS} | changed)


@pytest.fixture
def given_file(tmp_path):
    def write(*lines, data=None):
        path = tmp_path / "in.jsonl"
        path.write_bytes(data if data is not None else "".join(f"{one}\n" for one in lines).encode())
        return path

    return write


def test_a_line_becomes_the_pieces_that_evaluators_read(given_file):
    (one,) = read_transcripts(given_file(line()))
    assert one.pieces == (
        Said(speaker="A", text="The fence is down again."),
        Heard(sound="dog_bark", event=0),
        Said(speaker="B", text="That dog! Anyway, metal costs forty."),
    )
    assert one.sounds == ("Dog Bark",)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dog_bark", "dog_bark"), ("Foghorn (far away)", "foghorn_far_away"), ("kettle-whistle", "kettle_whistle"),
     ("8-bit beep", "8_bit_beep"), ("犬の鳴き声", "犬の鳴き声"), ("café door", "café_door")],
)  # fmt: skip
def test_any_name_of_a_sound_is_taken(given_file, name, expected):
    (one,) = read_transcripts(given_file(line(turns=[*TURNS, {"sound": name}])))
    assert one.pieces[-1] == Heard(sound=expected, event=1)
    assert answer_line(one, [verdict(0), verdict(1)])["reactions"][1]["sound"] == name


@given(st.text(min_size=1, max_size=30))
def test_every_name_with_a_letter_gives_an_id(name):
    found = sound_id(name)
    assert found or not any(part.isalnum() for part in name)
    if found:
        assert Heard(sound=found, event=0).sound == found


def verdict(event, label="verbal", **more):
    return Verdict(event=event, sound="dog_bark", label=label, scores={"verbal": 0.9}, **more)


def test_an_answer_has_the_asked_form_and_its_reasons_where_there_are_any(given_file):
    (one,) = read_transcripts(given_file(line()))
    assert answer_line(one, [verdict(0)]) == {
        "id": "x1",
        "reactions": [{"sound": "Dog Bark", "label": "verbal", "scores": {"verbal": 0.9}}],
    }
    split = answer_line(one, [verdict(0, None, detail="disagree", votes={"classifier": "verbal", "llm": None})])
    assert split["reactions"][0]["label"] is None
    assert split["reactions"][0]["votes"] == {"classifier": "verbal", "llm": None}
    with pytest.raises(ValueError):
        answer_line(one, [])


def test_byte_order_marks_windows_lines_and_a_missing_last_line_feed_are_taken(given_file):
    data = b"\xef\xbb\xbf" + "\r\n".join([line(), line(id="x2"), line(id=7)]).encode() + b"\r\n\r\n"
    assert [one.id for one in read_transcripts(given_file(data=data))] == ["x1", "x2", 7]
    # a line separator inside a text is no end of a line
    inside = json.dumps({"id": "x1", "turns": [{"speaker": "A", "text": "one\u2028two"}]}, ensure_ascii=False)
    assert len(read_transcripts(given_file(inside))) == 1


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ([], r"in\.jsonl: got 'no line'"),
        (["", "  "], r"in\.jsonl: got 'no line'"),
        ([line(), "{"], r"in\.jsonl: line 2: got '\{', expected valid JSON"),
        ([line(), "", line(id="x2")], "line 2: got ''"),
        ([line(colour="red")], r"line 1\.colour: got 'red', expected no such key"),
        ([line(turns=[*TURNS, {"sound": "cough", "loud": True}])], r"line 1\.turns\.3\.loud"),
        ([line(), line(id="x2"), line()], r"line 3\.id: got 'x1', expected an id other than that of line 1"),
        ([line(id="")], r"line 1\.id"),
        ([line(id=True)], r"line 1\.id"),
        ([line(turns=[])], r"line 1\.turns"),
        (['{"id": "x1"}'], r"line 1\.turns.*present"),
        (['{"id": "x1", "id": "x2", "turns": []}'], r"line 1\.id.*once"),
        ([line(turns=[{"speaker": "C", "text": "Hi."}])], r"line 1\.turns\.0\.speaker: got 'C'"),
        ([line(turns=[{"speaker": "A", "text": "  "}])], r"line 1\.turns\.0.*a text needs words"),
        ([line(turns=[{"speaker": "A"}])], r"line 1\.turns\.0"),
        ([line(turns=[{"speaker": "A", "text": "Hi.", "sound": "cough"}])], r"line 1\.turns\.0.*not both"),
        ([line(turns=[{"sound": "..."}])], r"line 1\.turns\.0.*a letter or a digit"),
        ([line(turns=[{"sound": 3}])], r"line 1\.turns\.0\.sound: got 3"),
        ([line(turns="none")], r"line 1\.turns: got 'none'"),
        (["[]"], "line 1: got"),
        (["NaN"], "line 1: got"),
    ],
)  # fmt: skip
def test_bad_input_is_named_by_file_line_field_and_value(given_file, lines, named):
    with pytest.raises(InputError, match=named):
        read_transcripts(given_file(*lines))


def test_text_that_is_not_utf8_and_files_that_are_none(given_file, tmp_path):
    with pytest.raises(InputError, match="byte 1: got 254, expected UTF-8"):
        read_transcripts(given_file(data=b"{\xfe}"))
    with pytest.raises(InputError, match="no such file"):
        read_transcripts(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="a folder"):
        read_transcripts(tmp_path)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone without any data in it, with a stand-in for the encoder."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "prompts", root / "prompts")
    monkeypatch.chdir(root)
    monkeypatch.setattr("cares.dialogue.evaluator.SentenceEncoder", lambda model_id: HashedEncoder())
    monkeypatch.setattr("cares.dialogue.encoder.SentenceEncoder", lambda model_id: HashedEncoder())
    monkeypatch.setattr("cares.dialogue.evaluator.model_digest", lambda model_id: "0" * 64)
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    return root


def run(*arguments):
    result = CliRunner().invoke(app, ["judge", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_fresh_clone_can_judge_with_a_classifier_trained_on_the_spot(clone, given_file):
    path = given_file(line(), line(id="x2", turns=[*TURNS, {"sound": "foghorn blast"}]), line(id="x3", turns=TURNS[:1]))
    out = clone / "answers" / "out.jsonl"
    result = run(path, "--out", out)
    assert result.exit_code == 0 and "3 sounds of 3 transcripts" in result.stdout
    answers = [json.loads(text) for text in out.read_text().splitlines()]
    assert [one["id"] for one in answers] == ["x1", "x2", "x3"]
    assert [one["sound"] for one in answers[1]["reactions"]] == ["Dog Bark", "foghorn blast"]
    assert answers[2]["reactions"] == []
    assert all(set(one["scores"]) == {"pivot", "verbal", "behavioral", "ambient"} for one in answers[1]["reactions"])
    first = out.read_bytes()
    assert "training" in result.stderr
    assert "training" not in run(path, "--out", out).stderr, "the trained model is kept"
    assert out.read_bytes() == first


class Waves:
    """A language model that says yes to everything, with a true quote."""

    def __init__(self, model_id, params):
        self.model_id = model_id

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def complete(self, wave):
        from cares.llm.types import ChatAnswer

        text = json.dumps({"quote": "That dog!", "answer": "yes"})
        return [ChatAnswer(text=text, finish_reason="stop", prompt_tokens=1, completion_tokens=1) for _ in wave]


def test_a_language_model_can_be_asked_by_name_and_both_show_their_votes(clone, given_file, monkeypatch):
    monkeypatch.setattr("cares.dialogue.evaluator.StoredWaves", Waves)
    path, out = given_file(line()), clone / "out.jsonl"
    assert "llm/some-model" in run(path, "--out", out, "--evaluator", "llm", "--model", "some-model").stdout
    (reaction,) = json.loads(out.read_text())["reactions"]
    assert (reaction["label"], reaction["scores"]) == ("pivot", {"referred": 1.0, "flow": 1.0})
    assert "That dog!" in reaction["detail"]
    assert "both/" in run(path, "--out", out, "--evaluator", "both", "--model", "some-model").stdout
    (reaction,) = json.loads(out.read_text())["reactions"]
    assert reaction["votes"]["llm"] == "pivot" and {"pivot", "flow"} <= set(reaction["scores"])


@pytest.mark.parametrize("where", ["data/out.jsonl", "in.jsonl", "."])
def test_an_out_that_would_do_harm_is_refused(clone, where):
    shutil.copy(ROOT / "cares/dialogue/data/probes.jsonl", clone / "in.jsonl")
    with pytest.raises(InputError, match="--out"):
        run("in.jsonl", "--out", where)


def test_a_fault_leaves_the_old_out_as_it_was(clone, given_file):
    out = clone / "out.jsonl"
    out.write_text("old")
    with pytest.raises(InputError, match="line 2"):
        run(given_file(line(), "{"), "--out", out)
    assert out.read_text() == "old"


def test_a_calibration_of_yore_is_refused_with_the_way_out(clone, given_file):
    (clone / "data").mkdir()
    (clone / "data/calibration.json").write_text('{"evaluator": "classifier"}')
    with pytest.raises(CaresError, match="dvc repro calibrate"):
        run(given_file(line()), "--out", clone / "out.jsonl")


def calibrated(encoder, evaluator):
    """A calibration with the stand-in for the encoder, in which `evaluator` accepts dialogues."""
    calibration = calibrate(
        load_probes(), load_topic_pairs(), HashedEncoder(), EncoderId(encoder, "0" * 64), load_catalog(),
        Families(writer="qwen2.5", evaluator=("smollm2",), same=False),
        CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=100, confidence=0.95), 1,
    ).calibration  # fmt: skip
    judge = calibration.measured["classifier"].model_copy(update={"name": f"{evaluator}/some-model"})
    settings = JudgeSettings(model="some-model", promised=True, topic=calibration.topic, recovered=None)
    measured = {**calibration.measured, evaluator: judge}
    return calibration.model_copy(update={"evaluator": evaluator, "measured": measured, "judge": settings})


def test_the_classifier_calls_itself_so_whoever_accepts_dialogues(clone, given_file, monkeypatch):
    write_json(clone / "data/calibration.json", calibrated("all-minilm-l6-v2", "llm").to_json())
    result = run(given_file(line()), "--out", clone / "out.jsonl")
    assert (
        result.stdout.startswith("judge: classifier/all-minilm-l6-v2 on 1 sounds") and "training" not in result.stderr
    )


def test_a_calibration_of_another_encoder_is_not_hashed_and_not_called_missing(clone, given_file, monkeypatch):
    def digest(model_id):
        assert model_id == "all-minilm-l6-v2", "the weights of the other encoder need not be here"
        return "0" * 64

    monkeypatch.setattr("cares.dialogue.evaluator.model_digest", digest)
    write_json(clone / "data/calibration.json", calibrated("bge-large-en-v1.5", "llm").to_json())
    result = run(given_file(line()), "--out", clone / "out.jsonl")
    assert "calibration.json is of the encoder bge-large-en-v1.5, not all-minilm-l6-v2: training" in result.stderr
    assert "judge: classifier/all-minilm-l6-v2" in result.stdout


def test_a_model_for_the_classifier_is_a_misunderstanding(clone, given_file):
    with pytest.raises(InputError, match="--model"):
        run(given_file(line()), "--out", clone / "out.jsonl", "--model", "x")
