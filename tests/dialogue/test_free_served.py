"""The free writer for real: a small model behind a server of its own writes, and every attempt has its reason."""

from collections import Counter
from pathlib import Path

import pytest
from dialogue_world import CATALOG, PARAMS, scene
from fixed_judge import LabelJudge

from cares.core.store import ItemStore
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.free import make_writer
from cares.llm.params import LlmParams
from cares.llm.serve import serve
from cares.llm.waves import StoredWaves
from cares.records.dialogue import Topic

pytestmark = pytest.mark.models

MODEL = "smollm2-135m-instruct"
ENGINE = LlmParams(context_tokens=2048, batched_tokens=8192, kv_cache_gib=0.5, wave_limit=8)
FREE = PARAMS.model_copy(
    update={"writer": "free", "group_scenes": 4, "waves": 2, "candidates": 2, "max_tokens": 160, "min_p": 0.0}
)
PROMPTS = Path(__file__).parents[2] / "prompts"
SOUNDS = {"dog_bark": "pivot", "doorbell_chime": "behavioral", "bag_zipping": "ambient"}
REASONS = {
    "accepted", "assistant_phrase", "copies_example", "cut_text", "doubled_marker", "early_reference",
    "empty_answer", "empty_text", "endless_repetition", "label_not_recovered", "length_of_turn",
    "marker_at_edge", "marker_in_word", "marker_in_wrong_turn", "marker_order", "missing_marker", "narration",
    "no_break", "no_reference", "not_chosen", "odd_character", "other_language", "phone_call", "placeholder",
    "refusal", "remark_goes_on", "repeated_line", "repeated_phrase", "stage_direction", "stutter", "too_long",
    "topic_not_recovered", "unknown_marker", "unpronounceable", "unwanted_break", "unwanted_reference",
    "wrong_speaker", "wrong_turns",
}  # fmt: skip


def test_a_served_model_writes_and_every_attempt_has_its_reason(monkeypatch, tmp_path):
    scenes = [scene(*SOUNDS.items(), number=n) for n in range(2)] + [scene(number=2), scene(number=3)]
    topics = [Topic(scene_id=s.scene_id, attempt=0, topic="why the rent went up again") for s in scenes]
    writer = make_writer(CATALOG, FREE, 1, PROMPTS)

    def write():
        with StoredWaves(MODEL, ENGINE, ItemStore("llm", tmp_path)) as model:
            outcome = accept_dialogues(scenes, topics, writer, model, LabelJudge(SOUNDS), FREE)
        return outcome, model.asked

    with serve(MODEL, ENGINE) as url:
        monkeypatch.setenv("CARES_LLM_URL", url)
        outcome, asked = write()
    assert asked == 2 and len(outcome.attempts) >= 8
    reasons = Counter(attempt.reason for attempt in outcome.attempts)
    print(dict(reasons))
    assert set(reasons) <= REASONS, [a.detail for a in outcome.attempts]
    assert any(attempt.text for attempt in outcome.attempts)
    assert sorted([d.scene_id for d in outcome.accepted] + list(outcome.refused)) == [s.scene_id for s in scenes]
    assert write() == (outcome, 0), "answered waves are kept: the server is gone, and nothing is asked again"
