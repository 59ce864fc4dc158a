"""Write, check, judge, write again: what is accepted carries its labels, and every attempt is kept with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cares.core.errors import InputError
from cares.core.executor import progress
from cares.dialogue.lint import Fault
from cares.dialogue.marked import Pieces, from_turns
from cares.dialogue.params import DialoguesParams
from cares.dialogue.topics import groups
from cares.dialogue.writer import Draft, SkeletonWriter, Written
from cares.llm.types import ChatAnswer, ChatRequest
from cares.records.dialogue import Attempt, Dialogue, Topic, Verdict
from cares.records.scene import Scene


class Asked(Protocol):
    """What answers a wave, such as `cares.llm.waves.StoredWaves`."""

    @property
    def model_id(self) -> str:
        """The writer's name."""
        ...

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        ...


class Judge(Protocol):
    """What reads a transcript and recovers labels and topic; see `cares.dialogue.evaluator`."""

    @property
    def name(self) -> str:
        """The evaluator's name."""
        ...

    @property
    def topic_threshold(self) -> float:
        """Least cosine similarity of the recovered to the gold topic."""
        ...

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """A verdict for every sound of every transcript."""
        ...

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """Similarity of each topic to what its transcript is about."""
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
    writer: SkeletonWriter,
    model: Asked,
    judge: Judge,
    params: DialoguesParams,
) -> Outcome:
    """Write dialogues until each scene has one that is accepted, or its attempts are used up.

    A wave's members follow from the scenes of its group and the outcomes of the earlier waves alone. The places of
    accepted scenes go to further candidates of the others; of several good candidates the first counts.

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
            for wave in range(params.waves):
                waiting = [scene for scene in group if scene.scene_id not in accepted]
                if not waiting:
                    break
                drafts = _drafts(waiting, by_scene, writer, params, wave)
                answers = model.complete([draft.request for draft in drafts])
                written = [writer.read(draft, answer) for draft, answer in zip(drafts, answers, strict=True)]
                for draft, answer, attempt in zip(
                    drafts, answers, _judge(drafts, answers, written, judge), strict=True
                ):
                    attempts.append(attempt)
                    if attempt.reason == "accepted" and draft.scene.scene_id not in accepted:
                        turns = written[drafts.index(draft)].turns
                        assert answer.text and attempt.topic_similarity is not None
                        accepted[draft.scene.scene_id] = Dialogue(
                            scene_id=draft.scene.scene_id,
                            topic=draft.topic,
                            attempt=wave,
                            writer=model.model_id,
                            evaluator=judge.name,
                            topic_similarity=attempt.topic_similarity,
                            turns=turns,
                        )
                        bar.update()
            bar.update(sum(scene.scene_id not in accepted for scene in group))
    ids = sorted(scene.scene_id for scene in scenes)
    return Outcome(
        tuple(accepted[name] for name in ids if name in accepted),
        tuple(attempts),
        tuple(name for name in ids if name not in accepted),
    )


def _drafts(
    waiting: Sequence[Scene],
    topics: Mapping[str, Sequence[Topic]],
    writer: SkeletonWriter,
    params: DialoguesParams,
    wave: int,
) -> list[Draft]:
    count = max(1, min(params.candidates, params.group_scenes // len(waiting)))
    drafts = []
    for scene in waiting:
        of_scene = topics[scene.scene_id]
        topic = of_scene[min(wave // params.waves_per_topic, len(of_scene) - 1)].topic
        drafts += [writer.draft(scene, topic, wave, candidate) for candidate in range(count)]
    return drafts


def _judge(
    drafts: Sequence[Draft], answers: Sequence[ChatAnswer], written: Sequence[Written], judge: Judge
) -> list[Attempt]:
    clean = [place for place, one in enumerate(written) if one.fault is None]
    pieces = [from_turns(written[p].turns, [event.sound for event in drafts[p].scene.events]) for p in clean]
    verdicts = dict(zip(clean, judge.judge_many(pieces), strict=True))
    similar = dict(zip(clean, judge.topic_similarities([drafts[p].topic for p in clean], pieces), strict=True))
    attempts = []
    for place, (draft, answer, one) in enumerate(zip(drafts, answers, written, strict=True)):
        fault = one.fault or _verdict_fault(draft, verdicts[place], similar[place], judge.topic_threshold)
        attempts.append(
            Attempt(
                scene_id=draft.scene.scene_id,
                attempt=draft.attempt,
                candidate=draft.candidate,
                topic=draft.topic,
                seed=draft.request.seed,
                reason=fault.reason if fault else "accepted",
                detail=fault.detail if fault else "",
                finish_reason=answer.finish_reason,
                completion_tokens=answer.completion_tokens,
                verdicts=tuple(verdicts.get(place, ())),
                topic_similarity=round(similar[place], 4) if place in similar else None,
                text=answer.text,
            )
        )
    return attempts


def _verdict_fault(draft: Draft, verdicts: Sequence[Verdict], similarity: float, threshold: float) -> Fault | None:
    found = {verdict.event: verdict.label for verdict in verdicts}
    for index, event in enumerate(draft.scene.events):
        if found.get(index) != event.reaction:
            return Fault(
                "label_not_recovered", f"event {index} ({event.sound}): {event.reaction} read as {found.get(index)}"
            )
    if similarity < threshold:
        return Fault("topic_not_recovered", f"similarity {similarity:.3f}, threshold {threshold:.3f}")
    return None
