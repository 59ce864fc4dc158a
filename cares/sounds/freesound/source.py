"""The source `freesound`: the pinned recordings, fetched once into the item store and checked against their pins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.executor import progress
from cares.core.store import ItemStore, item_key
from cares.sounds.freesound.client import Freesound
from cares.sounds.freesound.pins import Pin, read_pins
from cares.sounds.licences import spdx
from cares.sounds.prepare import Part
from cares.sounds.recorded import InStore, RecordedSource, Recording
from cares.sounds.source import Provenance

FAMILY = "freesound"


def open_pins(path: Path, catalog: Catalog, seed: int) -> RecordedSource:
    """The source of the pins in a file; nothing is fetched: see `fetch_pins`."""
    pins = read_pins(path, catalog)
    return RecordedSource("freesound", tuple(_recording(pin, path, line) for line, pin in enumerate(pins, 1)), seed)


def fetch_pins(
    pins: Sequence[Pin],
    path: Path,
    connect: Callable[[], Freesound] = Freesound.from_environment,
    store: ItemStore | None = None,
) -> int:
    """Fetch every pinned recording that the item store lacks, in order; returns how many were fetched.

    Without anything to fetch neither a key nor a network is needed. A run that ends early has kept what it fetched.

    Raises:
        InputError: a recording is no longer the one that was pinned, or has another licence.
        FreesoundError: the service cannot be reached or no longer has a recording.
    """
    store = store or ItemStore(FAMILY)
    missing = [(line, pin) for line, pin in enumerate(pins, 1) if store.get(pin_key(pin)) is None]
    if not missing:
        return 0
    with ExitStack() as stack:
        service = stack.enter_context(connect())
        for line, pin in progress(missing, desc="freesound"):
            sound = service.sound(pin.id)
            where = f"line {line}: sound {pin.id}"
            if spdx(str(sound.get("license"))) != pin.licence:
                hint = "Its author changed it; remove the pin, or pin it again."
                raise InputError(path, f"{where}: licence", sound.get("license"), pin.licence, hint)
            content = service.preview(sound)
            if (found := sha256(content).hexdigest()) != pin.sha256:
                hint = "The file is not the one that was pinned; remove the pin and run: cares sounds pin"
                raise InputError(path, f"{where}: sha256", found, pin.sha256, hint)
            store.put(pin_key(pin), {"id": pin.id}, content)
    return len(missing)


def pin_key(pin: Pin) -> str:
    """The key of a pinned recording's bytes in the item store."""
    return item_key(id=pin.id, preview=pin.preview, sha256=pin.sha256)


def _recording(pin: Pin, path: Path, line: int) -> Recording:
    return Recording(
        kind=pin.kind,
        name=pin.name,
        place=InStore(FAMILY, pin_key(pin)),
        sha256=pin.sha256,
        part=Part(pin.start_s, pin.end_s),
        provenance=Provenance("freesound", pin.licence, pin.author, pin.url, (f"preview of sound {pin.id}",)),
        group=f"{pin.author}: {pin.id}",
        split=pin.split,
        origin=f"{path.as_posix()}: line {line}: sound {pin.id} as {pin.name}",
    )
