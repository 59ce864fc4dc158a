"""Scenes that were added to a set are topics and dialogues of groups of their own: no wave before theirs changes."""

from pathlib import Path

from dialogue_world import CATALOG, PARAMS, Scripted, fill, scene

from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.marked import Heard
from cares.dialogue.params import TopicsParams
from cares.dialogue.topics import find_topics
from cares.dialogue.writer import SkeletonWriter
from cares.records.dialogue import Topic, Verdict
from cares.records.scene import batches
from stages.dialogues import joined

PROMPTS = Path(__file__).parents[2] / "prompts"
# six scenes in groups of four: the second group has room for two more, which no added scene may take
START = [scene(("doorbell_chime", "behavioral"), number=n, n_turns=8) for n in range(6)]
ADDED = [
    scene(("doorbell_chime", "behavioral"), number=n, n_turns=8).model_copy(update={"added": 1 + n // 9})
    for n in range(6, 11)
]
TOPICS = TopicsParams(per_scene=2, group_scenes=4, attempts=2, temperature=0.8, min_p=0.06, longest_chars=80)


class Judge:
    """Recovers every label."""

    name, topic_threshold = "sure", 0.5

    def judge_many(self, transcripts):
        """All are behavioral."""
        return [
            [
                Verdict(event=p.event, sound=p.sound, label="behavioral", scores={})
                for p in pieces
                if isinstance(p, Heard)
            ]
            for pieces in transcripts
        ]

    def topic_similarities(self, topics, transcripts):
        """All are recovered."""
        return [1.0 for _ in topics]


def topics_of(scenes):
    model = Scripted(lambda wave, place, request: "no topic")
    found = [topic for batch in batches(scenes) for topic in find_topics(batch, CATALOG, TOPICS, 1, PROMPTS, model)]
    return found, model.waves


def dialogues_of(scenes):
    model = Scripted(lambda wave, place, request: fill(request))
    writer = SkeletonWriter(CATALOG, PARAMS, 1, PROMPTS)
    topics = [Topic(scene_id=s.scene_id, attempt=0, topic="why the rent went up") for s in scenes]
    found = joined(accept_dialogues(batch, topics, writer, model, Judge(), PARAMS) for batch in batches(scenes))
    return found, model.waves


def test_batches_are_the_start_and_what_was_added_to_it():
    assert [len(batch) for batch in batches([*START, *ADDED])] == [6, 3, 2]
    assert batches(START) == [START]


def test_topics_before_an_added_batch_are_asked_and_found_as_without_it():
    before, waves = topics_of(START)
    after, all_waves = topics_of([*START, *ADDED])
    assert after[: len(before)] == before and all_waves[: len(waves)] == waves
    assert {topic.scene_id for topic in after[len(before) :]} == {s.scene_id for s in ADDED}
    assert [len(wave) for wave in all_waves[len(waves) :]] == [3, 3, 2, 2], "two attempts of each batch, alone"


def test_dialogues_before_an_added_batch_are_written_as_without_it():
    before, waves = dialogues_of(START)
    after, all_waves = dialogues_of([*START, *ADDED])
    assert before.accepted and after.accepted[: len(before.accepted)] == before.accepted
    assert after.attempts[: len(before.attempts)] == before.attempts
    assert all_waves[: len(waves)] == waves and len(all_waves) == len(waves) + 2
    assert [dialogue.scene_id for dialogue in after.accepted] == [s.scene_id for s in (*START, *ADDED)]
