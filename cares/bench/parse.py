"""From an answer's text to one choice, as a fair person would read it; what is not plain is unreadable, never guessed.

A choice counts when it is named as a word of its own, by its letter, by what the question shows for it, or, where
nothing is named, by a plain phrase for it. What is denied ("not ambient") or left open ("I cannot tell whether it is
verbal") is not meant. Exactly one choice must be left. A text that names several is read only if its last line states
the answer ("Final answer: B").
"""

from __future__ import annotations

import json
import re
import unicodedata

from cares.bench.parse_forms import Forms, folded, forms_of
from cares.bench.parse_signs import loop_start, refuses, without_thought
from cares.records.answer import ParseStatus
from cares.records.item import Item

# "A" is also an article: after "answer" it is a letter only where a bracket, a stop or the end of the line follows.
_LETTER = r"(?:[B-D](?![\w'])|A(?=[)\]*}\"'`]|\s*[.:,;。，]|\s*$|\s*\n|\s+(?:because|since|as)\b))"
_NAMED_LETTER = re.compile(
    rf"\b(?:option|choice|letter)\s*:?\s*[(\[*\"'`]*(?-i:(?P<option>[A-D]))(?![\w'])"
    rf"|(?:\b(?:option|choice|answer|letter|antwort|réponse|respuesta|risposta|resposta)|答案|回答|选)"
    rf"(?:\s*(?:is|would be|ist|est|es|è|é|是|为))?\s*[:：]?\s*[(\[*\"'`]*(?-i:(?P<letter>{_LETTER}))",
    re.IGNORECASE,
)
# a letter that is neither announced nor ends its clause may be anything ("B movies"); names are underscores by now
_LONE_LETTER = re.compile(
    r"(?<![\w'.])(?P<letter>[B-D])(?=[)\]*}\"'`]|\s*(?:[.:,;!?/&。，<$–—-]|$|\n|_)"
    r"|\s+(?:and|or|because|since|as|is|seems|fits|applies|would|best)\b|\s+[A-D]\b)"
    r"|(?:\band\b|\bor\b|[/,&])\s*(?P<second>[A-D])(?![\w'])"
    r"|(?<![\w'.])(?P<first>[A-D])(?=\s*(?:/|,|&|\band\b|\bor\b)\s*[A-D](?![\w']))|(?:\(|\*\*|\b(?:is|say|choose|pick|select)\s)(?P<a>A)(?=\s*(?:[).:,;]|\*\*|$))"
)
_BOXED = re.compile(r"\\(?:boxed|text|mathrm)\s*\{\s*(?:\\text\s*\{\s*)?([^{}]*?)\s*\}+")
_SPEAKER = re.compile(r"\b(?:speaker|person|voice)s?\s+[A-D]\b(?:\s+and\s+[A-D]\b)?", re.IGNORECASE)

_LEAD = (
    r"[\W_]*(?:(?:the|my)\s+)?(?:(?:correct|final|best|right)\s+)?"
    r"(?:(?:answer|option|reaction|label|choice)\b(?:\s+is)?[\W_]*)?"
)
_OPENS_WITH_LETTER = re.compile(
    rf"{_LEAD}(?:option\s+)?(?P<letter>[A-D])(?:\s*[).:\],*\"'`。，、-]|\s*\n|\s*$|\s+[–—=])", re.IGNORECASE
)
_AFTER_WORD = r"(?=[\"'`*)\]]*(?:\s*$|\s*\n|[.!:;,)]|\s[-–—(]|\s(?:because|since|as)\b))"
_STATEMENT = re.compile(
    r"(?s:.*)(?:\b(?:answer|conclusion)\b(?:\s+is|\s+would be)?|\b(?:therefore|thus|hence|so)\b,?|答案)\s*[:：]?\s*"
    r"[\s*(\[\"'`]*(?P<said>[^\n]*?)\W*$",
    re.IGNORECASE,
)

