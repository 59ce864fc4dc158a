"""Experiments as README and docs/experiments.md tell them: profiles, overrides, queue, temporary copies, comparison."""

import json
import os
import signal

import pytest

from tests.experiments.conftest import STAGES, alive, wait_until

pytestmark = pytest.mark.timeout(600)

LOUD = ("-S", "mix.event_lufs=[-14,-17]", "-S", "mix.rare_lufs=-11")
QUIET = ("-S", "mix.event_lufs=[-26,-29]", "-S", "mix.rare_lufs=-23")


@pytest.fixture(scope="module")
def queued(built):
    """The clone after two queued experiments, `loud` and `quiet`; also the store as it was before them."""
    before = built.store()
    built.run("dvc", "exp", "run", "--queue", "-n", "loud", *LOUD, *STAGES)
    built.run("dvc", "exp", "run", "--queue", "-n", "quiet", *QUIET, *STAGES)
    built.start_queue()
    wait_until(lambda: built.worker() is None, 400)
    assert {"loud", "quiet"} <= set(_names(built)), built.run("dvc", "queue", "logs", "loud", check=False).stdout[
        -3000:
    ]
    return built, before


def _names(clone):
    listed = clone.run("git", "for-each-ref", "--format=%(refname)", "refs/exps").stdout.split()
    return [name.rsplit("/", 1)[1] for name in listed if "celery" not in name]


def test_queued_experiments_keep_their_items_in_the_one_store(queued):
    clone, before = queued
    after = clone.store()
    assert {name: after[name] for name in before} == before, "what was there was taken, not made again"
    new = [name.split("/")[0] for name in after.keys() - before.keys()]
    families = {name.split("/")[0] for name in before}
    scenes = sum(name.startswith("timeline/") for name in before)
    assert families == {"timeline", "mix"} and scenes == 3
    assert sorted(new) == ["mix"] * 2 * scenes + ["timeline"] * 2 * scenes
    assert clone.run("git", "status", "--porcelain").stdout == "", "the workspace is left alone"


def test_show_has_the_experiments_with_params_and_metrics(queued):
    clone, _ = queued
    head = clone.json("exp", "show", "--json")[-1]
    found = {row["name"]: row["revs"][0]["data"] for row in head["experiments"]}
    assert set(found) >= {"loud", "quiet"}
    assert found["loud"]["params"]["params.yaml"]["data"]["mix"]["event_lufs"] == [-14, -17]
    margins = {
        name: data["metrics"]["metrics/mix.json"]["data"]["event_margin_db"]["mean"] for name, data in found.items()
    }
    assert margins["loud"] > margins["quiet"] + 5
    keep = "^Experiment$|mix.event|event_margin.*mean"
    table = clone.run(
        "dvc", "exp", "show", "--csv", "--only-changed", "--drop", ".*", "--keep", keep
    ).stdout.splitlines()
    assert table[0].split(",") == ["Experiment", "event_margin_db.mean", "mix.event_lufs"]
    assert {"loud", "quiet"} <= {line.split(",")[0] for line in table}


def test_differences_of_params_and_metrics_are_named(queued):
    clone, _ = queued
    params = clone.json("params", "diff", "--json", "quiet", "loud")["params.yaml"]
    assert {"mix.rare_lufs"} <= set(params) and all(name.startswith("mix.") for name in params)
    assert (params["mix.rare_lufs"]["old"], params["mix.rare_lufs"]["new"]) == (-23, -11)
    found = clone.json("metrics", "diff", "--json", "HEAD", "loud")
    (changed,) = [value["diff"] for name, value in _flat(found) if name == "metrics/mix.json:event_margin_db.mean"]
    assert changed > 4


def _flat(found):
    files = found.get("diff", found)
    return [(f"{file}:{name}", value) for file, values in files.items() for name, value in values.items()]


