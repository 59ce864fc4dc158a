"""The quality report beside the bank: a line for every take that is used, and for every recording that was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cares.core.canonical import Json
from cares.core.record import Record
from cares.records.bank import Take
from cares.records.scene import Split
from cares.sounds.quality import Fault, reasons
from cares.sounds.source import Job, Kind

QUALITY = "quality.jsonl"


class TakeFigures(Record):
    """Levels in dBFS before the level of takes is set, mean of the samples, time to the onset, length."""

    peak_dbfs: float
    rms_dbfs: float
    dc_offset: float
    onset_ms: float
    seconds: float


class TakeReport(Record):
    """A line of quality.jsonl.

    origin: the file, and where there is one the line, that a person would correct.
    recording: SHA-256 of the recording's file, "" of what is synthesised.
    reasons: why it is refused; none when it is used. `details` say what was measured and what was expected.
    """

    take_id: str
    kind: Kind
    name: str
    split: Split
    used: bool
    origin: str
    recording: str
    reasons: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    figures: TakeFigures | None = None


def used_report(job: Job, take: Take, figures: Json) -> TakeReport:
    """The line of a take that is used."""
    return TakeReport(
        take_id=take.take_id,
        kind=take.kind,
        name=take.name,
        split=take.split,
        used=True,
        origin=job.origin,
        recording=job.recording,
        figures=TakeFigures.parse(figures, QUALITY, take.take_id),
    )


def refused_report(job: Job, found: Sequence[Fault]) -> TakeReport:
    """The line of a take that is refused."""
    wanted = job.wanted
    return TakeReport(
        take_id=wanted.take_id,
        kind=wanted.kind,
        name=wanted.name,
        split=wanted.split,
        used=False,
        origin=job.origin,
        recording=job.recording,
        reasons=reasons(found),
        details=tuple(map(str, found)),
    )


def count_reasons(reports: Iterable[TakeReport]) -> dict[str, int]:
    """How many recordings were refused for each reason."""
    return dict(sorted(Counter(reason for report in reports for reason in report.reasons).items()))
