"""The figures of a run as a Markdown table, a row a stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.faults.kills import Outcome

HEAD = (
    "| stage | kills | of | moment | in progress | differences | orphans | damaged outs | temporary files left |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
WORDS = {"the stage": "stage", "a worker": "worker", "DVC and all below it": "all", "DVC alone": "DVC"}


def table(outcomes: Sequence[Outcome], stages: Sequence[str]) -> str:
    """Markdown: kills by stage, then their sum. Kills that met nothing alive are left out."""
    met = [outcome for outcome in outcomes if outcome.killed]
    rows = [_row(stage, [outcome for outcome in met if outcome.plan.stage == stage]) for stage in stages]
    return HEAD + "".join(row for row in rows if row) + _row("all", met, in_full=False)


def _row(stage: str, outcomes: Sequence[Outcome], in_full: bool = True) -> str:
    if not outcomes:
        return ""
    ways = Counter(WORDS[outcome.met] for outcome in outcomes)
    of = ", ".join(f"{way} {count}" if count > 1 or not in_full else way for way, count in sorted(ways.items()))
    drawn = [f"{moment:.0%}" for moment in sorted(outcome.plan.moment for outcome in outcomes)]
    moments = ", ".join(drawn) if in_full else f"{drawn[0]} to {drawn[-1]}"
    doing = Counter(outcome.doing for outcome in outcomes)
    told = "; ".join(f"{what} {count}" if not in_full or count > 1 else what for what, count in doing.most_common())
    sums = [sum(len(getattr(o, name)) for o in outcomes) for name in ("differences", "orphans", "damaged")]
    stale = sum(len(outcome.stale) + len(outcome.stale_entries) for outcome in outcomes)
    return f"| {stage} | {len(outcomes)} | {of} | {moments} | {told} | {' | '.join(map(str, sums))} | {stale} |\n"


def summary(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Counts over all kills."""
    met = [outcome for outcome in outcomes if outcome.killed]
    return {
        "planned": len(outcomes),
        "kills": len(met),
        "stages": len({outcome.plan.stage for outcome in met}),
        "differences": sum(len(outcome.differences) for outcome in met),
        "orphans": sum(len(outcome.orphans) for outcome in met),
        "damaged_outs": sum(len(outcome.damaged) for outcome in met),
        "temporary_files_left": sum(len(outcome.stale) for outcome in met),
        "temporary_entries_left": sum(len(outcome.stale_entries) for outcome in met),
        "runs_that_hung": sum(outcome.hung for outcome in met),
        "needed_mend": sum(outcome.lock_cut for outcome in met),
        "runs_that_failed_afterwards": sum(bool(outcome.failure) for outcome in met),
        "entries_lacking": sum(outcome.missing for outcome in met),
        "entries_made_before_the_kill": sum(outcome.new_entries for outcome in met),
    }
