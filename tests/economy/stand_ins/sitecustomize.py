"""As tests/scale/stand_ins/sitecustomize.py, but what loads a model and what makes an item is written down.

The lists of the recogniser and of the voiceprints are kept in the item store here, as the real ones are.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from counted_log import name_stage

SCALE = Path(__file__).parents[2] / "scale" / "stand_ins"
sys.path.append(str(SCALE))
_spec = spec_from_file_location("stand_ins_of_scale", SCALE / "sitecustomize.py")
_site = module_from_spec(_spec)
_spec.loader.exec_module(_site)
_site.REPLACED |= {
    "cares.core.store": ("counted_store", ("ItemStore",)),
    "cares.llm.open": ("counted", ("model_identity", "open_llm")),
    "cares.speech.align": ("counted_align", ("align_scene",)),
    "cares.speech.engines": ("counted", ("load_engine",)),
    "cares.speech.voiceprint": ("counted", ("SpeakerEncoder",)),
    "cares.asr.aligner": ("counted", ("Aligner",)),
    "cares.asr.recogniser": ("counted", ("Recogniser",)),
}
name_stage()
