"""The one way to a language model: in this process, or a server where CARES_LLM_URL names one or more."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator

from cares.core.executor import worker_number
from cares.llm.params import LlmParams
from cares.llm.types import LanguageModel, LlmError

# torch's Gloo listens where this machine's name points to, which may be an address that others reach
LOOPBACK_ONLY = ("GLOO_SOCKET_IFNAME", "lo")


def model_identity(model_id: str, params: LlmParams) -> str:
    """The `digest` that the opened model will have, without opening it: for the keys of kept answers."""
    if os.environ.get("CARES_LLM_URL"):
        from cares.llm.server import server_digest

        return server_digest(model_id)
    from cares.llm.inprocess import in_process_digest

    return in_process_digest(model_id, params)


@contextlib.contextmanager
def open_llm(model_id: str, params: LlmParams) -> Iterator[LanguageModel]:
    """Open a language model and close it at the end.

    With CARES_LLM_URL set, it is the model that this OpenAI-compatible server offers as `model_id`; its answers are not
    promised to be the same again. Several addresses, with commas between them, are asked in turn who offers it: so each
    role can have a server of its own. Where several offer it, each of Ray's workers keeps to one of them. Without the
    variable vLLM runs the registered weights in this process.

    Raises:
        LlmError: the model cannot be started or reached, or no server offers it.
    """
    addresses = os.environ.get("CARES_LLM_URL")
    model: LanguageModel
    if addresses:
        model = _served(model_id, addresses)
    else:
        from transformers.utils import logging

        from cares.llm.inprocess import InProcessModel

        os.environ.setdefault(*LOOPBACK_ONLY)
        logging.set_verbosity_error()  # it warns of a wrong pattern in tokenizers whose pattern is right
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # libraries among themselves, nothing for our users
            model = InProcessModel(model_id, params)
    try:
        yield model
    finally:
        model.close()


def _served(model_id: str, addresses: str) -> LanguageModel:
    from cares.llm.hidden import HiddenKeyModel
    from cares.llm.server import NotOfferedError

    refusals: list[str] = []
    offering: list[HiddenKeyModel] = []
    for url in filter(None, (address.strip() for address in addresses.split(","))):
        try:
            offering.append(HiddenKeyModel(model_id, url, os.environ.get("CARES_LLM_KEY")))
        except NotOfferedError as error:
            refusals.append(str(error))
        if offering and worker_number() is None:
            break
    if offering:
        chosen = offering[(worker_number() or 0) % len(offering)]
        for other in offering:
            if other is not chosen:
                other.close()
        return chosen
    raise LlmError("; ".join(refusals) or "CARES_LLM_URL names no server")
