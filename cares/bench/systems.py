"""The systems that answer the items.

- `majority`: always the label that most items have (ties: order of REACTIONS). Any constant answer has a balanced
  accuracy of 1/4 when all labels occur; this one has the best plain accuracy of them.
- `oracle`: the language model reads the true words around the sound.
- `cascade`: the language model reads what a recogniser heard in the mix around the sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from cares.bench.ask import Question
from cares.bench.excerpt import marked_hearing, marked_speech
from cares.bench.parse import parse_answer
from cares.core.errors import InputError
from cares.llm.types import ChatAnswer
from cares.records.answer import Answer
from cares.records.item import LETTERS, Item
from cares.records.scene import REACTIONS
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript


def majority_answers(items: Sequence[Item]) -> list[Answer]:
    """The most frequent label as the answer to every item."""
    counts = Counter(item.answer for item in items)
    label = max(REACTIONS, key=lambda reaction: counts[reaction])
    return [
        Answer(item_id=item.item_id, system="majority", text=label, finish_reason="stop", status="ok", choice=label)
        for item in items
    ]


def oracle_questions(
    items: Sequence[Item], scenes: Mapping[str, MixedScene], template: jinja2.Template, context_s: float
) -> list[Question]:
    """Every item with the true words around its sound; InputError when an item's scene is missing."""
    return [_question(item, marked_speech(_of(scenes, item), item, context_s), template) for item in items]


def cascade_questions(
    items: Sequence[Item],
    scenes: Mapping[str, MixedScene],
    transcripts: Mapping[str, Transcript],
    template: jinja2.Template,
    context_s: float,
) -> list[Question]:
    """Every item with the recognised words around its sound.

    Raises:
        InputError: an item's scene has no transcript, or one of another file.
    """
    questions = []
    for item in items:
        scene = _of(scenes, item)
        transcript = transcripts.get(item.scene_id)
        if transcript is None or transcript.audio_sha256 != scene.sha256:
            raise InputError(
                "transcripts.jsonl",
                f"{item.scene_id}.audio_sha256",
                transcript and transcript.audio_sha256,
                scene.sha256,
                "Run dvc repro transcribe.",
            )
        event = next(event for event in scene.events if event.event == item.event)
        questions.append(_question(item, marked_hearing(transcript.words, event, context_s), template))
    return questions


def read_answers(system: str, items: Sequence[Item], raw: Sequence[ChatAnswer]) -> list[Answer]:
    """Parsed answers, one a raw answer, row by row."""
    answers = []
    for item, answer in zip(items, raw, strict=True):
        status, choice = parse_answer(answer.text, answer.finish_reason, item)
        answers.append(
            Answer(
                item_id=item.item_id,
                system=system,
                text=answer.text,
                finish_reason=answer.finish_reason,
                status=status,
                choice=choice,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
            )
        )
    return answers


def load_prompt(path: Path) -> jinja2.Template:
    """The prompt file as a strict template: an undefined name is an error, not an empty text."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=False)
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "the prompt of this task") from None
    except jinja2.TemplateSyntaxError as error:
        raise InputError(path, f"line {error.lineno}", str(error), "a Jinja template") from None


def _question(item: Item, transcript: str, template: jinja2.Template) -> Question:
    options = list(zip(LETTERS, item.options, item.definitions, strict=True))
    return Question(item, template.render(sound=item.sound_name, transcript=transcript, options=options).strip())


def _of(scenes: Mapping[str, MixedScene], item: Item) -> MixedScene:
    scene = scenes.get(item.scene_id)
    if scene is None or scene.sha256 != item.audio_sha256:
        raise InputError(
            "items.jsonl",
            f"{item.item_id}.audio_sha256",
            item.audio_sha256,
            "the hash of the scene in scenes.jsonl",
            "Run dvc repro items.",
        )
    return scene
