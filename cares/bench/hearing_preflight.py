"""How much of a scene does a system hear? A known sound at 5, 45 and 110 s of a file of 120 s, and what is asked of it.

Some systems cut what is longer than 30 s, and no figure of the benchmark says so. Two questions are put about each
file: which sound is heard (three sounds and "none of these"), and where. Files without any sound are among them, so
that a system that always hears something is found out. A third sign needs no understanding: how many prompt tokens
files of 15, 30, 60 and 120 s cost. Where they stop to grow, the rest of a longer file is not given to the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cares.bench.hearing_signals import SIGNALS, floor_noise, signal
from cares.bench.parse import parse_answer
from cares.bench.run_journal import Journal
from cares.bench.systems_audio import AudioQuestion, AudioSystem
from cares.core.atomic import replace_folder
from cares.core.canonical import Json, digest, file_digest, write_json
from cares.core.pcm import SAMPLE_RATE, Samples, write_samples
from cares.core.rng import KeyedRandom
from cares.llm.types import ChatAnswer
from cares.records.item import LETTERS, Item

PLACES_S = (5, 45, 110)
LENGTH_S = 120
COST_S = (15, 30, 60, 120)
CLOCKS = {5: "0:05", 45: "0:45", 110: "1:50"}
NONE, NOWHERE = "none of these", "not at all"
PERMUTATIONS = 2


class Trial(NamedTuple):
    """One question of the preflight; `place_s` is None for a file without a sound."""

    what: bool
    sound: str | None
    place_s: int | None
    seconds: int
    item: Item


def preflight(system: AudioSystem, out: Path, max_tokens: int, constrained: bool) -> list[str]:
    """Ask, and write what came of it to preflight.json; returns the lines to print.

    Args:
        system: a model that hears.
        out: folder for the files that are asked about, the answers as they come, and the report.
        max_tokens: length of an answer.
        constrained: whether nothing but a letter can be answered.

    Raises:
        CaresError: the system failed as a whole.
    """
    make_files(out / "preflight")
    asked = list(trials(out / "preflight"))
    questions = [_question(trial, out, max_tokens, constrained) for trial in asked]
    with Journal(out / "preflight.asked.jsonl") as journal:
        keys = [_key(system, question) for question in questions]
        answers = {place: kept.answer for place, key in enumerate(keys) if (kept := journal.get(key)) is not None}
        todo = sorted(set(range(len(questions))) - set(answers), key=lambda place: (questions[place].audio, place))

        def keep(at: int, answer: ChatAnswer, milliseconds: int) -> None:
            journal.put(keys[todo[at]], answer, milliseconds)
            answers[todo[at]] = answer

        if todo:
            system.answer([questions[place] for place in todo], keep)
    found = report(asked, [answers[place] for place in range(len(asked))])
    write_json(out / "preflight.json", {"model": system.name, "constrained": constrained, **found})
    return [*told(system.name, found), f"preflight {system.name}: -> {out / 'preflight.json'}"]


def make_files(folder: Path) -> None:
    """Write the recordings: each signal at each place of 120 s, one of 120 s without, and shorter ones without."""
    with replace_folder(folder) as work:
        for seconds in COST_S:
            write_samples(work / f"none-{seconds}.wav", floor_noise(seconds))
        for name in SIGNALS:
            for place_s in PLACES_S:
                write_samples(work / f"{name}-{place_s}.wav", placed(name, place_s))


def placed(name: str, place_s: int) -> Samples:
    """120 s of faint noise with a signal that begins at `place_s`: int16 [T] at 44.1 kHz."""
    samples = floor_noise(LENGTH_S).astype(np.int32)
    sound = signal(name)
    start = place_s * SAMPLE_RATE
    samples[start : start + len(sound)] += sound
    return np.clip(samples, -32768, 32767).astype(np.int16)


def trials(folder: Path) -> Iterator[Trial]:
    """All questions: what and where of each file, each with two orders of options, and one for each length."""
    for permutation in range(PERMUTATIONS):
        for name in SIGNALS:
            for place_s in PLACES_S:
                file = folder / f"{name}-{place_s}.wav"
                yield Trial(True, name, place_s, LENGTH_S, _what(name, file, f"{place_s}/{permutation}"))
                yield Trial(False, name, place_s, LENGTH_S, _where(name, CLOCKS[place_s], file, str(permutation)))
            file = folder / f"none-{LENGTH_S}.wav"
            yield Trial(True, name, None, LENGTH_S, _what(name, file, f"none/{permutation}", absent=True))
            yield Trial(False, name, None, LENGTH_S, _where(name, NOWHERE, file, str(permutation)))
    for seconds in COST_S:
        file = folder / f"none-{seconds}.wav"
        yield Trial(True, None, None, seconds, _what(next(iter(SIGNALS)), file, "length", absent=True))


def report(asked: Sequence[Trial], answers: Sequence[ChatAnswer]) -> Json:
    """Right answers at each place, whether that is more than chance (one-sided binomial, 5 %), and the cost in tokens.

    `hears_to_s` is the last place up to which sounds are heard at every place; None when none is, or when a system
    says of files without a sound that it hears one more often than not. `tokens_grow_to_s` is the longest length that
    costs more tokens than the one before it; None when the server does not tell.
    """
    places: dict[str, Json] = {}
    for place_s in (*PLACES_S, None):
        here = [(trial, answer) for trial, answer in zip(asked, answers, strict=True) if trial.place_s == place_s]
        here = [pair for pair in here if pair[0].sound is not None]
        counts = {}
        for what in (True, False):
            rows = [(trial, answer) for trial, answer in here if trial.what == what]
            right = sum(_choice(trial, answer) == trial.item.answer for trial, answer in rows)
            by_chance = _at_least(right, len(rows))
            counts["what" if what else "where"] = {
                "asked": len(rows), "right": right, "p": round(by_chance, 4), "heard": by_chance < 0.05
            }  # fmt: skip
        places["none" if place_s is None else str(place_s)] = counts
    heard = [places[str(place_s)]["what"]["heard"] for place_s in PLACES_S]
    reached = [place for place, _ in zip(PLACES_S, _leading(heard), strict=False)]
    quiet = places["none"]["what"]
    made_up = quiet["right"] * 2 < quiet["asked"]
    cost = {
        str(trial.seconds): answer.prompt_tokens
        for trial, answer in zip(asked, answers, strict=True)
        if trial.sound is None
    }
    return {
        "places": places,
        "hears_to_s": reached[-1] if reached and not made_up else None,
        "makes_up_sounds": made_up,
        "prompt_tokens": cost,
        "tokens_grow_to_s": _grows_to(cost),
        "failed": sum(answer.finish_reason == "error" for answer in answers),
    }


def told(name: str, found: Json) -> list[str]:
    """The report in words."""
    lines = []
    for place, counts in found["places"].items():
        where = "no sound" if place == "none" else f"a sound at {place} s"
        what, when = counts["what"], counts["where"]
        told_apart = place != "none" and not found["makes_up_sounds"]
        verdict = (", heard" if what["heard"] else ", not heard") if told_apart else ""
        lines.append(
            f"preflight {name}: {where}: what {what['right']} of {what['asked']} right, "
            f"where {when['right']} of {when['asked']}{verdict}"
        )
    cost = ", ".join(f"{seconds} s {tokens}" for seconds, tokens in found["prompt_tokens"].items())
    lines.append(f"preflight {name}: prompt tokens: {cost}")
    grows = found["tokens_grow_to_s"]
    if grows == COST_S[0]:
        lines.append(
            f"preflight {name}: files of {COST_S[0]} to {LENGTH_S} s cost the same: the server does not count the "
            "audio's tokens, or the model is given no more than that"
        )
    elif grows is not None and grows < LENGTH_S:
        lines.append(
            f"preflight {name}: files beyond {grows} s cost no more: where the server counts the audio's tokens, the "
            "model is not given the rest of a scene"
        )
    if found["makes_up_sounds"]:
        lines.append(f"preflight {name}: it hears sounds in files that have none, so it cannot be said what it hears")
    elif found["hears_to_s"] is None:
        lines.append(f"preflight {name}: nothing shows that it hears the file at all")
    else:
        lines.append(f"preflight {name}: it hears a file of {LENGTH_S} s at least up to {found['hears_to_s']} s")
    if found["failed"]:
        lines.append(
            f"preflight {name}: {found['failed']} questions failed; see preflight.asked.jsonl and run it again"
        )
    return lines


def _what(name: str, file: Path, key: str, absent: bool = False) -> Item:
    """Three sounds and "none of these"; if `absent`, the last is right, and `name` only one of the three."""
    draw = KeyedRandom(0, "preflight_what", name, key)
    others = draw.sample([other for other in SIGNALS if other != name], 2)
    options = [name, *others, "none"]
    draw.shuffle(options)
    texts = tuple(NONE if option == "none" else SIGNALS[option] for option in options)
    return _item(
        f"what/{file.stem}/{key}",
        "Which of these sounds is heard in this recording?",
        texts,
        file,
        options.index("none" if absent else name),
    )


def _where(name: str, right: str, file: Path, key: str) -> Item:
    draw = KeyedRandom(0, "preflight_where", name, right, key)
    texts = draw.shuffled([*CLOCKS.values(), NOWHERE])
    question = f"At what time is this sound heard in this recording: {SIGNALS[name]}?"
    return _item(f"where/{file.stem}/{name}/{key}", question, tuple(texts), file, texts.index(right))


def _item(item_id: str, question: str, texts: tuple[str, ...], file: Path, right: int) -> Item:
    options = "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, texts, strict=True))
    # ids that no answer can name: "Option 1" would be taken for the second
    choices = tuple(f"shown_{number}" for number in range(len(texts)))
    return Item(
        item_id=item_id,
        task="scene",
        scene_id=file.stem,
        template_id="t00000",
        split="test",
        audio=f"preflight/{file.name}",
        audio_sha256=_digest(file, file.stat().st_mtime_ns),
        question=f"{question}\n{options}\nAnswer with the letter of the right option only.",
        choices=choices,
        texts=texts,
        answer=choices[right],
        order=tuple(range(len(texts))),
    )


@lru_cache(maxsize=64)
def _digest(file: Path, changed_ns: int) -> str:
    """The hash of a file that several questions are about."""
    return file_digest(file)


def _question(trial: Trial, out: Path, max_tokens: int, constrained: bool) -> AudioQuestion:
    item = trial.item
    choices = tuple(item.letters) if constrained else ()
    return AudioQuestion(
        item.item_id, item.question, out / item.audio, item.audio_sha256, max_tokens, 0, choices=choices
    )


def _key(system: AudioSystem, question: AudioQuestion) -> str:
    return digest({"audio": question.audio_sha256, "body": system.body(question), "model": system.digest})


def _choice(trial: Trial, answer: ChatAnswer) -> str | None:
    return parse_answer(answer.text, answer.finish_reason, trial.item)[1]


def _leading(heard: Sequence[bool]) -> Iterator[bool]:
    """The leading run of True."""
    for one in heard:
        if not one:
            return
        yield one


def _at_least(right: int, asked: int) -> float:
    """The chance of at least so many right answers by guessing one of four."""
    return sum(math.comb(asked, n) * 0.25**n * 0.75 ** (asked - n) for n in range(right, asked + 1))


def _grows_to(cost: dict[str, int]) -> int | None:
    """The longest length whose tokens exceed those of the next shorter one; None when no tokens are told."""
    if not all(cost.values()):
        return None
    longer = [seconds for before, seconds in pairwise(COST_S) if cost[str(seconds)] > cost[str(before)]]
    return max(longer, default=COST_S[0])
