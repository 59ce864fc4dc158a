"""A pipeline of two stages on the real core: items in workers with a store, folders, a file.

It costs a second or two a stage, so that the machinery of DVC, item store, workers and files is tested with real kills
in every run of the tests; the stages of the project themselves are killed by `tests.faults.harness`.
"""

from __future__ import annotations

from pathlib import Path

from tests.faults.clones import ROOT, Clone, git_init

ITEMS = 24
PIPELINE = """\
stages:
  squares:
    cmd: python -m stages.squares
    deps: [stages/squares.py]
    outs: [data/squares]
    metrics:
      - metrics/squares.json: {cache: false}
  total:
    cmd: python -m stages.total
    deps: [stages/total.py, data/squares]
    outs: [data/total.jsonl, data/copies]
"""
SQUARES = f"""\
import hashlib
from pathlib import Path

from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import write_json
from cares.core.executor import map_items
from cares.core.stage import run_stage
from cares.core.store import ItemStore, item_key


def square(pair):
    n, folder = pair
    store, key = ItemStore("squares"), item_key(n=n)
    entry = store.get(key)
    if entry is None:
        blob = b""
        while len(blob) < 6000:
            blob += hashlib.pbkdf2_hmac("sha256", str(n).encode(), blob[-32:], 300)
        entry = store.put(key, n * n, blob)
    write_bytes(folder / f"{{n}}.bin", entry.blob)
    return entry.value


def main():
    with replace_folder(Path("data/squares")) as out:
        found = map_items(square, [(n, out) for n in range({ITEMS})], desc="squares")
    write_json(Path("metrics/squares.json"), {{"sum": sum(found)}})


if __name__ == "__main__":
    run_stage(main)
"""
# asks a server, which has to be named in CARES_LLM_URL, for six waves; patience is short
TALK_PIPELINE = """\
stages:
  talk:
    cmd: python -m stages.talk
    deps: [stages/talk.py]
    outs: [data/talk.jsonl]
"""
TALK = """\
from pathlib import Path

from cares.core.canonical import write_jsonl
from cares.core.stage import run_stage
from cares.llm.hidden import HiddenKeyModel
from cares.llm.params import LlmParams
from cares.llm.server import PATIENCE
from cares.llm.types import ChatMessage, ChatRequest
from cares.llm.waves import StoredWaves

HiddenKeyModel.__init__.__defaults__ = (PATIENCE._replace(attempts=3, first_pause_s=0.1),)


def request(seed):
    message = ChatMessage(role="user", content="Talk.")
    return ChatRequest(messages=(message,), seed=seed, max_tokens=40, temperature=1.0, top_p=1.0)


def main():
    with StoredWaves("toy", LlmParams()) as model:
        waves = [model.complete([request(4 * wave + place) for place in range(4)]) for wave in range(6)]
    write_jsonl(Path("data/talk.jsonl"), [answer.text for wave in waves for answer in wave])


if __name__ == "__main__":
    run_stage(main)
"""
TOTAL = """\
import hashlib
from pathlib import Path

from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import write_jsonl
from cares.core.stage import run_stage


def main():
    files = sorted(Path("data/squares").iterdir())
    with replace_folder(Path("data/copies")) as out:
        for file in files:
            write_bytes(out / file.name, file.read_bytes()[::-1])
    write_jsonl(Path("data/total.jsonl"), [[f.name, hashlib.sha256(f.read_bytes()).hexdigest()] for f in files])


if __name__ == "__main__":
    run_stage(main)
"""


def mini_clone(root: Path, mark: str, pipeline: str = PIPELINE, **environment: str) -> Clone:
    """A git repository with the small pipeline, or the one that talks, nothing built yet."""
    files = {
        "dvc.yaml": pipeline,
        "stages/__init__.py": (ROOT / "stages/__init__.py").read_text(encoding="utf-8"),
        "stages/squares.py": SQUARES,
        "stages/total.py": TOTAL,
        "stages/talk.py": TALK,
        "params.yaml": "seed: 1\n",
        ".gitignore": ".cares\n*.part\n",
        ".dvcignore": (ROOT / ".dvcignore").read_text(encoding="utf-8"),
        ".dvc/config": (ROOT / ".dvc/config").read_text(encoding="utf-8"),
        ".dvc/.gitignore": "/config.local\n/tmp\n/cache\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git_init(root)
    return Clone(root, mark, (ROOT,), {"CARES_WORKERS": "2", **environment})
