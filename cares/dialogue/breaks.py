"""How a written sentence breaks at a sound, and how it runs on over one.

The break is made from a whole sentence, so it always resumes what it left: the heard part is the beginning of the
sentence, spoken as such and cut (see cares.speech), and the register says how the speaker gets back into it. What lies
before the sound and next to it is the same in all registers; docs/speech.md gives the sources of lengths and forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cares.core.rng import KeyedRandom
from cares.records.dialogue import Segment, Turn
from cares.records.scene import Scene, Speaker

PAUSE_MS = (250, 700)
OVERLAP_MS = (150, 400)
FRAGMENT_WORDS = (2, 3, 4)

Segments = tuple[Segment, ...]

_SENTENCE = re.compile(r"[^.?!]+[.?!]+")
# words after which nobody would place a pause of half a second, even to breathe
_CLINGING = {"a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "to", "of", "i", "i'm", "it's"}
# a way back is an exclamation, a question and a yes; each is shorter than five words, so that no line stands out by
# being said in many scenes
_LOST = ("Uh,", "Um,", "Sorry,", "Hm,", "Wait,", "Oh,", "Er,", "Ah,")
_ASKED = ("where was I?", "what was it?", "where were we?", "I lost it.", "let me think.", "how was that?")
_FOUND = ("", "Right.", "Yes.", "Okay.", "Ah, yes.", "I know.", "Right, yes.")
# each has a word beside its sounds of hesitation: no recogniser could check an utterance of these alone
_FILLERS = (
    "um, well,", "uh, well,", "I mean, um,", "uh, so,", "you know, uh,", "um, yeah,", "so, um,", "well, er,", "er, no,",
    "like, um,",
)  # fmt: skip
# who interrupts begins to say something and gives the word back at once; never an exclamation, for it could be meant
# for the sound
_COMES_IN = ("Sorry,", "No,", "Well,", "Yes, but,", "I just,", "Right, so,", "No, no,", "Sure,")
_GIVES_BACK = ("go on.", "go ahead.", "carry on.", "you first.", "finish that.", "you go.")
# the same in words of a model: sounds of hesitation and at least one such word, or a short sentence
_OPENING = r"(?:well|so|like|no|yeah|okay|right|sorry|i mean|you know)\b[,.\u2026 ]*"
_HESITATING = r"(?:uh+|um+|uhm|er+|erm|hm+|mm+)\b[,.\u2026 ]*"
_ASKING = rf"(?:{_HESITATING})*(?=[^.?!]*\w \w)[^.?!]{{2,40}}[.?!]+ +"
_SEARCHING = re.compile(
    rf"((?:{_HESITATING})+(?:{_OPENING})+(?:{_HESITATING})*|(?:{_OPENING})+(?:{_HESITATING})+|{_ASKING})(?<= )(?=\w)",
    re.IGNORECASE,
)


class NoPlaceError(ValueError):
    """A break that a text has no place for."""


def split_sentences(text: str) -> list[str]:
    """The sentences of a line, each with its closing mark."""
    return [sentence.strip() for sentence in _SENTENCE.findall(text)]


def broken_turns(text: str, register: str, event: int, draw: KeyedRandom) -> tuple[Segments, ...] | None:
    """A behavioral turn, [cut, event, ...]; None when no sentence of the line has seven words to break.

    - `break_restart`: the sentence is begun again from its start;
    - `break_lost_thread`: the speaker asks for the way back, pauses, then begins it again;
    - `break_hesitation`: a filler, a pause and the last two words again, or both cut, a pause, and the words again;
    - `break_interrupted`: three turns. The sentence is begun again and cut short by the other speaker, who comes in
      before the fragment has ended; then the first speaker says it all.

    Returns:
        The segments of the speaker's turn; of an interruption also those of the other's and of the speaker's next one.
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
    before = " ".join([*sentences[:place], *words[:count]])
    whole = " ".join(sentences[place:])
    broken = (
        Segment(text=before, delivery="cut", spoken_as=f"{before} {' '.join(words[count:])}"),
        Segment(event=event),
    )
    if register == "break_restart":
        return ((*broken, Segment(text=whole)),)
    if register == "break_lost_thread":
        asked = Segment(text=f"{draw.choice(_LOST)} {draw.choice(_ASKED)}")
        return ((*broken, asked, Segment(text=f"{draw.choice(_FOUND)} {whole}".strip(), pause_ms=_pause(draw))),)
    if register == "break_hesitation":
        after = " ".join([*words[count - 2 :], *sentences[place + 1 :]])
        return ((*broken, *_search(draw.choice(_FILLERS), " ".join(words[count - 2 : count]), after, draw)),)
    if register == "break_interrupted":
        rest = _interrupted(whole, draw)
        return None if rest is None else ((*broken, rest[0][0]), *rest[1:])
    raise ValueError(f"{register!r} is no register of a break")


