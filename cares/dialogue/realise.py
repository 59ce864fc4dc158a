"""From written lines to turns with their sounds in place, after sentences that no turn needs are left out."""

from __future__ import annotations

from collections.abc import Sequence

from cares.catalog.load import Catalog
from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import broken_turns, run_on_turn, split_sentences, turns_of
from cares.dialogue.lint import are_alike, copied_phrase, loops, text_fault
from cares.dialogue.plan import TurnPlan
from cares.dialogue.skeleton import SHORTEST_LINE, Line, SkeletonFault
from cares.records.dialogue import Segment, Turn
from cares.records.scene import Scene


def trimmed(
    lines: Sequence[Line], plans: Sequence[TurnPlan], scene: Scene, catalog: Catalog, example_lines: Sequence[str]
) -> list[Line]:
    """The lines without sentences that repeat others or the example, are at fault, or name a sound out of place.

    A sentence is left out only where its text keeps another one; what cannot be mended so is left to the lint.
    """
    silent = [catalog.sounds[e.sound] for e in scene.events if e.reaction in ("behavioral", "ambient")]
    heard: list[str] = []
    result: list[Line] = []
    for number, (line, plan) in enumerate(zip(lines, plans, strict=True)):
        coming = [
            catalog.sounds[e.sound]
            for e in scene.events
            if e.reaction not in ("behavioral", "ambient") and e.slot > number
        ]
        kept: Line = {}
        for field, text in line.items():
            if field == "remark":
                kept[field] = text
                continue
            sentences = split_sentences(text)
            good = [
                sentence
                for place, sentence in enumerate(sentences)
                if (place == 0 and plan.openers)
                or not (
                    text_fault(sentence)
                    or loops(sentence)
                    or copied_phrase(sentence, example_lines)
                    or any(are_alike(sentence, other) for other in [*heard, *sentences[:place]])
                    or any(sound.mention_in(sentence) for sound in [*silent, *coming])
                )
            ]
            shorter = " ".join(good)
            kept[field] = shorter if len(shorter) >= SHORTEST_LINE else text
            heard += split_sentences(kept[field])
        result.append(kept)
    return result


def realise(lines: Sequence[Line], plans: Sequence[TurnPlan], scene: Scene, draws: Sequence[KeyedRandom]) -> list[Turn]:
    """Turn the written lines into turns with their sounds in place.

    A turn that is interrupted becomes three; `cares.records.dialogue.planned_turns` finds the planned one of each.

    Args:
        lines: one a turn, from `cares.dialogue.skeleton.read_lines`.
        plans: one a turn.
        scene: whose sounds they are.
        draws: one a turn, for where a sentence breaks.

    Raises:
        SkeletonFault: a line cannot be broken, or is too short for a sound inside it.
    """
    turns: list[Turn] = []
    for number, (line, plan, draw) in enumerate(zip(lines, plans, draws, strict=True)):
        says = line["says"]
        if plan.event is None:
            segments: tuple[Segment, ...] = (Segment(text=says),)
        elif plan.kind in ("verbal", "pivot"):
            after = " ".join(line[field] for field in ("remark", "then") if field in line)
            segments = (Segment(text=says), Segment(event=plan.event), Segment(text=after))
        elif plan.kind == "behavioral":
            broken = broken_turns(says, scene.events[plan.event].register_id, plan.event, draw)
            if broken is None:
                raise SkeletonFault("no_place_to_break", f"turn {number}: {says}", number)
            turns += turns_of(plan.speaker, broken)
            continue
        else:
            split = run_on_turn(says, plan.event, draw)
            if split is None:
                raise SkeletonFault("no_place_for_sound", f"turn {number}: {says}", number)
            segments = split
        turns.append(Turn(speaker=plan.speaker, segments=segments))
    return turns
