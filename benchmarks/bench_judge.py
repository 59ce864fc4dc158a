"""How well a language model judges what summaries mention: python benchmarks/bench_judge.py [MODEL]

Written summaries, for each the sounds of the scene and which of them it mentions; some are named in other words, some
words only look like a mention. Compared: the judge, and the word forms of the catalog.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cares.bench.scores_judge import cases, judge
from cares.bench.scores_summary import DECOY
from cares.bench.systems import load_prompt
from cares.catalog.load import load_catalog
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.records.answer import Answer
from cares.records.item import Item, Reference

# the summary, the sounds of the scene, and those of them that it mentions
SUMMARIES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "Two sisters plan a birthday until a dog barks and they talk about it.",
        ("dog_bark", "church_bell"),
        ("dog_bark",),
    ),
    ("Two colleagues talk about the rent and decide to move.", ("dog_bark", "train_horn"), ()),
    ("They hear an animal outside and wonder whose it is.", ("dog_bark", "train_horn"), ("dog_bark",)),
    ("While they talk about a wedding the bells ring, but they go on.", ("church_bell", "dog_bark"), ("church_bell",)),
    ("He wants to train for a race; she thinks he works like a dog.", ("train_horn", "dog_bark"), ()),
    (
        "A train goes by with a loud signal and she has to repeat herself.",
        ("train_horn", "church_bell"),
        ("train_horn",),
    ),
    (
        "They discuss a trip. Someone is at the door, and they stop.",
        ("doorbell_chime", "floor_creak"),
        ("doorbell_chime",),
    ),
    ("Two friends complain about work and agree to look for something new.", ("doorbell_chime", "floor_creak"), ()),
    (
        "The kettle whistles, so they make tea and talk about tea.",
        ("kettle_whistle", "toaster_pop"),
        ("kettle_whistle",),
    ),
    ("Breakfast is ready: toast pops up while they plan the day.", ("toaster_pop", "kettle_whistle"), ("toaster_pop",)),
    ("A couple argues about money in a calm voice.", ("vacuum_cleaner", "wall_clock_chime"), ()),
    (
        "Cleaning noise from the next room makes him lose his thread.",
        ("vacuum_cleaner", "dog_bark"),
        ("vacuum_cleaner",),
    ),
    ("A clock strikes; they notice how late it is.", ("wall_clock_chime", "dog_bark"), ("wall_clock_chime",)),
    ("They talk about clocks he collects and never hear anything else.", ("wall_clock_chime", "train_horn"), ()),
    ("Thunder interrupts their plans, and they run inside.", ("thunder_clap", "dog_bark"), ("thunder_clap",)),
    ("A storm is coming, they say, and change the subject.", ("thunder_clap", "church_bell"), ()),
)


def main() -> None:
    model_id = sys.argv[1] if len(sys.argv) > 1 else "qwen2.5-coder-1.5b-instruct"
    catalog, prompt = load_catalog(), load_prompt(Path("prompts/summary_judge.jinja"))
    items = [summary(number, sounds) for number, (_, sounds, _) in enumerate(SUMMARIES)]
    answers = [
        Answer(item_id=item.item_id, system="written", text=text, finish_reason="stop", status="ok", choice=None)
        for item, (text, _, _) in zip(items, SUMMARIES, strict=True)
    ]
    mentioned = {(item.item_id, sound) for item, (_, _, said) in zip(items, SUMMARIES, strict=True) for sound in said}
    llm = LlmParams(context_tokens=4096, wave_limit=16, batched_tokens=32_768, kv_cache_gib=1.0)
    start = time.perf_counter()
    with StoredWaves(model_id, llm) as model:
        verdicts = judge(cases(items, answers, catalog, 1), model, prompt, catalog, 16, 16, 1)
    taken = time.perf_counter() - start
    print(f"{model_id}: {len(verdicts)} sounds in {len(items)} summaries, {taken:.0f} s with loading")
    texts = {answer.item_id: answer.text for answer in answers}
    found = {
        "judge": {(one.item_id, one.sound) for one in verdicts if one.verdict == "mentioned"},
        "word forms": {
            (one.item_id, one.sound) for one in verdicts if catalog.sounds[one.sound].mention_in(texts[one.item_id])
        },
    }
    decoys = {(one.item_id, one.sound) for one in verdicts if one.kind == DECOY}
    absent = {(one.item_id, one.sound) for one in verdicts} - mentioned
    for name, said in found.items():
        print(
            f"{name:10} finds {len(said & mentioned)} of {len(mentioned)} mentions; "
            f"false: {len(said & absent)} of {len(absent)}, among decoys {len(said & decoys)} of {len(decoys)}"
        )
    print("quotes not in the summary:", sum(one.verdict == "unsupported" for one in verdicts))


def summary(number: int, sounds: tuple[str, ...]) -> Item:
    """A request for a summary of a scene with these sounds."""
    scene = f"t{number:05d}-0"
    return Item(
        item_id=f"summary-25/{scene}",
        task="summary",
        level="25",
        scene_id=scene,
        template_id=f"t{number:05d}",
        split="test",
        audio=f"{scene}.wav",
        audio_sha256="0" * 64,
        question="?",
        words=25,
        references=tuple(
            Reference(event=event, sound=sound, sound_name=sound, label="ambient", time_ms=0)
            for event, sound in enumerate(sounds)
        ),
    )


if __name__ == "__main__":
    main()