def _pause(draw: KeyedRandom) -> int:
    return draw.between(*PAUSE_MS)


def _search(filler: str, again: str, after: str, draw: KeyedRandom) -> Segments:
    """A filler and what comes after it, `again` being its first words: said once, or cut and said once more."""
    opening = filler[0].upper() + filler[1:]
    resumed = Segment(text=after, pause_ms=_pause(draw))
    if draw.between(0, 1):
        return Segment(text=opening), resumed
    return Segment(text=f"{opening} {again}", delivery="cut", spoken_as=f"{opening} {after}"), resumed


def _interrupted(whole: str, draw: KeyedRandom) -> tuple[Segments, Segments, Segments] | None:
    """The fragment, who interrupts it, and the whole again; None when it is too short to be cut within."""
    words = whole.split()
    counts = [n for n in FRAGMENT_WORDS if n + 2 < len(words) and words[n - 1][-1] not in ",;:-.?!"]
    if not counts:
        return None
    # two words alone are hard to check by recognition
    count = draw.choice([n for n in counts if n > 2] or counts)
    fragment = Segment(text=" ".join(words[:count]), delivery="cut", spoken_as=split_sentences(whole)[0])
    if len(fragment.text) >= len(fragment.spoken_as):
        return None
    comes_in = f"{draw.choice(_COMES_IN)} {draw.choice(_GIVES_BACK)}"
    overlap = Segment(text=comes_in, overlap_ms=draw.between(*OVERLAP_MS))
    return (fragment,), (overlap,), (Segment(text=whole),)


def turns_of(speaker: Speaker, parts: Sequence[Segments]) -> list[Turn]:
    """The turns of a break: the speaker's, the other's, the speaker's."""
    other: Speaker = "B" if speaker == "A" else "A"
    return [Turn(speaker=(speaker, other)[n % 2], segments=part) for n, part in enumerate(parts)]


def rebroken(turns: Sequence[Turn], scene: Scene, draws: Sequence[KeyedRandom]) -> list[Turn]:
    """Turns whose breaks a model has written in words, [cut, event, plain], made heard as their registers say.

    A search for a word or for the thread gets a pause after its filler or its question, if it was written with one; an
    interruption is added. What is written is not changed.

    Args:
        turns: one for each of the scene's turns.
        scene: whose sounds they are.
        draws: one a turn.

    Raises:
        NoPlaceError: the sentence after the sound is too short to be interrupted.
    """
    result: list[Turn] = []
    for number, (turn, draw) in enumerate(zip(turns, draws, strict=True)):
        event = next((segment.event for segment in turn.segments if segment.event is not None), None)
        register = "" if event is None else scene.events[event].register_id
        *before, last = turn.segments
        if register == "break_interrupted":
            rest = _interrupted(last.text, draw)
            if rest is None:
                raise NoPlaceError(f"turn {number}: {last.text}")
            result += turns_of(turn.speaker, ((*before, *rest[0]), *rest[1:]))
        elif register in ("break_hesitation", "break_lost_thread") and (found := _SEARCHING.match(last.text)):
            said = Segment(text=found[1].strip())
            resumed = Segment(text=last.text[found.end() :], pause_ms=_pause(draw))
            result.append(Turn(speaker=turn.speaker, segments=(*before, said, resumed)))
        else:
            result.append(turn)
    return result


def run_on_turn(text: str, event: int, draw: KeyedRandom) -> Segments | None:
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
