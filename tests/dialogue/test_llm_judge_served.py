"""The evaluator `llm` through a real server: SmolLM2, whose verdicts are poor and whose answers are real."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hashed_encoder import HashedEncoder

from cares.dialogue.evaluator import llm_evaluator
from cares.dialogue.judge_questions import quoted_in
from cares.dialogue.marked import Heard
from cares.dialogue.probes import load_probes
from cares.llm.params import LlmParams
from cares.llm.serve import serve
from cares.records.scene import REACTIONS

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
MODEL = "smollm2-135m-instruct"
PARAMS = LlmParams(context_tokens=2048, batched_tokens=8192, kv_cache_gib=0.5, wave_limit=8)
YES = re.compile(r": yes, (['\"])(.*?)\1(?=; flow: |$)")
LINE = {
    "id": "x1",
    "turns": [
        {"speaker": "A", "text": "The fence is down again."},
        {"sound": "foghorn blast"},
        {"speaker": "B", "text": "Metal costs forty a metre."},
    ],
}


def test_a_served_model_judges_transcripts_and_files(monkeypatch, tmp_path):
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    probes = load_probes()[:6]
    pieces = [probe.pieces for probe in probes]
    with serve(MODEL, PARAMS) as url:
        monkeypatch.setenv("CARES_LLM_URL", url)
        judge = llm_evaluator(MODEL, PARAMS, HashedEncoder(), ROOT / "prompts", f"llm/{MODEL}", 0.3)
        verdicts = judge.judge_many(pieces)
        topics = judge.topics(pieces)
        again = judge.judge_many(pieces)
        judge.close()
        out = judged_file(tmp_path)
    assert [[one.sound for one in found] for found in verdicts] == [
        [piece.sound for piece in one if isinstance(piece, Heard)] for one in pieces
    ]
    assert again == verdicts, "answered waves are kept"
    found = [(one, place) for place, of_probe in enumerate(verdicts) for one in of_probe]
    assert sum(one.label in REACTIONS for one, _ in found) >= len(found) / 2, "most answers can be read"
    quotes = [(quote, pieces[place]) for one, place in found for _, quote in YES.findall(one.detail)]
    assert quotes, "these transcripts are ones of which it says yes to something"
    assert all(quoted_in(quote, of) for quote, of in quotes)
    assert sum(map(bool, topics)) >= 3
    (reaction,) = out["reactions"]
    assert out["id"] == "x1" and reaction["sound"] == "foghorn blast"
    assert reaction["label"] in (*REACTIONS, None) and reaction["detail"].startswith("referred: ")


def judged_file(folder):
    """What `cares judge` answers to one line, in a clone without data."""
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "prompts", folder / "prompts")
    (folder / "in.jsonl").write_text(json.dumps(LINE) + "\n")
    command = [sys.executable, "-m", "cares.cli", "judge", "in.jsonl", "--out", "out.jsonl", "--evaluator", "llm"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "--model", MODEL], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((folder / "out.jsonl").read_text())
