"""`ensure`: the folder of ready weights of a model, made once and checked at every use.

The folder lies in the weight cache, shared by all clones, under the model's id and a digest of its files' hashes
and of the converting code. It appears whole or not at all. Its record `.cares.json` keeps each file's size, time of
change and hash, so that gigabytes are hashed again only when a file was touched.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from cares.core.atomic import replace_folder
from cares.core.canonical import digest, file_digest, read_json, write_json
from cares.core.errors import CaresError, InputError
from cares.core.executor import progress
from cares.core.paths import weights_root
from cares.core.record import Record
from cares.core.store import source_digest
from cares.models.convert import convert
from cares.models.fetch import CHUNK, fetch_files
from cares.models.registry import load_registry, registered
from cares.models.schema import Model, ReadyFile, ReadyModel

RECORD = ".cares.json"
CONVERTERS = {
    "none": (),
    "gguf": ("cares.models.gguf",),
    "unzip": ("cares.models.unzip",),
    "whisper-ct2": ("cares.models.whisper_ct2",),
    "ge2e": ("cares.models.ge2e",),
}


class _Kept(Record):
    name: str
    size: int
    mtime_ns: int
    sha256: str


class _Folder(Record):
    files: tuple[_Kept, ...]


def ensure(model_id: str) -> Path:
    """The folder of the model's ready weights, made from its sources if it is absent or damaged.

    Two processes that ask at once wait for each other.

    Raises:
        InputError: the registry has no such model, or it is only served.
        WeightError: a source's file has the wrong hash.
        CaresError: no source has a file, the disk is too small, or the conversion failed.
    """
    model = registered(model_id)
    if model.served:
        where = "CARES_TTS_URL" if model.kind == "tts" else "CARES_LLM_URL"
        hint = f"Serve {model.repository} at {model.revision[:12]} and name the server in {where}"
        raise InputError("registry.yaml", f"models.{model_id}", "served", "a model whose files are registered", hint)
    folder = _folder(model_id, model)
    if _is_untouched(folder):
        return folder
    with _locked(folder):
        if not _is_sound(folder):
            _make(model_id, model, folder)
    return folder


def ready_model(model_id: str) -> ReadyModel:
    """Source, licence and hashes of a model whose weights are ready; makes them if needed."""
    model = registered(model_id)
    kept = _read(ensure(model_id))
    return ReadyModel(
        id=model_id,
        name=model.name,
        kind=model.kind,
        licence=model.licence,
        host=model.host,
        repository=model.repository,
        revision=model.revision,
        convert=model.convert,
        official=tuple(ReadyFile(name=f.name, size=f.size, sha256=f.sha256) for f in model.files),
        ready=tuple(ReadyFile(name=f.name, size=f.size, sha256=f.sha256) for f in kept.files),
    )


def served_model(model_id: str) -> ReadyModel:
    """The entry of a language model that a server offers: its files are not ours, so it has none.

    Repository and revision are what the registry asks for; whether the server keeps to them, only its keeper can say.
    """
    known = load_registry().get(model_id)
    return ReadyModel(
        id=model_id,
        name=known.name if known else model_id,
        kind="llm",
        licence=known.licence if known else "",
        host="server",
        repository=known.repository if known else "",
        revision=known.revision if known else "",
        convert="none",
        official=(),
        ready=(),
    )


def model_digest(model_id: str) -> str:
    """SHA-256 over the hashes of the ready files: what an item's key says of the model. Makes the weights if needed."""
    return digest({file.name: file.sha256 for file in _read(ensure(model_id)).files})


def disk_need(model_id: str) -> int:
    """Bytes that making the model's folder needs at its peak; 0 when the folder is there."""
    model = registered(model_id)
    if model.served or _folder(model_id, model).is_dir():
        return 0
    official = sum(file.size for file in model.files)
    return official if model.convert == "none" else official + model.ready_bytes


def _folder(model_id: str, model: Model) -> Path:
    code = source_digest(*CONVERTERS[model.convert]) if CONVERTERS[model.convert] else ""
    files = {file.name: file.sha256 for file in model.files}
    return weights_root() / "models" / f"{model_id}-{digest([model.convert, files, code])[:12]}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    try:
        lock.acquire(timeout=0.5)
    except Timeout:
        print(f"{folder.name}: another process prepares it; waiting", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _is_untouched(folder: Path) -> bool:
    """Whether every file still has the size and time of change at which it was hashed."""
    record = _record(folder)
    if record is None:
        return False
    for kept in record.files:
        path = folder / kept.name
        if not path.is_file():
            return False
        stat = path.stat()
        if (stat.st_size, stat.st_mtime_ns) != (kept.size, kept.mtime_ns):
            return False
    return True


def _is_sound(folder: Path) -> bool:
    """Whether every file has its hash, whatever happened to its time of change; tells what is wrong if not."""
    if _is_untouched(folder):
        return True
    record = _record(folder)
    if record is None:
        return False
    wanted = {kept.name: kept.sha256 for kept in record.files}
    found = {path.relative_to(folder).as_posix(): file_digest(path) for path in _files(folder)}
    for name, sha256 in wanted.items():
        if found.get(name) != sha256:
            seen = f"sha256 {found[name]}" if name in found else "no file"
            print(
                f"{folder / name}: damaged: expected sha256 {sha256}, found {seen}; it is made again", file=sys.stderr
            )
            return False
    _write(folder, folder.name)
    return True


def _make(model_id: str, model: Model, folder: Path) -> None:
    need = disk_need(model_id)
    free = shutil.disk_usage(folder.parent).free
    if free < need:
        raise CaresError(f"{folder.parent}: {model_id} needs {need / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")
    with replace_folder(folder) as work:
        if model.convert == "none":
            fetch_files(model_id, model, work)
        else:
            official = work / ".official"
            official.mkdir()
            fetch_files(model_id, model, official)
            print(f"{model_id}: converting ({model.convert}), about a minute for each GB", file=sys.stderr)
            convert(model.convert, official, work)
            shutil.rmtree(official)
        _write(work, model_id)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)


def _write(folder: Path, label: str) -> None:
    files = _files(folder)
    kept = []
    with progress(total=sum(path.stat().st_size for path in files), desc=f"{label}: hash", unit="B") as bar:
        bar.unit_scale = True
        for path in files:
            sha256 = hashlib.sha256()
            with path.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    sha256.update(chunk)
                    bar.update(len(chunk))
            path.chmod(0o644)
            stat = path.stat()
            name = path.relative_to(folder).as_posix()
            kept.append(_Kept(name=name, size=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=sha256.hexdigest()))
    write_json(folder / RECORD, _Folder(files=tuple(kept)).to_json())


def _record(folder: Path) -> _Folder | None:
    """The folder's record; None when it is absent or damaged, and then the folder is made again."""
    try:
        return _read(folder)
    except InputError:
        return None


def _read(folder: Path) -> _Folder:
    return _Folder.parse(read_json(folder / RECORD), folder / RECORD)
