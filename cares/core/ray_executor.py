"""`stream_items` on Ray: the same results in the same order, from processes of this machine or of a cluster.

Each worker is an actor that has done `setup` and is asked one item at a time. One that dies is replaced and its item is
asked again; an item under which several die ends the run. Nothing of where an item was made reaches its result.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from cares.core import ray_hand
from cares.core.errors import CaresError, InputError
from cares.core.executor import WINDOW, progress, worker_count
from cares.core.ray_connection import Connection, connect
from cares.core.ray_place import place

T = TypeVar("T")
R = TypeVar("R")

DEATHS = 3  # workers that may die under one item, or while they start, before the run ends
TICK_S = 5.0
TOLD_S, GIVEN_UP_S = 30.0, 900.0
LONGEST_NAME = 80


@dataclass
class _Worker:
    actor: Any
    number: int
    item: int | None = None
    started: bool = False


def stream_on_ray(
    work: Callable[[T], R],
    items: Sequence[T],
    desc: str,
    workers: int | None,
    setup: Callable[..., None] | None,
    setup_args: tuple[object, ...],
) -> Iterator[R]:
    """See `cares.core.executor.stream_items`.

    Raises:
        CaresError: Ray is not there, gives no place to any worker, or workers die again and again; what `work` and
            `setup` raise is raised as it is.
    """
    joined = bool(os.environ.get("CARES_RAY_ADDRESS"))
    wanted = workers or (None if joined and "CARES_WORKERS" not in os.environ else worker_count())
    connection = connect(wanted or 1)
    count = min(wanted or connection.cpus, len(items))
    with place(connection.joined) as where, progress(total=len(items), desc=desc) as bar:
        crew = _Crew(connection, items, count, where, (work, setup, setup_args))
        try:
            given = 0
            while given < len(items):
                crew.ask(given + WINDOW * count)
                bar.update(crew.collect(wait=given not in crew.ready))
                if given in crew.ready:
                    yield crew.ready.pop(given)
                    given += 1
        finally:
            crew.end()


class _Crew:
    """The workers of one run, what they are at, and what is done and not yet taken (`ready`, by place of the item)."""

    def __init__(
        self, connection: Connection, items: Sequence[Any], count: int, where: dict[str, Any], job: tuple[Any, ...]
    ) -> None:
        cloudpickle = import_module("ray.cloudpickle")
        cloudpickle.register_pickle_by_value(ray_hand)
        self._ray, self._pickle, self._items = connection.ray, cloudpickle.dumps, items
        self._make = self._ray.remote(num_cpus=1, num_gpus=gpus_each(), max_restarts=0)(ray_hand.Hand)
        self._where, self._job = where, cloudpickle.dumps(job)
        self._asked: dict[Any, _Worker] = {}
        self._again: list[int] = []
        self._next = 0
        self._deaths: dict[int | None, int] = {}
        self._idle_since: float | None = time.monotonic()
        self._told = False
        self.ready: dict[int, Any] = {}
        self._workers: list[_Worker] = []
        for number in range(count):
            self._hire(number)

    def ask(self, below: int) -> None:
        """Give an item to every worker that has none; only items whose place is `below`."""
        for worker in self._workers:
            if not worker.started or worker.item is not None:
                continue
            if self._again:
                place = self._again.pop(0)
            elif self._next < min(below, len(self._items)):
                place, self._next = self._next, self._next + 1
            else:
                return
            worker.item = place
            self._asked[worker.actor.run.remote(self._pickle(self._items[place]))] = worker

    def collect(self, wait: bool) -> int:
        """Take what is done, after waiting for a first one if asked to; the number of results."""
        if not self._asked:
            return 0
        done, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=TICK_S if wait else 0)
        self._check_progress(bool(done))
        return sum(self._take(ref) for ref in done)

    def end(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self._workers:
            with contextlib.suppress(Exception):
                self._ray.kill(worker.actor)
        self._workers, self._asked = [], {}

    def _hire(self, number: int) -> None:
        worker = _Worker(self._make.remote(), number)
        self._workers.append(worker)
        self._asked[worker.actor.start.remote(self._where, number, self._job)] = worker

    def _take(self, ref: Any) -> int:
        worker = self._asked.pop(ref)
        try:
            answer = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._replace(worker, error)
            return 0
        value, raised, printed = pickle.loads(answer)
        if printed:
            sys.stderr.write(printed)
        if raised is not None:
            raise raised
        place, worker.item = worker.item, None
        if place is None:
            worker.started = True
            self._deaths.pop(None, None)
            return 0
        self.ready[place] = value
        return 1

    def _replace(self, worker: _Worker, error: Exception) -> None:
        """Another worker for one that died; its item is asked again, before those that follow."""
        self._workers.remove(worker)
        with contextlib.suppress(Exception):
            self._ray.kill(worker.actor)
        count = self._deaths[worker.item] = self._deaths.get(worker.item, 0) + 1
        at = "while it was made ready" if worker.item is None else f"at {called(self._items, worker.item)}"
        if count >= DEATHS:
            raise CaresError(
                f"Ray: {count} workers died {at}; was there too little memory? The last: {_first_lines(error)}"
            ) from None
        print(f"Ray: a worker died {at}; another takes its place", file=sys.stderr)
        if worker.item is not None:
            self._again = sorted([*self._again, worker.item])
        self._hire(worker.number)

    def _check_progress(self, some: bool) -> None:
        """Say it when no worker gets a place, and give up at last."""
        if some or any(worker.started for worker in self._workers):
            self._idle_since = None
            return
        self._idle_since = self._idle_since or time.monotonic()
        waited = time.monotonic() - self._idle_since
        if waited < TOLD_S or (self._told and waited < GIVEN_UP_S):
            return
        free = self._ray.available_resources()
        has = f"free are {free.get('CPU', 0):g} processors and {free.get('GPU', 0):g} GPUs"
        needs = f"a worker takes 1 processor and {gpus_each():g} GPUs (CARES_RAY_GPUS)"
        if waited >= GIVEN_UP_S:
            raise CaresError(f"Ray: no worker is ready after {waited:.0f} s; {has}, {needs}")
        print(f"Ray: waiting for the first worker; {has}, {needs}", file=sys.stderr)
        self._told = True


def called(items: Sequence[Any], place: int) -> str:
    """What an item is for people: its place, and its id, or itself where it is short; never a part of a prompt."""
    item, name = items[place], None
    for one in (item, *item) if isinstance(item, tuple) else (item,):
        for field in ("scene_id", "item_id", "take_id", "id", "name"):
            if name is None and isinstance(found := getattr(one, field, None), str):
                name = found
    if name is None and len(shown := repr(item)) <= LONGEST_NAME:
        name = shown
    return f"item {place + 1} of {len(items)}" + (f", {name}" if name else "")


def gpus_each() -> float:
    """GPUs, or the part of one, that a worker takes: CARES_RAY_GPUS, else none."""
    given = os.environ.get("CARES_RAY_GPUS", "0")
    try:
        count = float(given)
    except ValueError:
        count = -1.0
    if not (0 <= count < 1 or (count.is_integer() and count > 0)):
        raise InputError("environment", "CARES_RAY_GPUS", given, "a whole number, or a part of 1 such as 0.5")
    return count


def _first_lines(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3]) or type(error).__name__
