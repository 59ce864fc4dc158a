"""Python runs this file at the start of every process that has its folder on PYTHONPATH, the dry run's own among them.

It puts the stand-ins in the places of what loads a model, each right after its module was imported; nothing is imported
before it is asked for, so that DVC and git's helpers pay nothing.
"""

import importlib
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder

# module -> the stand-in's module and what it gives in place of the names of the same spelling
REPLACED = {
    "cares.models.ensure": ("stand_in_models", ("ensure", "ready_model", "model_digest")),
    "cares.llm.open": ("stand_in_writer", ("model_identity", "open_llm")),
    "cares.dialogue.encoder": ("stand_in_judge", ("SentenceEncoder",)),
    "cares.dialogue.classifier_judge": ("stand_in_judge", ("ClassifierEvaluator",)),
    "cares.speech.engines": ("stand_in_voice", ("load_engine",)),
    "cares.speech.voiceprint": ("stand_in_ears", ("SpeakerEncoder",)),
    "cares.asr.aligner": ("stand_in_ears", ("Aligner",)),
    "cares.asr.recogniser": ("stand_in_ears", ("Recogniser",)),
}
if os.environ.get("CARES_LLM_URL"):
    # a server that was named is asked as ever; it may be a stand-in itself (tests/faults/writer_server.py)
    del REPLACED["cares.llm.open"]


class _Replacing(Loader):
    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        place, names = REPLACED[module.__name__]
        stand_in = importlib.import_module(place)
        for name in names:
            assert hasattr(module, name), f"{module.__name__} has no {name} to stand in for"
            setattr(module, name, getattr(stand_in, name))

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name not in REPLACED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Replacing(spec.loader)
        return spec


sys.meta_path.insert(0, _Finder())
