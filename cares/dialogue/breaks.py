"""How a written sentence breaks at a sound, and how it runs on over one.

The break is made from a whole sentence, so it always resumes what it left: the heard part is the beginning of the
sentence, spoken as such and cut (see cares.speech), and the register says how the speaker gets back into it.
"""

from __future__ import annotations

import re

from cares.core.rng import KeyedRandom
from cares.records.dialogue import Segment

_SENTENCE = re.compile(r"[^.?!]+[.?!]+")
# words after which nobody would place a pause of half a second, even to breathe
_CLINGING = {"a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "to", "of", "i", "i'm", "it's"}
# a way back is an exclamation, a question and a yes; each is shorter than five words, so that no line stands out by
# being said in many scenes
_LOST = ("Uh,", "Um,", "Sorry,", "Hm,", "Wait,", "Oh,", "Er,", "Ah,")
_ASKED = ("where was I?", "what was it?", "where were we?", "I lost it.", "let me think.", "how was that?")
_FOUND = ("", "Right.", "Yes.", "Okay.", "Ah, yes.", "I know.", "Right, yes.")
_FILLERS = ("um,", "uh,", "er, um,", "uh, well,", "hm,", "I mean, um,", "uh, so,", "you know, uh,", "er,", "um, yeah,")


def split_sentences(text: str) -> list[str]:
    """The sentences of a line, each with its closing mark."""
    return [sentence.strip() for sentence in _SENTENCE.findall(text)]


def broken_turn(text: str, register: str, event: int, draw: KeyedRandom) -> tuple[Segment, ...] | None:
    """A behavioral turn: [cut, event, plain]; None when no sentence of the line has seven words to break.

    - `break_restart`: the sentence is begun again from its start;
    - `break_lost_thread`: the speaker asks for the way back, then begins it again;
    - `break_hesitation`: a filler, the last two words again, and on.
    """
    sentences = split_sentences(text)
    place = next((i for i, sentence in enumerate(sentences) if len(sentence.split()) >= 7), None)
    if place is None or " ".join(sentences) != text:
        return None
    words = sentences[place].split()
    # a pause after a comma would be heard as one, not as a break
    counts = [n for n in range(3, min(6, len(words) - 3) + 1) if words[n - 1][-1] not in ",;:-"]
    if not counts:
        return None
    count = draw.choice(counts)
    heard = words[:count]
    before = " ".join([*sentences[:place], " ".join(heard)])
    rest = " ".join(sentences[place + 1 :])
    if register == "break_restart":
        resumed = sentences[place]
    elif register == "break_lost_thread":
        way_back = [draw.choice(_LOST), draw.choice(_ASKED), draw.choice(_FOUND), sentences[place]]
        resumed = " ".join(part for part in way_back if part)
    elif register == "break_hesitation":
        filler = draw.choice(_FILLERS)
        resumed = f"{filler[0].upper()}{filler[1:]} {' '.join(words[count - 2 :])}"
    else:
        raise ValueError(f"{register!r} is no register of a break")
    return (
        Segment(text=before, delivery="cut", spoken_as=f"{before} {' '.join(words[count:])}"),
        Segment(event=event),
        Segment(text=f"{resumed} {rest}".strip()),
    )


def run_on_turn(text: str, event: int, draw: KeyedRandom) -> tuple[Segment, ...] | None:
    """An ambient turn: [plain, event, joined], one utterance with the sound between two words; None when too short."""
    words = text.split()
    places = [
        i
        for i in range(3, len(words) - 2)
        if words[i - 1].lower().strip(",.?!") not in _CLINGING
    ]  # fmt: skip
    if not places:
        return None
    at = draw.choice(places)
    return (
        Segment(text=" ".join(words[:at])),
        Segment(event=event),
        Segment(text=" ".join(words[at:]), delivery="joined"),
    )
