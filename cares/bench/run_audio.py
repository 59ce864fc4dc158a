"""A system that hears over all items: what is kept is not asked again, and every answer is read."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cares.bench.run_journal import Journal, Kept
from cares.bench.systems import read_answer
from cares.bench.systems_audio import AudioQuestion, AudioSystem, audio_question
from cares.bench.systems_repeats import repeated
from cares.core.canonical import digest
from cares.llm.types import ChatAnswer
from cares.records.answer import Answer
from cares.records.item import Item


class Timing(NamedTuple):
    """How long one answer took, in milliseconds, with its way to the server and back."""

    item_id: str
    repeat: int
    milliseconds: int


class Heard(NamedTuple):
    """All answers of one system, in the order of the items and then of the repetitions.

    `asked` questions were put now, the others were kept from before.
    """

    answers: list[Answer]
    timings: list[Timing]
    asked: int


def hear_items(
    system: AudioSystem,
    name: str,
    items: Sequence[Item],
    root: Path,
    journal: Journal,
    seed: int,
    max_tokens: int,
    constrained: bool = False,
    repeats: int = 0,
) -> Heard:
    """Put all items to a system that hears.

    Args:
        system: the model.
        name: the system's name in the answers.
        items: the frozen questions.
        root: folder that the items' `audio` is relative to.
        journal: where answers are kept.
        seed: the data set's seed.
        max_tokens: length of an answer.
        constrained: whether nothing but a letter can be answered.
        repeats: how many questions are asked once more.

    Raises:
        InputError: a recording is missing or is another one.
        CaresError: the system failed as a whole; finished answers are kept.
    """
    wanted = [(item, 0) for item in items] + [(item, 1) for item in repeated(items, repeats, seed)]
    questions = [audio_question(item, root, max_tokens, seed, constrained, repeat) for item, repeat in wanted]
    keys = [_key(system, question) for question in questions]
    found: dict[int, Kept] = {place: kept for place, key in enumerate(keys) if (kept := journal.get(key)) is not None}
    # by recording, so that each is read and resampled once, and a server can keep what it made of it
    todo = sorted(set(range(len(questions))) - set(found), key=lambda place: (questions[place].audio, place))

    def keep(at: int, answer: ChatAnswer, milliseconds: int) -> None:
        journal.put(keys[todo[at]], answer, milliseconds)
        found[todo[at]] = Kept(answer, milliseconds)

    if todo:
        system.answer([questions[place] for place in todo], keep)
    answers = [
        read_answer(name, item, found[place].answer, constrained and bool(item.choices), repeat)
        for place, (item, repeat) in enumerate(wanted)
    ]
    timings = [Timing(item.item_id, repeat, found[place].milliseconds) for place, (item, repeat) in enumerate(wanted)]
    return Heard(answers, timings, len(todo))


def told_timings(timings: Sequence[Timing]) -> str:
    """Median and 95th percentile for a printed line."""
    values = sorted(timing.milliseconds for timing in timings)
    if not values:
        return "no answer"
    slow = values[min(len(values) - 1, round(0.95 * (len(values) - 1)))]
    return f"{statistics.median(values) / 1000:.1f} s an answer, 95 % within {slow / 1000:.1f} s"


def _key(system: AudioSystem, question: AudioQuestion) -> str:
    return digest(
        {
            "audio": question.audio_sha256,
            "body": system.body(question),
            "model": system.digest,
            "repeat": question.repeat,
        }
    )
