"""The free writer: one prompt in plain words for a large model, answered by a script with the sounds marked in it.

Nothing forces the decoder here, so the model must keep to the plan by itself; what does not is refused by its reader
(`cares.dialogue.free_script`), by the same lint and by the same evaluator as what the skeleton writer gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cares.catalog.load import Catalog
from cares.core.errors import InputError
from cares.core.rng import KeyedRandom, derived_seed
from cares.dialogue.breaks import NoPlaceError, rebroken
from cares.dialogue.budget import length_fault, words_of_scene
from cares.dialogue.free_script import ScriptFault, read_script, runs_on
from cares.dialogue.lint import Fault, faults
from cares.dialogue.manners import load_manners
from cares.dialogue.pace import load_pace
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import PIVOT_TURNS
from cares.dialogue.prompts import render
from cares.dialogue.surplus import without_surplus
from cares.dialogue.writer import Draft, SkeletonWriter, Writer, Written, answer_fault
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.dialogue import Turn
from cares.records.scene import Event, Scene

TOKENS_OF_A_WORD = 3  # room for twice the words that are asked for, markers and speakers


class FreeWriter:
    """Writes dialogues from one prompt; see `cares.dialogue.writer.Writer`.

    Args:
        catalog: the label space.
        params: temperature and the like; the lengths in characters are the skeleton's alone.
        seed: the data set's seed.
        prompts: the folder of prompts.
    """

    def __init__(self, catalog: Catalog, params: DialoguesParams, seed: int, prompts: Path) -> None:
        self._catalog, self._params, self._seed, self._prompts = catalog, params, seed, prompts
        self._manners, self._pace = load_manners(), load_pace()
        self._system = render(prompts / "free_system.jinja")
        self._shown = shown_lines(self._system)

    def draft(self, scene: Scene, topic: str, attempt: int, candidate: int) -> Draft:
        """See `Writer`."""
        key = attempt * 100 + candidate
        draw = KeyedRandom(self._seed, "free", scene.scene_id, key)
        relation = self._catalog.relations[scene.relation]
        words = words_of_scene(scene, self._pace) if scene.length_s is not None else 0
        asked = render(
            self._prompts / "free_request.jinja",
            pair=relation.pair,
            manner=relation.manner,
            place=self._catalog.locations[scene.location].phrase,
            topic=topic,
            people=[{"F": "a woman", "M": "a man"}[gender] for gender in scene.genders],
            roles=scene.roles,
            voices=draw.sample(self._manners.voices, 2),
            stance=draw.choice(self._manners.stances).format(a="A", b="B"),
            n_turns=scene.n_turns,
            words=words,
            sounds=[self._told(event, scene, draw) for event in scene.events],
        )
        request = ChatRequest(
            messages=(
                ChatMessage(role="system", content=self._system),
                ChatMessage(role="user", content=asked),
            ),
            seed=derived_seed(self._seed, "free", scene.scene_id, key),
            max_tokens=max(self._params.max_tokens, TOKENS_OF_A_WORD * words),
            temperature=self._params.temperature,
            top_p=1.0,
            min_p=self._params.min_p,
            presence_penalty=self._params.presence_penalty,
            frequency_penalty=self._params.frequency_penalty,
        )
        return Draft(scene, topic, attempt, candidate, request)

    def _told(self, event: Event, scene: Scene, draw: KeyedRandom) -> Mapping[str, object]:
        """What the prompt is told of one sound: where it falls and how it is taken up."""
        sound, register = self._catalog.sounds[event.sound], self._catalog.registers.get(event.register_id)
        if register is None or register.reaction != event.reaction:
            raise InputError("scenes.jsonl", "events.register", event.register_id, f"a register of {event.reaction}")
        return {
            "id": event.sound,
            "phrase": sound.phrase,
            "name": draw.choice(sound.names),
            "reaction": event.reaction,
            "description": register.description,
            "cue": draw.choice(register.cues).format(sound=sound.phrase),
            "line": event.slot + 1,
            "last": min(event.slot + PIVOT_TURNS, scene.n_turns),
            "speaker": "AB"[event.slot % 2],
        }

    def read(self, draft: Draft, answer: ChatAnswer) -> Written:
        """See `Writer`."""
        if fault := answer_fault(answer):
            endless = fault.reason == "too_long" and runs_on(answer.text)
            return Written((), Fault("endless_repetition", fault.detail) if endless else fault)
        try:
            written: tuple[Turn, ...] = read_script(answer.text, draft.scene)
            draws = [
                KeyedRandom(self._seed, "break", draft.scene.scene_id, draft.key * 100 + turn)
                for turn in range(len(written))
            ]
            turns = without_surplus(tuple(rebroken(written, draft.scene, draws)), draft.scene, self._pace)
        except ScriptFault as refusal:
            return Written((), Fault(refusal.reason, str(refusal)))
        except NoPlaceError as unmade:
            return Written((), Fault("no_place_to_break", str(unmade)))
        found = tuple(faults(turns, draft.scene, self._catalog, self._shown))
        if missed := length_fault(turns, draft.scene, self._pace, self._params.length_tolerance):
            found = (*found, missed)
        return Written(turns, found[0] if found else None, found)


def shown_lines(system: str) -> tuple[str, ...]:
    """The lines by which the system prompt shows the form, without their speakers: nothing of them may come back."""
    return tuple(line[3:] for line in system.splitlines() if line.startswith(("A: ", "B: ")))


def make_writer(catalog: Catalog, params: DialoguesParams, seed: int, prompts: Path) -> Writer:
    """The writer that `dialogues.writer` names."""
    if params.writer == "free":
        return FreeWriter(catalog, params, seed, prompts)
    return SkeletonWriter(catalog, params, seed, prompts)
