"""A system that hears over all items: what is kept is not asked again, and every answer is read."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cares.bench.run_journal import Journal, Kept
from cares.bench.scores_rows import task_key
from cares.bench.systems import read_answer
from cares.bench.systems_audio import AudioQuestion, AudioSystem, audio_question
from cares.bench.systems_repeats import repeated
from cares.core.canonical import digest
from cares.core.text import plain
from cares.llm.types import ChatAnswer
from cares.records.answer import Answer
from cares.records.item import Item

MOST_REASONS = 3


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
    again: Sequence[Item] | None = None,
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
        again: the items of which those are taken; by default all.

    Raises:
        InputError: a recording is missing or is another one.
        CaresError: the system failed as a whole; finished answers are kept.
    """
    wanted = [(item, 0) for item in items] + [
        (item, 1) for item in repeated(items if again is None else again, repeats, seed)
    ]
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


def with_kept(
    system: AudioSystem,
    items: Sequence[Item],
    chosen: Sequence[Item],
    root: Path,
    journal: Journal,
    seed: int,
    max_tokens: int,
    constrained: bool,
) -> tuple[list[Item], list[str]]:
    """The chosen items and those of each other task and split that were answered to the last one before.

    So a smaller run adds to what a folder holds and takes nothing away.

    Args:
        system: the model.
        items: all frozen questions.
        chosen: those that are asked now.
        root: folder that the items' `audio` is relative to.
        journal: where answers are kept.
        seed: the data set's seed.
        max_tokens: length of an answer.
        constrained: whether nothing but a letter can be answered.

    Returns:
        The items, in their order, and a line for each task and split that was answered in part and so is left out.
    """
    wanted = {item.item_id for item in chosen}
    cells: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        if item.item_id not in wanted:
            cells.setdefault((task_key(item), item.split), []).append(item)
    lines = []
    for (task, split), members in cells.items():
        kept = {
            item.item_id
            for item in members
            if journal.get(_key(system, audio_question(item, root, max_tokens, seed, constrained, 0))) is not None
        }
        if len(kept) == len(members):
            wanted |= kept
        elif kept:
            lines.append(
                f"{task} of {split} is left out: {len(members) - len(kept)} of {len(members)} not answered yet"
            )
    return [item for item in items if item.item_id in wanted], lines


def told_errors(answers: Sequence[Answer]) -> list[str]:
    """How many questions failed and why, the commonest reasons first, for printed lines; none when none failed."""
    errors = [plain(answer.text) for answer in answers if answer.status == "error"]
    if not errors:
        return []
    told = [f"{len(errors)} of {len(answers)} questions got no answer; the same command asks them again"]
    told += [f"{count} times: {reason[:300]}" for reason, count in Counter(errors).most_common(MOST_REASONS)]
    return told


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
