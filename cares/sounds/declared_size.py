"""Whether a sound file is as long as it says: libsndfile quietly shortens one whose end is missing."""

from __future__ import annotations

import struct
from typing import NamedTuple

# a recorder that was cut off, or a stream, leaves the size open
_OPEN = (0, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)


class _Chunks(NamedTuple):
    """How a format's chunks are laid out: where the first is, its name and size as `struct` has them, and what counts.

    own: bytes of its own head that a chunk's size counts.
    multiple: chunks begin at multiples of so many bytes.
    samples: how the name of the samples' chunk begins.
    """

    first: int
    head: str
    own: int
    multiple: int
    samples: bytes


_WAVE = _Chunks(12, "<4sI", 0, 2, b"data")
_FORMATS = {
    (b"RIFF", b"WAVE"): _WAVE,
    (b"RF64", b"WAVE"): _WAVE,
    (b"RIFX", b"WAVE"): _WAVE._replace(head=">4sI"),
    (b"FORM", b"AIFF"): _WAVE._replace(head=">4sI", samples=b"SSND"),
    (b"FORM", b"AIFC"): _WAVE._replace(head=">4sI", samples=b"SSND"),
}
_W64 = _Chunks(40, "<16sQ", 24, 8, b"data")
_CAF = _Chunks(8, ">4sQ", 0, 1, b"data")


def missing_bytes(data: bytes) -> str:
    """What the samples of a WAV, RF64, W64, AIFF, CAF or AU file lack of their declared size; "" for nothing.

    An open size, as of a recording that was cut off, promises nothing; neither do other formats, whose decoders notice.
    """
    kind = data[:4]
    if kind in (b".snd", b"dns.") and len(data) >= 12:
        start, size = struct.unpack_from(">II" if kind == b".snd" else "<II", data, 4)
        return _lacking(len(data) - start, size)
    if kind == b"riff":
        return _in_chunks(data, _W64)
    if kind == b"caff":
        return _in_chunks(data, _CAF)
    chunks = _FORMATS.get((kind, data[8:12]))
    return _in_chunks(data, chunks) if chunks else ""


def _in_chunks(data: bytes, chunks: _Chunks) -> str:
    at, long_size, head = chunks.first, 0, struct.calcsize(chunks.head)
    while at + head <= len(data):
        name, size = struct.unpack_from(chunks.head, data, at)
        size = max(0, size - chunks.own)
        if name == b"ds64" and at + head + 16 <= len(data):
            # RF64 (EBU Tech 3306) has the size that 32 bits cannot hold in a chunk of its own, after that of the file
            (long_size,) = struct.unpack_from("<Q", data, at + head + 8)
        if name.startswith(chunks.samples):
            declared = long_size if size == 0xFFFF_FFFF and long_size else size
            return _lacking(len(data) - at - head, declared)
        at += head + size + -(head + size) % chunks.multiple
    return "no chunk of samples"


def _lacking(there: int, size: int) -> str:
    return "" if size in _OPEN or size <= there else f"{max(0, there)} of {size} bytes of samples"
