"""The files of a model, pinned: a commit of a hub, or a folder's hashes; and code only if its hash is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cares.bench.adapters.known import Adapter
from cares.bench.adapters.params import TransformersParams
from cares.core.canonical import Json, digest, file_digest, read_json
from cares.core.errors import CaresError, InputError
from cares.core.keys import hide

WHERE = "bench.transformers"


def model_folder(params: TransformersParams, adapter: Adapter) -> Path:
    """The folder with the model's files, fetched at the pinned revision if `source` is a repository.

    Raises:
        InputError: no revision for a repository, or code that is not named, or not as it is named.
        CaresError: the hub cannot be reached and has left nothing on this machine.
    """
    if adapter.code == "remote" and not params.code_sha256:
        raise InputError(
            WHERE,
            "code_sha256",
            {},
            f"the SHA-256 of each Python file of {params.adapter}, whose code is not in transformers",
            "Read the code first: it runs with your rights. Or ask the model through a server",
        )
    folder = Path(params.source)
    if not folder.is_dir():
        folder = _snapshot(params)
    _check_code(folder, params)
    return folder


def model_digest(folder: Path, params: TransformersParams) -> str:
    """What pins the answers: the revision, or the hashes of the folder's files, and the number type."""
    pinned: object = params.revision
    if pinned is None:
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        pinned = {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
    return digest({"adapter": params.adapter, "dtype": params.dtype, "files": pinned, "way": "transformers"})


def _snapshot(params: TransformersParams) -> Path:
    if params.revision is None:
        raise InputError(
            WHERE,
            "revision",
            None,
            f"the full commit id of {params.source}, 40 hex digits (or a folder as source)",
            "A branch moves: figures of two days would not be of one model",
        )
    try:
        from huggingface_hub import get_token, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise CaresError(f"{params.source}: huggingface_hub cannot be imported ({error})") from None
    patterns = ["*.json", "*.safetensors", "*.txt", "*.jinja", "*.model", *params.code_sha256]
    try:
        return Path(snapshot_download(params.source, revision=params.revision, allow_patterns=patterns))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        said = hide(reason, get_token())
        raise CaresError(f"{params.source} @ {params.revision}: not here and not to be had: {said}") from None


def _check_code(folder: Path, params: TransformersParams) -> None:
    """Every Python file of the folder is named and is as named; a name without a file is an error too.

    A configuration may also name code of another repository ("owner/name--file.Class"), which transformers would fetch
    and run at whatever revision; that is refused.
    """
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.py"))}
    for name, wanted in params.code_sha256.items():
        if name not in found:
            raise InputError(WHERE, f"code_sha256.{name}", wanted, f"a Python file of {params.source}")
        if (has := file_digest(found[name])) != wanted:
            raise InputError(folder / name, "sha256", has, wanted, "The code is not what was named; read what changed")
    if params.code_sha256 and (unnamed := sorted(set(found) - set(params.code_sha256))):
        raise InputError(folder / unnamed[0], "code_sha256", None, "every Python file of the model to be named")
    for path in sorted(folder.rglob("*.json")) if params.code_sha256 else ():
        for reference in _code_references(read_json(path)):
            if "--" in reference:
                expected, hint = "code of this folder alone", "Code of elsewhere is not pinned"
                raise InputError(path, "auto_map", reference, expected, hint)
            module = reference.rpartition(".")[0]
            if f"{module}.py" not in params.code_sha256:
                raise InputError(path, "auto_map", reference, f"one of the named files {', '.join(params.code_sha256)}")


def _code_references(value: Json) -> Iterator[str]:
    """Every "file.Class" of an `auto_map`, wherever in a configuration it stands."""
    if isinstance(value, list):
        for inner in value:
            yield from _code_references(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner) if name == "auto_map" else _code_references(inner)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
