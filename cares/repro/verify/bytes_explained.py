"""In what two files differ: the first byte, and in the file's own terms: record, field, line, sample, array element."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import soundfile

from cares.core.canonical import Json

CHUNK = 1 << 20
SHOWN = 60
IDS = (
    "scene_id", "item_id", "take_id", "room_id", "template_id", "system", "name", "event", "task", "wave", "attempt",
    "candidate",
)  # fmt: skip


def explain(name: str, wanted: Path, found: Path) -> Json:
    """What differs between two files of the same name.

    Args:
        name: the file's name; its suffix says how to read it.
        wanted: the reference.
        found: the other one.

    Returns:
        `byte` (offset of the first that differs), `bytes_differing`, `sizes`, and what the kind of file tells; `text`
        is one line for people.
    """
    result = _bytes(wanted, found)
    kind = {
        ".wav": _sound, ".flac": _sound, ".jsonl": _records, ".json": _document, ".npy": _array, ".csv": _lines,
        ".html": _lines, ".md": _lines, ".txt": _lines, ".svg": _lines, ".tex": _lines, "": _lines,
    }.get(Path(name).suffix)  # fmt: skip
    text = ""
    if kind is not None:
        try:
            told = kind(wanted, found)
            text = told.pop("text")
            result |= told
        except (ValueError, RuntimeError, OSError) as error:
            # a damaged file is a difference as well: it is told in bytes
            result["unreadable"] = str(error).replace(str(found), name).replace(str(wanted), name)
    sizes = "" if result["sizes"][0] == result["sizes"][1] else f"; {result['sizes'][1]} bytes for {result['sizes'][0]}"
    at = f"byte {result['byte']} is the first of {result['bytes_differing']} that differ{sizes}"
    result["text"] = f"{text}; {at}" if text else at
    return result


def _bytes(wanted: Path, found: Path) -> Json:
    first, count, at = -1, 0, 0
    sizes = [wanted.stat().st_size, found.stat().st_size]
    with wanted.open("rb") as left, found.open("rb") as right:
        while at < min(sizes):
            one, other = np.frombuffer(left.read(CHUNK), np.uint8), np.frombuffer(right.read(CHUNK), np.uint8)
            length = min(len(one), len(other))
            places = np.flatnonzero(one[:length] != other[:length])
            if len(places) and first < 0:
                first = at + int(places[0])
            count += len(places)
            at += length
    if first < 0 and sizes[0] != sizes[1]:
        first = min(sizes)
    return {"byte": first, "bytes_differing": count + abs(sizes[0] - sizes[1]), "sizes": sizes}


def _sound(wanted: Path, found: Path) -> Json:
    left, rate = soundfile.read(wanted, dtype="int16", always_2d=True)
    right, other_rate = soundfile.read(found, dtype="int16", always_2d=True)
    if rate != other_rate or left.shape[1] != right.shape[1]:
        formats = [f"{of} Hz, {data.shape[1]} channels" for of, data in ((rate, left), (other_rate, right))]
        return {"formats": formats, "text": f"format {formats[1]} for {formats[0]}"}
    length = min(len(left), len(right))
    apart = np.abs(left[:length].astype(np.int32) - right[:length]).max(axis=1, initial=0)
    places = np.flatnonzero(apart)
    told: Json = {"n_samples": [len(left), len(right)], "samples_differing": len(places)}
    lengths = "" if len(left) == len(right) else f"; {len(right)} samples for {len(left)}"
    if not len(places):
        told["first_sample"] = None if len(left) == len(right) else length
        same = (
            "the samples are the same, the container differs" if not lengths else f"as far as both go the same{lengths}"
        )
        return told | {"text": same}
    first = int(places[0])
    told |= {
        "first_sample": first,
        "values": [int(left[first][0]), int(right[first][0])],
        "largest": int(apart.max()),
        "last_sample": int(places[-1]),
    }
    text = (
        f"sample {first} ({first / rate:.3f} s) is the first of {len(places)} that differ: {told['values'][1]} for "
        f"{told['values'][0]}; by at most {told['largest']} of 16 bits{lengths}"
    )
    return told | {"text": text}


def _array(wanted: Path, found: Path) -> Json:
    left, right = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (wanted, found))
    if left.shape != right.shape or left.dtype != right.dtype:
        shapes = [f"{data.dtype} {list(data.shape)}" for data in (left, right)]
        return {"shapes": shapes, "text": f"{shapes[1]} for {shapes[0]}"}
    places = np.flatnonzero(np.asarray(left != right).ravel())
    if not len(places):
        return {"elements_differing": 0, "text": "the values are the same, the header differs"}
    first = int(places[0])
    values = [left.ravel()[first].item(), right.ravel()[first].item()]
    text = f"element {first} is the first of {len(places)} that differ: {values[1]} for {values[0]}"
    return {"element": first, "elements_differing": len(places), "values": values, "text": text}


def _document(wanted: Path, found: Path) -> Json:
    place = first_field(*(json.loads(path.read_text(encoding="utf-8")) for path in (wanted, found)))
    return _told(place) if place else {"text": "the values are the same, the text differs"}


def _records(wanted: Path, found: Path) -> Json:
    left, right = (_by_id(path) for path in (wanted, found))
    missing, extra = [name for name in left if name not in right], [name for name in right if name not in left]
    differing = [name for name in left if name in right and left[name] != right[name]]
    told: Json = {"records_differing": differing[:20], "records_missing": missing[:20], "records_extra": extra[:20]}
    counts = f"{len(differing)} of {len(left)} records differ"
    for names, what in ((missing, "missing"), (extra, "too many")):
        counts += f", {len(names)} {what} (first: {names[0]})" if names else ""
    if differing:
        place = first_field(left[differing[0]], right[differing[0]])
        told |= {"record": differing[0], **(_told(place) if place else {"text": "text"})}
        told["text"] = f"record {differing[0]}: {told['text']}; {counts}"
    else:
        told["text"] = counts if missing or extra else "the records are the same, their order or text differs"
    return told


def _by_id(path: Path) -> dict[str, Json]:
    seen: Counter[str] = Counter()
    records = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        value = json.loads(line)
        parts = [str(value[key]) for key in IDS if isinstance(value, dict) and isinstance(value.get(key), str | int)]
        name = " ".join(parts) or f"line {number}"
        seen[name] += 1
        records[name if seen[name] == 1 else f"{name} #{seen[name]}"] = value
    return records


def first_field(wanted: Json, found: Json, path: str = "") -> tuple[str, Json, Json] | None:
    """Path and both values of the first place where two JSON values differ; None where they are equal."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            here = f"{path}.{key}" if path else key
            if key not in wanted or key not in found:
                return here, wanted.get(key, "(absent)"), found.get(key, "(absent)")
            if place := first_field(wanted[key], found[key], here):
                return place
        return None
    if isinstance(wanted, list) and isinstance(found, list):
        for index, (one, other) in enumerate(zip(wanted, found, strict=False)):
            if place := first_field(one, other, f"{path}[{index}]"):
                return place
        lengths = len(wanted), len(found)
        return None if lengths[0] == lengths[1] else (f"{path}.length" if path else "length", *lengths)
    same = wanted == found and type(wanted) is type(found)
    return None if same else (path or "value", wanted, found)


