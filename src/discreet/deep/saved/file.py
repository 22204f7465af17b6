"""The file of a trained net: its weights and its promise behind a digest; reading it runs nothing.

    discreet net 1 ⏎ SHA-256 of all that follows, in hexadecimal ⏎ JSON of the facts ⏎ the tensors, one after the other

All parameters and stored buffers are written, frozen ones too.  The digest reveals accidents, not forgery: anyone can
write a file.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from discreet import envelope, outputs
from discreet.deep.saved import card
from discreet.deep.training.state import LARGEST, bytes_of, contents_of
from discreet.errors import CannotWrite, IntegrityError, bad
from discreet.learn.privacy import Privacy
from discreet.learn.saved.file import read_bytes, require_free

HEAD = b"discreet net 1\n"


def save(module: nn.Module, privacy: Privacy, path: Any, *, replace: bool = False) -> Path:
    """Write the file of a net; never onto an input of a dataset, and onto another file only with `replace`."""
    place = Path(path)
    require_free(place, replace=replace)
    content = to_bytes(module, privacy)
    try:
        with outputs.replacing(place) as draft:
            draft.write_bytes(content)
    except OSError:
        why = "Its folder is not there, may not be written, or the disk is full."
        fix = "Give another name; the net is still in memory."
        raise CannotWrite(f"The net could not be written to {str(place)!r}.", why, fix) from None
    return place


def to_bytes(module: nn.Module, privacy: Privacy) -> bytes:
    """The file of a net; refused above 256 MiB."""
    tensors = stored_tensors(module)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if size > LARGEST - 2**20:
        fix = "Save its trained parameters alone, with torch.save, and keep trainer.card() beside them."
        raise bad("module", f"must have at most {LARGEST >> 20} MiB to be saved", f"{size >> 20} MiB", fix)
    facts = {"names": list(tensors), "privacy": privacy.to_json(), "version": envelope.version()}
    return bytes_of(facts, list(tensors.values()), HEAD)


def load(path: Any, module: nn.Module | None = None) -> nn.Module:
    """The module with the weights of the file, ready to be used; its promise is `module.privacy_`.

    The module must have the names, shapes and types that the net was saved with.  A table net is made from the file
    alone.
    """
    if module is None:
        from discreet.deep.table import saved  # which reads files by this module

        return saved.read(path)
    return from_bytes(read_bytes(path), module)


def from_bytes(stored: bytes, module: nn.Module) -> nn.Module:
    """The module with the weights in these bytes."""
    if not stored.startswith(HEAD):
        raise _no_net("It does not begin like one.")
    facts, tensors = contents_of(stored, HEAD)
    try:
        names, privacy = [str(name) for name in facts["names"]], Privacy.from_json(facts["privacy"])
        card.require_public(privacy.public)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise _no_net("Its facts are not those of a net.") from None
    own = stored_tensors(module)
    shapes = {name: (tensor.dtype, tensor.shape) for name, tensor in zip(names, tensors, strict=False)}
    if len(names) != len(tensors) or shapes != {name: (tensor.dtype, tensor.shape) for name, tensor in own.items()}:
        fix = "Make the module as it was when the net was saved: the same layers, sizes and types."
        raise bad("module", "must have the parameters of the file", type(module).__name__, fix)
    with torch.no_grad():
        for name, tensor in zip(names, tensors, strict=True):
            own[name].copy_(tensor)
    module.privacy_ = privacy
    return module.eval()


def stored_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and stored buffers by name; a tied one once."""
    state = module.state_dict(keep_vars=True)
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: tensor.detach() for name, tensor in named.items() if name in state}


def _no_net(why: str) -> IntegrityError:
    fix = "Save the net again where it was trained, or fetch the file again."
    return IntegrityError("This is no whole file of a net.", why, fix)
