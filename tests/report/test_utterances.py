"""Which utterances are of which kind, how they are drawn, and how they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spoken_world import speak, write_speech

from cares.core.errors import InputError
from cares.core.record import read_records
from cares.records.dialogue import Dialogue, Segment, Turn
from cares.records.scene import Event, Scene
from cares.report.inputs import read_inputs
from cares.report.utterances import KINDS, SHOWN, Example, examples, kinds, said


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, new_build: Any) -> Any:
    """The build of conftest.py with speech."""
    build = new_build(tmp_path_factory.mktemp("utterances"))
    write_speech(build.root, build.scenes)
    return build


def interrupted() -> tuple[Dialogue, Scene]:
    """A break that the other speaker falls into, then a plain answer."""
    turns = (
        Turn(
            speaker="A",
            segments=(
                Segment(text="We could take the", delivery="cut", spoken_as="We could take the early train home."),
                Segment(event=0),
                Segment(text="Er, the early", delivery="cut", spoken_as="Er, the early train home.", pause_ms=0),
            ),
        ),
        Turn(speaker="B", segments=(Segment(text="Sorry, go on.", overlap_ms=300),)),
        Turn(
            speaker="A",
            segments=(Segment(text="Where was I?"), Segment(text="We could take the early train.", pause_ms=400)),
        ),
        Turn(speaker="B", segments=(Segment(text="Yes, let us do that."),)),
    )
    given = read_records(Dialogue, Path(__file__).parents[1] / "data/dialogues_small.jsonl")[0]
    scene = read_records(Scene, Path(__file__).parents[1] / "data/scenes_small.jsonl")[0]
    event = Event(sound="dog_bark", reaction="behavioral", register="break_interrupted", slot=0)
    return given.model_copy(update={"turns": turns}), scene.model_copy(update={"events": (event,)})


def text_of(example: Example, dialogue: Dialogue, scene: Scene) -> list[str]:
    found = [said(one, dialogue.turns, scene, first=not n) for n, one in enumerate(example.utterances)]
    return [" ".join(f"[{part.event.sound}]" if part.event else part.words for part in one.parts) for one in found]


def test_every_kind_is_found_by_its_sound(finished: Any) -> None:
    found = {kind.kind: kind for kind in kinds(read_inputs(finished.root), 1)}
    assert list(found) == list(KINDS)
    totals = {name: kind.total for name, kind in found.items()}
    assert totals["break_restart"] + totals["break_lost_thread"] == 2
    assert totals["ambient_run_on"] + totals["ambient_in_thought"] == 2
    assert totals["verbal"] == totals["pivot"] == totals["pivot_answer"] == 1
    assert totals["before_sound"] == 2 and totals["break_interrupted"] == totals["interruption"] == 0
    (verbal,) = found["verbal"].shown
    assert verbal.utterances[0].text.startswith("Wow, that dog")
    (answer,) = found["pivot_answer"].shown
    assert answer.utterances[0].text.startswith("Hold on, our train")
    plain = {one.utterances[0].text for one in found["plain"].shown}
    assert "Deal. I've got two big blankets in the car already." in plain
    assert not any(text.startswith("Hold on") for text in plain)


def test_an_interruption_belongs_to_its_break_and_is_a_kind_of_its_own() -> None:
    dialogue, scene = interrupted()
    speech, _ = speak(dialogue)
    found = {one.kind: one for one in examples(speech, dialogue, scene)}
    assert list(found) == ["break_interrupted", "interruption", "plain"]
    assert [one.speaker for one in found["break_interrupted"].utterances] == ["A", "A", "B", "A", "A"]
    assert text_of(found["break_interrupted"], dialogue, scene) == [
        "We could take the— [dog_bark]",
        "Er, the early—",
        "Sorry, go on.",
        "Where was I?",
        "… We could take the early train.",
    ]
    heard = said(found["interruption"].utterances[0], dialogue.turns, scene, first=True)
    assert heard.early_ms == 300
    assert said(speech.utterances[0], dialogue.turns, scene, first=True).unsaid == "early train home."


def test_twenty_are_drawn_by_the_seed_whatever_the_order(finished: Any) -> None:
    inputs = read_inputs(finished.root)
    one, dialogue, scene = inputs.speech[0], inputs.dialogues[0], inputs.allocated[0]
    names = [f"t{number:05d}-0" for number in range(30)]
    inputs.speech = [one.model_copy(update={"scene_id": name}) for name in names]
    inputs.dialogues = [dialogue.model_copy(update={"scene_id": name}) for name in names]
    inputs.allocated = [scene.model_copy(update={"scene_id": name}) for name in names]

    def shown(seed: int) -> list[list[tuple[str, int]]]:
        found = [kind for kind in kinds(inputs, seed) if kind.total]
        assert all(len(kind.shown) == SHOWN == 20 for kind in found)
        return [[example.place for example in kind.shown] for kind in found]

    first = shown(1)
    assert first == [sorted(places) for places in first] and first != shown(2)
    inputs.speech.reverse()
    assert shown(1) == first


def test_records_that_do_not_fit_are_errors(finished: Any) -> None:
    inputs = read_inputs(finished.root)
    inputs.dialogues = inputs.dialogues[1:]
    with pytest.raises(InputError, match=r"accepted\.jsonl: scene_id: got 't00000-0'"):
        kinds(inputs, 1)
    inputs = read_inputs(finished.root)
    inputs.dialogues[0] = inputs.dialogues[0].model_copy(update={"turns": inputs.dialogues[0].turns[:2]})
    with pytest.raises(InputError, match=r"speech\.jsonl: t00000-0: got \(2, 0\)"):
        kinds(inputs, 1)
