"""Prompts are Jinja files, one a prompt; a name that a prompt uses and nobody gives is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError

from cares.core.errors import InputError


@cache
def _template(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "a prompt") from None


def render(path: Path, **values: object) -> str:
    """The prompt of a file with its values in place, without blank ends; InputError when it cannot be rendered."""
    try:
        # the text goes to a language model, not into a page: nothing is to be escaped
        environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
        return environment.from_string(_template(path)).render(**values).strip()
    except TemplateError as error:
        raise InputError(path, "", str(error), "a Jinja template with known names") from None
