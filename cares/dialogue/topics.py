"""What each scene's talk is about: a small concrete subject within the theme of its template, several to a scene."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cares.catalog.load import Catalog
from cares.catalog.types import Theme
from cares.core.errors import CaresError
from cares.core.rng import KeyedRandom, derived_seed
from cares.dialogue.lint import pronounceable
from cares.dialogue.params import TopicsParams
from cares.dialogue.prompts import render
from cares.llm.types import ChatMessage, ChatRequest
from cares.llm.waves import StoredWaves
from cares.records.dialogue import Topic
from cares.records.scene import Scene

SHOWN_THEMES = 3
_NO_END = re.compile(r" (?:a|an|the|to|of|for|with|and|or|in|on|at|my|our|your|their|his|her|new|that)$")
# a topic is a question of two people, not a title: it gives them something to settle
_QUESTIONS = "whether to|whether the|who|why the|what to do about|how long|when to|where to|which"
_ABOUT_THE_TASK = re.compile(r"\b(?:two people|the (?:two|speakers?)|talk about|dialogue|short line)\b")


def groups(scenes: Sequence[Scene], size: int) -> Iterator[list[Scene]]:
    """Fixed groups of `size` scenes in the order of their ids: a further scene touches only the last group."""
    ordered = sorted(scenes, key=lambda scene: scene.scene_id)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def find_topics(
    scenes: Sequence[Scene], catalog: Catalog, params: TopicsParams, seed: int, prompts: Path, model: StoredWaves
) -> list[Topic]:
    """`per_scene` topics for every scene, in the order of scene ids.

    A topic that is malformed, that names one of the scene's sounds, or that another scene of the group already has is
    asked for again, up to `attempts` times; then an example of the theme in the catalog takes its place.

    Raises:
        CaresError: a theme has no example left that names none of the scene's sounds.
    """
    found: list[Topic] = []
    for group in groups(scenes, params.group_scenes):
        taken: dict[str, list[str]] = {scene.scene_id: [] for scene in group}
        for attempt in range(params.attempts):
            waiting = [scene for scene in group if len(taken[scene.scene_id]) < params.per_scene]
            if not waiting:
                break
            wave = [_request(scene, catalog, params, seed, attempt, prompts) for scene in waiting]
            for scene, answer in zip(waiting, model.complete(wave), strict=True):
                others = {topic for topics in taken.values() for topic in topics}
                wanted = params.per_scene - len(taken[scene.scene_id])
                # a topic that fills its pattern to the last character was ended by the pattern, not by the writer
                whole = [topic for topic in read_topics(answer.text) if len(topic) < params.longest_chars]
                new = [topic for topic in dict.fromkeys(whole) if is_usable(topic, scene, catalog, others)]
                taken[scene.scene_id] += new[:wanted]
        for scene in group:
            topics = taken[scene.scene_id]
            topics += _examples(scene, catalog, seed, params.per_scene - len(topics))
            found += [Topic(scene_id=scene.scene_id, attempt=n, topic=topic) for n, topic in enumerate(topics)]
    return found


def is_usable(topic: str, scene: Scene, catalog: Catalog, others: set[str]) -> bool:
    """Whether a topic is new, well formed and names none of the scene's sounds."""
    words = topic.split()
    return (
        3 <= len(words) <= 14
        and not _NO_END.search(topic)
        and all(pronounceable(word) for word in words)
        and topic not in others
        and not _ABOUT_THE_TASK.search(topic)
        and not any(catalog.sounds[event.sound].mention_in(topic) for event in scene.events)
    )


def read_topics(text: str) -> list[str]:
    """The topics of an answer; none when it is not the JSON that was asked for."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    if not isinstance(value, list):
        return []
    return [re.sub(r"\s+", " ", topic).strip() for topic in value if isinstance(topic, str)]


def _request(
    scene: Scene, catalog: Catalog, params: TopicsParams, seed: int, attempt: int, prompts: Path
) -> ChatRequest:
    draw = KeyedRandom(seed, "topic_examples", scene.scene_id, attempt)
    others = draw.sample(sorted(set(catalog.themes) - {scene.theme}), SHOWN_THEMES)
    shown = [message for name in others for message in _shown(catalog.themes[name], params.per_scene, prompts, draw)]
    line = {"type": "string", "pattern": f"^({_QUESTIONS}) [A-Za-z0-9', -]{{10,{params.longest_chars - 2}}}[a-z]$"}
    return ChatRequest(
        messages=(
            ChatMessage(role="system", content=render(prompts / "topic_system.jinja")),
            *shown,
            _asked(catalog.themes[scene.theme], prompts),
        ),
        seed=derived_seed(seed, "topic", scene.scene_id, attempt),
        max_tokens=60 * params.per_scene,
        temperature=params.temperature,
        top_p=1.0,
        min_p=params.min_p,
        json_schema={"type": "array", "items": line, "minItems": params.per_scene, "maxItems": params.per_scene},
    )


def _asked(theme: Theme, prompts: Path) -> ChatMessage:
    return ChatMessage(role="user", content=render(prompts / "topic_request.jinja", theme=theme.phrase))


def _shown(theme: Theme, count: int, prompts: Path, draw: KeyedRandom) -> tuple[ChatMessage, ChatMessage]:
    """A worked example: another theme and topics of it from the catalog."""
    return _asked(theme, prompts), ChatMessage(
        role="assistant", content=json.dumps(draw.shuffled(theme.examples)[:count])
    )


def _examples(scene: Scene, catalog: Catalog, seed: int, count: int) -> list[str]:
    if count <= 0:
        return []
    usable = [
        example
        for example in catalog.themes[scene.theme].examples
        if not any(catalog.sounds[event.sound].mention_in(example) for event in scene.events)
    ]
    if len(usable) < count:
        raise CaresError(f"{scene.scene_id}: theme {scene.theme} has no example that names none of the scene's sounds")
    return KeyedRandom(seed, "topic_from_catalog", scene.scene_id).sample(usable, count)
