"""The histogram of scene lengths."""

from types import SimpleNamespace

from cares.report.lengths import histogram


def build(seconds, targets=None):
    scenes = [SimpleNamespace(scene_id=str(n), n_samples=int(s * 44_100)) for n, s in enumerate(seconds)]
    wanted = targets or [None] * len(seconds)
    allocated = [SimpleNamespace(scene_id=str(n), length_s=target) for n, target in enumerate(wanted)]
    return SimpleNamespace(scenes=scenes, allocated=allocated)


def test_every_scene_is_in_one_bar_beside_what_was_asked_for():
    found = histogram(build([101.0, 103.0, 118.5], [100.0, 110.0, 121.0]))
    assert [(bar.seconds, bar.scenes, bar.targets, bar.percent) for bar in found.bars] == [
        ("100 to 105", 2, 1, "100"),
        ("105 to 110", 0, 0, "0"),
        ("110 to 115", 0, 1, "0"),
        ("115 to 120", 1, 0, "50"),
        ("120 to 125", 0, 1, "0"),
    ]
    assert found.found == "107.5 s on average with a standard deviation of 7.8 s"
    assert found.asked == "110.3 s on average with a standard deviation of 8.6 s"


def test_a_build_without_targets_or_without_scenes():
    assert histogram(build([47.0])).asked == ""
    assert histogram(build([])) is None
