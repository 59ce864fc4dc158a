"""Figures of the dialogues stage: counts by hand, repaired attempts, files of the plots, times kept apart."""

import csv
import json
from types import SimpleNamespace

import pytest

from cares.core.store import ItemStore
from cares.dialogue.summary import acceptance_metrics, write_summary
from cares.dialogue.timing import TimedWaves
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.dialogue import Attempt, Dialogue, Segment, Turn, Verdict
from cares.records.scene import REACTIONS, Scene

REGISTERS = {"behavioral": "break_restart", "ambient": "ambient_run_on"}


def scene(*events, number=0):
    """A scene with `events` as (sound, reaction)."""
    labels = [reaction for _, reaction in events]
    return Scene.parse(
        {
            "scene_id": f"t{number:05d}-0",
            "template_id": f"t{number:05d}",
            "split": "train",
            "location": "home_indoor",
            "relation": "roommate",
            "roles": ["roommate", "roommate"],
            "genders": ["F", "M"],
            "theme": "moving_house",
            "n_turns": 10,
            "composition": {name: labels.count(name) for name in REACTIONS},
            "events": [
                {"sound": sound, "reaction": reaction, "register": REGISTERS[reaction], "slot": 2 + 3 * place}
                for place, (sound, reaction) in enumerate(events)
            ],
        },
        "test",
    )


SCENES = [
    scene(("doorbell_chime", "behavioral"), ("kettle_whistle", "ambient"), number=0),
    scene(("doorbell_chime", "behavioral"), number=1),
    scene(number=2),
]


def attempt(number, wave, candidate, reason, *labels):
    """An attempt at scene `number`; `labels` are what the evaluator read, if it was asked."""
    return Attempt(
        scene_id=SCENES[number].scene_id,
        attempt=wave,
        candidate=candidate,
        topic="why the rent went up",
        seed=1,
        reason=reason,
        detail="",
        finish_reason="stop",
        completion_tokens=100,
        verdicts=tuple(Verdict(event=event, sound="x", label=label, scores={}) for event, label in enumerate(labels)),
        text="[]",
    )


def accepted(number, wave):
    """An accepted dialogue of scene `number`."""
    return Dialogue(
        scene_id=SCENES[number].scene_id,
        topic="why the rent went up",
        attempt=wave,
        writer="w",
        evaluator="e",
        topic_similarity=1.0,
        turns=(Turn(speaker="A", segments=(Segment(text="The rent goes up again in March."),)),),
    )


OUTCOME = SimpleNamespace(
    accepted=(accepted(0, 1), accepted(2, 0)),
    attempts=(
        attempt(0, 0, 0, "label_not_recovered", "behavioral", "verbal"),
        attempt(1, 0, 0, "repeated_line"),
        attempt(2, 0, 0, "accepted"),
        attempt(0, 1, 0, "narration"),
        attempt(0, 1, 1, "accepted", "behavioral", "ambient"),
        attempt(1, 1, 0, "label_not_recovered", "pivot"),
    ),
    refused=(SCENES[1].scene_id,),
)


def test_labels_registers_and_compositions_are_counted():
    figures = acceptance_metrics(OUTCOME, SCENES)
    behavioral = {"events": 2, "accepted": 1, "first_accepted": 0, "judged": 3, "recovered": 2}
    assert figures["labels"]["behavioral"] == behavioral
    assert figures["labels"]["ambient"] == {
        "events": 1, "accepted": 1, "first_accepted": 0, "judged": 2, "recovered": 1,
    }  # fmt: skip
    assert figures["labels"]["pivot"]["events"] == 0, "all four labels are there, also one that no scene has"
    assert figures["registers"]["break_restart"] == behavioral
    assert figures["compositions"] == {
        "behavioral1": {"scenes": 1, "accepted": 0, "first_accepted": 0, "attempts": 2},
        "behavioral1-ambient1": {"scenes": 1, "accepted": 1, "first_accepted": 0, "attempts": 3},
        "silent": {"scenes": 1, "accepted": 1, "first_accepted": 1, "attempts": 1},
    }
    assert figures["tokens_per_accepted_scene"] == 300.0
    assert figures["refused"] == ["t00001-0"]
    assert "diversity" not in figures, "only beside a baseline"


