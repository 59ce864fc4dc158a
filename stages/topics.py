"""Stage `topics`: several topics for every allocated scene."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.executor import executor_kind
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.dialogue.params import TopicsParams
from cares.dialogue.spread import TopicWork, find_topics_apart
from cares.dialogue.topics import find_topics
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.models.params import ModelsParams
from cares.records.scene import Scene, batches

OUT = Path("data/topics.jsonl")
PROMPTS = Path("prompts")


def main() -> None:
    """Read the scenes, find their topics, write them."""
    params = Params()
    section = params.section("topics", TopicsParams)
    writer, llm = params.section("models", ModelsParams).topic_writer, params.section("llm", LlmParams)
    scenes = read_records(Scene, Path("data/allocation/scenes.jsonl"))
    if executor_kind() == "ray":
        topics, asked = find_topics_apart(scenes, TopicWork(writer, llm, section, params.seed, PROMPTS))
    else:
        with StoredWaves(writer, llm) as model:
            # scenes that were added share no group with those before them, whose waves would be others
            topics = [
                topic
                for batch in batches(scenes)
                for topic in find_topics(batch, load_catalog(), section, params.seed, PROMPTS, model)
            ]
        asked = model.asked
    write_records(OUT, topics)
    print(f"topics: {len(topics)} topics for {len(scenes)} scenes in {OUT}; the model was asked for {asked} waves")


if __name__ == "__main__":
    run_stage(main)