@pytest.mark.parametrize("plot", ["timeline_gaps", "mix_loudness", "scene_lengths"])
def test_plots_hold_data_of_every_revision(queued, plot):
    clone, _ = queued
    name = f"metrics/plots/{plot}.csv"
    (figure,) = clone.json("plots", "diff", "--json", "HEAD", "quiet", "loud", "--targets", name)["data"][name]
    content = figure["content"] if isinstance(figure["content"], dict) else json.loads(figure["content"])
    values = content["data"]["values"]
    assert figure["revisions"] == ["HEAD", "quiet", "loud"]
    assert {row["rev"] for row in values} == {"HEAD", "quiet", "loud"}
    assert "DVC_METRIC" not in json.dumps(content), "every anchor of the template is filled"
    if plot == "mix_loudness":
        level = {row["rev"]: float(row["median"]) for row in values if row["measure"].startswith("sound in")}
        assert level["quiet"] < level["loud"]


def test_plots_are_written_as_a_page_with_own_scripts(queued, tmp_path):
    clone, _ = queued
    page = tmp_path / "page.html"
    page.write_text("<html><script>OWN</script>{plot_divs}</html>", encoding="utf-8")
    clone.run("dvc", "plots", "diff", "HEAD", "loud", "-o", str(tmp_path / "plots"), "--html-template", str(page))
    text = (tmp_path / "plots/index.html").read_text(encoding="utf-8")
    assert "Gaps by label" in text and "Loudness" in text and "OWN" in text
    assert "http" not in text.replace("https://vega.github.io/schema/", ""), "nothing is fetched"


def test_a_temporary_copy_takes_the_store_and_its_own_code(built):
    before = built.store()
    script = built.root / "stages/audit.py"
    script.write_text(script.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    try:
        done = built.run("dvc", "exp", "run", "--temp", "--force", "-n", "again", *STAGES)
    finally:
        built.run("git", "checkout", "-q", "stages/audit.py")
    assert "Running stage 'mix'" in done.stdout and "Running stage 'audit'" in done.stdout
    assert built.store() == before
    assert not list((built.root / ".dvc/tmp/exps/standalone").glob("tmp*/.cares"))


def test_a_relative_store_is_relative_to_the_repository_in_a_copy_too(built):
    built.run("dvc", "exp", "run", "--temp", "--force", "-n", "elsewhere", "timeline", CARES_STORE=".cares/other")
    assert len([path for path in (built.root / ".cares/other/timeline").rglob("*") if path.is_file()]) == 3


def test_profiles_compose_in_the_queue_and_mistakes_are_named(built):
    built.run("dvc", "exp", "run", "--queue", "-n", "profile", "-S", "models=laptop", "-S", "size=small", "mix")
    rows = built.json("exp", "show", "--json")[-1]["experiments"]
    (data,) = [row["revs"][0]["data"] for row in rows if row["name"] == "profile"]
    params = data["params"]["params.yaml"]["data"]
    assert (params["models"]["writer"], params["allocation"]["scenes"]) == ("qwen3-4b-instruct-2507", 100)
    built.run("dvc", "queue", "remove", "profile")
    for override, named in {"models=nobody": "laptop", "mix.nothing=1": "mix.nothing"}.items():
        done = built.run("dvc", "exp", "run", "--queue", "-S", override, "mix", check=False)
        assert done.returncode != 0 and named in done.stderr + done.stdout, override
        assert "Traceback" not in done.stderr
    assert built.run("git", "status", "--porcelain").stdout == ""


@pytest.mark.parametrize("end", [("kill", "--force", "slow"), ("kill", "slow"), ("stop", "--kill")])
def test_a_killed_queue_leaves_no_process(built, tmp_path, end):
    built.run("dvc", "exp", "run", "--queue", "-n", "slow", "-S", "seed=2", "slow")
    built.start_queue(SLOW_PIDS=str(tmp_path))
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    pids = {int(pid) for path in tmp_path.iterdir() for pid in path.read_text(encoding="ascii").split()}
    assert len(pids) == 3, "two workers and their stage"
    try:
        built.run("dvc", "queue", *end)
        wait_until(lambda: not any(map(alive, pids)), 30)
        wait_until(lambda: built.worker() is None, 60)
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)
    built.run("dvc", "queue", "remove", "--all")
