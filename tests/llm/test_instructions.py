"""The arithmetic of a language model is held to one set of instructions while it is open, and let go afterwards."""

import os

import pytest

from cares.llm.instructions import has_instructions, held_instructions
from cares.llm.params import LlmParams

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def with_tiles(monkeypatch):
    """A processor with AMX, and a user who had set no limit."""
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)


def test_held_while_open_and_let_go_afterwards(with_tiles):
    with held_instructions(LlmParams()):
        assert not torch.cpu._is_amx_tile_supported()
        assert os.environ["ONEDNN_MAX_CPU_ISA"] == "AVX512_CORE_BF16"
    assert torch.cpu._is_amx_tile_supported()
    assert "ONEDNN_MAX_CPU_ISA" not in os.environ


def test_the_users_own_limit_comes_back(with_tiles, monkeypatch):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    with pytest.raises(RuntimeError), held_instructions(LlmParams()):
        raise RuntimeError
    assert os.environ["ONEDNN_MAX_CPU_ISA"] == "AVX2"


def test_native_takes_all_that_there_is(with_tiles):
    with held_instructions(LlmParams(cpu_instructions="native")):
        assert torch.cpu._is_amx_tile_supported()
        assert "ONEDNN_MAX_CPU_ISA" not in os.environ


def test_a_processor_without_the_set_is_named(with_tiles, monkeypatch, capsys):
    monkeypatch.setattr("cares.llm.instructions.has_instructions", lambda name: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with held_instructions(LlmParams()):
        pass
    assert "no avx512_bf16" in capsys.readouterr().err


@pytest.mark.parametrize(("flags", "has"), [("fma avx512_bf16 amx_tile", True), ("fma avx512f", False)])
def test_flags_are_whole_words_of_the_processors_line(tmp_path, flags, has):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"model name\t: any\nflags\t\t: {flags}\n", encoding="utf-8")
    assert has_instructions("avx512_bf16", cpuinfo) is has


def test_where_flags_are_not_told_nothing_is_claimed(tmp_path):
    assert has_instructions("avx512_bf16", tmp_path / "absent")
