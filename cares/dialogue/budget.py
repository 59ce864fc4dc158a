"""From the seconds that a scene should last to the characters of each of its texts.

What nobody speaks in and what is fixed (gaps, remarks from the list, what a break repeats) is taken off the target; the
rest is dealt to the turns, some of which are drawn to be longer than others, so that a talk does not tick like a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.dialogue.lint import Fault
from cares.dialogue.pace import Pace, VoicePace, predicted_seconds
from cares.dialogue.plan import TurnPlan
from cares.records.dialogue import Turn
from cares.records.scene import Scene

UTTERANCE_S = 28.0  # the aligner hears 30 s at once; a slow voice needs some more than the mean one
SPREAD = (0.65, 1.35)  # of a turn's length around the mean
LEAST, MOST = 34, 210  # characters that a turn may be asked for: a short sentence; 60 words with room to end
UNDER, OVER = 16, 64  # the bounds of a text around what is aimed at: a sentence that is begun has to be ended
LEAST_BOUND = 20
# measured on accepted dialogues (benchmarks/bench_length.py): shares of the characters of a text
LETTERS, MARKS = 0.773, 0.016
AGAIN = 39  # characters that what a break says again or puts in is worth, pauses included, in the mean of its registers
WORD = 5.05  # characters of a word, with its blank


def characters(seconds: float, pace: VoicePace) -> float:
    """How many characters of ordinary text are spoken in so many seconds."""
    return seconds / (LETTERS * pace.letter_s + MARKS * pace.mark_s)


def mean_pace(scene: Scene, pace: Pace) -> VoicePace:
    """The pace between those of the scene's two speakers."""
    first, second = (pace.of(gender) for gender in scene.genders)
    return VoicePace(
        start_s=(first.start_s + second.start_s) / 2,
        letter_s=(first.letter_s + second.letter_s) / 2,
        mark_s=(first.mark_s + second.mark_s) / 2,
    )


def words_of_scene(scene: Scene, pace: Pace) -> int:
    """How many words a scene's target leaves room for, with one utterance a turn and one more for most sounds."""
    assert scene.length_s is not None
    voice = mean_pace(scene, pace)
    broken = sum(event.reaction != "ambient" for event in scene.events)
    spoken = scene.length_s - pace.silence(scene.n_turns, len(scene.events)) - voice.start_s * (scene.n_turns + broken)
    _check(scene, characters(spoken, voice) / scene.n_turns)
    return round(characters(spoken, voice) / WORD)


def budgeted(plans: Sequence[TurnPlan], scene: Scene, pace: Pace, draw: KeyedRandom) -> tuple[TurnPlan, ...]:
    """The plans with bounds for the texts that are written, so that the scene comes to its target in the mean.

    Args:
        plans: one a turn.
        scene: with `length_s`.
        pace: the measured constants.
        draw: decides which turns are longer than others.

    Raises:
        InputError: the turns would have to be shorter or longer than a voice or a listener can bear.
    """
    assert scene.length_s is not None
    voice = mean_pace(scene, pace)
    utterances = sum(1 if plan.kind in ("plain", "stay", "ambient") else 2 for plan in plans)
    left = scene.length_s - pace.silence(len(plans), len(scene.events)) - utterances * voice.start_s
    chars = characters(left, voice) - sum(_given(plan) for plan in plans)
    _check(scene, chars / len(plans))
    least = [LEAST * (2 if plan.kind == "verbal" else 1) for plan in plans]
    aims = _dealt(chars, [draw.uniform(*SPREAD) for _ in plans], least)
    bound = tuple(replace(plan, bounds=_bounds(plan, aim)) for plan, aim in zip(plans, aims, strict=True))
    for number, plan in enumerate(bound):
        assert plan.bounds is not None
        longest = (plan.bounds[1] + _given(plan)) * (LETTERS * voice.letter_s + MARKS * voice.mark_s)
        if longest > UTTERANCE_S:
            raise _misfit(scene, f"turn {number} of up to {longest:.0f} s", f"at most {UTTERANCE_S:g} s an utterance")
    return bound


def length_fault(turns: Sequence[Turn], scene: Scene, pace: Pace, tolerance: float) -> Fault | None:
    """The fault of a dialogue that will miss its scene's target by more than the share `tolerance`."""
    if scene.length_s is None:
        return None
    seconds = predicted_seconds(turns, scene, pace)
    if abs(seconds - scene.length_s) <= tolerance * scene.length_s:
        return None
    return Fault("length_of_scene", f"{seconds:.0f} s, not {scene.length_s:.0f}")


def _given(plan: TurnPlan) -> float:
    """Characters of a turn that are not written: a remark, the words that it begins with, what a break says again."""
    given = sum(map(len, plan.remarks)) / len(plan.remarks) if plan.remarks else 0.0
    given += sum(map(len, plan.openers)) / len(plan.openers) if plan.openers else 0.0
    given += sum(map(len, plan.names)) / len(plan.names) if plan.names else 0.0
    return given + (AGAIN if plan.kind == "behavioral" else 0)


def _dealt(chars: float, weights: Sequence[float], least: Sequence[float]) -> list[float]:
    """Characters by weight, each share held within `least` and MOST and the rest dealt to the others."""
    shares = [0.0] * len(weights)
    free = list(range(len(weights)))
    while free:
        each = chars / sum(weights[place] for place in free)
        beyond = [place for place in free if not least[place] <= weights[place] * each <= MOST]
        for place in beyond or free:
            shares[place] = min(max(weights[place] * each, least[place]), MOST)
        chars -= sum(shares[place] for place in beyond)
        free = [place for place in free if place not in beyond] if beyond else []
    return shares


def _bounds(plan: TurnPlan, aim: float) -> tuple[int, int]:
    """Bounds of each written text of a turn; a turn with a passing remark has one on either side of it."""
    each = aim / 2 if plan.kind == "verbal" else aim
    shortest = max(LEAST_BOUND, round(each) - UNDER)
    return shortest, max(round(each), shortest) + OVER


def _check(scene: Scene, each: float) -> None:
    if not LEAST * 1.1 <= each <= MOST / SPREAD[1]:
        most = f"{LEAST * 1.1:.0f} to {MOST / SPREAD[1]:.0f} characters a turn"
        raise _misfit(scene, f"{each:.0f} characters in each of {scene.n_turns} turns", most)


def _misfit(scene: Scene, found: str, expected: str) -> InputError:
    hint = "Change allocation.length, or min_turns and max_turns beside it."
    value = f"{scene.scene_id}: {scene.length_s} s, {found}"
    return InputError("params.yaml", "allocation.length", value, expected, hint)
