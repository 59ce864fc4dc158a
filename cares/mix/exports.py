"""A scene's annotation for other tools: JAMS (librosa, scaper, mir_eval, sed_eval) and Audacity's label text.

JAMS is written as its published JSON schema (version 0.3) asks, without the `jams` package, which would bring pandas
and mir_eval with it for a dictionary of five keys; `tests/mix/test_mix_exports.py` reads it with that package where it
is installed. Times are seconds, rounded to a microsecond, which is a fortieth of a sample off at most; whole samples
are in the sandbox.
"""

from __future__ import annotations

from typing import Any

from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.records.timeline import PlacedGap, Timeline

JAMS_VERSION = "0.3.5"


def to_jams(timeline: Timeline) -> Json:
    """A JAMS object: sounds and their labels as `tag_open`, turns and gaps as `segment_open`, words as `lyrics`.

    The annotations of sounds and labels have one observation an event, in the same order; the sandbox of the first
    holds the events' records with samples and levels.
    """
    events = [(event.start_sample, event.end_sample, event) for event in timeline.events]
    scene = {name: getattr(timeline, name) for name in ("scene_id", "template_id", "split", "location", "room_id")}
    scene |= {"ambience_take": timeline.ambience_take, "n_samples": timeline.n_samples, "sample_rate": SAMPLE_RATE}
    annotations = [
        _annotation(
            timeline,
            "tag_open",
            "sounds",
            [(start, end, event.sound) for start, end, event in events],
            {"events": [event.to_json() for event in timeline.events]},
        ),
        _annotation(timeline, "tag_open", "reactions", [(start, end, event.reaction) for start, end, event in events]),
        _annotation(timeline, "segment_open", "turns", [(start, end, who) for start, end, who, _ in turns(timeline)]),
        _annotation(
            timeline,
            "segment_open",
            "gaps",
            [(gap.start_sample, gap.end_sample, gap_name(gap)) for gap in timeline.gaps],
        ),
        _annotation(
            timeline, "lyrics", "words", [(word.start_sample, word.end_sample, word.word) for word in timeline.words]
        ),
    ]
    metadata = {
        "title": timeline.scene_id,
        "artist": "",
        "release": "CARES",
        "duration": _seconds(timeline.n_samples),
        "identifiers": {"scene_id": timeline.scene_id},
        "jams_version": JAMS_VERSION,
    }
    return {"annotations": annotations, "file_metadata": metadata, "sandbox": scene}


def to_audacity(timeline: Timeline) -> str:
    """Label text (start, end, label, separated by tabs): turns, sounds with label and level, and gaps, by time."""
    rows = [(start, end, f"{who}: {text}") for start, end, who, text in turns(timeline)]
    rows += [
        (event.start_sample, event.end_sample, f"{event.reaction}: {event.sound} {event.level_cdb / 100:.2f} LUFS")
        for event in timeline.events
    ]
    rows += [(gap.start_sample, gap.end_sample, f"gap: {gap_name(gap)}") for gap in timeline.gaps]
    return "".join(
        f"{_decimal(start)}\t{_decimal(end)}\t{' '.join(label.split())}\n" for start, end, label in sorted(rows)
    )


def turns(timeline: Timeline) -> list[tuple[int, int, str, str]]:
    """First sample, end sample, speaker and text of every turn."""
    words: dict[int, list[Any]] = {}
    for word in timeline.words:
        words.setdefault(word.turn, []).append(word)
    return [
        (said[0].start_sample, said[-1].end_sample, said[0].speaker, " ".join(word.word for word in said))
        for _, said in sorted(words.items())
    ]


def gap_name(gap: PlacedGap) -> str:
    """What a gap is: "turn", "pause", "decoy", or "event:0" and so on."""
    if gap.event is not None:
        return f"event:{gap.event}"
    return "decoy" if gap.kind == "word" else gap.kind


def _annotation(
    timeline: Timeline, namespace: str, about: str, spans: list[tuple[int, int, str]], sandbox: Json | None = None
) -> Json:
    return {
        "namespace": namespace,
        "time": 0.0,
        "duration": _seconds(timeline.n_samples),
        "data": [
            {"time": _seconds(start), "duration": _seconds(end - start), "value": value, "confidence": None}
            for start, end, value in spans
        ],
        "annotation_metadata": {
            "corpus": "CARES",
            "version": "",
            "curator": {"name": "", "email": ""},
            "annotator": {},
            "annotation_tools": "cares export",
            "annotation_rules": about,
            "validation": "",
            "data_source": "program",
        },
        "sandbox": {"about": about} | (sandbox or {}),
    }


def _seconds(samples: int) -> float:
    return round(samples / SAMPLE_RATE, 6)


def _decimal(samples: int) -> str:
    micro = (2 * samples * 1_000_000 + SAMPLE_RATE) // (2 * SAMPLE_RATE)
    return f"{micro // 1_000_000}.{micro % 1_000_000:06d}"
