"""The evaluator that the calibration names, ready to judge.

All of them have one interface (`cares.dialogue.judging.Evaluator`) and are measured on the same probes; how accurate
each is stands in data/calibration.json.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.canonical import digest, read_json
from cares.core.errors import CaresError, InputError
from cares.core.store import ItemStore, item_key, source_digest
from cares.dialogue.both import BothEvaluator
from cares.dialogue.calibration import train_classifier
from cares.dialogue.calibration_record import Calibration
from cares.dialogue.classifier import LinearModel
from cares.dialogue.classifier_judge import ClassifierEvaluator, FeatureReader
from cares.dialogue.cues import load_cues
from cares.dialogue.encoder import SentenceEncoder
from cares.dialogue.features import Encoder, SoundNames
from cares.dialogue.judging import Evaluator
from cares.dialogue.llm_judge import LlmEvaluator
from cares.dialogue.probes import load_probes
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.models.ensure import model_digest

HINT = "Run the stage again: dvc repro calibrate."
PROMPTS = Path("prompts")


def load_evaluator(path: Path, llm: LlmParams | None = None, prompts: Path = PROMPTS) -> Evaluator:
    """The evaluator that data/calibration.json describes; use it within `contextlib.closing`.

    Args:
        path: the file.
        llm: section `llm` of the params; the evaluators `llm` and `both` need it. Their model starts when it is asked.
        prompts: folder of the prompts.

    Raises:
        InputError: the file is missing or not as it should be, or the encoder's weights or the features are no longer
            those that it was calibrated with.
        ValueError: the evaluator needs `llm`.
    """
    calibration = read_calibration(path)
    encoder = SentenceEncoder(calibration.encoder)
    if calibration.evaluator == "llm":
        return _llm(calibration, encoder, llm, prompts, calibration.name)
    if calibration.evaluator == "classifier":
        return calibrated_classifier(calibration, path, encoder, calibration.name)
    classifier = calibrated_classifier(calibration, path, encoder, f"classifier/{calibration.encoder}")
    second = _llm(calibration, encoder, llm, prompts, "llm")
    return BothEvaluator(classifier, second, calibration.name)


def read_calibration(path: Path) -> Calibration:
    """The record, with the encoder's weights checked; see `load_evaluator`."""
    calibration = _parsed(path)
    _check_weights(calibration, path)
    return calibration


def _parsed(path: Path) -> Calibration:
    value = read_json(path)
    try:
        return Calibration.parse(value, path)
    except InputError as error:
        raise CaresError(f"{error}. {HINT}") from None


def _check_weights(calibration: Calibration, path: Path) -> None:
    if (found := model_digest(calibration.encoder)) != calibration.encoder_digest:
        raise InputError(path, "encoder_digest", calibration.encoder_digest, f"{found}, that of the weights", HINT)


def calibrated_classifier(calibration: Calibration, path: Path, encoder: Encoder, name: str) -> ClassifierEvaluator:
    """The classifier of a calibration, called `name`; InputError unless it was trained on the features of today."""
    catalog = load_catalog()
    if (names := FeatureReader(encoder, catalog, load_cues()).names()) != calibration.model.features:
        raise InputError(path, "model.features", calibration.model.features, f"the features {', '.join(names)}", HINT)
    return ClassifierEvaluator(calibration.model, encoder, catalog, name, calibration.topic.threshold)


def ready_classifier(path: Path, encoder_id: str, regularisation: float) -> ClassifierEvaluator:
    """The calibrated classifier or, where no calibration with this encoder is there, one that is trained here and kept.

    Both are the same model if encoder and regularisation are those of the calibration; only the calibration says how
    good it is.
    """
    encoder, catalog, name = SentenceEncoder(encoder_id), load_catalog(), f"classifier/{encoder_id}"
    why = f"no {path.name} yet"
    if path.is_file():
        calibration = _parsed(path)
        if calibration.encoder == encoder_id:
            _check_weights(calibration, path)
            return calibrated_classifier(calibration, path, encoder, name)
        why = f"{path.name} is of the encoder {calibration.encoder}, not {encoder_id}"
    probes = load_probes()
    store = ItemStore("classifier")
    key = item_key(
        probes=digest([probe.to_json() for probe in probes]),
        encoder=model_digest(encoder_id),
        regularisation=regularisation,
        code=source_digest("cares.dialogue", "cares.catalog"),
    )
    if (kept := store.get(key)) is None:
        print(f"{why}: training on the probes, once (dvc repro calibrate measures it too)", file=sys.stderr)
        kept = store.put(key, train_classifier(probes, encoder, catalog, regularisation).to_json())
    model = LinearModel.parse(kept.value, store.path(key))
    return ClassifierEvaluator(model, encoder, catalog, name, topic_threshold=0.0)


def llm_evaluator(
    model_id: str, llm: LlmParams, encoder: Encoder, prompts: Path, name: str, topic_threshold: float
) -> LlmEvaluator:
    """The evaluator `llm` on stored waves of as many requests as `llm.wave_limit`."""
    until_closed = ExitStack()
    model = until_closed.enter_context(StoredWaves(model_id, llm))
    names = SoundNames(load_catalog())
    return LlmEvaluator(model, names, encoder, prompts, llm.wave_limit, name, topic_threshold, until_closed.close)


def _llm(calibration: Calibration, encoder: Encoder, llm: LlmParams | None, prompts: Path, name: str) -> LlmEvaluator:
    if llm is None:
        raise ValueError(f"evaluator {calibration.evaluator} needs the section llm of the params")
    assert calibration.judge is not None
    return llm_evaluator(calibration.judge.model, llm, encoder, prompts, name, calibration.judge.topic.threshold)
