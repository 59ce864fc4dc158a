"""The systems that cannot hear, and how any system's answers become records.

- `majority`: where all items of a task show the same choices, always the one that is right most often (ties: canonical
  order), which has the best plain accuracy of all constant answers; else the place at which the right answer stands
  most often, since a count of answers would know those of the items themselves.
- `random`: one of the choices, by a keyed draw.
- `oracle`: the language model reads the true words with all sounds marked; `oracle-unmarked`: without the marks.
- `cascade`: the language model reads what a recogniser heard in the mix, with times. The muted half of a grounding pair
  is given the words of the original: the voices are the same samples, and the sound must not come in by the recogniser.

The first two write no summaries, so they have no answer to those items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from cares.bench.ask import Question
from cares.bench.excerpt import heard_transcript, true_transcript
from cares.bench.parse import parse_answer
from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.llm.types import ChatAnswer
from cares.records.answer import Answer
from cares.records.item import Item, canonical_order
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript


def majority_answers(items: Sequence[Item]) -> list[Answer]:
    """The best constant answer to every item with choices, task by task; see above."""
    by_group: dict[str, list[Item]] = {}
    for item in items:
        if item.choices:
            by_group.setdefault(item.task if item.task == "grounding" else item.group, []).append(item)
    chosen: dict[str, str] = {}
    for group in by_group.values():
        first = canonical_order(group[0].task, group[0].choices)
        if all(canonical_order(item.task, item.choices) == first for item in group):
            counts = Counter(item.answer for item in group)
            label = max(first, key=lambda choice: counts[choice])
            chosen.update({item.item_id: label for item in group})
        else:
            places = Counter(item.position for item in group)
            place = max(range(len(group[0].choices)), key=lambda at: (places[at], -at))
            chosen.update({item.item_id: item.choices[place] for item in group})
    return [_constant("majority", item, chosen[item.item_id]) for item in items if item.choices]


def random_answers(items: Sequence[Item], seed: int) -> list[Answer]:
    """A keyed draw for every item with choices: the same item and seed give the same answer."""
    return [
        _constant("random", item, KeyedRandom(seed, "bench_random", item.item_id).choice(item.choices))
        for item in items
        if item.choices
    ]


def oracle_questions(
    items: Sequence[Item],
    scenes: Mapping[str, MixedScene],
    names: Mapping[str, str],
    template: jinja2.Template,
    context_s: float,
    marked: bool,
) -> list[Question]:
    """Every item with the true words; InputError when an item's scene is missing."""
    return [
        Question(item, _prompt(template, item, true_transcript(_of(scenes, item), item, names, context_s, marked)))
        for item in items
    ]


def cascade_questions(
    items: Sequence[Item],
    scenes: Mapping[str, MixedScene],
    transcripts: Mapping[str, Transcript],
    template: jinja2.Template,
    context_s: float,
) -> list[Question]:
    """Every item with the recognised words.

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
        questions.append(Question(item, _prompt(template, item, heard_transcript(transcript.words, item, context_s))))
    return questions


def read_answer(system: str, item: Item, raw: ChatAnswer, constrained: bool, repeat: int) -> Answer:
    """One raw answer as a record: its text, how it ended, and how it is read."""
    filtered = raw.finish_reason == "error" and raw.error == "content_filter"
    reason = "content_filter" if filtered else raw.finish_reason
    status, choice = parse_answer(raw.text, reason, item)
    return Answer(
        item_id=item.item_id,
        system=system,
        text=raw.error if raw.finish_reason == "error" else raw.text,
        finish_reason=reason,
        status=status,
        choice=choice,
        constrained=constrained,
        repeat=repeat,
        prompt_tokens=raw.prompt_tokens,
        completion_tokens=raw.completion_tokens,
    )


def read_answers(system: str, questions: Sequence[Question], raw: Sequence[ChatAnswer]) -> list[Answer]:
    """Parsed answers, one a raw answer, row by row."""
    return [
        read_answer(
            system, question.item, answer, question.constrained and bool(question.item.choices), question.repeat
        )
        for question, answer in zip(questions, raw, strict=True)
    ]


def load_prompt(path: Path) -> jinja2.Template:
    """The prompt file as a strict template: an undefined name is an error, not an empty text."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=False)
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "the prompt of this system") from None
    except jinja2.TemplateSyntaxError as error:
        raise InputError(path, f"line {error.lineno}", str(error), "a Jinja template") from None


def _prompt(template: jinja2.Template, item: Item, transcript: str) -> str:
    return template.render(transcript=transcript, question=item.question).strip()


def _constant(system: str, item: Item, choice: str) -> Answer:
    return Answer(item_id=item.item_id, system=system, text=choice, finish_reason="stop", status="ok", choice=choice)


def _of(scenes: Mapping[str, MixedScene], item: Item) -> MixedScene:
    """The item's scene; that the item is about this very file is known where the item is about the scene itself."""
    scene = scenes.get(item.scene_id)
    muted = item.task == "grounding" and item.level == "muted"
    if scene is None or not (muted or scene.sha256 == item.audio_sha256):
        raise InputError(
            "items.jsonl",
            f"{item.item_id}.audio_sha256",
            item.audio_sha256,
            "the hash of the scene in scenes.jsonl",
            "Run dvc repro items.",
        )
    return scene
