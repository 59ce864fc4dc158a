"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# an example that takes long on a busy machine is no fault
settings.register_profile("cares", deadline=None)
settings.load_profile("cares")

# a shell that starts the tests in the background has them ignore Ctrl-C, and every process that they start as well
signal.signal(signal.SIGINT, signal.default_int_handler)
