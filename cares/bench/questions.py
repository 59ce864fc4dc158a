"""The wording of the frozen questions: prompts/item_*.jinja, rendered once when the items are made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template, TemplateError

from cares.core.errors import InputError
from cares.records.item import LETTERS, TASKS, Task

PROMPTS = Path("prompts")
DEFINITIONS: dict[str, str] = {
    "pivot": "they drop their topic and go on talking about the sound",
    "verbal": "one short remark on the sound, then their topic goes on",
    "behavioral": "a speaker breaks off, stalls or starts again, but never mentions the sound",
    "ambient": "they talk on as if nothing had happened",
}
ORDINALS = ("first", "second", "third")


class Questions:
    """Puts items into words.

    Args:
        folder: where item_<task>.jinja lie.

    Raises:
        InputError: a file is missing or is no Jinja template.
    """

    def __init__(self, folder: Path = PROMPTS) -> None:
        environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
        self._folder = folder
        self._templates = {task: _template(environment, folder / f"item_{task}.jinja") for task in TASKS}

    def ask(self, task: Task, shown: Sequence[str] = (), **values: object) -> str:
        """The whole question.

        Args:
            task: which prompt.
            shown: what each option says, in order; they are lettered here.
            values: what else the prompt uses.

        Raises:
            InputError: the prompt uses a name that is not given.
        """
        options = "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, shown, strict=False))
        try:
            return self._templates[task].render(options=options, **values).strip()
        except TemplateError as error:
            raise InputError(self._folder / f"item_{task}.jinja", "", str(error), "known names only") from None


def clock(time_ms: int) -> str:
    """A time for people: minutes, seconds and tenths, such as "0:07.3"."""
    tenths = (time_ms + 50) // 100
    return f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"


def _template(environment: Environment, path: Path) -> Template:
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "the prompt of this task") from None
    except TemplateError as error:
        raise InputError(path, "", str(error), "a Jinja template") from None
