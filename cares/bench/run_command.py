"""`cares bench`: one model over a pulled data set, with nothing but a server that offers it, or its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cares.bench.adapters.params import TransformersParams
from cares.bench.params import BenchParams
from cares.bench.run_audio import hear_items, told_errors, told_timings, with_kept
from cares.bench.run_folder import claim
from cares.bench.run_items import ITEMS, chosen_items, data_root, frozen_items
from cares.bench.run_journal import Journal
from cares.bench.run_results import asked_items, headlines, scored, write_results
from cares.bench.systems_audio import AudioSystem
from cares.catalog.load import load_catalog
from cares.core.canonical import file_digest
from cares.core.errors import CaresError
from cares.core.params import Params
from cares.core.text import plain

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

    The results cover what is asked now and each other task and split that was answered in this folder before.

    Raises:
        InputError: the data set is not there, incomplete or another one, a task or split is unknown, or the folder
            belongs to another model or other settings.
        CaresError: the server stays away, or no question got an answer; answers so far are kept, and the same command
            goes on.
    """
    root = data_root(asked.data)
    every = frozen_items(root)
    chosen = chosen_items(every, asked.tasks, asked.splits, root / ITEMS)
    seed, bootstrap = _seed_and_bootstrap(root)
    name = plain(system.name) + ("-constrained" if asked.constrained else "")
    settings = (seed, asked.max_tokens, asked.constrained)
    claim(asked.out, system.name, system.digest, asked.constrained, asked.max_tokens)
    with Journal(asked.out / "asked.jsonl") as journal:
        items, left_out = with_kept(system, every, chosen, root, journal, *settings)
        heard = hear_items(system, name, items, root, journal, *settings, asked.repeats, chosen)
        answers = heard.answers
        failures = told_errors(answers)
        if all(answer.status == "error" for answer in answers):
            raise CaresError(f"bench {name}: no question got an answer, so there are no figures. {'; '.join(failures)}")
        about = {"model": system.name, "same_again_promised": False, "splits": sorted({item.split for item in items})}
        sums = file_digest(root / ITEMS)
        found = scored(name, about, asked_items(items, answers), answers, sums, load_catalog(), bootstrap, seed)
        write_results(asked.out, found, answers, heard.timings)
    bad = {status: count for status, count in found["run"]["status"].items() if count and status != "ok"}
    kept = len(answers) - heard.asked
    told = [*headlines(found), *left_out]
    not_read = ", ".join(f"{count} {status}" for status, count in bad.items()) or "all read"
    told.append(f"{heard.asked} asked now, {kept} kept from before; {told_timings(heard.timings)}")
    if flips := found["run"].get("flips"):
        told.append(f"{flips['flips']} of {flips['n']} repeated questions got another answer")
    told += failures
    told.append(f"{len(answers)} answers ({not_read}) -> {asked.out}: metrics.json, answers.jsonl")
    return [f"bench {name}: {line}" for line in told]


def _seed_and_bootstrap(root: Path) -> tuple[int, int]:
    """Those of the data set's params.yaml; a copy without one is scored with the defaults."""
    if not (root / "params.yaml").is_file():
        return SEED, BOOTSTRAP
    params = Params(root / "params.yaml")
    return params.seed, params.section("bench", BenchParams).bootstrap
