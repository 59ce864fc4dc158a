"""Sentence embeddings that depend on the sentence alone.

Every text is encoded by itself: padding and the shapes of a batch change the last bits, and a verdict must not depend
on which other dialogues were judged beside it. And in float64: in float32 the last bits also depend on what else the
process has loaded, such as the engine of a language model, and a score that is rounded to four decimals was another one
then. With a model of this size both cost milliseconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.canonical import read_json
from cares.core.errors import InputError
from cares.models.ensure import ensure

Vectors = NDArray[np.float64]
_DECIMALS = 5
_KEPT = 20_000  # vectors kept in memory (60 MB): a text is asked for by the features and by the topic


class SentenceEncoder:
    """A sentence-transformers model with unit length (Reimers and Gurevych, "Sentence-BERT", 2019).

    A text's vector is the mean over its tokens, or the vector of the first token where the model was trained so; its
    own 1_Pooling/config.json says which.

    Args:
        model_id: id in the registry of models, such as "all-minilm-l6-v2".

    Raises:
        InputError: the registry has no such model, a weight file is damaged, or the model pools in another way.
    """

    def __init__(self, model_id: str) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder = str(ensure(model_id))
        self.model_id = model_id
        self._torch = torch
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, dtype=torch.float64, attn_implementation="eager"
        ).eval()
        self._first_token = _first_token(Path(folder) / "1_Pooling" / "config.json")
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts.

        Shape: [len(texts), dimension], float64, rounded to 5 decimals. An empty text is the zero vector, so that its
        cosine with anything is 0. Texts of more than 256 tokens are cut there, as all-MiniLM-L6-v2 was trained (BGE
        takes 512); what is compared here, such as six turns, is shorter.
        """
        if not texts:
            return np.zeros((0, int(self._model.config.hidden_size)))
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Vectors:
        if text not in self._known:
            self._known[text] = self._encode(text)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return self._known[text]

    def _encode(self, text: str) -> Vectors:
        if not text.strip():
            return np.zeros(int(self._model.config.hidden_size))
        tokens = self._tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
        threads = self._torch.get_num_threads()
        self._torch.set_num_threads(1)  # one short text gains nothing from more, and waits for them on a busy machine
        try:
            with self._torch.inference_mode():
                hidden = self._model(**tokens).last_hidden_state[0]
        finally:
            self._torch.set_num_threads(threads)
        vector = (hidden[0] if self._first_token else hidden.mean(dim=0)).numpy().astype(np.float64)
        return np.asarray(np.round(vector / np.linalg.norm(vector), _DECIMALS))


def _first_token(path: Path) -> bool:
    """Whether the first token stands for the text; else it is the mean over all tokens."""
    modes = {name for name, on in read_json(path).items() if name.startswith("pooling_mode_") and on is True}
    if modes not in ({"pooling_mode_cls_token"}, {"pooling_mode_mean_tokens"}):
        raise InputError(path, "pooling_mode", sorted(modes), "the first token or the mean")
    return modes == {"pooling_mode_cls_token"}
