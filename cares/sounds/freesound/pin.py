"""Choosing recordings of Freesound and pinning them: what `cares sounds pin` does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cares.catalog.catalog import Catalog
from cares.core.store import ItemStore
from cares.sounds.bank import AMBIENCE_S
from cares.sounds.freesound.client import PREVIEW, Freesound, UnavailableError
from cares.sounds.freesound.pins import Pin, read_pins, write_pins
from cares.sounds.freesound.source import FAMILY, pin_key
from cares.sounds.freesound.terms import condition, load_terms, query
from cares.sounds.licences import spdx
from cares.sounds.prepare import Part, prepare
from cares.sounds.quality import UnusableError, faults, reasons
from cares.sounds.recorded import limits
from cares.sounds.source import Kind

_LOOKED_AT = 60


def pin_takes(
    subjects: Sequence[tuple[Kind, str]],
    wanted: Mapping[Kind, int],
    path: Path,
    catalog: Catalog,
    service: Freesound,
    say: Callable[[str], None] = print,
) -> int:
    """Search and pin recordings until each subject has as many as wanted; returns how many were added.

    Pins that are there stay. Of one author a subject gets one recording only, so that splits share neither a recording
    nor a day's session. What is looked at is kept in the item store; the file is written after every subject, so that
    a run that ends early goes on where it was. A preview that cannot be had is a reason to pass its sound over.

    Args:
        subjects: sounds, and locations whose ambience is meant.
        wanted: recordings of a subject of each kind.
        path: the file of pins.
        say: told in one line what became of each subject.

    Raises:
        FreesoundError: the key is not accepted, the search is refused, or the service stays away.
    """
    terms, store = load_terms(catalog), ItemStore(FAMILY)
    pins = read_pins(path, catalog)
    before = len(pins)
    for kind, name in subjects:
        have = [pin for pin in pins if (pin.kind, pin.name) == (kind, name)]
        missing = wanted[kind] - len(have)
        if missing <= 0:
            continue
        passed_over: Counter[str] = Counter()
        found: list[Pin] = []
        seconds = AMBIENCE_S if kind == "ambience" else catalog.sounds[name].duration_s
        for number, sound in enumerate(
            service.search(query(kind, name, catalog, terms), condition(kind, name, catalog))
        ):
            if len(found) == missing or number == _LOOKED_AT:
                break
            result = _look_at(sound, kind, name, seconds, [*pins, *found], service, store)
            if isinstance(result, Pin):
                found.append(result)
            else:
                passed_over[result] += 1
        pins += found
        write_pins(path, pins)
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(passed_over.items()))
        say(
            f"{name}: {len(found)} pinned, {len(have) + len(found)} of {wanted[kind]}" + (f"; not {why}" if why else "")
        )
    return len(pins) - before


def _look_at(
    sound: Mapping[str, Any],
    kind: Kind,
    name: str,
    seconds: tuple[float, float],
    pins: Sequence[Pin],
    service: Freesound,
    store: ItemStore,
) -> Pin | str:
    """The pin of a sound that was found, or the reason why it is passed over."""
    licence, number = spdx(str(sound.get("license"))), sound.get("id")
    author, url = sound.get("username"), sound.get("url")
    if licence is None:
        return "licence"
    if not isinstance(number, int) or not isinstance(author, str) or not isinstance(url, str) or not (author and url):
        return "without author or address"
    if any(pin.id == number for pin in pins):
        return "pinned already"
    if any((pin.kind, pin.name, pin.author) == (kind, name, author) for pin in pins):
        return "of the same author"
    try:
        content = service.preview(sound)
    except UnavailableError as error:
        return error.reason
    digest = sha256(content).hexdigest()
    if any(pin.sha256 == digest for pin in pins):
        return "pinned already"
    try:
        signal, _ = prepare(content, Part(), trim=kind == "event")
        found = faults(signal, *limits(kind, seconds))
    except UnusableError as error:
        found = error.faults
    if found:
        return reasons(found)[0]
    pin = Pin(
        kind=kind, name=name, id=number, preview=PREVIEW, sha256=digest, licence=licence, author=author, url=url
    )  # fmt: skip
    store.put(pin_key(pin), {"id": number}, content)
    return pin
