"""Profiles: what conf/ composes is params.yaml, every profile is sound, and DVC composes them by itself."""

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml

from cares.allocation.allocate import allocate
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.params import SECTIONS, Params
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.context import check_context
from cares.dialogue.families import families
from cares.dialogue.free import make_writer
from cares.dialogue.params import DialoguesParams, TopicsParams
from cares.llm.params import LlmParams
from cares.models.params import ModelsParams
from cares.models.registry import registered
from cares.repro.check import SCHEMAS
from cares.repro.profiles import compose, profiles, write_params

ROOT = Path(__file__).parents[2]
GROUPS = profiles(ROOT)
PAIRS = list(product(GROUPS["models"], GROUPS["size"]))
GIB = 1 << 30
CACHE_BYTES = {
    "embedded": 28 * 2 * 128 * 4,
    "laptop": 36 * 8 * 128 * 4,
}  # of a token: layers, heads, size, keys and values
SCENES = {"tiny": (12, 1), "small": (100, 1), "paper": (10_000, 10)}


def composed(tmp_path, *overrides) -> Params:
    compose(ROOT, overrides, tmp_path / "params.yaml")
    return Params(tmp_path / "params.yaml")


def test_params_are_what_conf_composes(tmp_path):
    compose(ROOT, [], tmp_path / "params.yaml")
    wanted = (tmp_path / "params.yaml").read_text(encoding="utf-8")
    assert (ROOT / "params.yaml").read_text(encoding="utf-8") == wanted, "edit conf/ and run `make params`"


def test_params_out_of_range_are_refused_and_the_file_stays(tmp_path):
    target = tmp_path / "params.yaml"
    write_params(ROOT, ["seed=7"], target)
    before = target.read_bytes()
    with pytest.raises(InputError, match=r"conf: allocation\.scenes: got -3, expected"):
        write_params(ROOT, ["seed=8", "allocation.scenes=-3"], target)
    assert target.read_bytes() == before
    assert Params(target).seed == 7


def test_the_groups_are_those_that_the_documents_name():
    assert GROUPS == {"models": ("embedded", "laptop", "paper"), "size": ("paper", "small", "tiny")}


@pytest.mark.parametrize(("models", "size"), PAIRS)
def test_every_profile_passes_every_schema(tmp_path, models, size):
    params = composed(tmp_path, f"models={models}", f"size={size}")
    for name in SECTIONS:
        if name != "seed":
            params.section(name, SCHEMAS[name])
    allocation = params.section("allocation", AllocationParams)
    assert (allocation.scenes, allocation.scenes_per_template) == SCENES[size]


@pytest.mark.parametrize("models", GROUPS["models"])
def test_models_are_registered_pinned_and_of_their_kind(tmp_path, models):
    section = composed(tmp_path, f"models={models}").section("models", ModelsParams)
    section.check("params.yaml", writer_is_served=models == "paper")
    for name in section.ids():
        model = registered(name)
        assert len(model.revision) == 40 or model.host != "huggingface"
        assert model.licence and (model.files or model.served)


def test_large_models_ask_for_a_server_at_the_start(tmp_path):
    section = composed(tmp_path, "models=paper").section("models", ModelsParams)
    with pytest.raises(InputError, match=r"CARES_LLM_URL.*docs/full-scale\.md"):
        section.check("params.yaml", writer_is_served=False)


@pytest.mark.parametrize("models", GROUPS["models"])
def test_who_judges_is_of_another_family_than_who_writes(tmp_path, models):
    params = composed(tmp_path, f"models={models}")
    calibration = params.section("calibration", CalibrationParams)
    section = params.section("models", ModelsParams)
    found = families(section, calibration.evaluator, calibration.allow_same_family, "params.yaml")
    assert not found.same and found.writer not in found.evaluator and found.evaluator


@pytest.mark.parametrize("models", GROUPS["models"])
def test_every_wave_fits_the_engine(tmp_path, models):
    params = composed(tmp_path, f"models={models}")
    llm = params.section("llm", LlmParams)
    topics, dialogues = params.section("topics", TopicsParams), params.section("dialogues", DialoguesParams)
    waves = (
        topics.group_scenes,
        dialogues.group_scenes,
        dialogues.repair_places,
        params.section("bench", SCHEMAS["bench"]).wave_size,
    )
    assert max(waves) <= llm.wave_limit
    if models in CACHE_BYTES:
        prompt = 1200  # tokens; with a worked example and four turns of talk
        tokens = max(dialogues.group_scenes * (prompt + dialogues.max_tokens), dialogues.repair_places * (prompt + 200))
        assert tokens * CACHE_BYTES[models] <= llm.kv_cache_gib * GIB