def _told(place: tuple[str, Json, Json]) -> Json:
    field, wanted, found = place
    told: Json = {"field": field, "wanted": _short(wanted), "found": _short(found)}
    where = field
    if isinstance(wanted, str) and isinstance(found, str):
        pairs = enumerate(zip(wanted, found, strict=False))
        at = next((n for n, (one, other) in pairs if one != other), min(len(wanted), len(found)))
        start = max(0, at - 15)
        told |= {"character": at, "wanted": wanted[start : start + SHOWN], "found": found[start : start + SHOWN]}
        where += f", from character {at}"
    return told | {"text": f"{where}: {told['found']!r} for {told['wanted']!r}"}


def _short(value: Json) -> Json:
    if isinstance(value, int | float | None):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _lines(wanted: Path, found: Path) -> Json:
    left, right = (path.read_text(encoding="utf-8").split("\n") for path in (wanted, found))
    pairs = enumerate(zip(left, right, strict=False), 1)
    number = next((n for n, (one, other) in pairs if one != other), min(len(left), len(right)) + 1)
    values = [_short(lines[number - 1]) if number <= len(lines) else "(no line)" for lines in (left, right)]
    return {
        "line": number,
        "wanted": values[0],
        "found": values[1],
        "text": f"line {number}: {values[1]!r} for {values[0]!r}",
    }
