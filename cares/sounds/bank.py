"""The bank: every take that a source offers, made in parallel, checked, and written with its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import soundfile

from cares.catalog.catalog import Catalog
from cares.core.atomic import write_bytes
from cares.core.errors import CaresError
from cares.core.executor import map_items
from cares.core.pcm import SAMPLE_RATE, encode, samples_digest
from cares.core.record import write_records
from cares.core.store import ItemStore, item_key, source_digest
from cares.records.bank import Take
from cares.sounds.attribution import ATTRIBUTION, check_provenance, write_attribution
from cares.sounds.params import SoundsParams, TakeCounts
from cares.sounds.quality import faults
from cares.sounds.signal import to_samples
from cares.sounds.source import Job, Kind, SoundSource, Wanted

FOLDER = Path("data/sounds")
BANK = FOLDER / "bank.jsonl"
AMBIENCE_S = (10.0, 20.0)
_SHOWN = 20
_CODE = (
    "cares.core.pcm",
    "cares.core.rng",
    "cares.sounds.bank",
    "cares.sounds.procedural",
    "cares.sounds.quality",
    "cares.sounds.signal",
)


class Outcome(NamedTuple):
    """What became of one take: its record, or why it is refused."""

    take: Take | None
    refused: str


def plan_takes(source: SoundSource, catalog: Catalog, params: SoundsParams) -> list[Wanted]:
    """All takes to be made, in the order of their ids, ambiences first.

    A sound of which the source has too few takes for all splits is left out whole, since a take belongs to one split.
    """
    events = {name: catalog.sounds[name].duration_s for name in source.offered("event")}
    ambiences = dict.fromkeys(source.offered("ambience"), AMBIENCE_S)
    return [*_plan(source, "ambience", ambiences, params.ambience_takes), *_plan(source, "event", events, params.takes)]


def _plan(
    source: SoundSource, kind: Kind, seconds: dict[str, tuple[float, float]], counts: TakeCounts
) -> Iterator[Wanted]:
    splits = counts.splits()
    for name in sorted(seconds):
        capacity = source.capacity(kind, name)
        if capacity is not None and capacity < len(splits):
            continue
        shortest, longest = (round(second * SAMPLE_RATE) for second in seconds[name])
        for index, split in enumerate(splits):
            yield Wanted(kind, name, index, split, shortest, longest)


def make_take(job: Job, folder: Path, store: ItemStore) -> Outcome:
    """Make or fetch one take and write its FLAC into `folder`/takes; what is refused is not kept."""
    wanted = job.wanted
    code = source_digest(*_CODE)
    key = item_key(inputs=job.inputs(), code=code, flac=soundfile.__libsndfile_version__)
    entry = store.get(key)
    if entry is None:
        signal, provenance = job.make()
        found = faults(signal, wanted.shortest, wanted.longest)
        if found:
            return Outcome(None, f"{job.origin}: take {wanted.take_id}: {'; '.join(map(str, found))}")
        samples = to_samples(signal)
        take = Take(
            take_id=wanted.take_id,
            kind=wanted.kind,
            name=wanted.name,
            split=wanted.split,
            path=(FOLDER / "takes" / f"{wanted.take_id}.flac").as_posix(),
            n_samples=len(samples),
            pcm_sha256=samples_digest(samples),
            **provenance._asdict(),
        )
        entry = store.put(key, take.to_json(), encode(samples))
    take = Take.parse(entry.value, store.path(key))
    write_bytes(folder / "takes" / f"{take.take_id}.flac", entry.blob)
    return Outcome(take, "")


def build_bank(
    source: SoundSource,
    catalog: Catalog,
    params: SoundsParams,
    folder: Path,
    store: ItemStore,
    workers: int | None = None,
) -> list[Take]:
    """Make all takes; fill `folder` with takes/*.flac, bank.jsonl and ATTRIBUTION.csv, the same for any `workers`.

    Raises:
        CaresError: takes are refused by the quality checks; it names each with its reason.
        InputError: a take has no author or no licence that permits to pass it on, or two takes are the same sound.
    """
    jobs = [source.job(wanted) for wanted in plan_takes(source, catalog, params)]
    outcomes = map_items(partial(make_take, folder=folder, store=store), jobs, desc="sounds", workers=workers)
    refused = [outcome.refused for outcome in outcomes if outcome.refused]
    if refused:
        more = f"\n  and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
        raise CaresError(f"unusable takes ({len(refused)}):\n  " + "\n  ".join(refused[:_SHOWN]) + more)
    takes = [outcome.take for outcome in outcomes if outcome.take is not None]
    check_provenance(takes, BANK)
    write_records(folder / BANK.name, takes)
    write_attribution(folder / ATTRIBUTION, takes)
    return takes
