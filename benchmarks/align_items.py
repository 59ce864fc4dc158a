"""Phrases and sentences whose word times the alignment benchmark knows, in two sets that share none.

The constants of `cares.asr.boundaries` were chosen with `CHOSEN_WITH`; figures are reported on `HELD_OUT`.
"""

from __future__ import annotations

from typing import NamedTuple


class Items(NamedTuple):
    """Voices, clips of phrases that are spoken apart, and whole sentences."""

    voices: tuple[str, ...]
    clips: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]


CHOSEN_WITH = Items(
    voices=("jf_alpha", "jf_gongitsune", "joe"),
    clips=(
        (
            "We could paint the fence",
            "but I told you",
            "the rain never stops",
            "and my brother said",
            "he would come anyway",
            "so let's wait here",
        ),
        (
            "I think the answer is",
            "what was that noise",
            "never mind that",
            "the children are asleep",
            "you should really call them",
            "before it gets dark",
        ),
        (
            "The second train to",
            "wait a moment",
            "the second train to London",
            "leaves from platform nine",
            "if nobody",
            "stops us at the gate",
        ),
        (
            "My sister bought a",
            "big yellow car",
            "it makes a terrible sound",
            "every single morning",
            "hold on",
            "where was I",
        ),
        (
            "Please close the",
            "oh I am sorry",
            "close the window first",
            "then open the other door",
            "because the smoke",
            "fills this kitchen",
        ),
        (
            "Nobody knows why",
            "she left early",
            "perhaps the meeting",
            "was far too long",
            "or the coffee had gone",
            "completely cold again",
        ),
    ),
    sentences=(
        "We could paint the fence on Sunday, if the rain stays away.",
        "But what did Martha say about it when you told her yesterday?",
        "No, the whole panel is broken, and the gate won't close either.",
        "Wait, I thought we agreed to sell the old car before the winter starts.",
        "She keeps asking whether the children can swim well enough by now.",
        "The train was late again so I walked home through the park.",
    ),
)
HELD_OUT = Items(
    voices=("jf_nezumi", "jf_tebukuro", "jm_kumo", "joe"),
    clips=(
        (
            "They promised to repair",
            "the heating on Friday",
            "although honestly",
            "I doubt it",
            "our landlord forgets things",
            "all the time",
        ),
        (
            "So the doctor told",
            "me to rest",
            "excuse me",
            "the doctor told me",
            "that walking helps",
            "more than pills do",
        ),
        (
            "Did you hear",
            "something upstairs",
            "it sounded like glass",
            "we had better check",
            "after you",
            "finish your tea",
        ),
        (
            "He wants fifty pounds",
            "for that old bicycle",
            "which has no",
            "sorry go on",
            "which has no brakes",
            "and a flat tyre",
        ),
        (
            "Every summer we",
            "drive down south",
            "my cousins have a",
            "lovely house by the sea",
            "with five",
            "enormous apple trees",
        ),
        (
            "If the printer jams",
            "just pull the paper",
            "gently towards",
            "yourself and then",
            "press the green button",
            "twice to restart it",
        ),
    ),
    sentences=(
        "My neighbour borrowed the ladder last month and never brought it back.",
        "If you take the second left, there is a small bakery next to the bank.",
        "He said the concert might be cancelled because the singer lost her voice.",
        "Could you please remind me to water the plants before we leave on Thursday?",
        "Honestly, the soup needs more salt, but the bread is perfect.",
        "They moved the office to the third floor, which nobody had asked for.",
    ),
)
