"""One made-up project and its timelines, shared by the tests of the mix."""

from __future__ import annotations

import pytest
from mix_world import MIX, SEED, TIMELINE, World, make_world

from cares.mix.backend import NumpyBackend
from cares.mix.sources import Sources
from cares.mix.timeline import build_timeline
from cares.records.timeline import Timeline


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("wörld of sound"))


@pytest.fixture(scope="session")
def timelines(world: World) -> list[Timeline]:
    return [
        build_timeline(
            item, world.bank.for_scene(item.scene), TIMELINE, MIX, SEED, Sources(world.root), NumpyBackend()
        ).timeline
        for item in world.inputs
    ]
