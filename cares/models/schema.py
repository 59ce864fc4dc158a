"""What the registry knows of a model: where it officially comes from, its files by hash, and where they can be got."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.records.names import inside

Kind = Literal["llm", "tts", "asr", "encoder", "speaker"]
Conversion = Literal["none", "gguf", "unzip", "whisper-ct2", "ge2e"]
# ctranslate2: its own format, by ctranslate2 or cares.models.whisper_ct2; torch-weights-only: torch.load, tensors alone
Reader = Literal["ctranslate2", "torch-weights-only"]
# kinds of file whose readers run nothing that the file holds; numpy is never let read an object
PLAIN = frozenset({".gguf", ".json", ".npz", ".onnx", ".safetensors", ".txt"})
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Family = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
ModelId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]


def _is_inside(path: str) -> bool:
    try:
        inside(path)
    except ValueError:
        return False
    return True


class PackagePart(Record):
    """A file inside a wheel of the package index: the whole weight file, or one of its consecutive parts.

    `file` is a glob over the wheel's member names that must match exactly one member.
    """

    distribution: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
    version: Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.+!-]*$")]
    file: Annotated[str, Field(min_length=1)]


class WeightFile(Record):
    """One official file, known by its hash and not by where it came from.

    `name` is its path in the model's folder, `hub_path` its path in the official repository if that is on the hub.
    `reader` is needed for a file that is of none of the `PLAIN` kinds, because a pickle may be behind its suffix: who
    reads it without running what it holds (docs/safety.md). `note` says what of its origin could not be checked.
    """

    name: Annotated[str, Field(min_length=1)]
    size: Annotated[int, Field(gt=0)]
    sha256: Sha256
    hub_path: str | None = None
    packages: tuple[PackagePart, ...] = ()
    reader: Reader | None = None
    note: str = ""

    @model_validator(mode="after")
    def _name_stays_inside(self) -> Self:
        path = PurePosixPath(self.name)
        if path.name.startswith(".cares") or not _is_inside(self.name):
            raise ValueError(f"{self.name!r} is not a plain path below the model's folder")
        return self

    @model_validator(mode="after")
    def _nothing_runs_when_it_is_read(self) -> Self:
        if PurePosixPath(self.name).suffix.lower() not in PLAIN and self.reader is None:
            raise ValueError(
                f"{self.name!r} may hold a pickle, which runs code when it is read: "
                f"take {', '.join(sorted(PLAIN))}, or name the reader that runs none"
            )
        return self


class Model(Record):
    """One entry of registry.yaml.

    `ready_bytes` is about what the ready folder takes on disk. `family` is what models of one maker and kind share,
    such as "qwen2.5", whatever their size or fine-tuning: who writes and who judges should differ in it. The files of a
    model that is `served` are not registered: a server offers it (CARES_LLM_URL, or CARES_TTS_URL for a model that
    speaks), started by its keeper at `revision`.
    `note` says what of the entry could not be checked.
    """

    name: Annotated[str, Field(min_length=1)]
    kind: Kind
    family: Family | None = None
    licence: Annotated[str, Field(min_length=1)]
    host: Literal["huggingface", "github-release", "package-index"]
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Annotated[str, Field(min_length=1)]
    convert: Conversion = "none"
    ready_bytes: Annotated[int, Field(gt=0)]
    served: bool = False
    note: str = ""
    files: tuple[WeightFile, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.served == bool(self.files):
            raise ValueError("a model has files, or it is served and has none")
        if self.served and self.kind not in ("llm", "tts"):
            raise ValueError("only language models and speaking models are served")
        names = [file.name for file in self.files]
        if len(set(names)) != len(names):
            raise ValueError("a file name occurs twice")
        if self.host == "huggingface" and len(self.revision) != 40:
            raise ValueError("a hub revision is a full commit hash of 40 digits")
        if self.host != "huggingface" and any(file.hub_path for file in self.files):
            raise ValueError("hub_path is only for models on the hub")
        return self


class Registry(Record):
    """The whole of registry.yaml."""

    models: dict[ModelId, Model]


class ReadyFile(Record):
    """A file of a ready model folder."""

    name: str
    size: Annotated[int, Field(ge=0)]
    sha256: Sha256


class ReadyModel(Record):
    """One entry of data/models.json: the official files and what was made of them; a served model has neither."""

    id: str
    name: str
    kind: Kind
    licence: str
    host: str
    repository: str
    revision: str
    convert: Conversion
    official: tuple[ReadyFile, ...]
    ready: tuple[ReadyFile, ...]
