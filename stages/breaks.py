"""Stage `breaks`: are the breaks heard, of the dry voices and in the mix, beside ambient turns of the same voices."""

from __future__ import annotations

from pathlib import Path

from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.speech.break_params import BreakParams
from cares.speech.break_report import break_metrics

OUT = Path("metrics/breaks.json")


def main() -> None:
    """Read timelines, speech and finished scenes; write the figures."""
    params = Params()
    found = break_metrics(Path(), params.section("breaks", BreakParams), params.seed)
    write_json(OUT, found)
    for name, figures in found.items():
        turns, told = figures["turns"], figures["told_apart"]
        areas = ", ".join(f"{group} {told[group]['auc']}" for group in ("pauses_and_pitch", "all"))
        print(f"breaks: {name}: {turns['behavioral']} breaks, {turns['ambient']} ambient turns; area {areas} -> {OUT}")


if __name__ == "__main__":
    run_stage(main)
