"""The item store, which writes down what is taken from it and what is made for it."""

from counted_log import note

from cares.core.store import ItemStore as _ItemStore


class ItemStore(_ItemStore):
    """As `cares.core.store.ItemStore`."""

    def __init__(self, family, root=None):
        super().__init__(family, root)
        self._named = family

    def get(self, key):
        """See there; an item that is there is taken."""
        if (entry := super().get(key)) is not None:
            note("taken", self._named, key)
        return entry

    def put(self, key, value, blob=b""):
        """See there; an item that is put was made. Of a list, as a wave's answers are, its length is noted too."""
        note("made", self._named, key, len(value) if isinstance(value, list) else 1)
        return super().put(key, value, blob)
