"""Stand-in for the language model: it fills the form of every request at once, from the request's seed alone.

Each of its sentences is short, means little and differs from the others. In the turn of a sound it leaves a word that
tells the stand-in for the evaluator how the turn was meant to react (`CUES`).
"""

import contextlib
import json
import random
import re

from cares.catalog.load import load_catalog
from cares.dialogue.skeleton import GOES_ON, SHORTEST_AMBIENT
from cares.llm.types import ChatAnswer

CUES = {"pivot": "marble", "verbal": "velvet", "behavioral": "copper", "ambient": "walnut"}
NAME = "stand-in"
TOPICS = ("whether to", "what to do about", "when to", "where to", "who")
ADJECTIVES = (
    "able awful basic blue brave brief broad calm cheap civil clever costly cosy crude daily dusty eager early "
    "even exact fancy final firm formal free gentle grand green happy honest huge ideal joint keen large late "
    "lazy legal lovely major mild minor modern narrow neat noble novel odd open pale plain polite proud pure "
    "purple rapid rare ready recent rich royal rural safe secret senior simple single solid sour spare steady "
    "strict sturdy sudden sweet tidy tiny total tough urban usual vague vast warm weekly wide wild wise yellow "
    "young "
)
NOUNS = (
    "advice answer autumn badge basket beach border bridge budget butter cabin candle canvas carpet castle cellar "
    "chapter cheese circle clinic colour cottage cousin culture deal degree desert dinner doctor effort estate "
    "fabric factor family farmer figure flavour flower forest future garden garlic gesture ginger guest habit "
    "harvest honey island jacket journey judge kitchen ladder lawyer lemon lesson letter library manner margin "
    "market matter meadow memory method mirror moment museum nephew notice number object office orange orchard "
    "owner package palace paper parent pattern pepper picture pillow planet pocket policy potato profit reason "
    "recipe record region result river salad sample school season shadow shelf sister sofa source summer supper "
    "system talent tenant theory ticket tomato travel uncle valley village visitor weather winter wisdom "
)
VERBS = (
    "accept admire arrange avoid borrow bring build carry change choose claim collect compare cover defend "
    "deliver describe design discuss divide doubt enjoy examine expect finish follow forget handle improve invite "
    "manage measure mention move need offer order paint plan prefer prepare protect prove provide reach receive "
    "remember remove rent repair replace request save sell share store study suggest support teach trade trust "
    "want welcome "
)


def open_llm(model_id, params):
    """As `cares.llm.open.open_llm`."""
    return contextlib.closing(InstantWriter(model_id))


def model_identity(model_id, params):
    """As `cares.llm.open.model_identity`."""
    return f"{NAME}/{model_id}"


class InstantWriter:
    """As `cares.llm.types.LanguageModel`."""

    promised = True

    def __init__(self, model_id):
        self.name, self.digest = model_id, model_identity(model_id, None)
        self._words = Vocabulary()

    def complete(self, wave):
        """Answers at once."""
        return [self._answer(request) for request in wave]

    def close(self):
        """Nothing is open."""

    def _answer(self, request):
        draw = random.Random(request.seed)
        if request.choices:
            text = draw.choice(request.choices)
        elif request.json_schema is not None:
            text = json.dumps(self._filled(request.json_schema, draw))
        elif request.max_tokens > 30:
            text = " ".join(self._words.sentence(draw) for _ in range(4))
        else:
            text = draw.choice("AB")
        return ChatAnswer(text=text, finish_reason="stop", prompt_tokens=100, completion_tokens=len(text) // 4)

    def _filled(self, schema, draw):
        if schema["type"] == "array":
            return [f"{draw.choice(TOPICS)} {self._words.phrase(draw)}" for _ in range(schema["minItems"])]
        forms = schema["properties"]
        return {key: self._text(key, form, forms, draw) for key, form in forms.items()}

    def _text(self, key, form, forms, draw):
        if "enum" in form:
            return draw.choice(form["enum"])
        pattern = form.get("pattern", "")
        cue = CUES.get(_reaction(key, pattern, forms), "")
        lead = "".join(f"{_unescaped(draw.choice(group.split('|')))} " for group in _leads(pattern)).strip()
        least = int(re.findall(r"\{(\d+),", pattern)[-1]) + 3 if "{" in pattern else 20
        said = self._words.sentence(draw, cue, least)
        text = f"{lead} {said[0].lower()}{said[1:]}" if lead else said
        if lead and not re.search(pattern, text):  # the probe of structured output: "Good morning, ..."
            text = f"{lead}, {said[0].lower()}{said[1:40].strip(' .')}."
        return text


class Vocabulary:
    """The words above that name no sound of the catalog."""

    def __init__(self):
        sounds = load_catalog().sounds.values()

        def free(words):
            return [word for word in words.split() if not any(sound.mention_in(word) for sound in sounds)]

        self.adjectives, self.nouns, self.verbs = free(ADJECTIVES), free(NOUNS), free(VERBS)
        assert free(" ".join(CUES.values())) == list(CUES.values())

    def phrase(self, draw):
        """Four words such as "sell our green ladder"."""
        return f"{draw.choice(self.verbs)} our {draw.choice(self.adjectives)} {draw.choice(self.nouns)}"

    def sentence(self, draw, cue="", least=20):
        """One sentence of at least `least` characters, with the word `cue` in it."""
        words = ["We", draw.choice(self.verbs), cue or draw.choice(self.adjectives), draw.choice(self.nouns)]
        while len(" ".join(words)) + 2 < least or (cue and len(words) < 7):
            words += [draw.choice(("for", "with", "near")), draw.choice(self.adjectives), draw.choice(self.nouns)]
        return f"{' '.join(words)}."


def _reaction(key, pattern, forms):
    """What the turn of a text is to do: its form tells, and the texts beside it."""
    number = key.split()[0]
    beside = [other for other in forms if other.split()[0] == number]
    if any(other.endswith(GOES_ON) for other in beside):
        return "verbal" if key.endswith(GOES_ON) else ""
    if len(beside) > 1:
        return "pivot"
    if pattern and "[,.?!] |" not in pattern:
        return "behavioral"
    return "ambient" if f"{{{SHORTEST_AMBIENT - 3}," in pattern else ""


def _leads(pattern):
    """The groups of alternatives with which a text has to begin."""
    return [group for group in re.findall(r"(?:^\^|(?<=\) ))\(((?:[^()\\]|\\.)*)\)", pattern) if "[" not in group]


def _unescaped(text):
    return re.sub(r"\\(.)", r"\1", text).strip()
