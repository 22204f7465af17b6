"""What makes two trainings on a dataset the same one, so that the second is found in the ledger and costs nothing.

    net          layers by name and type, shapes, the first weights and all buffers to the bit
    code         bytecode and plain attributes of the caller's own layers, loss and score; no function called by name
    optimizer    type and numbers    plan, clip, schedule, average, noise, patience    columns, bins, max_rows and part

Code that is called by name is not compared: whoever changes only that gets the earlier net again.  Another version of
Python may compile to other bytecode, and is then a training with a charge of its own.
"""

import hashlib
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, NoneType
from typing import Any

from torch import nn

from discreet.deep.table.cells import Cells
from discreet.deep.training.course import Course, tensors_digest
from discreet.query.bound import path
from discreet.query.canonical import canonical
from discreet.request import Request
from discreet.terms import Terms

_OURS = ("builtins", "discreet", "torch")  # whose classes and functions are told apart by their names
_PLAIN = (bool, int, float, complex, str, NoneType)


def request_of(course: Course, cells: Cells, analyst: str | None = None) -> Request:
    """The request of a training to its table."""
    plan, subject, net = course.plan, cells.subject, type(course.module).__name__
    text = f"{net} for {subject.target.name} from {len(subject.features)} features"
    facts = {
        "train": 1,
        "course": course.to_json(),
        "weights": weights_digest(course.module),
        "code": code_digest(course.module, course.loss, course.metric if course.scores else None),
        "cells": cells.to_json(),
        "rows": subject.max_rows,
        "where": None if subject.where is None else canonical(subject.where),
    }
    terms = Terms(plan.epsilon, plan.delta, typed_delta=plan.delta)
    memo = {"text": text, "words": plan.words().splitlines()}
    return Request(facts, terms, analyst, path(subject.where, subject.schema), memo)


def weights_digest(module: nn.Module) -> str:
    """SHA-256 of all parameters and buffers, with their names, types and shapes."""
    return tensors_digest({**dict(module.named_parameters()), **dict(module.named_buffers())})


def code_digest(module: nn.Module, loss: Any, score: Any = None) -> str:
    """SHA-256 of the bytecode of the caller's own layers, loss and score, and of the plain attributes of all layers."""
    judges = [judge for judge in (loss, score) if isinstance(judge, nn.Module)]
    layers = [*module.modules(), *(layer for judge in judges for layer in judge.modules())]
    own = {base for layer in layers for base in type(layer).__mro__ if _is_own(base)}
    bases = sorted(own, key=lambda base: (base.__module__, base.__qualname__))
    functions = [function for base in bases for _, function in sorted(vars(base).items())]
    plain = [getattr(judge, "func", judge) for judge in (loss, score)]
    code = [part for function in [*functions, *plain] for part in _parts_of(function)]
    tensors = "".join(map(weights_digest, judges))
    digest = hashlib.sha256()
    for part in [*code, *map(_attributes, layers), tensors]:
        digest.update(f"{len(part)}:{part}".encode(errors="backslashreplace"))
    return digest.hexdigest()


def _attributes(layer: nn.Module) -> str:
    """The plain values that a layer or loss was made with, such as a share of dropout."""
    own = {name: value for name, value in vars(layer).items() if not name.startswith("_") and name != "training"}
    return repr(sorted((name, value) for name, value in own.items() if isinstance(value, _PLAIN)))


def _is_own(thing: Any) -> bool:
    """Whether a class or function is the caller's, and not told apart by its name."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] not in _OURS


def _parts_of(function: Any) -> Iterator[str]:
    """What a function of the caller's does: its code, and the plain values that it closes over or takes by default."""
    plain = getattr(function, "__func__", function)
    if isinstance(plain, FunctionType) and _is_own(plain):
        cells = [cell.cell_contents for cell in plain.__closure__ or () if cell != CellType()]
        values = [*(plain.__defaults__ or ()), *(plain.__kwdefaults__ or {}).values(), *cells]
        yield repr([value for value in values if isinstance(value, _PLAIN)])
        yield from _instructions(plain.__code__, plain.__doc__)


def _instructions(code: CodeType, doc: str | None) -> Iterator[str]:
    """Instructions, names and constants, but for the docstring; those of inner functions too."""
    yield code.co_code.hex()
    yield repr([*code.co_names, *code.co_varnames[: code.co_argcount]])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant, None)
        elif constant is not None and constant != doc:  # a function without a docstring has None in its place
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
