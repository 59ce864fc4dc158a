"""How a stage or command ends: quietly when it worked, else with one clear message and a status that is not 0."""

from __future__ import annotations

import sys
from collections.abc import Callable

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
