"""Items and answers brought together: one table of rows a task, in the order of the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cares.bench.statistics import Codes, codes
from cares.core.errors import InputError
from cares.records.answer import Answer
from cares.records.item import LEVELS, TASKS, Item

NOT_READ = "unreadable"


def task_key(item: Item) -> str:
    """The name under which an item is scored: its group, but both halves of `grounding` together."""
    return item.task if item.task == "grounding" else item.group


TASK_KEYS: tuple[str, ...] = tuple(
    key
    for task in TASKS
    for key in ([task] if task == "grounding" else [f"{task}-{level}" if level else task for level in LEVELS[task]])
)


@dataclass(frozen=True)
class Rows:
    """One task's items with a system's answers; row i of both belongs together.

    `templates` is the template of each row.
    """

    items: tuple[Item, ...]
    answers: tuple[Answer, ...]
    templates: Codes

    @property
    def labels(self) -> tuple[str, ...]:
        """The right answers that occur, in canonical order where all items have the same choices, else sorted."""
        if self.fixed:
            first = self.items[0]
            canonical = [""] * len(first.choices)
            for shown, place in enumerate(first.order):
                canonical[place] = first.choices[shown]
            return tuple(canonical)
        return tuple(sorted({item.answer for item in self.items}))

    @property
    def fixed(self) -> bool:
        """Whether all items have the same choices, in whatever order."""
        return len({frozenset(item.choices) for item in self.items}) == 1


def by_task(items: Sequence[Item], answers: Sequence[Answer]) -> dict[str, Rows]:
    """The rows of each task that a system answered, tasks in the order of TASK_KEYS.

    Repetitions (`repeat` above 0) are left out. A task none of whose items was answered is left out: the system was not
    asked.

    Raises:
        InputError: an answer to no item, two answers to one, a choice that the item does not offer, or a task that was
            answered in part.
    """
    first = _by_item(items, answers)
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(task_key(item), []).append(item)
    found = {}
    for key in sorted(groups, key=TASK_KEYS.index):
        of_task = groups[key]
        missing = next((item.item_id for item in of_task if item.item_id not in first), None)
        if missing is not None:
            if any(item.item_id in first for item in of_task):
                raise InputError("answers", missing, "no answer", f"an answer to every item of {key}, or to none")
            continue
        rows = tuple(first[item.item_id] for item in of_task)
        found[key] = Rows(tuple(of_task), rows, codes([item.template_id for item in of_task]))
    return found


def _by_item(items: Sequence[Item], answers: Sequence[Answer]) -> Mapping[str, Answer]:
    known = {item.item_id: item for item in items}
    first: dict[str, Answer] = {}
    for number, answer in enumerate(answers, 1):
        if answer.repeat:
            continue
        item = known.get(answer.item_id)
        if item is None:
            raise InputError("answers", f"line {number}.item_id", answer.item_id, "the id of an item")
        if answer.item_id in first:
            raise InputError("answers", f"line {number}.item_id", answer.item_id, "one answer an item")
        if answer.choice is not None and answer.choice not in item.choices:
            raise InputError("answers", f"line {number}.choice", answer.choice, f"one of {', '.join(item.choices)}")
        first[answer.item_id] = answer
    return first
