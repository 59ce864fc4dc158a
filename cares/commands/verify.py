"""`cares verify`: is the data set what this code makes, byte by byte; and if not, what differs first, and why."""

from __future__ import annotations

import signal
import sys
import traceback
from typing import Annotated

import typer

StageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stage",
        help="Rebuild only this stage (repeatable), from the finished files of the others; `cheap`: all that load no "
        "model.",
    ),
]
FromOption = Annotated[str | None, typer.Option("--from", help="This stage and all that follow from it.")]
ScenesOption = Annotated[
    int | None,
    typer.Option(
        "--scenes",
        help="Only so many scenes, drawn by --seed, of speech, align, timeline, mix, counterfactuals, transcribe; of "
        "topics and dialogues, if named, whole groups.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Which scenes are drawn.")]
TwiceOption = Annotated[
    bool,
    typer.Option(
        "--twice", help="Two copies that differ in path, locale, time zone, umask, hash seed and number of workers."
    ),
]
AsIsOption = Annotated[bool, typer.Option("--as-is", help="The working tree, in place of the last commit.")]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        help="Rebuild nothing; compare with a folder that holds another build, a DVC remote (name, address or folder), "
        "or a git revision.",
    ),
]
RevOption = Annotated[
    str | None, typer.Option("--rev", help="With --against: the revision whose dvc.lock counts there.")
]
KeepOption = Annotated[bool, typer.Option("--keep", help="Keep the clean copy, and say where it is.")]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def verify(
        stage: StageOption = None,
        start: FromOption = None,
        scenes: ScenesOption = None,
        seed: SeedOption = 0,
        twice: TwiceOption = False,
        as_is: AsIsOption = False,
        against: AgainstOption = None,
        rev: RevOption = None,
        keep: KeepOption = False,
    ) -> None:
        """Rebuild in a clean copy without any cache, compare every tracked hash, and explain a difference.

        Exit status 0: all is equal. 1: something differs. 2: it could not be done. The report: build/verify/.
        """
        from cares.core.errors import CaresError
        from cares.core.text import plain_lines

        # as Ctrl-C: the rebuild is ended and its copy removed, which a process that just dies cannot do
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            report = _verify(stage, start, scenes, seed, twice, as_is, against, rev, keep)
        except (CaresError, OSError) as error:
            print(plain_lines(f"error: verify could not be done: {error}"), file=sys.stderr)
            raise typer.Exit(2) from None
        except Exception:  # a fault of ours is no difference: status 1 would say so
            traceback.print_exc()
            raise typer.Exit(2) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        if report != "equal":
            raise typer.Exit(1)


def _verify(
    stage: list[str] | None,
    start: str | None,
    scenes: int | None,
    seed: int,
    twice: bool,
    as_is: bool,
    against: str | None,
    rev: str | None,
    keep: bool,
) -> str:
    """Do it and print the report; `equal` or `differs`."""
    from cares.core.errors import InputError
    from cares.core.paths import repo_root
    from cares.core.text import plain_lines
    from cares.repro.verify.against import verify_against
    from cares.repro.verify.report import text_of
    from cares.repro.verify.run import OUT, Wanted
    from cares.repro.verify.run import verify as rebuild_and_compare

    root, stages = repo_root(), tuple(stage or ())
    if against is not None:
        for option, given in (("--scenes", scenes), ("--twice", twice), ("--as-is", as_is), ("--keep", keep)):
            if given:
                raise InputError(
                    "command line", option, given, "nothing of this beside --against, which rebuilds nothing"
                )
        report = verify_against(root, against, rev, stages, start)
    elif rev is not None:
        raise InputError("command line", "--rev", rev, "--against beside it")
    else:
        report = rebuild_and_compare(root, Wanted(stages, start, scenes, seed, twice, as_is, keep))
    # another build's files may hold anything, control characters too
    print(plain_lines(text_of(report)), end="")
    print(f"report: {OUT}/report.json, {OUT}/report.txt")
    return str(report["result"])
