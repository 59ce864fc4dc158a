"""What a language model is asked about a sound in a transcript, and how its answers are read.

Two axes are asked apart: is the sound referred to in words, and does the flow of the talk change. Each answer quotes
its evidence, and the quote is looked for in the transcript: a model that makes up what was said has found nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cares.dialogue.features import SoundNames
from cares.dialogue.marked import Heard, Pieces, Said
from cares.dialogue.prompts import render
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.scene import Reaction

Axis = Literal["referred", "flow"]
AXES: tuple[Axis, ...] = ("referred", "flow")
LABELS: dict[tuple[bool, bool], Reaction] = {
    (True, True): "pivot",
    (True, False): "verbal",
    (False, True): "behavioral",
    (False, False): "ambient",
}
QUOTE_CHARS = 80
TOPIC_CHARS = 80
MAX_TOKENS = 70  # of an answer: 80 characters of English take about 25; one that does not end cannot be read
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quote": {"type": "string", "maxLength": QUOTE_CHARS},
        "answer": {"type": "string", "enum": ["yes", "no"]},
    },
    "required": ["quote", "answer"],
    "additionalProperties": False,
}
_TOPIC_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"topic": {"type": "string", "minLength": 4, "maxLength": TOPIC_CHARS}},
    "required": ["topic"],
    "additionalProperties": False,
}
_MARK = re.compile(r"\[[^\]]*\]|^\s*[AB]\s*:|\n\s*[AB]\s*:")


@dataclass(frozen=True)
class Finding:
    """What an answer comes to.

    Attributes:
        answer: yes or no; None when the answer cannot be read.
        detail: the evidence, or what is wrong with it, for people.
    """

    answer: bool | None
    detail: str


def marked_text(pieces: Pieces, names: SoundNames, asked: int | None = None) -> str:
    """The transcript as lines "A: ...", each sound in brackets at its place.

    Args:
        pieces: the transcript.
        names: how sounds are called.
        asked: index in `pieces` of the sound that is asked about, marked [SOUND: name]; the others are [sound: name].
    """
    lines: list[str] = []
    speaker = ""
    for place, piece in enumerate(pieces):
        if isinstance(piece, Heard):
            kind = "SOUND" if place == asked else "sound"
            mark = f"[{kind}: {names.display(piece.sound)}]"
            following = next((p for p in pieces[place + 1 :] if isinstance(p, Said)), None)
            if lines and following is not None and following.speaker == speaker:
                lines[-1] = f"{lines[-1]} {mark}"
            else:
                lines.append(mark)
                speaker = ""
        elif piece.speaker == speaker:
            lines[-1] = f"{lines[-1]} {piece.text}"
        else:
            lines.append(f"{piece.speaker}: {piece.text}")
            speaker = piece.speaker
    return "\n".join(lines)


def axis_request(axis: Axis, pieces: Pieces, place: int, names: SoundNames, prompts: Path) -> ChatRequest:
    """The question of one axis about the sound at index `place` of the transcript."""
    heard = pieces[place]
    assert isinstance(heard, Heard)
    return _request(
        render(
            prompts / f"judge_{axis}.jinja",
            sound=names.display(heard.sound),
            transcript=marked_text(pieces, names, place),
        ),
        _FORM,
    )


def topic_request(pieces: Pieces, prompts: Path) -> ChatRequest:
    """The question what a transcript is about; its sounds are left out."""
    said = "\n".join(f"{piece.speaker}: {piece.text}" for piece in pieces if isinstance(piece, Said))
    return _request(render(prompts / "judge_topic.jinja", transcript=said), _TOPIC_FORM)


def read_axis(axis: Axis, answer: ChatAnswer, pieces: Pieces, place: int) -> Finding:
    """Read an answer and check its quote.

    A "yes" needs a quote of words that stand in the transcript, and for a reference after the sound; without one it
    counts as a "no", and the detail says so. A "no" needs no evidence.
    """
    value = _object(answer)
    if isinstance(value, str):
        return Finding(None, f"{axis}: {value}")
    quote, word = value.get("quote"), value.get("answer")
    if word not in ("yes", "no") or not isinstance(quote, str):
        return Finding(None, f"{axis}: not the form that was asked for")
    if word == "no":
        return Finding(False, f"{axis}: no")
    where = pieces[place:] if axis == "referred" else pieces
    if not quoted_in(quote, where):
        return Finding(False, f"{axis}: no, its evidence is not in the transcript: {quote!r}")
    return Finding(True, f"{axis}: yes, {quote!r}")


def read_topic(answer: ChatAnswer) -> str:
    """The recovered topic; "" when the answer has none."""
    value = _object(answer)
    topic = "" if isinstance(value, str) else value.get("topic")
    return re.sub(r"\s+", " ", topic).strip(" .") if isinstance(topic, str) else ""


def quoted_in(quote: str, pieces: Sequence[Heard | Said]) -> bool:
    """Whether words stand in the transcript one after another, whatever their case and punctuation.

    The names of the speakers and marks of sounds that were quoted along are left out. Of a quote of full length the
    last word is not looked for: it may be cut, or be what a decoder squeezes into the last place. A quote without a
    word is in no transcript.
    """
    words = _words(_MARK.sub(" ", quote))
    if len(quote) >= QUOTE_CHARS:
        words = words[:-1]
    text = " ".join(_words(" ".join(piece.text for piece in pieces if isinstance(piece, Said))))
    return bool(words) and f" {' '.join(words)} " in f" {text} "


def _words(text: str) -> list[str]:
    """Words without any apostrophe, which models leave out or add when they quote."""
    return re.findall(r"[^\W_]+", text.lower().replace("'", "").replace("’", ""))


def _request(text: str, form: dict[str, Any]) -> ChatRequest:
    return ChatRequest(
        messages=(ChatMessage(role="user", content=text),),
        seed=0,  # the likeliest token is taken, so that it decides nothing
        max_tokens=MAX_TOKENS,
        temperature=0.0,
        top_p=1.0,
        json_schema=form,
    )


def _object(answer: ChatAnswer) -> dict[str, Any] | str:
    """The answer's JSON object, or why there is none."""
    if answer.finish_reason == "error":
        return f"request failed: {answer.error}"
    if answer.finish_reason == "length":
        return "the answer did not end"
    try:
        value = json.loads(answer.text)
    except ValueError:
        return "the answer is not JSON"
    return value if isinstance(value, dict) else "the answer is no object"
