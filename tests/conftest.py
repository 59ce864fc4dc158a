"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# an example that takes long on a busy machine is no fault
settings.register_profile("cares", deadline=None)
settings.load_profile("cares")
