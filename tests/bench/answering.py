"""Items and answers made for the tests of scores: many items of a task in templates, answered by a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cares.core.rng import KeyedRandom
from cares.records.answer import Answer, ParseStatus
from cares.records.item import YES_NO, Item, Reference
from cares.records.scene import REACTIONS

CHOICES = {"reactions": REACTIONS, "grounding": YES_NO}
Rule = Callable[[Item], str | None]


def reaction_item(number: int, label: str, template: int, level: str = "time") -> Item:
    """One question about a reaction, with the options in a keyed order."""
    scene = f"t{template:05d}-{number % 10}"
    order = tuple(KeyedRandom(1, "test_order", number).shuffled(range(4)))
    choices = tuple(REACTIONS[place] for place in order)
    return Item(
        item_id=f"reactions-{level}/{scene}/{number}",
        task="reactions",
        level=level,
        scene_id=scene,
        template_id=f"t{template:05d}",
        split="test",
        audio=f"data/scenes/{scene}.wav",
        audio_sha256="0" * 64,
        question="How do they react?",
        choices=choices,
        texts=tuple(f"text of {choice}" for choice in choices),
        answer=label,
        order=order,
        event=0,
        time_ms=1000,
        sound="dog_bark",
        sound_name="dog bark",
        references=(reference("dog_bark", label),),
    )


def grounding_pair(number: int, label: str, template: int) -> list[Item]:
    """The two halves of a pair."""
    scene = f"t{template:05d}-{number}"
    halves = []
    for level, answer in zip(("original", "muted"), YES_NO, strict=True):
        order = tuple(KeyedRandom(1, "test_order", number).shuffled(range(2)))
        choices = tuple(YES_NO[place] for place in order)
        halves.append(
            Item(
                item_id=f"grounding-{level}/{scene}/0",
                task="grounding",
                level=level,
                scene_id=scene,
                template_id=f"t{template:05d}",
                split="test",
                audio=f"{level}/{scene}.wav",
                audio_sha256=("0" if level == "original" else "1") * 64,
                question="Is it heard?",
                choices=choices,
                texts=tuple(f"text of {choice}" for choice in choices),
                answer=answer,
                order=order,
                event=0,
                time_ms=1000,
                sound="dog_bark",
                sound_name="dog bark",
                pair=f"grounding/{scene}/0",
                references=(reference("dog_bark", label),),
            )
        )
    return halves


def summary_item(template: int, references: Sequence[Reference], words: int = 25) -> Item:
    """A request for a summary of a scene with these sounds."""
    scene = f"t{template:05d}-0"
    return Item(
        item_id=f"summary-{words}/{scene}",
        task="summary",
        level=str(words),
        scene_id=scene,
        template_id=f"t{template:05d}",
        split="test",
        audio=f"data/scenes/{scene}.wav",
        audio_sha256="0" * 64,
        question=f"Write a summary in about {words} words.",
        words=words,
        references=tuple(references),
    )


def reference(sound: str, label: str, event: int = 0) -> Reference:
    """A sound of a scene."""
    return Reference(event=event, sound=sound, sound_name=sound.replace("_", " "), label=label, time_ms=1000)


def answer(item: Item, choice: str | None, system: str = "test", status: ParseStatus | None = None) -> Answer:
    """An answer that was read as a choice, or not read."""
    found: ParseStatus = status or ("ok" if choice is not None else "empty")
    return Answer(
        item_id=item.item_id, system=system, text=choice or "", finish_reason="stop", status=found, choice=choice
    )


def answer_by(items: Sequence[Item], rule: Rule, system: str = "test") -> list[Answer]:
    """Every item answered by a rule."""
    return [answer(item, rule(item), system) for item in items]


def wrote(item: Item, text: str, system: str = "test", status: ParseStatus = "ok") -> Answer:
    """A summary."""
    return Answer(item_id=item.item_id, system=system, text=text, finish_reason="stop", status=status, choice=None)
