"""Resemblyzer's speaker encoder: its checkpoint to safetensors, so that no pickle is read when it is used.

The checkpoint is read with torch's `weights_only`, which builds tensors and plain containers and runs no code. What is
kept are the weights of the encoder; the optimiser's state and the two scalars of the training loss are left out.
"""

from __future__ import annotations

from pathlib import Path

from cares.core.errors import CaresError, InputError

SHAPES = {
    **{f"lstm.weight_ih_l{layer}": (1024, 40 if layer == 0 else 256) for layer in range(3)},
    **{f"lstm.weight_hh_l{layer}": (1024, 256) for layer in range(3)},
    **{f"lstm.bias_{way}_l{layer}": (1024,) for layer in range(3) for way in ("ih", "hh")},
    "linear.weight": (256, 256),
    "linear.bias": (256,),
}


def checkpoint_to_safetensors(official: Path, ready: Path) -> None:
    """Write model.safetensors (float32) into `ready` from pretrained.pt of `official`.

    Raises:
        CaresError: the file is no checkpoint of tensors and plain containers.
        InputError: it lacks a weight, or one has another shape.
    """
    import pickle

    import torch
    from safetensors.torch import save_file

    path = official / "pretrained.pt"
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        raise CaresError(f"{path.name}: not a readable checkpoint: {str(error).splitlines()[0]}") from error
    state = checkpoint.get("model_state") if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict):
        raise InputError(path.name, "model_state", type(state).__name__, "the encoder's weights by name")
    for name, shape in SHAPES.items():
        found = tuple(state[name].shape) if name in state else None
        if found != shape:
            raise InputError(path.name, f"model_state.{name}", found, f"a weight of shape {shape}")
    kept = {name: state[name].to(torch.float32).contiguous() for name in SHAPES}
    save_file(kept, ready / "model.safetensors", metadata={"format": "pt"})