def test_a_wave_of_two_candidates_is_two_attempts():
    within = acceptance_metrics(OUTCOME, SCENES)["accepted_within"]
    assert [within["waves"][k] for k in "123"] == [0.3333, 0.6667, 0.6667]
    assert [within["candidates"][k] for k in "123"] == [0.3333, 0.3333, 0.6667]
    assert set(within["waves"]) == set("12345678")


def test_a_repaired_first_attempt_is_told_from_a_written_one():
    repaired = {"repaired_turns": (2,)}
    attempts = (
        *OUTCOME.attempts,
        attempt(0, 0, 0, "repeated_line").model_copy(update=repaired),
        attempt(1, 0, 0, "accepted", "behavioral").model_copy(update=repaired),
    )
    figures = acceptance_metrics(SimpleNamespace(accepted=(), attempts=attempts, refused=()), SCENES)
    assert figures["first_attempt"] == {"scenes": 3, "as_written": 0.3333, "after_repair": 0.6667}
    assert figures["first_attempt_accepted"] == 0.6667
    assert figures["repairs"] == {"tried": 2, "accepted": 0.5}
    assert figures["accepted_within"]["candidates"]["1"] == 0.6667, "a repair is no further candidate"


def test_the_files_hold_what_the_metrics_say(tmp_path):
    figures = write_summary(OUTCOME, SCENES, 1, tmp_path)
    assert json.loads((tmp_path / "dialogues.json").read_text()) == figures
    assert figures["diversity"]["words"] == 14
    rows = {path.stem: list(csv.DictReader(path.open())) for path in (tmp_path / "plots").iterdir()}
    assert [row["accepted"] for row in rows["acceptance"]] == ["1", "2"]
    assert rows["refusals"][0] == {"reason": "label_not_recovered", "attempts": "2"}
    assert {"label": "behavioral", "share": "0.5", "first_share": "0.0"} in rows["acceptance_by_label"]
    assert {"label": "pivot", "share": "", "first_share": ""} in rows["acceptance_by_label"]
    assert rows["repeated_phrases"][0] == {"kind": "line", "words": "the rent goes up again in march", "scenes": "2"}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write_summary(OUTCOME, SCENES, 1, tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*.*")}


def test_nothing_written_is_no_fault(tmp_path):
    figures = write_summary(SimpleNamespace(accepted=(), attempts=(), refused=()), SCENES, 1, tmp_path)
    assert figures["first_attempt"] == {"scenes": 0, "as_written": None, "after_repair": None}
    assert (tmp_path / "plots" / "refusals.csv").read_text() == "reason,attempts\n"


class Waves:
    """Answers each wave once and then finds it kept."""

    model_id = "scripted"

    def __init__(self):
        self.asked, self._kept = 0, set()

    def complete(self, wave):
        """One empty answer a request."""
        self.asked += wave[0].seed not in self._kept
        self._kept.add(wave[0].seed)
        return [ChatAnswer(text="", finish_reason="stop", prompt_tokens=1, completion_tokens=1) for _ in wave]


@pytest.fixture
def wave():
    """A wave of one request."""
    message = ChatMessage(role="user", content="?")
    return [ChatRequest(messages=(message,), seed=1, max_tokens=1, temperature=0.0, top_p=1.0)]


def test_seconds_are_kept_with_the_wave_and_known_when_it_comes_from_the_store(tmp_path, wave, monkeypatch):
    clock = iter([10.0, 14.5])
    monkeypatch.setattr("cares.dialogue.timing.time.monotonic", lambda: next(clock, 99.0))
    waves, store = Waves(), ItemStore("seconds", tmp_path)
    first = TimedWaves(waves, store)
    assert len(first.complete(wave)) == 1
    again = TimedWaves(waves, store)
    again.complete(wave)
    assert first.seconds == again.seconds == 4.5
    assert again.per_scene(3) == "1.5 s of writing for each accepted scene"


def test_a_kept_wave_of_unknown_time_is_said_so(tmp_path, wave):
    waves = Waves()
    waves.complete(wave)
    timed = TimedWaves(waves, ItemStore("seconds", tmp_path))
    timed.complete(wave)
    assert (timed.seconds, timed.unknown) == (0.0, 1)
    assert "1 waves of unknown time" in timed.per_scene(2)
    assert timed.per_scene(0) == "0 s of writing, no scene accepted"
