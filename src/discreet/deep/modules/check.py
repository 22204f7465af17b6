"""`check`: can every gradient of this net be clipped person by person?  It is tried on invented examples.

Copies of the net are tried, with the weights that it has and with others; the net itself, its gradients and PyTorch's
generator stay as they are.  Of the caller's examples only shapes and types are looked at, never how many they are.
What is tried is in `probe` and `truth`, what no trial can show in docs/proofs/deep/modules.md.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from discreet.deep.clipping.clipper import Clipper, layout_of
from discreet.deep.clipping.secret import own_draws
from discreet.deep.modules.constant import ConstantDraws
from discreet.deep.modules.invented import Batch, require_batch
from discreet.deep.modules.probe import Probe, require_alone, require_unmixed, require_unwritten
from discreet.deep.modules.remembered import Memory
from discreet.deep.modules.report import Report, report_of
from discreet.deep.modules.trace import Loss, Net, NotRun
from discreet.deep.modules.truth import require_clipped
from discreet.deep.modules.unsuited import require_suited
from discreet.errors import BadValue, bad


def check(module: nn.Module, example: Batch, loss: Loss | None = None, targets: Batch = None) -> Report:
    """How each layer of the net is clipped; a refusal with its reason, if it cannot be.

    `example` is a tensor, or a tuple, list or dict of tensors with examples along the first axis, and `targets` alike;
    their shapes and types are used, their values and their number are not.  Without `loss` the outputs are judged, and
    they must have examples along the first axis.  The net is tried in the mode in which it is, training or eval.
    """
    if not isinstance(module, nn.Module):
        raise bad("module", "must be a torch.nn.Module", module, "Give the net itself.")
    require_batch(example, "example")
    if targets is not None:
        require_batch(targets, "targets")
    require_suited(module)
    layout_of(module)  # refuses a net without trained weights
    if loss is not None:
        if not callable(loss):
            fix = "Write: dp.deep.check(net, X, loss, y)"
            raise bad("loss", "must be a function of outputs and targets", type(loss).__name__, fix)
        _require_apart(module, loss)
    with apart_from_training(), torch.enable_grad():
        probes = _passed_probes(module, loss, (example, targets))
        with ConstantDraws(), Clipper(probes[0].net.module, probes[0].net.losses, clip=1) as clipper:
            pieces = clipper.pieces(probes[0].inputs, probes[0].targets)
            return report_of(probes[0].net.module, pieces)


def require_clippable(module: nn.Module, loss: Loss, inputs_like: Batch, targets_like: Batch) -> None:
    """Refuse to train a net whose gradients cannot be clipped person by person."""
    check(module, inputs_like, loss, targets_like)


def _passed_probes(module: nn.Module, loss: Loss | None, like: tuple[Batch, Batch]) -> list[Probe]:
    """The probes that the net passed: with moved weights on even numbers, and with its own on normal ones."""
    moved, own = Net.copy_of(module, loss), Net.copy_of(module, loss)
    _move_weights(moved.module)
    probes = [Probe.invent(moved, like, "even")]
    with _refused_where_it_fails():
        require_unwritten(probes[0])
    try:
        with_own_weights = Probe.invent(own, like, "normal")
        with_own_weights.trace(with_own_weights.inputs, with_own_weights.targets)
        probes.append(with_own_weights)
    except NotRun:
        probes.append(Probe.invent(own, like, "even"))  # numbers that stand for ids, for example
    is_telling = False
    for probe in probes:
        with _refused_where_it_fails():
            require_unmixed(probe)
            is_telling |= require_alone(probe).is_telling()
            require_clipped(probe)
    if not is_telling:
        what = "The net's gradients are zero or not finite on invented examples, so nothing can be told of it."
        raise BadValue(what, "They were numbers between 0 and 1, and normal ones.", "Scale inputs and weights.")
    with _refused_where_it_fails():
        require_unwritten(probes[0])
    return probes


def _require_apart(module: nn.Module, loss: Any) -> None:
    """Refuse a loss that reaches for the net's weights past the net, such as a penalty."""
    weights = {id(parameter) for parameter in module.parameters()}
    own = getattr(loss, "__self__", None)
    if own is not module and any(id(parameter) in weights for parameter in Memory(loss).parameters):
        what = "The loss uses weights of the net."
        why = "Their gradient does not come from any example, so it is not clipped and would be left out."
        raise BadValue(what, why, "Put a penalty on weights into the optimizer, as weight_decay.")


def _move_weights(module: nn.Module) -> None:
    """Move every weight by normal noise of the size that fresh weights have, so that no zero hides anything."""
    generator = torch.Generator().manual_seed(29)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.is_floating_point():
                size = parameter[0].numel() ** -0.5 if parameter.dim() > 1 and parameter.numel() else 0.1
                # Seeded on purpose: it moves a copy that is tried before the charge, and protects nothing.
                noise = torch.randn(parameter.shape, generator=generator) * size
                parameter.add_(noise.to(parameter.dtype).to(parameter.device))


@contextlib.contextmanager
def apart_from_training() -> Iterator[None]:
    """One thread, which is fastest for batches this small, and PyTorch's generators given back as they were."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    on_gpu = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None
    try:
        with own_draws():
            yield
    finally:
        torch.set_num_threads(threads)
        if on_gpu is not None:
            torch.cuda.set_rng_state_all(on_gpu)


@contextlib.contextmanager
def _refused_where_it_fails() -> Iterator[None]:
    try:
        yield
    except NotRun as error:
        what = "The net or its loss fails on invented examples of these shapes and types."
        why = f"It raises {error}"
        fix = (
            "Give rows and targets in the shapes and types that net and loss take, for example X.float(), net.float(), "
            "y.long() or y.squeeze(1). Invented numbers are between 0 and 1, and whole ones 0 or 1: the net must take "
            "those."
        )
        raise BadValue(what, why, fix) from error.__cause__
