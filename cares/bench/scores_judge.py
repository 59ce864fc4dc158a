"""A language model as the judge of summaries: which sounds does a summary mention, and where?

A verdict needs a quote, and the quote has to stand in the summary: what the judge makes up counts as no mention, and is
counted apart. The judge never hears how the speakers react to a sound, nor which sound is the decoy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import jinja2

from cares.bench.scores_summary import Judged, Sought, sought
from cares.catalog.catalog import Catalog
from cares.core.errors import CaresError, InputError
from cares.core.rng import KeyedRandom, derived_seed
from cares.llm.spread import complete_waves
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.answer import Answer
from cares.records.item import Item

LONGEST_QUOTE = 20
MAX_QUOTE_CHARS = 120


class Asked(Protocol):
    """What answers a wave, such as `cares.llm.waves.StoredWaves`."""

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        ...


class Case(NamedTuple):
    """One summary with the sounds to look for, in the order in which the judge is asked about them."""

    item: Item
    answer: Answer
    sounds: tuple[Sought, ...]


def cases(items: Sequence[Item], answers: Sequence[Answer], catalog: Catalog, seed: int) -> list[Case]:
    """The summaries that can be judged: those whose status is ok, of scenes with a sound, first answers only.

    The sounds are in a keyed order, so that the decoy is not always the last.
    """
    of_item = {item.item_id: item for item in items if item.task == "summary" and item.references}
    found = []
    for answer in answers:
        item = of_item.get(answer.item_id)
        if item is None or answer.repeat or answer.status != "ok":
            continue
        order = KeyedRandom(seed, "bench_judge_order", item.item_id).shuffled(sought(item, catalog, seed))
        found.append(Case(item, answer, tuple(order)))
    return found


def waves(found: Sequence[Case], wave_templates: int, wave_size: int) -> list[list[int]]:
    """Places of the cases that share a wave: groups of `wave_templates` consecutive templates, by system.

    What a model writes depends, through rounding, on its wave, so a wave's members follow from template numbers alone.

    Raises:
        InputError: a template's id is not "t" and a number.
    """
    groups: dict[tuple[str, int, int], list[int]] = {}
    for place, case in enumerate(found):
        match = re.fullmatch(r"t(\d+)", case.item.template_id)
        if match is None:
            raise InputError(
                "items.jsonl", f"{case.item.item_id}.template_id", case.item.template_id, '"t" and a number'
            )
        group = case.answer.system, case.item.added, int(match[1]) // wave_templates
        groups.setdefault(group, []).append(place)
    return [
        places[start : start + wave_size]
        for _, places in sorted(groups.items())
        for start in range(0, len(places), wave_size)
    ]


def judge(
    found: Sequence[Case],
    model: Asked,
    prompt: jinja2.Template,
    catalog: Catalog,
    wave_templates: int,
    wave_size: int,
    seed: int,
) -> list[Judged]:
    """A verdict on each sound of each case, case by case, and of those that were not ok none.

    Args:
        found: what to judge.
        model: answers whole waves.
        prompt: prompts/summary_judge.jinja.
        catalog: what the judge is told the sounds are called.
        wave_templates, wave_size: see `waves`.
        seed: the data set's seed.

    Raises:
        CaresError: the model gave another number of answers than it was asked for.
    """
    verdicts: dict[int, list[Judged]] = {}
    plan = waves(found, wave_templates, wave_size)
    wanted = [[_request(found[place], prompt, catalog, seed) for place in places] for places in plan]
    for places, answers in zip(plan, complete_waves(model, wanted, "summaries"), strict=True):
        if len(answers) != len(places):
            raise CaresError(f"the judge gave {len(answers)} answers to {len(places)} questions")
        for place, answer in zip(places, answers, strict=True):
            verdicts[place] = read_verdicts(found[place], answer, catalog)
    return [verdict for place in range(len(found)) for verdict in verdicts[place]]


def silent_verdicts(items: Sequence[Item], answers: Sequence[Answer], catalog: Catalog, seed: int) -> list[Judged]:
    """Verdicts on the summaries that are not ok and so mention nothing; no judge is asked about them."""
    of_item = {item.item_id: item for item in items if item.task == "summary"}
    return [
        Judged(item_id=answer.item_id, system=answer.system, sound=one.sound, kind=one.kind, verdict="not_mentioned")
        for answer in answers
        if answer.item_id in of_item and answer.status != "ok" and not answer.repeat
        for one in (sought(of_item[answer.item_id], catalog, seed) if of_item[answer.item_id].references else [])
    ]


def read_verdicts(case: Case, answer: ChatAnswer, catalog: Catalog) -> list[Judged]:
    """The verdicts in a judge's answer; all unreadable when it is not the JSON that was asked for, in its order."""
    try:
        entries = json.loads(answer.text)
        said = [(str(entry["quote"]), str(entry["mentioned"])) for entry in entries]
        names = [entry["sound"] for entry in entries]
    except (ValueError, TypeError, KeyError):
        said, names = [], []
    if names != _names(case, catalog):
        said = [("", "")] * len(case.sounds)
    return [_verdict(case, one, quote, word) for one, (quote, word) in zip(case.sounds, said, strict=True)]


def quoted(quote: str, text: str) -> bool:
    """Whether a quote stands in a text as whole words, in any case, whatever the white space and marks at its ends."""
    wanted, whole = _words(quote), _words(text)
    if not wanted or len(wanted) > LONGEST_QUOTE:
        return False
    return any(whole[at : at + len(wanted)] == wanted for at in range(len(whole) - len(wanted) + 1))


def _verdict(case: Case, one: Sought, quote: str, word: str) -> Judged:
    known = {"item_id": case.item.item_id, "system": case.answer.system, "sound": one.sound, "kind": one.kind}
    if word == "no":
        return Judged(**known, verdict="not_mentioned")
    if word != "yes":
        return Judged(**known, verdict="unreadable")
    return Judged(**known, verdict="mentioned" if quoted(quote, case.answer.text) else "unsupported", quote=quote)


def _names(case: Case, catalog: Catalog) -> list[str]:
    """What the judge is told the sounds are called."""
    return [catalog.sounds[one.sound].display for one in case.sounds]


def _request(case: Case, prompt: jinja2.Template, catalog: Catalog, seed: int) -> ChatRequest:
    names = _names(case, catalog)
    content = prompt.render(summary=case.answer.text.strip(), sounds=names).strip()
    return ChatRequest(
        messages=(ChatMessage(role="user", content=content),),
        seed=derived_seed(seed, "bench_judge", case.answer.system, case.item.item_id),
        max_tokens=80 * len(names) + 20,
        temperature=0.0,
        top_p=1.0,
        json_schema={
            "type": "array",
            "prefixItems": [
                {
                    "type": "object",
                    "properties": {
                        "sound": {"const": name},
                        "quote": {"type": "string", "maxLength": MAX_QUOTE_CHARS},
                        "mentioned": {"enum": ["yes", "no"]},
                    },
                    "required": ["sound", "quote", "mentioned"],
                    "additionalProperties": False,
                }
                for name in names
            ],
            "items": False,
            "minItems": len(names),
            "maxItems": len(names),
        },
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.casefold())
