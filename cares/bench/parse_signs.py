"""Signs in an answer that are not its choice: a refusal, a loop, what precedes the answer proper."""

from __future__ import annotations

import re

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)?\s+(?:\w+\s+){0,2}?sorry|i\s+apologi[sz]e|my\s+apologies)\b"
    r"|\b(?:i|we)(?:'m|\s+am|\s+are)?\s+(?:\w+\s+){0,2}?"
    r"(?:cannot|can't|can not|could not|couldn't|unable\s+to|not\s+able\s+to|"
    r"won't|will\s+not|must\s+decline|decline|refuse)\b"
    r"|\bas\s+an?\s+(?:ai|a\.i\.|artificial|large|text|language)\b"
    r"|\b(?:i(?:'m| am)|i'm only|i am only)\s+(?:only\s+|just\s+)?an?\s+(?:ai|text|language)\b"
    r"|\bi\s+(?:do\s+not|don't)\s+have\s+(?:\w+\s+){0,3}?(?:access|ability|capability|ears|audio|enough)\b"
    r"|\b(?:no|without\s+(?:an?|any|the))\s+(?:audio|recording|sound file|file)\s+(?:\w+\s+){0,3}?"
    r"(?:provided|attached|given|included|uploaded|available|supplied)\b"
    r"|\bplease\s+(?:provide|upload|attach|share)\b"
    r"|\b(?:audio|recording|file)\s+(?:is|was|has|does)\s*(?:not|n't)\s+(?:\w+\s+){0,2}?(?:provided|attached|available|supplied|"
    r"included|come)\b"
    r"|\b(?:not\s+|im)possible\s+(?:for\s+me\s+)?to\s+(?:tell|say|determine|know|answer|judge|identify)\b"
    r"|\b(?:it\s+)?(?:cannot|can't|can not)\s+be\s+(?:determined|answered|identified|told)\b"
    r"|\b(?:not\s+enough|insufficient)\s+information\b|\bi\s+(?:don't|do\s+not)\s+know\b"
    r"|\bagainst\s+(?:my|our|the)\s+(?:policy|policies|guidelines)\b",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning|analysis)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_OPEN_THOUGHT = re.compile(r"^\s*<(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_ENDED_THOUGHT = re.compile(r"^.*</(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE | re.DOTALL)
LOOP_TIMES = 8
LOOP_TOKENS = 24
LONGEST_UNIT = 60


def refuses(text: str) -> bool:
    """Whether the text says that it will not or cannot answer; it may answer all the same."""
    return _REFUSAL.search(text) is not None


def without_thought(text: str) -> str | None:
    """The text after a chain of thought in tags; None when the thought was never closed."""
    text = _THOUGHT.sub("", text)
    if _OPEN_THOUGHT.match(text):
        return None
    # some templates put the opening tag into the prompt, so that only the closing one is in the answer
    return _ENDED_THOUGHT.sub("", text).strip()


def loop_start(text: str) -> int | None:
    """Where the text begins to go round in circles, if it does so to its end.

    That is: the same unit of 1 to 60 words (or a unit of characters, where the text knows no blanks) stands there at
    least eight times in a row, as 24 words or more, up to a cut last one.
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) < LOOP_TOKENS:
        run = re.search(r"(.{1,40}?)\1{23,}\S{0,40}\Z", text, re.DOTALL)
        return run.start() if run and len(run[1].strip()) else None
    tokens = [word.group() for word in words]
    for unit in range(1, min(LONGEST_UNIT, len(tokens) // 2) + 1):
        at = len(tokens) - 1
        # the last word may be cut
        while at - 1 - unit >= 0 and tokens[at - 1] == tokens[at - 1 - unit]:
            at -= 1
        length = len(tokens) - at + unit
        if at < len(tokens) - 1 and length >= max(LOOP_TOKENS, unit * _times(unit)):
            return words[max(0, at - unit)].start()
    return None


def _times(unit: int) -> int:
    """A whole sentence said four times is a loop, a word must come eight times."""
    return LOOP_TIMES if unit < 6 else 4