# the answer on a line of its own, and what speaks for it under a heading of its own
_BEFORE_REASON = re.compile(
    r"\W*(?:(?:final|my)\s+)?(?:answer|reaction|label|choice|option)\W*[:=](?P<said>[^\n]*)\n+"
    r"\W*(?:reason(?:ing|s)?|explanation|rationale|justification)\W*[:=](?!(?s:.*)\banswer\b)",
    re.IGNORECASE,
)
_I_CHOOSE = re.compile(
    r"(?s:.*)(?:^|[.!?;:,\n]|\b(?:but|so|and))\s*I(?:'d|\s+would|'ll|\s+will)?\s+"
    r"(?:go\s+with|choose|pick|select|opt\s+for|settle\s+on)\s+(?P<said>[^\n.!?;:]*?)\W*$",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:any|anything|but|not|never|neither|if|unless|maybe|perhaps|or)\b", re.IGNORECASE)

_DENIED = re.compile(
    r"(?:(?:\bnot\b|n't\b|\bnever\b|\bneither\b|\bnor\b|\bwithout\b|\brather than\b|\binstead of\b)(?:\s+[\w']+){0,3}"
    r"|\b(?:no|ruled? out|excludes?|exclude)\b(?:\s+[\w']+(?:\s+n?or)?)?|\bexcept(?:\s+for)?)\s*[(\[\"'*`]*$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"^[\"'`*)\]]*\s*(?:is|are|was|can be|would be)?\s*(?:not\b|n't\b|wrong\b|incorrect\b|ruled out|excluded|unlikely)",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"\b(?:whether|unsure|unclear|uncertain|not sure|impossible|unable|cannot|can't|can not|don't know|doubt)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\W*(?:(?:the\s+)?(?:answer|location|place|sound)\W*(?:\bis\b)?\W*)?(?:(?:in|at)\s+)?(?:(?:an?|the)\s+)?"
    r"(?P<word>\w+)\W*",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"(?P<final>\b(?:final|last|correct)\s+)?\banswer\b(?:\s+is|\s+would be)?\s*[:=]?\s*(?P<said>[^\n.]*)",
    re.IGNORECASE,
)
_ANSWER_KEYS = {"reaction", "answer", "label", "choice", "option", "final_answer", "response", "letter", "result"}
_SENTENCE = re.compile(r"[.!?:;\n]|\b(?:but|however|yet)\b", re.IGNORECASE)


def parse_answer(text: str, finish_reason: str, item: Item) -> tuple[ParseStatus, str | None]:
    """Status and choice of one raw answer.

    A text that was cut off (`finish_reason` "length") counts only if it opens with its answer. For an item without
    choices a whole text is ok, whatever it says.
    """
    if finish_reason == "error":
        return "error", None
    if finish_reason == "content_filter":
        return "refused", None
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").strip()
    if not plain:
        return "empty", None
    cut = finish_reason == "length"
    answer = without_thought(plain)
    if (start := loop_start(answer or plain)) is not None:
        before = (answer or plain)[:start].strip()
        choice = _opening(before, item) if answer is not None and before and item.choices else None
        return ("ok", choice) if choice is not None else ("loop", None)
    if answer is None:
        return ("truncated" if cut else "unreadable"), None
    if not answer:
        return ("truncated" if cut else "empty"), None
    if not item.choices:
        return _free(answer, cut), None
    return _chosen(answer, cut, item)


def _chosen(answer: str, cut: bool, item: Item) -> tuple[ParseStatus, str | None]:
    is_json, field = _json_field(answer)
    text = field if is_json else _BOXED.sub(lambda match: f"answer: {match[1]}", answer)
    meant = _meant(text, item)
    complete = not cut or is_json or _opening(text, item) is not None
    if len(meant) == 1 and complete and (choice := meant.pop()) in item.choices:
        return "ok", choice
    if refuses(answer) and not meant:
        return "refused", None
    return ("truncated" if cut else "unreadable"), None


def _free(answer: str, cut: bool) -> ParseStatus:
    """Status of a summary: refused if it begins as a refusal and is no longer than one."""
    if refuses(answer[:200]) and len(answer.split()) < 60:
        return "refused"
    return "truncated" if cut else "ok"


def _opening(text: str, item: Item) -> str | None:
    """The choice that the text opens with, stated before anything else."""
    if (match := _OPENS_WITH_LETTER.match(text)) and (at := item.letters.find(match["letter"].upper())) >= 0:
        return item.choices[at]
    forms = forms_of(item)
    opens = re.compile(
        rf"{_LEAD}(?:[A-D][\W_]+)?(?P<word>(?:an?\s+|the\s+)?(?:{forms.any_name})){_AFTER_WORD}", re.IGNORECASE
    )
    if match := opens.match(text):
        found = forms.named.match(match["word"])
        return forms.choice_of(found) if found else None
    return None


def _json_field(text: str) -> tuple[bool, str]:
    """Whether the text is one JSON value, fenced or not, and the text of its answer fields ("" if it has none)."""
    fenced = re.search(r"```\w*\s*(.*?)\s*```", text, re.DOTALL)
    body = (fenced[1] if fenced else text).strip()
    if not body.startswith(("{", "[", '"')):
        return False, ""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False, ""
    if isinstance(value, dict):
        fields = [field for key, field in value.items() if key.lower().replace(" ", "_") in _ANSWER_KEYS]
        value = fields or list(value.values())
    fields = value if isinstance(value, list) else [value]
    return True, "\n".join(fields) if all(isinstance(field, str) for field in fields) else ""


def _meant(text: str, item: Item) -> set[str]:
    """Choices that a text means: that of its closing statement if it names exactly one, else all that are named."""
    named = _mentions(text, item)
    if len(named) > 1 and not _contradicts_itself(text, item) and (statement := _STATEMENT.match(text)):
        said = statement.group("said")
        stated = _mentions(f"answer: {said}", item)
        if len(stated) == 1 and not _LEFT_OPEN.search(said):
            return stated
    if len(named) > 1:
        for form in (_BEFORE_REASON, _I_CHOOSE):
            said = match["said"] if (match := form.match(text)) else ""
            stated = _mentions(f"answer: {said}", item) if said else set()
            if len(stated) == 1 and not _LEFT_OPEN.search(said) and not _HEDGED.search(said):
                return stated
    return named or _phrased(text, forms_of(item)) or _part(text, forms_of(item))


def _part(text: str, forms: Forms) -> set[str]:
    """The choice that a whole answer names by a part of what is shown, where no other has that part."""
    match = _ALONE.fullmatch(text)
    choice = forms.parts.get(folded(match["word"])) if match else None
    return set() if choice is None else {choice}


def _contradicts_itself(text: str, item: Item) -> bool:
    """Whether several answers are stated, no two alike, and none of them as the final one."""
    stated = [(match["final"], _mentions(f"answer: {match['said']}", item)) for match in _ANSWERS.finditer(text)]
    single = [(final, choices) for final, choices in stated if len(choices) == 1]
    return len({choice for _, choices in single for choice in choices}) > 1 and not single[-1][0]


def _mentions(text: str, item: Item) -> set[str]:
    forms = forms_of(item)
    named = {forms.choice_of(match) for match in forms.named.finditer(text) if _is_asserted(text, match)}
    # what stands for a choice is taken out, so that no letter is looked for inside it
    text = forms.named.sub(lambda match: "_" * len(match[0]) if len(match[0]) > 1 else match[0], text)
    text = _SPEAKER.sub("speaker", text)
    letters = {m["option"] or m["letter"] for m in _NAMED_LETTER.finditer(text) if _is_asserted(text, m)}
    letters |= {m[m.lastgroup or 0] for m in _LONE_LETTER.finditer(text) if _is_asserted(text, m)}
    if opening := _OPENS_WITH_LETTER.match(text):
        letters.add(opening["letter"].upper())
    beyond = {f"?{letter}" for letter in letters if letter not in item.letters}
    return named | {item.choices[item.letters.index(letter)] for letter in letters if letter in item.letters} | beyond


def _phrased(text: str, forms: Forms) -> set[str]:
    """Choices that plain phrases mean, where none is named."""
    return {
        choice
        for choice, pattern in forms.phrases.items()
        if any(not _denied_or_open(text, match.start()) for match in pattern.finditer(text))
    }


def _is_asserted(text: str, match: re.Match[str]) -> bool:
    """Whether a mention is neither denied nor left open by its clause."""
    if _DENIED_AFTER.match(text[match.end() :]):
        return False
    if match[0].lower() in ("yes", "no"):
        return not _LEFT_OPEN.search(_SENTENCE.split(text[: match.start()])[-1])
    return not _denied_or_open(text, match.start())


def _denied_or_open(text: str, start: int) -> bool:
    before = _SENTENCE.split(text[:start])[-1]
    return bool(_DENIED.search(before) or _LEFT_OPEN.search(before))
