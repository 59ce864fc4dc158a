"""Which kills there will be: a stage, a way and a moment for each, from a seed."""

from __future__ import annotations

import random

from tests.faults.kills import WAYS, Plan
from tests.faults.reference import Reference


def plans(reference: Reference, kills: int, seed: int, stages: list[str] | None = None) -> list[Plan]:
    """`kills` plans, spread evenly over the stages (all, or those given), in an order drawn as well.

    Ways are dealt in turn to each stage, so that a stage meets different ones; a stage without workers has none killed.
    """
    draw = random.Random(seed)
    names = [name for name in reference.stages if stages is None or name in stages]
    rounds = [draw.sample(names, len(names)) for _ in range(-(-kills // len(names)))]
    dealt = [name for names_of_round in rounds for name in names_of_round][:kills]
    ways = {name: _shuffled(draw, reference.costs[name].has_workers) for name in names}
    return [_plan(draw, number, name, ways[name]) for number, name in enumerate(dealt, 1)]


def _shuffled(draw: random.Random, has_workers: bool) -> list[str]:
    ways = [way for way in WAYS if has_workers or way != "worker"]
    draw.shuffle(ways)
    return ways


def _plan(draw: random.Random, number: int, stage: str, ways: list[str]) -> Plan:
    way = ways.pop(0)
    ways.append(way)
    return Plan(
        number=number,
        stage=stage,
        way=way,
        moment=round(draw.uniform(0.02, 1.0 if way == "tree" else 0.97), 3),
        lost=round(draw.uniform(0.3, 1.0), 2),
        workers=2 if way == "worker" else draw.choice((1, 2)),
    )
