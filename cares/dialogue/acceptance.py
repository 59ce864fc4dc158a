"""Write, check, judge, repair, write again: what is accepted carries its labels, and every attempt keeps its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cares.core.errors import InputError
from cares.core.executor import progress
from cares.dialogue.judging import Evaluator
from cares.dialogue.lint import Fault
from cares.dialogue.marked import from_turns
from cares.dialogue.opinion import Opinion, verdict_fault
from cares.dialogue.params import DialoguesParams
from cares.dialogue.repair import Patient, fitting, patient, read_repairs, repair_wave
from cares.dialogue.topics import groups
from cares.dialogue.writer import Draft, Repairer, Writer, Written
from cares.llm.types import ChatAnswer, ChatRequest
from cares.records.dialogue import Attempt, Dialogue, Topic, Turn
from cares.records.scene import Scene

REPAIRS_APART = 20  # candidates of one repair of one turn at most; keeps the seeds of repairs apart


class Asked(Protocol):
    """What answers a wave, such as `cares.llm.waves.StoredWaves`."""

    @property
    def model_id(self) -> str:
        """The writer's name."""
        ...

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What became of a set of scenes; `refused` are those that no attempt brought through, in order."""

    accepted: tuple[Dialogue, ...]
    attempts: tuple[Attempt, ...]
    refused: tuple[str, ...]


def accept_dialogues(
    scenes: Sequence[Scene],
    topics: Sequence[Topic],
    writer: Writer,
    model: Asked,
    judge: Evaluator,
    params: DialoguesParams,
) -> Outcome:
    """Write dialogues until each scene has one that is accepted, or its attempts are used up.

    A wave's members follow from the scenes of its group and the outcomes of the earlier waves alone. The places of
    accepted scenes go to further candidates of the others; of several good candidates the one counts of which the
    evaluator is surest, and the first of equals.

    Raises:
        InputError: a scene has no topic.
    """
    by_scene: dict[str, list[Topic]] = {}
    for topic in sorted(topics, key=lambda topic: topic.attempt):
        by_scene.setdefault(topic.scene_id, []).append(topic)
    for scene in scenes:
        if scene.scene_id not in by_scene:
            raise InputError("topics.jsonl", scene.scene_id, "no topic", "at least one topic for every scene")
    accepted: dict[str, Dialogue] = {}
    attempts: list[Attempt] = []
    with progress(total=len(scenes), desc="dialogues", unit="scene") as bar:
        for group in groups(scenes, params.group_scenes):
            work = _Group(group, by_scene, writer, model, judge, params)
            for wave in range(params.waves):
                before = len(work.accepted)
                work.attempt(wave)
                bar.update(len(work.accepted) - before)
            bar.update(len(group) - len(work.accepted))
            accepted |= work.accepted
            attempts += work.attempts
    ids = sorted(scene.scene_id for scene in scenes)
    return Outcome(
        tuple(accepted[name] for name in ids if name in accepted),
        tuple(attempts),
        tuple(name for name in ids if name not in accepted),
    )


@dataclass
class _Group:
    """A group of scenes that share their waves."""

    scenes: Sequence[Scene]
    topics: Mapping[str, Sequence[Topic]]
    writer: Writer
    model: Asked
    judge: Evaluator
    params: DialoguesParams
    accepted: dict[str, Dialogue] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)

    def attempt(self, wave: int) -> None:
        """One attempt at every scene that still waits: write, judge, and repair what is nearly good."""
        waiting = [scene for scene in self.scenes if scene.scene_id not in self.accepted]
        if not waiting:
            return
        drafts = self._drafts(waiting, wave)
        answers = self.model.complete([draft.request for draft in drafts])
        written = [self.writer.read(draft, answer) for draft, answer in zip(drafts, answers, strict=True)]
        opinions = self._judge(drafts, written)
        chosen = self._accept(drafts, written, opinions, [()] * len(drafts))
        for place, (draft, answer, one) in enumerate(zip(drafts, answers, written, strict=True)):
            said = answer.text, answer.finish_reason, answer.completion_tokens
            self.attempts.append(_attempt(draft, one, opinions[place], said, place in chosen))
        if isinstance(self.writer, Repairer):
            self._repair(self._patients(drafts, written, opinions), self.writer)

    def _drafts(self, waiting: Sequence[Scene], wave: int) -> list[Draft]:
        params = self.params
        count = max(1, min(params.candidates, params.group_scenes // len(waiting)))
        drafts = []
        for scene in waiting:
            of_scene = self.topics[scene.scene_id]
            topic = of_scene[min(wave // params.waves_per_topic, len(of_scene) - 1)].topic
            drafts += [self.writer.draft(scene, topic, wave, candidate) for candidate in range(count)]
        return drafts

    def _judge(self, drafts: Sequence[Draft], written: Sequence[Written]) -> list[Opinion | None]:
        """The evaluator's opinion of every dialogue without a fault."""
        clean = [place for place, one in enumerate(written) if one.fault is None]
        pieces = [from_turns(written[p].turns, [event.sound for event in drafts[p].scene.events]) for p in clean]
        verdicts = self.judge.judge_many(pieces)
        similar = self.judge.topic_similarities([drafts[p].topic for p in clean], pieces)
        opinions: list[Opinion | None] = [None] * len(written)
        for place, found, similarity in zip(clean, verdicts, similar, strict=True):
            fault = verdict_fault(
                drafts[place].scene, written[place].turns, found, similarity, self.judge.topic_threshold
            )
            opinions[place] = Opinion(tuple(found), similarity, fault)
        return opinions

    def _accept(
        self,
        drafts: Sequence[Draft],
        written: Sequence[Written],
        opinions: Sequence[Opinion | None],
        repaired: Sequence[tuple[int, ...]],
    ) -> list[int]:
        """Take the surest of the good dialogues of each scene; their places."""
        best: dict[str, int] = {}
        for place, (draft, opinion) in enumerate(zip(drafts, opinions, strict=True)):
            if opinion is None or opinion.fault or draft.scene.scene_id in self.accepted:
                continue
            other = opinions[best[draft.scene.scene_id]] if draft.scene.scene_id in best else None
            if other is None or opinion.confidence > other.confidence:
                best[draft.scene.scene_id] = place
        for scene_id, place in best.items():
            opinion = opinions[place]
            assert opinion is not None
            self.accepted[scene_id] = Dialogue(
                scene_id=scene_id,
                topic=drafts[place].topic,
                attempt=drafts[place].attempt,
                candidate=drafts[place].candidate,
                repaired_turns=repaired[place],
                writer=self.model.model_id,
                evaluator=self.judge.name,
                topic_similarity=opinion.similarity,
                turns=written[place].turns,
            )
        return list(best.values())

    def _patients(
        self, drafts: Sequence[Draft], written: Sequence[Written], opinions: Sequence[Opinion | None]
    ) -> list[Patient]:
        """Of each scene that still waits the dialogue with the fewest turns to blame, the first of equals."""
        best: dict[str, Patient] = {}
        for draft, one, opinion in zip(drafts, written, opinions, strict=True):
            name = draft.scene.scene_id
            found = patient(draft, one, opinion.fault if opinion else None, self.params.repair_turns)
            if found and name not in self.accepted and (name not in best or len(found.turns) < len(best[name].turns)):
                best[name] = found
        return list(best.values())

    def _repair(self, patients: list[Patient], writer: Repairer) -> None:
        params = self.params
        for number in range(params.repairs):
            patients = fitting(patients, params.repair_places)
            if not patients:
                return
            first = number * REPAIRS_APART
            wave = repair_wave(patients, writer, params.repair_candidates, params.repair_places, first)
            answers = self.model.complete(wave)
            offers = read_repairs(patients, writer, answers)
            drafts = [one.draft for one, versions in zip(patients, offers, strict=True) for _ in versions]
            written = [version.written for versions in offers for version in versions]
            opinions = self._judge(drafts, written)
            chosen = self._accept(drafts, written, opinions, [v.turns for versions in offers for v in versions])
            again: list[Patient] = []
            place = 0
            for one, versions, tokens in zip(patients, offers, _tokens(patients, answers), strict=True):
                places = range(place, place + len(versions))
                place += len(versions)
                kept = next((p for p in places if p in chosen), _nearest(places, drafts, written, opinions))
                outcome = written[kept] if kept is not None else Written((), Fault("no_repair", "nothing usable"))
                opinion = opinions[kept] if kept is not None else None
                said = _as_text(outcome.turns), "repaired", tokens
                self.attempts.append(_attempt(one.draft, outcome, opinion, said, kept in chosen, one.turns))
                if one.draft.scene.scene_id not in self.accepted:
                    fault = opinion.fault if opinion else None
                    found = patient(one.draft, outcome, fault, params.repair_turns)
                    again += [found] if found else []
            patients = again


