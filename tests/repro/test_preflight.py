"""What is looked at before anything is installed."""

import json

import pytest

from cares.repro.preflight import DISK_GB, problems, torch_problem

FINE = {"system": "Linux", "machine": "x86_64", "python": (3, 11), "free_gb": 50.0, "has_environment": False}


def test_a_good_machine_has_no_problem():
    assert problems(**FINE) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"system": "Darwin", "machine": "arm64"}, "CARES_LLM_URL"),
        ({"system": "Windows"}, "WSL"),
        ({"machine": "aarch64"}, "PROFILE=gpu"),
        ({"python": (3, 12)}, "Python 3.12"),
        ({"free_gb": DISK_GB - 1.0}, f"{DISK_GB} are needed"),
    ],
)
def test_each_problem_says_what_to_do(change, named):
    (found,) = problems(**(FINE | change))
    assert named in found


def test_the_advice_can_be_followed():
    assert problems(**(FINE | {"system": "Darwin", "machine": "arm64", "profile": "build"})) == []
    assert problems(**(FINE | {"machine": "aarch64", "profile": "gpu"})) == []


def test_a_full_disk_matters_only_before_the_installation():
    assert problems(**(FINE | {"free_gb": 1.0, "has_environment": True})) == []


def _report(version, requires):
    return json.dumps({"install": [{"metadata": {"version": version, "requires_dist": requires}}]})


def test_the_cpu_build_is_told_from_the_cuda_build():
    assert torch_problem(_report("2.13.0+cpu", ["numpy"])) is None
    assert torch_problem(_report("2.13.0", ["filelock"])) is None
    assert "CUDA build" in torch_problem(
        _report("2.13.0", ["filelock", "nvidia-cublas==13.1; sys_platform == 'linux'"])
    )
    assert "offers no torch" in torch_problem("")
    assert "offers no torch" in torch_problem('{"install": []}')
