"""How a stage or command ends: quietly when it worked, else with one clear message and a status that is not 0."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cares.core.errors import CaresError
from cares.core.text import plain_lines


def run_stage(main: Callable[[], None]) -> None:
    """Run `main` and exit: 0 when done, 1 after a CaresError or an OSError (message only), 130 after Ctrl-C.

    A message may quote what a server or a file said, so control characters are taken out of it.
    """
    try:
        main()
    except CaresError as error:
        sys.exit(f"error: {plain_lines(str(error))}")
    except OSError as error:
        sys.exit(f"error: {plain_lines(str(error.filename or 'file system'))}: {error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted; finished items are kept, run the same command again to go on", file=sys.stderr)
        sys.exit(130)


def end_with_dvc() -> None:
    """Have this process end when the DVC that started it is killed, or the next `dvc repro` would work beside it.

    To be called as early as possible: who started a process can be seen only while it lives.
    """
    if "DVC_STAGE" in os.environ and multiprocessing.parent_process() is None:
        threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    above = None
    with contextlib.suppress(OSError):
        # a shell between DVC and us has what DVC gives to those that it starts
        if b"\0DVC_STAGE=" in Path(f"/proc/{parent}/environ").read_bytes():
            above = _parent_of(parent)
    ended = False
    while not ended:
        time.sleep(0.5)
        ended = os.getppid() != parent
        if above is not None:
            with contextlib.suppress(OSError):
                ended |= _parent_of(parent) != above
    print("DVC was killed, so this stage ends; what is finished is kept, dvc repro goes on from there", file=sys.stderr)
    os._exit(1)


def _parent_of(process: int) -> int:
    # the name of a process, in brackets, may hold blanks; its state and its parent follow
    return int(
        Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1]
    )
