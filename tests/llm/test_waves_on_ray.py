"""Waves by Ray's workers: topics, dialogues and answers are those of one process, and servers share the work."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cares.catalog.load import load_catalog
from cares.core import executor
from cares.core.store import ItemStore
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.params import TopicsParams
from cares.dialogue.spread import DialogueWork, TopicWork, accept_dialogues_apart, find_topics_apart
from cares.dialogue.timing import TimedWaves
from cares.dialogue.topics import find_topics
from cares.dialogue.writer import SkeletonWriter
from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.probe import ANSWERED, ANSWERS, GREETS
from cares.llm.spread import complete_waves
from cares.llm.waves import StoredWaves
from cares.records.dialogue import Topic
from tests.dialogue.dialogue_world import CATALOG, PARAMS, fill, scene
from tests.dialogue.fixed_judge import LabelJudge
from tests.llm.conftest import answer, request
from tests.ray_world import one_ray

PROMPTS = Path(__file__).parents[2] / "prompts"
ENGINE = LlmParams()
SCENES = [scene(("doorbell_chime", "behavioral"), number=n, n_turns=8) for n in range(14)]
TOPICS = TopicsParams(group_scenes=4, per_scene=2, attempts=2, temperature=1.0, min_p=0.0, longest_chars=80)


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[None]:
    with one_ray(2):
        yield


def _text(body: dict[str, Any]) -> str:
    """An answer that follows from the request alone; every third one is of no use."""
    form = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if GREETS in form.get("properties", {}):
        return json.dumps({GREETS: "Good morning to you all.", ANSWERED: ANSWERS[0]})
    if body["seed"] % 3 == 0:
        return "no json"
    if form.get("type") == "array":
        return json.dumps([f"whether to paint the {body['seed'] % 97} doors {n} times" for n in range(2)])
    if form:
        return json.dumps(fill(SimpleNamespace(json_schema=form)))
    return f"{body['seed']} {body['messages'][-1]['content']}"


@contextmanager
def server() -> Iterator[tuple[str, list[int]]]:
    """A server of the model `toy`: its address, and the seeds that it was asked with."""
    seeds: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(json.dumps({"data": [{"id": "toy"}]}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seeds.append(body["seed"])
            self.reply(answer(_text(body))[2])

        def reply(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}", seeds
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[list[int]]]:
    """Two servers of the same model, and a store for the workers."""
    with server() as (first, seeds), server() as (second, others):
        monkeypatch.setenv("CARES_LLM_URL", f"{first},{second}")
        monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
        yield [seeds, others]


def test_topics_are_those_of_one_process(servers: list[list[int]], tmp_path: Path) -> None:
    with StoredWaves("toy", ENGINE, ItemStore("llm", tmp_path / "here")) as model:
        expected = find_topics(SCENES, load_catalog(), TOPICS, 1, PROMPTS, model)
    assert servers[0] and not servers[1]
    servers[0].clear()
    found, asked = find_topics_apart(SCENES, TopicWork("toy", ENGINE, TOPICS, 1, PROMPTS))
    assert (found, asked) == (expected, model.asked)
    assert servers[0] or servers[1]
    assert find_topics_apart(SCENES, TopicWork("toy", ENGINE, TOPICS, 1, PROMPTS)) == (expected, 0)


def test_dialogues_are_those_of_one_process(servers: list[list[int]], tmp_path: Path) -> None:
    topics = [
        Topic(scene_id=s.scene_id, attempt=n, topic=f"why the rent went up, part {n}") for s in SCENES for n in range(2)
    ]
    judge = partial(LabelJudge, {"doorbell_chime": "behavioral"})
    writer = SkeletonWriter(CATALOG, PARAMS, 1, PROMPTS)
    with StoredWaves("toy", ENGINE, ItemStore("llm", tmp_path / "here")) as model:
        expected = accept_dialogues(SCENES, topics, writer, TimedWaves(model), judge(), PARAMS)
    assert len({attempt.attempt for attempt in expected.attempts}) > 1, "some scene needs another wave"
    outcome, timed = accept_dialogues_apart(SCENES, topics, DialogueWork("toy", ENGINE, PARAMS, 1, PROMPTS, judge))
    assert outcome == expected
    assert timed.seconds > 0 and timed.unknown == 0


def test_independent_waves_keep_their_order(servers: list[list[int]], tmp_path: Path) -> None:
    waves = [[request(f"wave {n}", seed=n), request("other", seed=n + 100)] for n in range(9)]
    with StoredWaves("toy", ENGINE, ItemStore("llm", tmp_path / "here")) as model:
        expected = [model.complete(wave) for wave in waves]
    with StoredWaves("toy", ENGINE, ItemStore("llm", tmp_path / "there")) as model:
        assert list(complete_waves(model, waves, "t")) == expected


@pytest.mark.parametrize(("number", "first", "second"), [(None, 1, 0), (0, 1, 0), (1, 0, 1), (2, 1, 0)])
def test_each_worker_keeps_to_one_of_the_servers(
    servers: list[list[int]], monkeypatch: pytest.MonkeyPatch, number: int | None, first: int, second: int
) -> None:
    monkeypatch.setattr(executor, "_number", number)
    with open_llm("toy", ENGINE) as model:
        model.complete([request(seed=4)])
    assert [len(seeds) for seeds in servers] == [first, second]
