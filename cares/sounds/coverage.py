"""What a bank holds of the catalog: takes per split of every sound and ambience, from where, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.records.bank import Take
from cares.records.scene import SPLITS, Split
from cares.sounds.report import TakeReport, count_reasons
from cares.sounds.source import Job, Kind

METRICS = Path("metrics/sounds.json")


class Holding(NamedTuple):
    """One take that a bank holds or will hold."""

    kind: Kind
    name: str
    split: Split
    source: str


class Cover(NamedTuple):
    """Takes of one sound (or of a location's ambience) by split, and the sources that they come from."""

    kind: Kind
    name: str
    group: str
    takes: dict[Split, int]
    sources: tuple[str, ...]

    @property
    def missing(self) -> tuple[Split, ...]:
        """The splits without a take; a sound is usable where there are none."""
        return tuple(split for split in SPLITS if not self.takes[split])


def held(takes: Iterable[Take]) -> list[Holding]:
    """What the takes of a bank are."""
    return [Holding(take.kind, take.name, take.split, take.source) for take in takes]


def planned(jobs: Iterable[Job]) -> list[Holding]:
    """What the jobs would make."""
    return [Holding(job.wanted.kind, job.wanted.name, job.wanted.split, job.source) for job in jobs]


def coverage(holdings: Iterable[Holding], catalog: Catalog) -> list[Cover]:
    """One entry for every location's ambience, then for every sound of the catalog, in its order."""
    there = list(holdings)
    counts = Counter((each.kind, each.name, each.split) for each in there)
    sources: dict[tuple[Kind, str], set[str]] = {}
    for each in there:
        sources.setdefault((each.kind, each.name), set()).add(each.source)
    ambiences: list[tuple[Kind, str, str]] = [("ambience", name, "ambience") for name in catalog.locations]
    sounds: list[tuple[Kind, str, str]] = [("event", sound.id, sound.group) for sound in catalog.sounds.values()]
    return [
        Cover(
            kind,
            name,
            group,
            {split: counts[kind, name, split] for split in SPLITS},
            tuple(sorted(sources.get((kind, name), ()))),
        )
        for kind, name, group in [*ambiences, *sounds]
    ]


def usable_by_location(covers: Iterable[Cover], catalog: Catalog) -> dict[str, dict[str, int]]:
    """For each location how many sounds of each group have takes in all splits."""
    usable = {cover.name for cover in covers if cover.kind == "event" and not cover.missing}
    return {
        location: dict(sorted(Counter(s.group for s in catalog.sounds_at(location) if s.id in usable).items()))
        for location in catalog.locations
    }


def describe_bank(bank: Iterable[Take], catalog: Catalog, reports: Sequence[TakeReport] = ()) -> Json:
    """The figures of metrics/sounds.json."""
    takes = list(bank)
    covers = coverage(held(takes), catalog)
    usable = [cover for cover in covers if not cover.missing]
    return {
        "sounds": sum(cover.kind == "event" for cover in usable),
        "sounds_of_catalog": len(catalog.sounds),
        "ambiences": sum(cover.kind == "ambience" for cover in usable),
        "takes": _by_split(take for take in takes if take.kind == "event"),
        "ambience_takes": _by_split(take for take in takes if take.kind == "ambience"),
        "takes_by_source": dict(sorted(Counter(take.source for take in takes).items())),
        "refused": count_reasons(reports),
        "seconds": round(sum(take.n_samples for take in takes) / SAMPLE_RATE, 1),
        "usable_by_location": usable_by_location(covers, catalog),
    }


def coverage_text(holdings: Iterable[Holding], catalog: Catalog) -> str:
    """A table for people: takes per split of all that the bank holds, what it lacks by group, and usable sounds."""
    covers = coverage(holdings, catalog)
    heads = "".join(f"{split:>11}" for split in SPLITS)
    lines = [f"{'sound or ambience':<28}{'group':<11}{heads}  {'source':<12}missing"]
    for cover in covers:
        if any(cover.takes.values()):
            numbers = "".join(f"{cover.takes[split]:>11}" for split in SPLITS)
            row = f"{cover.name:<28}{cover.group:<11}{numbers}  {','.join(cover.sources):<12}{', '.join(cover.missing)}"
            lines.append(row.rstrip())
    lines.append("")
    for group in dict.fromkeys(cover.group for cover in covers):
        absent = [cover.name for cover in covers if cover.group == group and not any(cover.takes.values())]
        if absent:
            lines.append(f"no take, {group}: {', '.join(absent)}")
    for name, count in sorted(Counter(source for cover in covers for source in cover.sources).items()):
        lines.append(f"from {name}: {count} sounds and ambiences")
    usable = sum(cover.kind == "event" and not cover.missing for cover in covers)
    lines.append(f"usable in every split: {usable} of {len(catalog.sounds)} sounds")
    for location, groups in usable_by_location(covers, catalog).items():
        lines.append(f"  {location:<26}" + ", ".join(f"{count} {group}" for group, count in groups.items()))
    return "\n".join(lines)


def _by_split(takes: Iterable[Take]) -> dict[Split, int]:
    counts = Counter(take.split for take in takes)
    return {split: counts[split] for split in SPLITS}
