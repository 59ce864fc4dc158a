"""Real recordings, end to end: a folder bank, an allocation from that bank, rooms, timelines, and finished scenes.

The recordings are those of the Debian package sonic-pi-samples (CC0). They stand in for sounds of the catalog by their
kind and length. Without the package the test is skipped; CARES_TEST_SAMPLES may name a folder that it was unpacked to.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cares.allocation.allocate import allocate
from cares.allocation.bank import available_sounds
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog
from cares.core.params import Params
from cares.core.pcm import SAMPLE_RATE, encode, read_samples
from cares.core.record import read_records
from cares.core.store import ItemStore
from cares.corpus.lengths import Lengths
from cares.corpus.talk import make_talk
from cares.corpus.voice import make_voices
from cares.mix.backend import NumpyBackend
from cares.mix.choices import Bank
from cares.mix.loudness import integrated_lufs, to_float
from cares.mix.params import MixParams, TimelineParams
from cares.mix.render import render
from cares.mix.sources import Sources
from cares.mix.timeline import SceneInputs, build_timeline
from cares.records.bank import Room, Take
from cares.sounds.bank import build_bank
from cares.sounds.folder import open_folder
from cares.sounds.params import SoundsParams
from cares.sounds.report import TakeReport
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import build_rooms, write_rooms
from cares.speech.params import SpeechParams
from recordings import manifest

REPO = Path(__file__).resolve().parents[2]
SAMPLES = Path(os.environ.get("CARES_TEST_SAMPLES", "/usr/share/sonic-pi/samples"))
SOUNDS = {
    "ringtone_short": ("mehackit_phone1", "mehackit_phone2", "mehackit_phone3", "mehackit_phone4"),
    "finger_snap": ("perc_snap", "perc_snap2", "elec_hi_snare", "tabla_te2"),
    "clapping": ("elec_filt_snare", "loop_amen", "glitch_perc1"),
    "velcro_rip": ("vinyl_scratch", "sn_dolf", "sn_dub"),
    "keys_jingle": ("drum_cymbal_soft", "elec_cymbal", "drum_cymbal_hard"),
    "bottle_opening": ("elec_blup", "elec_plip", "elec_bong"),
    "page_turning": ("perc_swash", "perc_swoosh", "sn_generic"),
    "watch_alarm": ("mehackit_robot1", "mehackit_robot5", "glitch_robot1"),
    "camera_shutter": ("elec_blip2", "elec_ping", "drum_cymbal_closed"),
    "tearing_paper": ("glitch_perc2", "glitch_perc4", "vinyl_backspin"),
}
AMBIENCES = ("ambi_sauna", "vinyl_hiss", "loop_3d_printer")
PLACES = ("airport", "train_station", "shopping_mall")
SEED = 3

pytestmark = pytest.mark.skipif(
    not (SAMPLES / "perc_snap.flac").is_file(), reason=f"no recordings in {SAMPLES} (Debian package sonic-pi-samples)"
)


def folder_bank(root: Path) -> list[Take]:
    """A bank of the package's recordings alone; parts of one recording serve as ambiences of several places."""
    folder = root / "recordings"
    folder.mkdir()
    who = {"licence": "CC0-1.0", "author": "authors named in sonic-pi-samples", "url": "https://freesound.org"}
    rows = [{"sound": sound, "path": f"{name}.flac", **who} for sound, names in SOUNDS.items() for name in names]
    for name in AMBIENCES:
        for number, place in enumerate(PLACES):
            cut = {"start_s": str(number), "end_s": str(number + 5.5)}
            rows.append({"location": place, "path": f"{name}.flac", **who, **cut})
    for row in rows:
        (folder / row["path"]).write_bytes((SAMPLES / row["path"]).read_bytes())
    manifest(folder, rows)
    counts = {"train": 2, "validation": 1, "test": 1}
    params = SoundsParams.parse(
        {"source": "folder", "takes": counts, "ambience_takes": counts, "unusable": "leave_out"}, "test"
    )
    catalog, out = load_catalog(), root / "data/sounds"
    return build_bank(open_folder(folder, catalog, SEED), catalog, params, out, ItemStore("sounds", root), 1)


def test_real_recordings_are_mixed_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CARES_WORKERS", "1")
    params, catalog = Params(REPO / "params.yaml"), load_catalog()
    takes = folder_bank(tmp_path)
    usable = available_sounds(takes)
    assert usable["train"] == usable["validation"] == usable["test"]
    assert len(usable["test"]) >= 8
    assert len({take.pcm_sha256 for take in takes}) == len(takes)
    reports = read_records(TakeReport, tmp_path / "data/sounds/quality.jsonl")
    assert {report.reasons for report in reports if "tabla_te2" in report.origin} == {("clipped",)}

    section = params.section("allocation", AllocationParams).to_json()
    wanted = AllocationParams.parse(section | {"scenes": 39, "scenes_per_template": 1, "rare_share": 0.0}, "test")
    allocation = allocate(wanted, SEED, catalog, usable)
    scenes = [scene for scene in allocation.scenes if scene.location in PLACES and scene.events]
    assert {event.sound for scene in scenes for event in scene.events} <= usable["test"]

    small = RoomsParams(source=("image_source",), per_split=1, event_positions=2, max_seconds=0.6)
    write_rooms(build_rooms([catalog.locations[name] for name in PLACES], small, SEED), tmp_path / "data/rooms")
    rooms = tuple(read_records(Room, tmp_path / "data/rooms/rooms.jsonl"))
    bank, voices = Bank(tuple(takes), rooms, frozenset()), make_voices(SEED)
    timeline_params, mix_params = params.section("timeline", TimelineParams), params.section("mix", MixParams)
    heard: set[str] = set()
    for scene in scenes[:3]:
        talk = make_talk(scene, Lengths(), voices, params.section("speech", SpeechParams), SEED)
        spoken = tmp_path / talk.speech.path
        spoken.parent.mkdir(parents=True, exist_ok=True)
        spoken.write_bytes(encode(talk.samples, container="WAV"))
        inputs, sources = SceneInputs(scene, talk.dialogue, talk.speech, talk.alignment), Sources(tmp_path)
        decided = build_timeline(
            inputs, bank.for_scene(scene), timeline_params, mix_params, SEED, sources, NumpyBackend()
        )
        timeline = decided.timeline
        mix = render(scene.scene_id, [timeline], tmp_path, NumpyBackend())
        assert integrated_lufs(to_float(mix)) == pytest.approx(mix_params.master_lufs, abs=0.05)
        assert [event.sound for event in timeline.events] == [event.sound for event in scene.events]
        for event in timeline.events[:1]:
            muted = render(scene.scene_id, [timeline], tmp_path, NumpyBackend(), muted=(event.event,))
            differing = np.flatnonzero(mix != muted)
            assert differing[0] >= event.start_sample
            assert differing[-1] < event.end_sample + round(0.6 * SAMPLE_RATE)
        assert all(event.margin_cdb >= 600 for event in timeline.events)
        heard |= {clip.path for clip in timeline.clips if clip.track in ("event", "ambience")}
    assert len(heard) >= 5
    for path in heard:
        take = next(take for take in takes if take.path == path)
        assert take.source == "folder"
        assert len(read_samples(tmp_path / path)) == take.n_samples
