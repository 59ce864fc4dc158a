"""Model families of who writes and who judges: a model may favour what its own family writes.

(Panickssery, Bowman and Feng, "LLM evaluators recognize and favor their own generations", 2024.)
"""

from __future__ import annotations

from cares.core.errors import InputError
from cares.core.record import Record
from cares.dialogue.judging import EvaluatorKind
from cares.models.params import ModelsParams
from cares.models.registry import load_registry
from cares.models.schema import Family


class Families(Record):
    """The family of the writer, of who writes the topics where that is another model, and those of the evaluator.

    `same` says that one of them both writes and judges, as was allowed.
    """

    writer: Family
    topics: Family | None = None
    evaluator: tuple[Family, ...]
    same: bool

    @property
    def remark(self) -> str:
        """What the evaluator's name says of it; "" when the families differ."""
        if self.writer in self.evaluator:
            return f" (same family as the writer: {self.writer})"
        return f" (same family as the topics' writer: {self.topics})" if self.same else ""


def families(models: ModelsParams, evaluator: EvaluatorKind, allow_same: bool, file: object) -> Families:
    """The families of writer and evaluator; who writes the topics counts as a writer too.

    Raises:
        InputError: they share a family and that is not allowed; a family is not known, or is not what the registry
            says; or the evaluator needs a judge and there is none.
    """
    writer = _family("writer", models.writer, models.writer_family, file)
    topics = None
    if models.topic_writer != models.writer:
        topics = _registered_family("topics", models.topic_writer, file)
    writes = {"models.writer_family": writer} | ({"models.topics": topics} if topics else {})
    found: dict[str, Family] = {}
    if evaluator != "llm":
        found["encoder"] = _registered_family("encoder", models.encoder, file)
    if evaluator != "classifier":
        found["judge_family"] = _family("judge", judge_of(models, file), models.judge_family, file)
    for field, family in found.items():
        for by_whom, written in writes.items():
            if family == written and not allow_same:
                raise InputError(
                    file,
                    f"models.{field}",
                    family,
                    f"another family than that of {by_whom} ({written})",
                    "Judge with another model, or set calibration.allow_same_family: every record and report then "
                    "says so",
                )
    same = any(family in found.values() for family in writes.values())
    return Families(writer=writer, topics=topics, evaluator=tuple(found.values()), same=same)


def judge_of(models: ModelsParams, file: object) -> str:
    """The language model that judges; InputError when there is none."""
    if models.judge is None:
        raise InputError(file, "models.judge", None, "a language model, which the evaluators llm and both need")
    return models.judge


def _family(role: str, model_id: str, given: Family | None, file: object) -> Family:
    """The family of a model that has a key of its own for it, models.writer_family or models.judge_family."""
    known = _known_family(model_id)
    if given is not None and known is not None and given != known:
        raise InputError(file, f"models.{role}_family", given, f"{known}, as the registry says of {model_id}")
    family = given or known
    if family is None:
        raise InputError(file, f"models.{role}_family", None, f"the family of {model_id}, which the registry lacks")
    return family


def _registered_family(role: str, model_id: str, file: object) -> Family:
    """The family of a model whose family the registry has to know."""
    family = _known_family(model_id)
    if family is None:
        raise InputError(file, f"models.{role}", model_id, "a model whose family the registry knows")
    return family


def _known_family(model_id: str) -> Family | None:
    entry = load_registry().get(model_id)
    return entry.family if entry else None
