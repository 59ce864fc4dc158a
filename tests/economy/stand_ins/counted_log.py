"""One line for each thing that is counted, in the file that ECONOMY_LOG names; processes may write at once."""

import os
import sys
from pathlib import Path


def note(*words):
    """Append a line that begins with the stage; nothing without a log."""
    if path := os.environ.get("ECONOMY_LOG"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(" ".join(map(str, (os.environ.get("ECONOMY_STAGE", "-"), *words))) + "\n")


def name_stage():
    """Tell this process and those that it starts which stage they are, where it is `python -m stages.<stage>`."""
    for word in sys.orig_argv:
        if word.startswith("stages."):
            os.environ["ECONOMY_STAGE"] = word.removeprefix("stages.")
