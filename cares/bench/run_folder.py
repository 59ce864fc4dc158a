"""A folder of results belongs to one model in one mode: its name, and what it must agree with.

`run.json` says whose folder it is from the first question on; metrics.json says it of folders without one.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from cares.core.canonical import Json, read_json, write_json
from cares.core.errors import InputError

RUN = "run.json"
LONGEST = 100
_MARKED = re.compile(r".*-(?:[0-9a-f]{8}|constrained)")
_HINT = "It would be replaced or mixed; give another --out."


def slug(name: str) -> str:
    """A model's name as the name of a folder, another for every name.

    A name that has to be changed, that is too long for a file system, or that looks as if it had been changed, gets a
    part of its hash.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if plain == name and len(name) <= LONGEST and not _MARKED.fullmatch(name):
        return plain
    return f"{plain[:LONGEST]}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def claim(out: Path, model: str, identity: str, constrained: bool, max_tokens: int) -> None:
    """Make a folder that of a model, or see that it is.

    Args:
        out: the folder of results.
        model: the model's name.
        identity: what is known of the model beside it (`AudioSystem.digest`).
        constrained: whether nothing but a letter can be answered.
        max_tokens: length of an answer.

    Raises:
        InputError: the folder holds results of another model, or with other settings.
    """
    mine: Json = {"model": model, "identity": identity, "constrained": constrained, "max_tokens": max_tokens}
    journal = out / "asked.jsonl"
    if not (out / "metrics.json").is_file() and not (journal.is_file() and journal.stat().st_size):
        # nothing was answered here yet, so that settings which no server takes bind nobody
        write_json(out / RUN, mine)
        return
    if (out / RUN).is_file():
        _agree(out / RUN, read_json(out / RUN), mine)
        return
    if (out / "metrics.json").is_file():
        found = read_json(out / "metrics.json")
        run = found.get("run") if isinstance(found, dict) else None
        if isinstance(found, dict) and isinstance(run, dict):
            found = {"model": found.get("model"), "constrained": run.get("constrained")}
        _agree(out / "metrics.json", found, {name: mine[name] for name in ("model", "constrained")})
    write_json(out / RUN, mine)


def _agree(path: Path, found: Json, mine: Json) -> None:
    if not isinstance(found, dict):
        raise InputError(path, "", found, "an object", _HINT)
    for name, value in mine.items():
        if found.get(name) != value:
            raise InputError(path, name, found.get(name), f"{value!r}, as asked now", _HINT)
