"""`cares audit`: can a sound's label be told from anything but the reaction?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cares.core.canonical import Json
    from cares.core.params import Params
    from cares.corpus.lengths import Lengths


class PlacementName(StrEnum):
    """Laws of placement; see `timeline.placement` in params.yaml."""

    MATCHED = "matched"
    PAPER = "paper"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def audit(
        corpus: Annotated[
            int | None, typer.Option(help="Audit so many made-up scenes, with speech-like signals and the real mix.")
        ] = None,
        placement: Annotated[
            PlacementName | None, typer.Option(help="Law of placement of the corpus; by default that of params.yaml.")
        ] = None,
        seed: Annotated[int | None, typer.Option(help="Seed of the corpus; by default that of params.yaml.")] = None,
        lengths: Annotated[
            Path | None,
            typer.Option(help="accepted.jsonl: take the lengths of turns, by label, from these dialogues."),
        ] = None,
        changes: Annotated[
            list[str] | None,
            typer.Option("--set", help="KEY=VALUE: replace a value of params.yaml, as in mix.duck_labels=behavioral."),
        ] = None,
        scenes: Annotated[
            Path | None, typer.Option(help="scenes.jsonl of a data set to audit; by default data/scenes/scenes.jsonl.")
        ] = None,
        out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
    ) -> None:
        """Try to tell the four labels from what is measured around each sound; chance is 25 %.

        Audits the finished data set, or with --corpus a made-up one, large enough for a narrow interval, in minutes.
        """
        from cares.audit.run import lines
        from cares.core.canonical import write_json
        from cares.core.paths import repo_root
        from cares.corpus.overrides import ChangedParams

        changes = list(changes or [])
        _check_options(corpus, placement, seed, lengths, scenes, changes, out)
        if placement is not None:
            changes.append(f"timeline.placement={placement.value}")
        if seed is not None:
            changes.append(f"seed={seed}")
        params = ChangedParams(repo_root() / "params.yaml", changes)
        result = _of_scenes(scenes, params) if corpus is None else _of_corpus(corpus, params, lengths)
        result["params"]["changed"] = changes
        if out is not None:
            write_json(out, result)
        print("\n".join(lines(result)))
        print(f"audit: {result['n_events']} events" + (f" -> {out}" if out is not None else ""))


def _check_options(
    corpus: int | None,
    placement: PlacementName | None,
    seed: int | None,
    lengths: Path | None,
    scenes: Path | None,
    changes: list[str],
    out: Path | None,
) -> None:
    from cares.core.errors import InputError

    needs = {"--placement": placement, "--seed": seed, "--lengths": lengths}
    for name, value in needs.items():
        if corpus is None and value is not None:
            raise InputError("command line", name, str(value), "--corpus with it: a finished data set has its own")
    for change in changes:
        if corpus is None and not change.startswith("audit."):
            raise InputError(
                "command line", "--set", change, "--corpus with it: only audit.* concerns a finished data set"
            )
    if seed is not None and seed < 0:
        raise InputError("command line", "--seed", seed, "0 or more")
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        raise InputError("command line", "--out", str(out), "a file in a folder that is there")
    if corpus is not None and scenes is not None:
        raise InputError("command line", "--scenes", str(scenes), "either --corpus or --scenes")


def _lengths(dialogues: Path | None) -> Lengths:
    from cares.core.paths import repo_root
    from cares.corpus.lengths import Lengths, lengths_of

    return Lengths() if dialogues is None else lengths_of(dialogues, repo_root() / "data/allocation/scenes.jsonl")


def _of_corpus(scenes: int, params: Params, dialogues: Path | None) -> Json:
    from cares.audit.distributions import distributions
    from cares.audit.params import AuditParams
    from cares.audit.run import audit
    from cares.corpus.build import build_corpus, corpus_params

    section = params.section("audit", AuditParams)
    lengths = _lengths(dialogues)
    corpus = build_corpus(scenes, params, lengths)
    result = audit(corpus.examples, section, params.seed, corpus.rare)
    result["corpus"] = {**corpus.facts, "lengths": "by label" if lengths.by_label else "one law for all labels"}
    result["distributions"] = distributions(corpus.examples)
    result["params"] = corpus_params(params, scenes)
    return result


def _of_scenes(path: Path | None, params: Params) -> Json:
    from cares.audit.distributions import distributions
    from cares.audit.finished import audit_scenes
    from cares.audit.params import AuditParams
    from cares.core.paths import repo_root

    section = params.section("audit", AuditParams)
    examples, result = audit_scenes(path or repo_root() / "data/scenes/scenes.jsonl", section, params.seed)
    result["distributions"] = distributions(examples)
    result["params"] = {"seed": params.seed, "audit": section.to_json()}
    return result
