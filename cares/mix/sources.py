"""Source samples and impulse responses of a scene's clips, read once and checked against their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.errors import InputError
from cares.core.pcm import Samples, read_samples
from cares.records.bank import Response
from cares.records.timeline import ResponseRef

RESPONSES = Path("data/rooms/responses.npy")


def _digest(samples: Samples) -> str:
    """As `samples_digest`, without a copy of the samples."""
    return hashlib.sha256(np.ascontiguousarray(samples, "<i2").data).hexdigest()


def taps_digest(taps: NDArray[Any]) -> str:
    """SHA-256 (hex) of an impulse response's integers [m] as little-endian 32-bit numbers."""
    return hashlib.sha256(np.ascontiguousarray(taps, "<i4").data).hexdigest()


class Sources:
    """Files below `root`; the sound files stay in memory for as long as this object lives, one scene at most.

    Args:
        root: the folder that paths in records are relative to, the repository's.
        responses: the impulse responses, relative to root.
    """

    def __init__(self, root: Path, responses: Path = RESPONSES) -> None:
        self._root = root
        self._responses_path = responses
        self._sounds: dict[str, tuple[Samples, str]] = {}
        self._responses: NDArray[Any] | None = None
        self._taps: dict[ResponseRef, NDArray[np.int64]] = {}

    def samples(self, path: str, pcm_sha256: str) -> Samples:
        """All samples [T] of a sound file; InputError when it is missing, damaged, or not the file that was meant."""
        if path not in self._sounds:
            samples = read_samples(self._root / path)
            self._sounds[path] = samples, _digest(samples)
        samples, found = self._sounds[path]
        if found != pcm_sha256:
            raise InputError(path, "samples", found, f"SHA-256 {pcm_sha256}", "The file changed; run dvc repro.")
        return samples

    def taps(self, response: ResponseRef) -> NDArray[np.int64]:
        """The integers [m] of an impulse response, 20 fractional bits, always the same array for the same response.

        Raises:
            InputError: the file does not hold them, or others.
        """
        if response not in self._taps:
            taps = self._read(response.room_id, response.offset, response.n_samples)
            found = taps_digest(taps)
            if found != response.taps_sha256:
                where = f"{response.room_id}: {response.n_samples} integers from {response.offset}"
                expected = f"SHA-256 {response.taps_sha256}"
                raise InputError(self._responses_path, where, found, expected, "The file changed; run dvc repro.")
            self._taps[response] = taps.astype(np.int64)
        return self._taps[response]

    def reference(self, room_id: str, response: Response) -> ResponseRef:
        """What an edit decision list says of a room's response; InputError when the file does not hold it."""
        taps = self._read(room_id, response.offset, response.n_samples)
        return ResponseRef(
            room_id=room_id, offset=response.offset, n_samples=response.n_samples, taps_sha256=taps_digest(taps)
        )

    def _read(self, room_id: str, offset: int, n_samples: int) -> NDArray[Any]:
        if self._responses is None:
            self._responses = self._open()
        taps = self._responses[offset : offset + n_samples]
        if len(taps) != n_samples:
            where = f"{room_id}: {offset} + {n_samples}"
            raise InputError(self._responses_path, "length", len(self._responses), f"to hold {where}")
        return taps

    def _open(self) -> NDArray[Any]:
        path = self._root / self._responses_path
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise InputError(self._responses_path, "", "no such file", "an array of impulse responses") from None
        except (ValueError, EOFError) as error:
            raise InputError(self._responses_path, "", str(error), "a .npy file of int32 numbers") from None
        if array.dtype != np.int32 or array.ndim != 1:
            raise InputError(self._responses_path, "type", f"{array.dtype} {array.shape}", "int32 [T]")
        return array