def _nearest(
    places: range, drafts: Sequence[Draft], written: Sequence[Written], opinions: Sequence[Opinion | None]
) -> int | None:
    """Of several versions the one with the fewest faults, and of these the one nearest to the labels asked for."""

    def distance(place: int) -> tuple[int, float]:
        opinion = opinions[place]
        return len(written[place].faults), -opinion.wanted(drafts[place].scene) if opinion else 0.0

    return min(places, key=distance, default=None)


def _tokens(patients: Sequence[Patient], answers: Sequence[ChatAnswer]) -> list[int]:
    """What the repair of each dialogue cost."""
    count = len(answers) // max(1, sum(len(one.turns) for one in patients))
    spent, place = [], 0
    for one in patients:
        size = count * len(one.turns)
        spent.append(sum(answer.completion_tokens for answer in answers[place : place + size]))
        place += size
    return spent


def _as_text(turns: Sequence[Turn]) -> str:
    return "\n".join(
        f"{turn.speaker}: " + " ".join(s.text if s.event is None else f"[SOUND {s.event}]" for s in turn.segments)
        for turn in turns
    )


def _attempt(
    draft: Draft,
    written: Written,
    opinion: Opinion | None,
    said: tuple[str, str, int],
    chosen: bool,
    repaired: tuple[int, ...] = (),
) -> Attempt:
    fault = written.fault or (opinion.fault if opinion else None)
    text, finish_reason, tokens = said
    return Attempt(
        scene_id=draft.scene.scene_id,
        attempt=draft.attempt,
        candidate=draft.candidate,
        topic=draft.topic,
        seed=draft.request.seed,
        reason=fault.reason if fault else "accepted" if chosen else "not_chosen",
        detail=fault.detail if fault else "",
        finish_reason=finish_reason,
        completion_tokens=tokens,
        verdicts=opinion.verdicts if opinion else (),
        topic_similarity=round(opinion.similarity, 4) if opinion else None,
        text=text,
        repaired_turns=repaired,
    )
