"""`cares render` and `cares export`: a scene's sound again, whole or in parts, and its annotation for other tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class BackendName(StrEnum):
    """Array libraries that mix; all give the same samples."""

    NUMPY = "numpy"
    TORCH = "torch"


class ExportFormat(StrEnum):
    """Annotation formats of other tools."""

    JAMS = "jams"
    AUDACITY = "audacity"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""

    @app.command()
    def render(
        scene_id: Annotated[str, typer.Argument(help="Such as t00003-0.")],
        out: Annotated[Path, typer.Option(help="WAV or FLAC file to write.")],
        backend: Annotated[
            BackendName | None, typer.Option(help="Array library; by default what CARES_DEVICE asks for.")
        ] = None,
        mute: Annotated[
            list[int] | None, typer.Option(help="Leave out the event of this index, all gains stay; may be repeated.")
        ] = None,
        stem: Annotated[
            str | None, typer.Option(help="Only this: A, B, ambience, event (all of them), event:0, event:1, ...")
        ] = None,
        exact: Annotated[
            bool, typer.Option("--exact", help="64-bit float WAV from before the final rounding: stems add up exactly.")
        ] = False,
    ) -> None:
        """Mix one scene again from its timeline, one stem of it, or a counterfactual without some of its sounds."""
        from cares.core.errors import InputError
        from cares.core.paths import repo_root
        from cares.core.pcm import samples_digest, write_samples
        from cares.core.record import read_records
        from cares.mix.backend import backend_from_environment, make_backend
        from cares.mix.exact import write_exact
        from cares.mix.render import render as render_scene
        from cares.mix.render import render_exact
        from cares.records.timeline import Timeline

        root = repo_root()
        _check_out(out, (".wav",) if exact else (".wav", ".flac"), root)
        if stem is not None and stem in {f"event:{event}" for event in mute or ()}:
            raise InputError("command line", "--mute", stem, "another sound than the one that --stem asks for")
        with _pulled(root):
            timelines = read_records(Timeline, root / "data/timelines.jsonl")
        chosen = make_backend(backend.value if backend else backend_from_environment())
        if exact:
            with _pulled(root):
                values = render_exact(scene_id, timelines, root, chosen, mute or (), stem)
            digest, length = write_exact(out, values), len(values)
        else:
            with _pulled(root):
                samples = render_scene(scene_id, timelines, root, chosen, mute or (), stem)
            write_samples(out, samples)
            digest, length = samples_digest(samples), len(samples)
        what = scene_id + (f", stem {stem}" if stem else "")
        what += f", without {', '.join(f'event {event}' for event in sorted(set(mute)))}" if mute else ""
        print(f"render: {what} with {chosen.name}, {length} samples, sha256 {digest[:16]}, in {out}")

    @app.command()
    def export(
        scene_id: Annotated[str, typer.Argument(help="Such as t00003-0.")],
        out: Annotated[Path, typer.Option(help="File to write: .jams or .json, or .txt.")],
        format: Annotated[ExportFormat, typer.Option(help="Annotation format.")] = ExportFormat.JAMS,
    ) -> None:
        """Write a scene's words, turns, sounds and gaps for other tools: JAMS, or label text for Audacity."""
        from cares.core.atomic import write_bytes
        from cares.core.canonical import write_json
        from cares.core.paths import repo_root
        from cares.core.record import read_records
        from cares.mix.exports import to_audacity, to_jams
        from cares.mix.render import find_timeline
        from cares.records.timeline import Timeline

        root = repo_root()
        _check_out(out, (".jams", ".json") if format == ExportFormat.JAMS else (".txt",), root)
        with _pulled(root):
            timelines = read_records(Timeline, root / "data/timelines.jsonl")
        timeline = find_timeline(scene_id, timelines)
        if format == ExportFormat.JAMS:
            write_json(out, to_jams(timeline))
        else:
            write_bytes(out, to_audacity(timeline).encode("utf-8"))
        words, events = len(timeline.words), len(timeline.events)
        print(f"export: {scene_id} as {format.value}, {words} words and {events} sounds, in {out}")


@contextmanager
def _pulled(root: Path) -> Iterator[None]:
    """An error for a file of data/ that is not here says what brings it: perhaps only a part was pulled."""
    from cares.core.errors import CaresError, InputError

    try:
        yield
    except InputError as error:
        if error.value != "no such file" or root / "data" not in Path(error.file).parents:
            raise
        text = str(error).rstrip(".")
        join = ", or bring it:" if ". Run " in text else ". Run:"
        raise CaresError(f"{text}{join} cares pull") from None


def _check_out(out: Path, suffixes: tuple[str, ...], root: Path) -> None:
    from cares.core.errors import InputError

    if out.suffix not in suffixes:
        raise InputError("command line", "--out", str(out), f"a file that ends in {' or '.join(suffixes)}")
    if (root / "data").resolve() in out.resolve().parents:
        raise InputError("command line", "--out", str(out), "a file outside data/, which holds what the pipeline made")
