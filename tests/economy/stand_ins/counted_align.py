"""The alignment of a scene, which writes down whether something of it was aligned anew.

It is imported right after the module that it stands in, when that still has the function of its own.
"""

from counted_log import note

from cares.speech.align import align_scene as _align_scene


def align_scene(speech, samples, placer):
    """As `cares.speech.align.align_scene`; a scene is made anew if any window of it is not in the store."""
    before = placer.made
    aligned = _align_scene(speech, samples, placer)
    if placer.made > before:
        note("aligned", speech.scene_id)
    return aligned
