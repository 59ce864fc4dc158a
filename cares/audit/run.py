"""The audit as one JSON value, and as lines to print."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cares.audit.features import PLACED, SCENE, SOUND, TALK, Example
from cares.audit.importance import feature_figures
from cares.audit.models import contrary_view, identity_view, measured_view, transcript_view, tree_view
from cares.audit.params import AuditParams
from cares.audit.score import View, describe, hold_out, score
from cares.core.canonical import Json

VIEWS = {
    "from_sound_by_trees": "the same by a random forest",
    "with_rare_sounds": "the same, rare sounds among them",
    "from_talk": "how the turn around it is spoken",
    "from_scene": "how many sounds there are, and which this is",
    "from_all_measured": "all that can be measured in the file",
    "from_annotation": "its place to the sample, as the annotation has it",
    "from_sound_identity": "which sound it is",
    "from_transcript": "the words of its turn and the next",
}
_SCORE = ("balanced_accuracy", "ci95", "contrary_balanced_accuracy", "contrary_ci95", "n_events", "note")
_SHOWN = 5


def audit(examples: Sequence[Example], params: AuditParams, seed: int, rare: Collection[str] = ()) -> Json:
    """Can the label be told? Scores by what a classifier may look at.

    The figures at the top are those of the measurements `SOUND`: what timeline and mix decide. Sounds of the rare group
    are left out of all scores but `with_rare_sounds`, since the design gives them away: they are pivots only, and have
    a level of their own. Each score is None, with a note, where there are too few events (see `cares.audit.score`).

    Args:
        examples: the events.
        params: section `audit`.
        seed: the data set's seed.
        rare: ids of the rare sounds.
    """
    usual = [example for example in examples if example.sound not in rare]
    if any(example.text is None for example in usual):
        transcript: Json = {"balanced_accuracy": None, "ci95": None, "note": "nothing is said that could be read"}
    else:
        transcript = score(usual, transcript_view(usual, params), params, seed)
    result = {
        **_measured(usual, SOUND, params, seed),
        "rare_left_out": len(examples) - len(usual),
        "with_rare_sounds": score(examples, measured_view(examples, SOUND, params), params, seed),
        "from_talk": _measured(usual, TALK, params, seed),
        "from_scene": _measured(usual, SCENE, params, seed),
        "from_all_measured": score(usual, measured_view(usual, (*SOUND, *TALK, *SCENE), params), params, seed),
        "from_annotation": _measured(usual, (*PLACED, "pause_before_s", "pause_after_s"), params, seed),
        "from_sound_identity": _identity(usual, params, seed),
        "from_transcript": transcript,
    }
    if params.trees:
        result["from_sound_by_trees"] = score(usual, tree_view(usual, SOUND, params, seed), params, seed)
    return result


def compact(result: Json) -> Json:
    """The scores without what each measurement tells, for a metrics file: that is a table of its own."""
    views = {name: _score_alone(result[name]) for name in VIEWS if name in result}
    kept = {name: value for name, value in result.items() if name != "features" and name not in views}
    given_away = [row["name"] for row in result["features"] if row["gives_away"]]
    return {**kept, "given_away_by": given_away, **views}


def feature_rows(result: Json) -> list[Json]:
    """What each measurement tells, with the group that it belongs to: "sound", "talk", "scene" or "annotation"."""
    others = {name: result[f"from_{name}"]["features"] for name in ("talk", "scene", "annotation")}
    rows = [{"group": group, **row} for group, part in ({"sound": result["features"]} | others).items() for row in part]
    return [row for row in rows if row["group"] != "annotation" or row["name"] in PLACED]


def lines(result: Json) -> list[str]:
    """The audit for a person to read: a line a score, then the measurements that tell most."""
    shown = [_line("the sound, its gap and the levels around it", result)]
    shown += [_line(what, result[name]) for name, what in VIEWS.items() if name in result]
    contrary = result["from_sound_identity"].get("contrary_balanced_accuracy")
    if contrary is not None:
        shown.append(f"{'the label that the sound has had least':47} {contrary:.3f}")
    telling = [row for row in result["features"] if row["gives_away"]]
    if telling:
        shown.append("given away by: " + ", ".join(_telling(row) for row in telling[:_SHOWN]))
    elif result["features"]:
        shown.append("no measurement of the sound, its gap or its levels differs between the labels")
    return shown


def _measured(examples: Sequence[Example], names: Sequence[str], params: AuditParams, seed: int) -> Json:
    view: View = measured_view(examples, names, params)
    held = hold_out(examples, view, params, seed, keep=True)
    figures = [] if held is None else feature_figures(names, view.values, held, seed)
    return {**describe(examples, held, params, seed), "features": figures}


def _score_alone(view: Json) -> Json:
    return {name: value for name, value in view.items() if name in _SCORE}


def _identity(examples: Sequence[Example], params: AuditParams, seed: int) -> Json:
    """Both ways: the allocation gives every sound its labels evenly, so what a sound was tells what it will not be."""
    contrary = score(examples, contrary_view(examples, params), params, seed)
    return {
        **score(examples, identity_view(examples, params), params, seed),
        "contrary_balanced_accuracy": contrary["balanced_accuracy"],
        "contrary_ci95": contrary["ci95"],
    }


def _line(what: str, figures: Json) -> str:
    if figures["balanced_accuracy"] is None:
        return f"{what:47} no score: {figures['note']}"
    low, high = figures["ci95"]
    note = f"; {figures['note']}" if figures["note"] else ""
    return f"{what:47} {figures['balanced_accuracy']:.3f} ({low:.3f} to {high:.3f}), chance {figures['chance']}{note}"


def _telling(row: Json) -> str:
    label, auc = max(row["auc"].items(), key=lambda pair: abs(pair[1] - 0.5))
    return f"{row['name']} (AUC {auc:.2f} for {label}, importance {row['importance']:.3f})"
