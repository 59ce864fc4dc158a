"""The skeleton: a JSON schema with one entry a turn, and the turns that an answer to it becomes.

Each entry begins with a constant that the decoder is forced to write, so that it reads its own plan; the free text
follows, bounded in length by a pattern that must close with a full stop, a question or an exclamation mark (`maxLength`
would cut in mid-word). Where a sound must be referred to, the pattern holds a name of it as words of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from cares.catalog.load import Catalog
from cares.core.canonical import Json
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import broken_turn, run_on_turn, split_sentences
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import TurnPlan
from cares.records.dialogue import Segment, Turn
from cares.records.scene import Scene

SHORTEST_LINE = 20  # characters
_CHAR = r"[A-Za-z0-9',.?! -]"
_SOFT = r"[A-Za-z', -]"


class SkeletonFault(Exception):
    """An answer that is not the asked-for JSON; `reason` is a short name, `str()` the detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def free_text(longest: int, shortest: int = SHORTEST_LINE) -> Json:
    """Schema of a spoken line of `shortest` to `longest` characters that ends as a sentence."""
    return {"type": "string", "pattern": f"^[A-Z]{_CHAR}{{{shortest - 2},{longest - 2}}}[a-z0-9][.?!]$"}


def naming_text(openers: Sequence[str], names: Sequence[str], longest: int) -> Json:
    """Schema of one sentence that begins with an opener, goes on with one of the sound's `names`, and may go on."""
    starts, nouns = ("|".join(_literal(choice) for choice in choices) for choices in (openers, names))
    return {"type": "string", "pattern": f"^({starts}) ({nouns})([ ,]{_SOFT}{{3,{longest // 2}}}[a-z])?[.?!]$"}


def _literal(text: str) -> str:
    # only what is special in a pattern: the decoder's grammar knows no escaped blank or apostrophe
    return re.sub(r"([.?*+()\[\]{}|^$\\])", r"\\\1", text)


def schema(plans: Sequence[TurnPlan], catalog: Catalog, params: DialoguesParams) -> Json:
    """The JSON schema that an answer must match: one object a turn, in order."""
    turns = []
    for plan in plans:
        fields: dict[str, Json] = {"who": {"const": plan.who}, "says": free_text(params.says_chars)}
        if plan.kind in ("verbal", "pivot"):
            assert plan.sound is not None
            name = naming_text(plan.openers, catalog.sounds[plan.sound].names, params.remark_chars)
            if plan.kind == "verbal":
                fields |= {"says": free_text(params.short_chars), "remark": name, "then": free_text(params.short_chars)}
            else:
                fields |= {"says": free_text(params.short_chars), "turns_to": name}
        elif plan.kind in ("behavioral", "ambient"):
            fields["says"] = free_text(params.says_chars, shortest=40)
        turns.append({"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False})
    return {"type": "array", "prefixItems": turns, "items": False, "minItems": len(turns), "maxItems": len(turns)}


def read_answer(text: str, plans: Sequence[TurnPlan], params: DialoguesParams) -> list[dict[str, str]]:
    """The answer's turns as plain dicts; SkeletonFault when it is not what was asked for, or is cut off.

    A line that fills its pattern to the last character was ended by the pattern, not by the writer: its last sentence
    is left out, and the answer is refused when that was its only one.
    """
    try:
        turns = json.loads(text)
    except ValueError:
        raise SkeletonFault("broken_json", text[-60:]) from None
    if not isinstance(turns, list) or len(turns) != len(plans):
        raise SkeletonFault("wrong_turns", f"{len(turns) if isinstance(turns, list) else type(turns).__name__}")
    for number, (turn, plan) in enumerate(zip(turns, plans, strict=True)):
        wanted = {"who", "says"} | {"verbal": {"remark", "then"}, "pivot": {"turns_to"}}.get(plan.kind, set())
        if not isinstance(turn, dict) or set(turn) != wanted or turn["who"] != plan.who:
            raise SkeletonFault("wrong_turn", f"turn {number}")
        for field in wanted:
            if not isinstance(turn[field], str) or not turn[field].strip():
                raise SkeletonFault("empty_text", f"turn {number}: {field}")
            if field != "who" and len(turn[field]) >= _longest(plan, field, params):
                turn[field] = " ".join(split_sentences(turn[field])[:-1])
                if len(turn[field]) < SHORTEST_LINE:
                    raise SkeletonFault("cut_text", f"turn {number}: {turn[field][-30:]}")
    return turns


def _longest(plan: TurnPlan, field: str, params: DialoguesParams) -> int:
    if field in ("remark", "turns_to"):
        return 2 * params.remark_chars  # its parts are bounded apart; see naming_text
    return params.short_chars if plan.kind in ("verbal", "pivot") else params.says_chars


def realise(answer: Sequence[dict[str, str]], plans: Sequence[TurnPlan], scene: Scene, draw: KeyedRandom) -> list[Turn]:
    """Turn the written lines into turns with their sounds in place; SkeletonFault where a line cannot be broken."""
    turns = []
    for number, (line, plan) in enumerate(zip(answer, plans, strict=True)):
        says = _tidy(line["says"])
        if plan.event is None:
            segments: tuple[Segment, ...] = (Segment(text=says),)
        elif plan.kind == "verbal":
            after = f"{_tidy(line['remark'])} {_tidy(line['then'])}"
            segments = (Segment(text=says), Segment(event=plan.event), Segment(text=after))
        elif plan.kind == "pivot":
            segments = (Segment(text=says), Segment(event=plan.event), Segment(text=_tidy(line["turns_to"])))
        elif plan.kind == "behavioral":
            broken = broken_turn(says, scene.events[plan.event].register_id, plan.event, draw)
            if broken is None:
                raise SkeletonFault("no_place_to_break", f"turn {number}: {says}")
            segments = broken
        else:
            split = run_on_turn(says, plan.event, draw)
            if split is None:
                raise SkeletonFault("no_place_for_sound", f"turn {number}: {says}")
            segments = split
        turns.append(Turn(speaker=plan.speaker, segments=segments))
    return turns


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


class WorkedExample(Record):
    """An example of the answer's form, from data/examples.yaml."""

    id: str
    sounds: tuple[str, ...]
    request: str
    turns: tuple[dict[str, str], ...]

    @property
    def answer(self) -> str:
        """The example as the assistant's message."""
        return json.dumps(list(self.turns), ensure_ascii=False)

    @property
    def lines(self) -> list[str]:
        """Its spoken lines."""
        return [text for turn in self.turns for key, text in turn.items() if key != "who"]
