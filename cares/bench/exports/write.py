"""Writes an export: the items with what their scoring needs, and the files of the other tool.

DIR/items.jsonl or DIR/items/TASK.jsonl   the questions, with the recording's path from DIR
DIR/cares_reader.py                       reads answers
DIR/cares.py, or DIR/*.yaml and utils.py  the tasks
DIR/README.md                             how to run them
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml

from cares.bench.scores_rows import task_key
from cares.catalog.catalog import Catalog
from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import Json, write_jsonl
from cares.core.errors import InputError
from cares.records.item import Item

Format = Literal["inspect", "lmms-eval"]
HERE = Path(__file__).parent
INSPECT_README = """# CARES for Inspect

{items} items of {scenes} scenes. In an environment with `inspect-ai`:

    inspect eval cares.py@cares --model MODEL                           # all questions with options
    inspect eval cares.py@cares --model MODEL -T task=reactions-time    # {tasks}
    inspect eval cares.py@cares_summary --model MODEL -T words=75

Answers are read strictly (see cares_reader.py), and intervals are standard errors clustered by template. The figures of
papers and leaderboards are those of `cares bench`.
"""
LMMS_README = """# CARES for lmms-eval

{items} items of {scenes} scenes. In an environment with `lmms-eval`:

    python -m lmms_eval --model MODEL --include_path DIR --tasks cares    # DIR is this folder

or one of {tasks}. Answers are read strictly (see cares_reader.py). The figures of papers and leaderboards are those of
`cares bench`.
"""


def export(
    items: Sequence[Item], catalog: Catalog, root: Path, form: Format, out: Path, copy_audio: bool = False
) -> int:
    """Write the export to `out`, which is replaced as a whole; returns the number of items.

    Args:
        items: the frozen questions, all or some.
        catalog: word forms, to find sounds in summaries.
        root: the repository, under which the recordings lie.
        form: the other tool.
        out: folder to write.
        copy_audio: put the recordings into the folder, so that it can be carried away; otherwise the items name them by
            their path from `out`.

    Raises:
        InputError: no item, a recording that is not there, or a folder that holds something else than an export.
    """
    if not items:
        raise InputError("items.jsonl", "", "no item", "items to export")
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / "cares_reader.py").is_file()):
        raise InputError(out, "", "files that are no export", "a new folder, or one that holds an export")
    for item in items:
        if not (root / item.audio).is_file():
            raise InputError(root / item.audio, "", "no such file", f"the recording of {item.item_id}", "Run dvc pull.")
    with replace_folder(out) as work:
        rows = [_row(item, catalog, _audio(item, root, work, out, copy_audio)) for item in items]
        shutil.copyfile(HERE / "standalone_reader.py", work / "cares_reader.py")
        if form == "inspect":
            _inspect(rows, work)
        else:
            _lmms(rows, work)
    return len(items)


def _row(item: Item, catalog: Catalog, audio: str) -> Json:
    """An item as the other tool's code needs it; `sounds` of a summary with the word forms that name them."""
    return {
        "id": item.item_id,
        "task": task_key(item),
        "level": item.level,
        "scene_id": item.scene_id,
        "template_id": item.template_id,
        "split": item.split,
        "audio": audio,
        "question": item.question,
        "choices": list(item.choices),
        "texts": list(item.texts),
        "answer": item.answer,
        "label": item.references[0].label if item.event is not None else "",
        "pair": item.pair,
        "words": item.words or 0,
        "sounds": [
            {"sound": one.sound, "label": one.label, "word_forms": list(catalog.sounds[one.sound].word_forms)}
            for one in (item.references if item.task == "summary" else ())
        ],
    }


def _audio(item: Item, root: Path, work: Path, out: Path, copy: bool) -> str:
    if not copy:
        return os.path.relpath((root / item.audio).resolve(), out.resolve())
    name = f"audio/{item.audio_sha256[:16]}.wav"
    target = work / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(root / item.audio, target)
    return name


def _inspect(rows: Sequence[Json], work: Path) -> None:
    write_jsonl(work / "items.jsonl", rows)
    shutil.copyfile(HERE / "standalone_inspect.py", work / "cares.py")
    _readme(rows, work, INSPECT_README, [task for task in _tasks(rows) if not task.startswith("summary")])


def _lmms(rows: Sequence[Json], work: Path) -> None:
    shutil.copyfile(HERE / "standalone_lmms.py", work / "utils.py")
    names = []
    for task in _tasks(rows):
        of_task = [row for row in rows if row["task"] == task and (row["choices"] or row["sounds"])]
        if not of_task:
            continue
        write_jsonl(work / "items" / f"{task}.jsonl", of_task)
        name = "cares_" + task.replace("-", "_")
        names.append(name)
        _put(work / f"{name}.yaml", _task_yaml(name, task))
    _put(work / "cares.yaml", yaml.safe_dump({"group": "cares", "task": names}, sort_keys=False))
    _readme(rows, work, LMMS_README, names)


def _task_yaml(name: str, task: str) -> str:
    """The task as lmms-eval's TaskConfig; functions are named by a tag that plain YAML does not know."""
    summary = task.startswith("summary")
    figures = ["mention_rate"] if summary else ["accuracy", "balanced_accuracy", "unreadable"]
    if task == "grounding":
        figures.append("pair_accuracy")
    lines = [
        f"task: {name}",
        "dataset_path: json",
        "dataset_kwargs:",
        f"  data_files: {{test: items/{task}.jsonl}}",
        "test_split: test",
        "output_type: generate_until",
        "doc_to_visual: !function utils.doc_to_visual",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_messages: !function utils.doc_to_messages",
        "doc_to_target: answer",
        "generation_kwargs:",
        f"  max_new_tokens: {512 if summary else 64}",
        "  temperature: 0",
        "  do_sample: false",
        f"process_results: !function utils.process_{'summary' if summary else 'choice'}",
        "metric_list:",
    ]
    for figure in figures:
        better = "false" if figure == "unreadable" else "true"
        lines += [
            f"  - metric: {figure}",
            f"    aggregation: !function utils.aggregate_{figure}",
            f"    higher_is_better: {better}",
        ]
    lines += ["cluster_key: template_id", "score_key: score", "metadata: {version: 1.0}"]
    return "\n".join(lines) + "\n"


def _tasks(rows: Sequence[Json]) -> list[str]:
    return list(dict.fromkeys(str(row["task"]) for row in rows))


def _readme(rows: Sequence[Json], work: Path, text: str, tasks: Sequence[str]) -> None:
    scenes = len({row["scene_id"] for row in rows})
    _put(work / "README.md", text.format(items=len(rows), scenes=scenes, tasks=", ".join(tasks)))


def _put(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
