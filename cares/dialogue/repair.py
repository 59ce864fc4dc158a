"""Repair before rejecting: the turns of a dialogue that fail a check are written again, the rest stays.

Several candidates are asked for each turn at once, in one wave for all dialogues of a group; those with the fewest
faults are put in place, and what comes out is read, linted and judged as a whole like any other dialogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cares.dialogue.lint import Fault
from cares.dialogue.skeleton import Line
from cares.dialogue.writer import Draft, Repairer, Written
from cares.llm.types import ChatAnswer, ChatRequest


@dataclass(frozen=True)
class Patient:
    """A dialogue to repair: what was written, and the turns that are to blame."""

    draft: Draft
    written: Written
    turns: tuple[int, ...]


@dataclass(frozen=True)
class Repaired:
    """A repaired dialogue."""

    written: Written
    turns: tuple[int, ...]


def patient(draft: Draft, written: Written, fault: Fault | None, most_turns: int) -> Patient | None:
    """The dialogue as one to repair, or None: it has no lines, no turn is to blame, or more than `most_turns` are.

    Args:
        draft: what was asked for.
        written: what came back.
        fault: why the evaluator refused it, if it did.
        most_turns: how many turns may be written again.
    """
    found = [*written.faults, *([fault] if fault else [])]
    turns = sorted({fault.turn for fault in found if fault.turn is not None})
    if not written.lines or not turns or any(fault.turn is None for fault in found) or len(turns) > most_turns:
        return None
    return Patient(draft, written, tuple(turns))


def fitting(patients: Sequence[Patient], places: int) -> list[Patient]:
    """The first dialogues whose turns all find a place in a wave of `places` requests."""
    kept: list[Patient] = []
    for one in patients:
        places -= len(one.turns)
        if places < 0:
            break
        kept.append(one)
    return kept


def repair_wave(
    patients: Sequence[Patient], writer: Repairer, candidates: int, places: int, first: int
) -> list[ChatRequest]:
    """The requests of one wave, in the order of `read_repairs`.

    Args:
        patients: dialogues that fit into the wave.
        writer: who writes turns again.
        candidates: how many are asked for each turn, if there is room.
        places: how many requests a wave may have.
        first: numbers them apart from the requests of earlier waves.
    """
    count = max(1, min(candidates, places // max(1, sum(len(one.turns) for one in patients))))
    return [
        writer.mend(one.draft, one.written.lines, turn, first + candidate)
        for one in patients
        for turn in one.turns
        for candidate in range(count)
    ]


def read_repairs(patients: Sequence[Patient], writer: Repairer, answers: Sequence[ChatAnswer]) -> list[list[Repaired]]:
    """For each dialogue its repaired versions, the best by number of faults first; none where nothing usable came."""
    count = len(answers) // max(1, sum(len(one.turns) for one in patients))
    left = list(answers)
    results = []
    for one in patients:
        offers: dict[int, list[Line]] = {}
        for turn in one.turns:
            read = [writer.mended(one.draft, one.written.lines, turn, answer) for answer in left[:count]]
            del left[:count]
            offers[turn] = [line for line in read if line is not None]
        results.append(_versions(one, writer, offers))
    return results


def _versions(one: Patient, writer: Repairer, offers: dict[int, list[Line]]) -> list[Repaired]:
    """With one turn to blame, a version for each offer; with several, one of the best offer of each turn."""
    lines: list[Line] = list(one.written.lines)
    for turn in one.turns:
        if not offers[turn]:
            return []
        tried = [writer.reread(one.draft, [*lines[:turn], offer, *lines[turn + 1 :]]) for offer in offers[turn]]
        order = sorted(range(len(tried)), key=lambda place: (len(tried[place].faults), place))
        if len(one.turns) == 1:
            return [Repaired(tried[place], one.turns) for place in order]
        lines[turn] = offers[turn][order[0]]
    return [Repaired(writer.reread(one.draft, lines), one.turns)]
