"""The bank: every take that the sources deliver, made in parallel, checked, and written with manifest and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import soundfile

from cares.catalog.catalog import Catalog
from cares.core.atomic import write_bytes
from cares.core.errors import CaresError
from cares.core.executor import map_items
from cares.core.pcm import encode, samples_digest
from cares.core.record import write_records
from cares.core.store import ItemStore, item_key, source_digest
from cares.records.bank import Take
from cares.sounds.attribution import ATTRIBUTION, check_provenance, write_attribution
from cares.sounds.params import SoundsParams
from cares.sounds.quality import Fault, UnusableError, faults, measure
from cares.sounds.report import QUALITY, TakeReport, refused_report, used_report
from cares.sounds.signal import to_samples
from cares.sounds.source import KINDS, Ask, Job, Kind, SoundSource

FOLDER = Path("data/sounds")
BANK = FOLDER / "bank.jsonl"
AMBIENCE_S = (10.0, 20.0)
_SHOWN = 20


class Outcome(NamedTuple):
    """What became of one take: its record, or None when it is refused; and its line of the report."""

    take: Take | None
    report: TakeReport


def plan_takes(source: SoundSource | Sequence[SoundSource], catalog: Catalog, params: SoundsParams) -> list[Job]:
    """All takes to be made, in the order of their ids, ambiences first: see `SoundSource.jobs`.

    A sound comes whole from the first source that has a take for every split, so that its takes differ in nothing that
    would tell their source; it is left out where no source has.
    """
    return list(_plan(_listed(source), catalog, _ask(params, frozenset())))


def build_bank(
    source: SoundSource | Sequence[SoundSource],
    catalog: Catalog,
    params: SoundsParams,
    folder: Path,
    store: ItemStore,
    workers: int | None = None,
) -> list[Take]:
    """Make all takes; fill `folder` with takes/*.flac, bank.jsonl, quality.jsonl and ATTRIBUTION.csv.

    The files are the same for any `workers`. With `unusable: leave_out`, recordings that fail a check are left out and
    the sources asked again, until none fails; a synthesised take that fails is always an error.

    Raises:
        CaresError: takes are refused by the quality checks; it names each with its reason.
        InputError: a take has no author or no licence that permits to pass it on, or two takes are the same sound.
    """
    sources, refused = _listed(source), dict[str, TakeReport]()
    while True:
        jobs = list(_plan(sources, catalog, _ask(params, frozenset(refused))))
        outcomes = map_items(partial(make_take, folder=folder, store=store), jobs, desc="sounds", workers=workers)
        failed = {outcome.report.origin: outcome.report for outcome in outcomes if outcome.take is None}
        fatal = [report for report in failed.values() if params.unusable == "error" or not report.recording]
        if fatal:
            raise _unusable(fatal)
        if not failed:
            break
        refused |= failed
    takes = [outcome.take for outcome in outcomes if outcome.take is not None]
    check_provenance(takes, BANK)
    _remove_strays(folder, takes)
    write_records(folder / BANK.name, takes)
    write_records(folder / QUALITY, [*(outcome.report for outcome in outcomes), *(refused[o] for o in sorted(refused))])
    write_attribution(folder / ATTRIBUTION, takes)
    return takes


def make_take(job: Job, folder: Path, store: ItemStore) -> Outcome:
    """Make or fetch one take and write its FLAC into `folder`/takes; what is refused is not kept."""
    wanted = job.wanted
    key = item_key(inputs=job.inputs(), code=source_digest(*job.code), flac=soundfile.__libsndfile_version__)
    entry = store.get(key)
    if entry is None:
        try:
            signal, provenance = job.make()
            found: tuple[Fault, ...] = faults(signal, wanted.shortest, wanted.longest)
        except UnusableError as error:
            found = error.faults
        if found:
            return Outcome(None, refused_report(job, found))
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
        entry = store.put(key, {"take": take.to_json(), "figures": measure(signal)._asdict()}, encode(samples))
    take = Take.parse(entry.value["take"], store.path(key))
    write_bytes(folder / "takes" / f"{take.take_id}.flac", entry.blob)
    return Outcome(take, used_report(job, take, entry.value["figures"]))


def _plan(sources: Sequence[SoundSource], catalog: Catalog, ask: Ask) -> Iterator[Job]:
    offered = {source.name: {kind: frozenset(source.offered(kind)) for kind in KINDS} for source in sources}
    for kind in KINDS:
        for name in sorted(catalog.locations if kind == "ambience" else catalog.sounds):
            for source in sources:
                if name in offered[source.name][kind] and (
                    jobs := source.jobs(kind, name, _seconds(kind, name, catalog), ask)
                ):
                    yield from jobs
                    break


def _seconds(kind: Kind, name: str, catalog: Catalog) -> tuple[float, float]:
    return AMBIENCE_S if kind == "ambience" else catalog.sounds[name].duration_s


def _ask(params: SoundsParams, without: frozenset[str]) -> Ask:
    return Ask({"ambience": params.ambience_takes, "event": params.takes}, without)


def _listed(source: SoundSource | Sequence[SoundSource]) -> Sequence[SoundSource]:
    return source if isinstance(source, Sequence) else (source,)


def _remove_strays(folder: Path, takes: Sequence[Take]) -> None:
    """Takes of a round that was asked again under other numbers."""
    kept = {f"{take.take_id}.flac" for take in takes}
    for file in (folder / "takes").glob("*.flac"):
        if file.name not in kept:
            file.unlink()


def _unusable(reports: Sequence[TakeReport]) -> CaresError:
    shown = [f"{report.origin}: take {report.take_id}: {'; '.join(report.details)}" for report in reports[:_SHOWN]]
    more = f"\n  and {len(reports) - _SHOWN} more" if len(reports) > _SHOWN else ""
    hint = "\nCorrect or remove them, or set sounds.unusable: leave_out." if any(r.recording for r in reports) else ""
    return CaresError(f"unusable takes ({len(reports)}):\n  " + "\n  ".join(shown) + more + hint)
