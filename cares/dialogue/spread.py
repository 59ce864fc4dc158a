"""Topics and dialogues by the workers of Ray: groups of scenes share no wave, so each is found or written on its own.

A group's waves have the same members as in one process, and what comes out is put together in the order of the groups:
the result is the same. Each worker has its own model, or keeps to one of the servers in CARES_LLM_URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cares.catalog.load import load_catalog
from cares.core.executor import map_items
from cares.dialogue.acceptance import Outcome, accept_dialogues
from cares.dialogue.free import make_writer
from cares.dialogue.judging import Evaluator
from cares.dialogue.params import DialoguesParams, TopicsParams
from cares.dialogue.timing import TimedWaves
from cares.dialogue.topics import find_topics, groups
from cares.dialogue.writer import Writer
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.records.dialogue import Topic
from cares.records.scene import Scene, batches


class TopicWork(NamedTuple):
    """What every worker needs to find topics."""

    model_id: str
    llm: LlmParams
    params: TopicsParams
    seed: int
    prompts: Path


class DialogueWork(NamedTuple):
    """What every worker needs to write and judge; `judge` opens its evaluator."""

    model_id: str
    llm: LlmParams
    params: DialoguesParams
    seed: int
    prompts: Path
    judge: Callable[[], Evaluator]


class _Group(NamedTuple):
    scene_id: str  # of its first scene, by which it is named when it fails
    scenes: tuple[Scene, ...]
    topics: tuple[Topic, ...] = ()


class _Written(NamedTuple):
    outcome: Outcome
    seconds: float
    unknown: int


@dataclass
class _Held:
    """What a worker keeps between groups; its process ends with the run, and so do the models."""

    topic_work: TopicWork | None = None
    work: DialogueWork | None = None
    waves: StoredWaves | None = None
    writer: Writer | None = None
    judge: Evaluator | None = None


_held = _Held()


def find_topics_apart(scenes: Sequence[Scene], work: TopicWork) -> tuple[list[Topic], int]:
    """As `cares.dialogue.topics.find_topics`, and how many waves the models were asked for."""
    each = [_Group(group[0].scene_id, tuple(group)) for group in _groups(scenes, work.params.group_scenes)]
    found = map_items(_find, each, desc="topics", setup=_ready_to_find, setup_args=(work,))
    return [topic for topics, _ in found for topic in topics], sum(asked for _, asked in found)


def accept_dialogues_apart(
    scenes: Sequence[Scene], topics: Sequence[Topic], work: DialogueWork
) -> tuple[Outcome, TimedWaves]:
    """As `cares.dialogue.acceptance.accept_dialogues`, and the time that writing took, over all workers."""
    of_scene: dict[str, list[Topic]] = {}
    for topic in topics:
        of_scene.setdefault(topic.scene_id, []).append(topic)
    each = [
        _Group(group[0].scene_id, tuple(group), tuple(t for scene in group for t in of_scene.get(scene.scene_id, ())))
        for group in _groups(scenes, work.params.group_scenes)
    ]
    written = map_items(_write, each, desc="dialogues", setup=_ready_to_write, setup_args=(work,))
    timed = TimedWaves(StoredWaves(work.model_id, work.llm))
    timed.seconds, timed.unknown = sum(one.seconds for one in written), sum(one.unknown for one in written)
    return joined(one.outcome for one in written), timed


def joined(outcomes: Iterable[Outcome]) -> Outcome:
    """What became of all batches or groups, one behind the other."""
    found = list(outcomes)
    return Outcome(
        tuple(dialogue for outcome in found for dialogue in outcome.accepted),
        tuple(attempt for outcome in found for attempt in outcome.attempts),
        tuple(name for outcome in found for name in outcome.refused),
    )


def _groups(scenes: Sequence[Scene], size: int) -> list[list[Scene]]:
    """In the order in which one process has them: scenes that were added share no group with those before them."""
    return [group for batch in batches(scenes) for group in groups(batch, size)]


def _ready_to_find(work: TopicWork) -> None:
    _held.topic_work, _held.waves = work, StoredWaves(work.model_id, work.llm)


def _find(group: _Group) -> tuple[list[Topic], int]:
    work, waves = _held.topic_work, _held.waves
    assert work is not None and waves is not None
    before = waves.asked
    topics = find_topics(group.scenes, load_catalog(), work.params, work.seed, work.prompts, waves)
    return topics, waves.asked - before


def _ready_to_write(work: DialogueWork) -> None:
    _held.work, _held.waves = work, StoredWaves(work.model_id, work.llm)
    _held.writer = make_writer(load_catalog(), work.params, work.seed, work.prompts)
    _held.judge = work.judge()


def _write(group: _Group) -> _Written:
    work, waves, writer, judge = _held.work, _held.waves, _held.writer, _held.judge
    assert work is not None and waves is not None and writer is not None and judge is not None
    timed = TimedWaves(waves)
    outcome = accept_dialogues(group.scenes, group.topics, writer, timed, judge, work.params)
    return _Written(outcome, timed.seconds, timed.unknown)
