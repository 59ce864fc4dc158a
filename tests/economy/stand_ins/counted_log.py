"""One line for each thing that is counted, in the file that ECONOMY_LOG names; processes may write at once."""

import os
from pathlib import Path


def note(*words):
    """Append a line; nothing without a log."""
    if path := os.environ.get("ECONOMY_LOG"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(" ".join(map(str, words)) + "\n")
