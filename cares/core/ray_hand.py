"""The process of Ray that works on items: `Hand` is sent to it by value, so that it runs before any of ours is found.

Bytes go in and out, as between local processes: what arrives is a copy of its own, and an exception is a value.
"""

from __future__ import annotations

from typing import Any


class Hand:
    """One worker; `start` once, then `run` for every item. Imports stand in the methods: the class travels alone."""

    _work: Any = None

    def start(self, place: dict[str, Any], number: int, job: bytes) -> bytes:
        """Take over the place of the run (folder, environment, where modules are), check it, set up.

        Args:
            place: see `cares.core.ray_place.place`.
            number: which of the workers this is, from 0; it takes the number of one that died.
            job: pickled (work, setup, setup_args).

        Returns:
            As `run`; the value is None.
        """
        import os
        import pickle
        import sys
        from pathlib import Path

        def started() -> None:
            # what the shell had in which a cluster was started is not for this run to know, a server for example;
            # of threads Ray sets a number itself. Only where weights lie is each machine's own.
            own = ("CARES_CACHE", "CARES_WEIGHTS")
            for name in list(os.environ):
                if name.endswith("_NUM_THREADS") or (name.startswith("CARES_") and name not in own):
                    del os.environ[name]
            os.environ.update(place["environment"])
            sys.path[:] = [*place["path"], *(entry for entry in sys.path if entry not in place["path"])]
            if Path(place["folder"]).is_dir():
                os.chdir(place["folder"])
            from cares.core.ray_place import check_here

            check_here(place, number)
            self._work, setup, setup_args = pickle.loads(job)
            if setup is not None:
                setup(*setup_args)

        return self._answer(started)

    def run(self, item: bytes) -> bytes:
        """Work on one pickled item.

        Returns:
            A pickled (value, exception, printed): the value or what was raised, and all that was printed meanwhile.
        """
        import pickle

        return self._answer(lambda: self._work(pickle.loads(item)))

    def _answer(self, call: Any) -> bytes:
        import contextlib
        import io
        import pickle
        import traceback
        from importlib import import_module

        dumps = import_module("ray.cloudpickle").dumps
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            try:
                return bytes(dumps((call(), None, printed.getvalue())))
            except BaseException as error:
                trace = traceback.format_exc()
                error.add_note(f"in a worker of Ray:\n{trace}")
                try:
                    sent = bytes(dumps((None, error, printed.getvalue())))
                    pickle.loads(sent)
                except Exception:
                    other = RuntimeError(f"{type(error).__name__} in a worker:\n{trace}")
                    sent = bytes(dumps((None, other, printed.getvalue())))
                return sent