@pytest.mark.parametrize("models", GROUPS["models"])
def test_the_longest_scenes_fit_context_and_waves(tmp_path, models):
    params = composed(tmp_path, f"models={models}", "size=paper")
    llm, dialogues = params.section("llm", LlmParams), params.section("dialogues", DialoguesParams)
    asked = params.section("allocation", AllocationParams).model_copy(update={"scenes": 200})
    catalog = load_catalog()
    scenes = allocate(asked, 1, catalog).scenes
    writer = make_writer(catalog, dialogues, 1, ROOT / "prompts")
    check_context(scenes, writer, llm)
    if models in CACHE_BYTES:
        most = max(writer.draft(scene, "the rent", 0, 0).request.max_tokens for scene in scenes)
        assert dialogues.group_scenes * (1200 + most) * CACHE_BYTES[models] <= llm.kv_cache_gib * GIB


def test_profiles_set_the_same_keys(tmp_path):
    keys = {}
    for models in GROUPS["models"]:
        compose(ROOT, [f"models={models}"], tmp_path / "params.yaml")
        data = yaml.safe_load((tmp_path / "params.yaml").read_text(encoding="utf-8"))
        keys[models] = {name: set(data[name]) for name in ("llm", "topics", "dialogues")}
    assert keys["embedded"] == keys["laptop"] == keys["paper"]


def test_values_can_be_set_beside_profiles(tmp_path):
    params = composed(tmp_path, "models=laptop", "seed=7", "llm.batch_invariant=false", "models.asr=whisper-base")
    assert params.seed == 7 and not params.section("llm", LlmParams).batch_invariant


@pytest.mark.parametrize("wrong", ["models=huge", "size=", "mix.no_such_key=3", "models", "=", "nowhere=1"])
def test_a_wrong_override_names_what_there_is(tmp_path, wrong):
    with pytest.raises(InputError, match=r"conf.*models=embedded\|laptop\|paper"):
        compose(ROOT, [wrong], tmp_path / "params.yaml")
    assert not (tmp_path / "params.yaml").exists()


def run(command, cwd):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


def test_an_experiment_composes_by_itself(tmp_path):
    target = tmp_path / "a copy \u00fc"
    shutil.copytree(ROOT / "conf", target / "conf")
    (target / ".dvc").mkdir()
    shutil.copy(ROOT / ".dvc" / "config", target / ".dvc" / "config")
    shutil.copy(ROOT / "params.yaml", target / "params.yaml")
    (target / "dvc.yaml").write_text(
        "stages:\n  look:\n    cmd: python -c \"print(open('params.yaml').read())\" > out.txt\n"
        "    params: [seed, models, mix]\n    outs: [out.txt]\n"
    )
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    run(["git", "init", "-q"], target)
    run(["git", "add", "-A"], target)
    run(["git", *who, "commit", "-q", "-m", "start"], target)
    chosen = ["models=laptop", "size=small", "mix.master_lufs=-20.0", "seed=3"]
    run(["dvc", "exp", "run", *(part for value in chosen for part in ("-S", value))], target)
    compose(ROOT, chosen, tmp_path / "wanted.yaml")
    wanted = (tmp_path / "wanted.yaml").read_text(encoding="utf-8")
    assert (target / "params.yaml").read_text(encoding="utf-8") == wanted
    assert (target / "out.txt").read_text(encoding="utf-8").strip() == wanted.strip()
    assert "qwen3-4b-instruct-2507" in wanted
    run(["dvc", "exp", "run"], target)
    default = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert (target / "params.yaml").read_text(encoding="utf-8") == default, "without a choice: the default again"


def test_the_command_writes_a_profile_and_check_says_what_it_needs(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    said = run(["cares", "params", "models=laptop", "size=small"], tmp_path)
    assert "models=laptop, size=small" in said and "scenes: 100" in (tmp_path / "params.yaml").read_text()
    run(["cares", "check"], tmp_path)
    run(["cares", "params", "models=paper"], tmp_path)
    cares = Path(sys.executable).with_name("cares")
    env = {name: value for name, value in os.environ.items() if name != "CARES_LLM_URL"}
    done = subprocess.run([cares, "check"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "CARES_LLM_URL" in done.stderr and "Traceback" not in done.stderr
    served = env | {"CARES_LLM_URL": "http://127.0.0.1:1"}
    done = subprocess.run([cares, "check"], cwd=tmp_path, env=served, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
