"""Marks: words in the lowest bits of samples.

All samples of the stand-in for the voices are even but for the bits of a word's mark: `MAGIC`, a number for the voice,
how long the word sounds, how many bytes it has, and these. So what hears it needs to know no text, in whatever process
it is and wherever an utterance was trimmed or cut.
"""

from typing import NamedTuple

import numpy as np

MAGIC = np.unpackbits(np.frombuffer(b"\xb7\x4d\x92\xe3", np.uint8))
MARK_AT = 120  # samples from the beginning of a word
HEAD = 40  # bits between the magic ones and the word


class Marked(NamedTuple):
    """A word's mark; `start` and `end` in samples."""

    text: str
    voice: int
    start: int
    end: int


def mark(word, voice, sounding):
    """The bits of a word's mark."""
    data = word.encode()[:60]
    head = np.array([voice >> 8, voice & 255, sounding >> 8, sounding & 255, len(data)], np.uint8)
    return np.concatenate([MAGIC, np.unpackbits(head), np.unpackbits(np.frombuffer(data, np.uint8))])


def marks(samples):
    """The marks in int16 samples [T], in order."""
    bits = (samples & 1).astype(np.uint8)
    text, magic = bits.tobytes(), MAGIC.tobytes()
    found, at = [], text.find(magic)
    while at >= 0:
        first = at + len(magic) + HEAD
        head = np.packbits(bits[at + len(magic) : first])
        if len(head) == HEAD // 8 and first + 8 * int(head[4]) <= len(bits):
            voice, sounding = 256 * int(head[0]) + int(head[1]), 256 * int(head[2]) + int(head[3])
            word = np.packbits(bits[first : first + 8 * int(head[4])]).tobytes().decode("utf-8", "replace")
            start = max(0, at - MARK_AT)
            found.append(Marked(word, voice, start, min(len(bits), start + sounding)))
        at = text.find(magic, at + len(magic))
    return found
