"""Attempts counted by what a scene asks for: label, register and composition of its sounds, and by attempt number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from cares.core.canonical import Json
from cares.records.dialogue import Attempt
from cares.records.scene import REACTIONS, Composition, Event, Scene

ATTEMPTS = 8  # within how many attempts a scene is to be accepted


@dataclass
class History:
    """One scene's attempts in the order in which they were written."""

    scene: Scene
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def accepted(self) -> Attempt | None:
        """The attempt that was kept."""
        return next((attempt for attempt in self.attempts if attempt.reason == "accepted"), None)

    @property
    def first(self) -> list[Attempt]:
        """What became of the first candidate: as written, and, if single turns of it were written again, repaired."""
        return [attempt for attempt in self.attempts if (attempt.attempt, attempt.candidate) == (0, 0)]

    def within(self) -> int | None:
        """How many candidates were written until one was accepted, itself included; a repair is no further one."""
        if (kept := self.accepted) is None:
            return None
        written = [(attempt.attempt, attempt.candidate) for attempt in self.attempts]
        return list(dict.fromkeys(written)).index((kept.attempt, kept.candidate)) + 1


def histories(attempts: Sequence[Attempt], scenes: Sequence[Scene]) -> list[History]:
    """The attempts of each scene, in the order of `scenes`."""
    found = {scene.scene_id: History(scene) for scene in scenes}
    for attempt in attempts:
        found[attempt.scene_id].attempts.append(attempt)
    return list(found.values())


def is_repaired(attempt: Attempt) -> bool:
    """Whether single turns were written again."""
    return bool(attempt.repaired_turns)


def accepted_first(history: History) -> bool:
    """Whether the first candidate was accepted, repaired or not."""
    return any(attempt.reason == "accepted" for attempt in history.first)


def first_attempts(found: Sequence[History]) -> dict[str, Json]:
    """Shares of scenes whose first candidate was accepted `as_written`, and `after_repair` (those included)."""
    tried = [history for history in found if history.first]
    plain = [history for history in tried if any(a.reason == "accepted" and not is_repaired(a) for a in history.first)]
    return {
        "scenes": len(tried),
        "as_written": share(len(plain), len(tried)),
        "after_repair": share(sum(map(accepted_first, tried)), len(tried)),
    }


def repairs(attempts: Sequence[Attempt]) -> dict[str, Json]:
    """How many repairs were tried, and the share of them that was accepted."""
    tried = [attempt for attempt in attempts if is_repaired(attempt)]
    return {"tried": len(tried), "accepted": share(sum(a.reason == "accepted" for a in tried), len(tried))}


def by_event(found: Sequence[History], key: Callable[[Event], str], order: Iterable[str] = ()) -> dict[str, Json]:
    """Events by `key`, such as their label.

    Each entry has `events`; of them, `accepted` (their scene was), `first_accepted` (its first candidate was);
    `judged`, how often the evaluator read such an event in any attempt, and `recovered`, how often it found its label.
    """
    table: dict[str, dict[str, Json]] = {name: _empty_events() for name in order}
    for history in found:
        for index, event in enumerate(history.scene.events):
            row = table.setdefault(key(event), _empty_events())
            labels = [v.label for a in history.attempts for v in a.verdicts if v.event == index]
            row["events"] += 1
            row["accepted"] += history.accepted is not None
            row["first_accepted"] += accepted_first(history)
            row["judged"] += len(labels)
            row["recovered"] += sum(label == event.reaction for label in labels)
    return dict(sorted(table.items()))


def by_composition(found: Sequence[History]) -> dict[str, Json]:
    """Scenes by composition: `scenes`, `accepted`, `first_accepted` and `attempts`."""
    table: dict[str, dict[str, Json]] = {}
    for history in found:
        empty = {"scenes": 0, "accepted": 0, "first_accepted": 0, "attempts": 0}
        row = table.setdefault(composition_name(history.scene.composition), empty)
        row["scenes"] += 1
        row["accepted"] += history.accepted is not None
        row["first_accepted"] += accepted_first(history)
        row["attempts"] += len(history.attempts)
    return dict(sorted(table.items()))


def composition_name(composition: Composition) -> str:
    """Such as "pivot1-ambient2", or "silent" for a scene without events."""
    counts = [(reaction, getattr(composition, reaction)) for reaction in REACTIONS]
    return "-".join(f"{reaction}{count}" for reaction, count in counts if count) or "silent"


def cumulated(found: Sequence[History]) -> dict[str, Json]:
    """Shares of all scenes that were accepted within k waves and within k candidates, k from 1 to 8.

    A wave gives a scene one candidate or more, so that the second is the stricter count.
    """
    waves = [kept.attempt + 1 for history in found if (kept := history.accepted)]
    candidates = [within for history in found if (within := history.within())]
    return {
        name: {str(k): share(sum(value <= k for value in values), len(found)) for k in range(1, ATTEMPTS + 1)}
        for name, values in (("waves", waves), ("candidates", candidates))
    }


def share(part: int, whole: int, digits: int = 4) -> float | None:
    """`part` of `whole`; None when there is no whole."""
    return round(part / whole, digits) if whole else None


def _empty_events() -> dict[str, Json]:
    return {"events": 0, "accepted": 0, "first_accepted": 0, "judged": 0, "recovered": 0}
