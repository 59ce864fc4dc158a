"""`map_items` and `stream_items`: one function over many items, in local processes or on Ray, with a progress bar.

The result of an item depends on the item alone; who works on it (CARES_EXECUTOR) and how many there are (CARES_WORKERS)
decides only how long it takes.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import SpawnContext
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Literal, TypeVar

from tqdm import tqdm

from cares.core.errors import CaresError, InputError

T = TypeVar("T")
R = TypeVar("R")

WINDOW = 4  # items for each worker that are under way, or done and not yet taken
_number: int | None = None


def worker_count() -> int:
    """Processes to use: CARES_WORKERS, else the processors that this process may run on."""
    given = os.environ.get("CARES_WORKERS")
    if given is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not given.isdigit() or int(given) < 1:
        raise InputError("environment", "CARES_WORKERS", given, "a whole number of at least 1")
    return int(given)


def executor_kind() -> Literal["processes", "ray"]:
    """Who does the work of `map_items`: CARES_EXECUTOR, else local processes."""
    given = os.environ.get("CARES_EXECUTOR", "processes")
    if given not in ("processes", "ray"):
        raise InputError("environment", "CARES_EXECUTOR", given, "processes or ray")
    return "ray" if given == "ray" else "processes"


def become_worker(number: int) -> None:
    """This process is one of Ray's workers: it shows no bars, which would be written over those of the others."""
    global _number
    _number = number


def worker_number() -> int | None:
    """Which of Ray's workers this process is, from 0; None when it is none. No result may depend on it."""
    return _number


def progress(items: Iterable[T] | None = None, *, total: int | None = None, desc: str, unit: str = "item") -> tqdm[T]:
    """The one progress bar of the project: on stderr, with rate and time left; quiet updates when not on a terminal."""
    return tqdm(
        items,
        total=total,
        desc=desc,
        unit=unit,
        mininterval=0.2 if sys.stderr.isatty() else 15.0,
        dynamic_ncols=True,
        file=sys.stderr,
        disable=_number is not None,
    )


def map_items(
    work: Callable[[T], R],
    items: Sequence[T],
    *,
    desc: str,
    workers: int | None = None,
    setup: Callable[..., None] | None = None,
    setup_args: tuple[object, ...] = (),
) -> list[R]:
    """All results of `stream_items`, whose arguments these are, in one list."""
    return list(stream_items(work, items, desc=desc, workers=workers, setup=setup, setup_args=setup_args))


def stream_items(
    work: Callable[[T], R],
    items: Sequence[T],
    *,
    desc: str,
    workers: int | None = None,
    setup: Callable[..., None] | None = None,
    setup_args: tuple[object, ...] = (),
) -> Iterator[R]:
    """Apply `work` to every item; the results come one after the other, in the order of `items`.

    `work` keeps its own results in the item store, so a killed run resumes. It reports a failed item as a value; an
    exception is a fault of the run: it ends the workers, and is raised. At most `WINDOW` items for each worker are
    under way or wait to be taken: a caller that takes none stops the work, and one that leaves before the end closes
    the generator (or drops it), which ends the workers.

    Args:
        work: a module-level function (it must be picklable) of one item.
        items: what to work on.
        desc: the progress bar's label.
        workers: how many; default `worker_count()`. One that is asked for here is this process, with Ray as well.
        setup: called once in each worker before the first item, for example to load a model.
        setup_args: its arguments.

    Raises:
        InputError: CARES_EXECUTOR or CARES_WORKERS is none of the values that they may have.
        CaresError: a worker was killed, or Ray cannot give any.
    """
    if executor_kind() == "ray" and workers != 1 and items:
        from cares.core.ray_executor import stream_on_ray

        return stream_on_ray(work, items, desc, workers, setup, setup_args)
    count = min(workers or worker_count(), max(1, len(items)))
    if count == 1:
        return _here(work, items, desc, setup, setup_args)
    return _in_processes(work, items, desc, count, setup, setup_args)


def _here(
    work: Callable[[T], R],
    items: Sequence[T],
    desc: str,
    setup: Callable[..., None] | None,
    setup_args: tuple[object, ...],
) -> Iterator[R]:
    if setup is not None and items:
        setup(*setup_args)
    for item in progress(items, desc=desc):
        yield work(item)


def _in_processes(
    work: Callable[[T], R],
    items: Sequence[T],
    desc: str,
    count: int,
    setup: Callable[..., None] | None,
    setup_args: tuple[object, ...],
) -> Iterator[R]:
    context = multiprocessing.get_context("spawn")
    # Python writes what a new worker needs into a pipe whose other end it holds as well: a worker that is killed while
    # it starts leaves it waiting for ever if that is more than a pipe holds. So only the name of a file goes there.
    with tempfile.NamedTemporaryFile(prefix="cares-setup-") as needed:
        ForkingPickler(needed).dump((setup, setup_args))
        needed.flush()
        yield from _in_pool(work, items, desc, count, context, needed.name)


def _in_pool(
    work: Callable[[T], R], items: Sequence[T], desc: str, count: int, context: SpawnContext, needed: str
) -> Iterator[R]:
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_start_worker, initargs=(needed,))
    try:
        waiting: dict[Future[R], int] = {}
        ready: dict[int, R] = {}
        asked = given = 0
        with progress(total=len(items), desc=desc) as bar:
            while given < len(items):
                with _uninterrupted():
                    while asked < len(items) and asked - given < WINDOW * count and len(waiting) < 2 * count:
                        waiting[pool.submit(work, items[asked])] = asked
                        asked += 1
                done, _ = wait(waiting, timeout=0 if given in ready else None, return_when=FIRST_COMPLETED)
                for future in done:
                    ready[waiting.pop(future)] = future.result()
                    bar.update()
                if given in ready:
                    yield ready.pop(given)
                    given += 1
    except BrokenProcessPool:
        _stop(pool)
        raise CaresError(
            f"{desc}: a worker process was killed (no memory left?). What was finished is kept: run the same command "
            "again to go on, with fewer workers (CARES_WORKERS) if memory was short"
        ) from None
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _start_worker(needed: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    setup, setup_args = ForkingPickler.loads(Path(needed).read_bytes())
    if setup is not None:
        setup(*setup_args)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the workers now: their results are in the store or will be made again."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the workers are started: one that is half started would die with a traceback of its own."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """A killed run must leave no worker behind, idle with its model in memory."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def check_not_empty(items: Sequence[object], file: object) -> None:
    """CaresError when a stage has nothing to do, so that an empty input is not a silent success."""
    if not items:
        raise CaresError(f"{file}: holds no item; the stage before it made nothing")
