"""The static site: an index, the pages of `PAGES` and one page a scene, from templates that escape every text.

The pages load nothing from outside the repository: the audio is linked where the mix stage left it (data/scenes), so
the site is to be opened inside the repository's folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import jinja2

from cares.core.atomic import replace_folder, write_bytes
from cares.core.pcm import SAMPLE_RATE
from cares.records.scene import REACTIONS
from cares.records.timeline import MixedScene
from cares.report import tables
from cares.report.audit_page import audit_page
from cares.report.benchmark_page import benchmark_page
from cares.report.evaluator import evaluator_note
from cares.report.inputs import Inputs
from cares.report.lengths import histogram
from cares.report.listening_page import listening_page
from cares.report.pages import PageMaker, Tools
from cares.report.picture import LEFT, WIDTH, timeline_picture
from cares.report.script import clock, decibels, duration, script
from cares.report.words import words_page

PAGES: tuple[PageMaker, ...] = (words_page, listening_page, audit_page, benchmark_page)

METRIC_TITLES = {
    "allocation": "Allocation",
    "calibration": "Evaluator and topic threshold",
    "dialogues": "Acceptance",
    "sounds": "Bank of sounds",
    "rooms": "Rooms",
    "speech": "Speech",
    "alignment": "Alignment",
    "timeline": "Timeline",
    "mix": "Loudness, peaks and lengths",
    "breaks": "Whether breaks are heard",
    "wer": "Word error rate",
    "audit": "Leakage audit",
    "items": "Items of the benchmark",
    "leaderboard": "First figures of the benchmark",
}


def write_site(
    inputs: Inputs, sounds: Mapping[str, str], places: Mapping[str, str], most: int, seed: int, out: Path
) -> int:
    """Replace `out` by the site; returns the number of scene pages.

    Args:
        inputs: the build.
        sounds: display name of each sound.
        places: display name of each location.
        most: at most so many scenes get a page, evenly spread.
        seed: the data set's seed, which draws what is shown.
        out: the folder, beside data/ in the repository.
    """
    environment = _environment(sounds, places)
    shown = spread(inputs.scenes, most)
    tools = Tools(environment, seed, frozenset(scene.scene_id for scene in shown))
    pages = [make(inputs, tools) for make in PAGES]
    environment.globals |= {
        "pages": [(page.file, page.title) for page in pages],
        "evaluator": evaluator_note(inputs),
    }
    with replace_folder(out) as work:
        _put(work / "index.html", environment.get_template("index.html.jinja").render(_index(inputs, shown), up=""))
        _put(work / "style.css", environment.get_template("style.css").render())
        for page in pages:
            _put(work / page.file, environment.get_template("page.html.jinja").render(page=page, up=""))
            for name, content in page.assets.items():
                write_bytes(work / name, content)
        of_scene = environment.get_template("scene.html.jinja")
        for place, scene in enumerate(shown):
            before = shown[place - 1].scene_id if place else None
            after = shown[place + 1].scene_id if place + 1 < len(shown) else None
            text = of_scene.render(
                _scene(inputs, inputs.mixed[scene.scene_id], sounds), before=before, after=after, up="../"
            )
            _put(work / "scenes" / f"{scene.scene_id}.html", text)
    return len(shown)


def spread(scenes: Sequence[MixedScene], most: int) -> list[MixedScene]:
    """All scenes, or `most` of them at even distances, the first included."""
    if len(scenes) <= most:
        return list(scenes)
    return [scenes[number * len(scenes) // most] for number in range(most)]


def _index(inputs: Inputs, shown: Sequence[MixedScene]) -> dict[str, object]:
    loudness = [scene.integrated_lufs_cdb for scene in inputs.scenes]
    peaks = [scene.true_peak_cdb for scene in inputs.scenes]
    return {
        "scenes": inputs.scenes,
        "with_page": {scene.scene_id for scene in shown},
        "minutes": f"{sum(scene.n_samples for scene in inputs.scenes) / SAMPLE_RATE / 60:.1f}",
        "labels": Counter(event.reaction for scene in inputs.scenes for event in scene.events),
        "loudness": f"{decibels(min(loudness))} to {decibels(max(loudness))} LUFS" if loudness else "none",
        "peak": f"{decibels(max(peaks))} dBTP" if peaks else "none",
        "lengths": histogram(inputs),
        "allocated": len(inputs.allocated),
        "attempts": len(inputs.attempts),
        "reasons": tables.reasons(inputs),
        "unfinished": tables.unfinished(inputs),
        "metrics": [
            (METRIC_TITLES.get(name, name), name, list(tables.flat(inputs.metrics[name])))
            for name in sorted(inputs.metrics, key=_place_of_metric)
        ],
        "systems": tables.system_rows(inputs.bench),
        "licences": tables.licences(inputs),
        "models": tables.model_rows(inputs.models),
        "missing": inputs.missing,
    }


def _place_of_metric(name: str) -> tuple[int, str]:
    titled = list(METRIC_TITLES)
    return (titled.index(name) if name in titled else len(titled), name)


def _scene(inputs: Inputs, scene: MixedScene, sounds: Mapping[str, str]) -> dict[str, object]:
    return {
        "scene": scene,
        "turns": script(scene),
        "picture": timeline_picture(scene, inputs.gaps.get(scene.scene_id, ()), dict(sounds)),
        "answers": tables.answers_by_event(inputs, scene.scene_id),
    }


def _environment(sounds: Mapping[str, str], places: Mapping[str, str]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cares.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clock": clock,
        "duration": duration,
        "decibels": decibels,
        "percent": tables.percent,
        "path": quote,
        "seconds": _seconds,
    }
    environment.globals |= {
        "sounds": sounds,
        "places": places,
        "REACTIONS": REACTIONS,
        "LEFT": LEFT,
        "WIDTH": WIDTH,
    }
    return environment


def _seconds(sample: int) -> str:
    return f"{sample / SAMPLE_RATE:.3f}"


def _put(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
