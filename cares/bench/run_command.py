"""`cares bench`: one model over a pulled data set, with nothing but a server that offers it, or its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cares.bench.adapters.params import TransformersParams
from cares.bench.items_file import read_items
from cares.bench.params import BenchParams, check_group
from cares.bench.run_audio import hear_items, told_timings
from cares.bench.run_journal import Journal
from cares.bench.run_results import asked_items, headlines, scored, write_results
from cares.bench.systems_audio import AudioSystem
from cares.catalog.load import load_catalog
from cares.core.canonical import file_digest
from cares.core.errors import InputError
from cares.core.params import Params
from cares.records.item import Item
from cares.records.scene import SPLITS

ITEMS = Path("data/bench/items.jsonl")
SEED, BOOTSTRAP = 1, 2000


class Asked(NamedTuple):
    """What `cares bench` was told.

    Attributes:
        data: the root of the data set: the folder that holds data/bench/items.jsonl.
        out: where answers and figures go.
        tasks: tasks or levels of them; none for all.
        splits: splits; none for all.
        max_tokens: length of an answer.
        constrained: whether nothing but a letter can be answered.
        repeats: how many questions are asked once more.
    """

    data: Path
    out: Path
    tasks: Sequence[str]
    splits: Sequence[str]
    max_tokens: int
    constrained: bool
    repeats: int


@contextmanager
def served(model: str, base_url: str, in_flight: int, timeout_s: float, attempts: int) -> Iterator[AudioSystem]:
    """A model on a server; the key comes from CARES_LLM_KEY."""
    from cares.bench.systems_openai import AudioServer
    from cares.llm.server import PATIENCE

    patience = PATIENCE._replace(in_flight=in_flight, answer_s=timeout_s, request_s=2 * timeout_s, attempts=attempts)
    system = AudioServer(model, base_url, os.environ.get("CARES_LLM_KEY"), patience)
    try:
        yield system
    finally:
        system.close()


@contextmanager
def in_process(params: TransformersParams) -> Iterator[AudioSystem]:
    """A pinned model that runs in this process."""
    from cares.bench.adapters.run import TransformersModel

    system = TransformersModel(params)
    try:
        yield system
    finally:
        system.close()


def bench(system: AudioSystem, asked: Asked) -> list[str]:
    """Ask, read and score; returns the lines to print.

    Raises:
        InputError: the data set is not there or incomplete, or a task or split is unknown.
        CaresError: the server stays away; answers so far are kept, and the same command goes on.
    """
    root = data_root(asked.data)
    items = chosen_items(read_items(root / ITEMS), asked.tasks, asked.splits, root / ITEMS)
    seed, bootstrap = _seed_and_bootstrap(root)
    name = slug(system.name) + ("-constrained" if asked.constrained else "")
    with Journal(asked.out / "asked.jsonl") as journal:
        heard = hear_items(system, name, items, root, journal, seed, asked.max_tokens, asked.constrained, asked.repeats)
        about = {"model": system.name, "same_again_promised": False, "splits": sorted({item.split for item in items})}
        sums = file_digest(root / ITEMS)
        answers = heard.answers
        found = scored(name, about, asked_items(items, answers), answers, sums, load_catalog(), bootstrap, seed)
        write_results(asked.out, found, answers, heard.timings)
    bad = {status: count for status, count in found["run"]["status"].items() if count and status != "ok"}
    kept = len(answers) - heard.asked
    told = [f"bench {name}: {line}" for line in headlines(found)]
    not_read = ", ".join(f"{count} {status}" for status, count in bad.items()) or "all read"
    told.append(f"bench {name}: {heard.asked} asked now, {kept} kept from before; {told_timings(heard.timings)}")
    if flips := found["run"].get("flips"):
        told.append(f"bench {name}: {flips['flips']} of {flips['n']} repeated questions got another answer")
    told.append(f"bench {name}: {len(answers)} answers ({not_read}) -> {asked.out}: metrics.json, answers.jsonl")
    return told


def data_root(given: Path) -> Path:
    """The folder that holds data/bench/items.jsonl: the given one, or the one above if the given is `data` itself.

    Raises:
        InputError: there are no items in either.
    """
    roots = [given]
    if given.resolve().name == "data":
        roots.append(given.parent if given.name == "data" else given.resolve().parent)
    for root in roots:
        if (root / ITEMS).is_file():
            return root
    raise InputError(given / ITEMS, "", "no such file", "the frozen questions", "Run: dvc pull data/scenes data/bench")


def chosen_items(items: Sequence[Item], tasks: Sequence[str], splits: Sequence[str], file: Path) -> list[Item]:
    """The items of the wanted tasks (or levels) and splits; InputError when a name is unknown or nothing is left."""
    for split in splits:
        if split not in SPLITS:
            raise InputError("command line", "--split", split, f"one of {', '.join(SPLITS)}")
    for task in tasks:
        try:
            check_group(task)
        except ValueError as error:
            raise InputError("command line", "--task", task, str(error)) from None
    chosen = [
        item
        for item in items
        if (not splits or item.split in splits) and (not tasks or item.task in tasks or item.group in tasks)
    ]
    if not chosen:
        wanted = ", ".join([*tasks, *splits]) or "anything"
        raise InputError(file, "", f"no item of {wanted}", "at least one question to ask")
    return chosen


def slug(name: str) -> str:
    """A model's name as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"


def _seed_and_bootstrap(root: Path) -> tuple[int, int]:
    """Those of the data set's params.yaml; a copy without one is scored with the defaults."""
    if not (root / "params.yaml").is_file():
        return SEED, BOOTSTRAP
    params = Params(root / "params.yaml")
    return params.seed, params.section("bench", BenchParams).bootstrap
