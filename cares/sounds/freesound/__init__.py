"""Recordings of freesound.org: found by search terms, pinned by id and hash, fetched as previews."""
