"""The environment variables of this project, and whether their values can be right.

The modules that use a variable check it themselves when they run; here all are looked at before anything does. The
values of keys are never shown.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

PREFIX = "CARES_"
HIDDEN = "(not shown)"


class Variable(NamedTuple):
    """How a variable is checked.

    Attributes:
        fault: what was expected instead of a value, None when it can be right.
        secret: its value is not shown.
        needs: the variable without which this one has no effect.
    """

    fault: Callable[[str], str | None]
    secret: bool = False
    needs: str = ""


class Finding(NamedTuple):
    """One variable that is set; `wrong` is what was expected instead, `note` what to know about it."""

    name: str
    shown: str
    wrong: str | None
    note: str | None

    def __str__(self) -> str:
        remark = f": expected {self.wrong}" if self.wrong else f": {self.note}" if self.note else ""
        return f"{self.name}={self.shown}{remark}"


def findings(environment: Mapping[str, str] | None = None) -> list[Finding]:
    """Every variable that is set and begins with CARES_, in the order of names.

    Args:
        environment: by default that of this process.
    """
    given = os.environ if environment is None else environment
    return [_finding(name, value, given) for name, value in sorted(given.items()) if name.startswith(PREFIX)]


def _finding(name: str, value: str, given: Mapping[str, str]) -> Finding:
    if name not in VARIABLES:
        near = get_close_matches(name, VARIABLES, 1)
        shown = HIDDEN if _may_be_secret(name, value) or (near and VARIABLES[near[0]].secret) else repr(value)
        return Finding(name, shown, None, f"nothing reads it{f'; did you mean {near[0]}?' if near else ''}")
    variable = VARIABLES[name]
    shown = HIDDEN if variable.secret or ("@" in value and name.endswith("_URL")) else repr(value)
    note = None
    if variable.needs and not given.get(variable.needs):
        note = f"has no effect without {variable.needs}"
    if name == "CARES_HUB" and value == "1" and given.get("CARES_WEIGHTS"):
        note = "the folder CARES_WEIGHTS is looked in first"
    return Finding(name, shown, variable.fault(value), note)


def _may_be_secret(name: str, value: str) -> bool:
    """Whether the name speaks of a key, or the value may be an address with a password."""
    return "@" in value or any(word in name for word in ("KEY", "TOKEN", "SECRET", "PASS"))


def _workers(value: str) -> str | None:
    right = value.isascii() and value.isdigit() and int(value) >= 1
    return None if right else "a whole number of at least 1"


def _one_of(*values: str) -> Callable[[str], str | None]:
    return lambda value: None if value in values else " or ".join(values)


def _folder(value: str) -> str | None:
    """A folder that is there, or can be made."""
    if not value:
        return None  # as if it were not set
    path = Path(value).expanduser().absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    if not path.is_dir():
        return f"a folder, but {path} is a file"
    return None if os.access(path, os.W_OK) else f"a folder that can be written to, but {path} cannot"


def _weights(value: str) -> str | None:
    return None if not value or Path(value).expanduser().is_dir() else "a folder that is there, with weight files"


def _addresses(value: str) -> str | None:
    expected = "an address such as http://127.0.0.1:8000, or several with commas between them"
    addresses = [address.strip() for address in value.split(",") if address.strip()]
    if value and not addresses:
        return expected
    for address in addresses:
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError:
            return expected
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return expected
        if parts.username or parts.password:
            return "an address without a password; the key belongs in the variable that ends in _KEY"
    return None


def _key(value: str) -> str | None:
    return None if value.isascii() and value.isprintable() and " " not in value else "a key without blanks"


def _program(value: str) -> str | None:
    return None if not value or shutil.which(value) else "a Python interpreter that can be started"


def _address(value: str) -> str | None:
    return _addresses(value) if "," not in value else "one address"


def _ray_address(value: str) -> str | None:
    right = not value or value == "auto" or re.fullmatch(r"[A-Za-z0-9.-]+:[0-9]{1,5}", value)
    return None if right else "host:port, or auto"


def _gpus(value: str) -> str | None:
    return None if re.fullmatch(r"0?\.[0-9]+|[0-9]+(\.0+)?", value) else "a whole number, or a part of 1 such as 0.5"


VARIABLES: dict[str, Variable] = {
    "CARES_CACHE": Variable(_folder),
    "CARES_COQUI_PYTHON": Variable(_program),
    "CARES_DEVICE": Variable(_one_of("auto", "cpu", "cuda")),
    "CARES_EXECUTOR": Variable(_one_of("processes", "ray")),
    "CARES_FREESOUND_KEY": Variable(_key, secret=True),
    "CARES_FREESOUND_URL": Variable(_address),
    "CARES_HUB": Variable(_one_of("0", "1")),
    "CARES_LLM_KEY": Variable(_key, secret=True, needs="CARES_LLM_URL"),
    "CARES_LLM_URL": Variable(_addresses),
    "CARES_MIX_BATCH": Variable(_workers),
    "CARES_RAY_ADDRESS": Variable(_ray_address, needs="CARES_EXECUTOR"),
    "CARES_RAY_GPUS": Variable(_gpus, needs="CARES_EXECUTOR"),
    "CARES_STORE": Variable(_folder),
    "CARES_TTS_KEY": Variable(_key, secret=True),
    "CARES_TTS_URL": Variable(_address),
    "CARES_WEIGHTS": Variable(_weights),
    "CARES_WORKERS": Variable(_workers),
}
