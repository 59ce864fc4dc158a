"""Errors that a user can act on: they name the file, the field, the value, what was expected and what to do."""

from __future__ import annotations


class CaresError(Exception):
    """A problem with an input, a file or the environment; printed without a traceback, exit status 1."""


class InputError(CaresError):
    """A value in a file is wrong.

    Args:
        file: the file as the user named it.
        field: dotted path of the field, or "" for the file as a whole.
        value: the offending value, shown with repr.
        expected: what would have been right.
        hint: what to do about it (optional).
    """

    def __init__(self, file: object, field: str, value: object, expected: str, hint: str = "") -> None:
        where = f"{file}: {field}" if field else str(file)
        shown = repr(value)
        if len(shown) > 120:
            shown = shown[:117] + "..."
        message = f"{where}: got {shown}, expected {expected}"
        super().__init__(f"{message}. {hint}" if hint else message)
        self.file, self.field, self.value = str(file), field, value

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # made again from its message: an error of a worker process has to reach the process that started it
        return _again, (str(self),)


def _again(message: str) -> CaresError:
    return CaresError(message)
