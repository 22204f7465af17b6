"""A digest of what a net and its loss can remember, so that writing in `forward` is noticed.

It follows parameters, buffers, attributes of objects and of their classes, containers, closures, defaults, the global
names that functions use, and of modules that the user wrote the attributes that functions name (`reached`).  It does
not see files, other processes, most objects of PyTorch's or the standard library's own types, and what lies deeper
than 60 objects or behind the first million.
"""

import argparse
import functools
import hashlib
import io
import types
from array import array
from collections import UserList, deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.deep.modules.reached import is_foreign, is_own_module, module_parts, modules_imported_in, names_of

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Enum, range, slice, torch.dtype, torch.device, torch.Size)
_DEEPEST, _LARGEST = 60, 1_000_000  # objects below each other, and all together


class Memory:
    """The digest of some objects, and the parameters that were met in them."""

    def __init__(self, *objects: Any) -> None:
        self._hash = hashlib.blake2b(digest_size=32)
        self._numbers: dict[int, int] = {}
        self._objects: list[Any] = []  # alive while their ids are in use
        self.parameters: list[nn.Parameter] = []
        for item in objects:
            self._add(item, 0)
        self.digest = self._hash.digest()

    def _add(self, item: Any, depth: int) -> None:
        if isinstance(item, _PLAIN):
            return self._note(type(item).__name__, repr(item))
        if id(item) in self._numbers or depth > _DEEPEST or len(self._objects) >= _LARGEST:
            return self._note("seen", str(self._numbers.get(id(item))))
        self._numbers[id(item)] = len(self._numbers)
        self._objects.append(item)
        self._note(type(item).__qualname__)
        for kinds, visit in _VISITS:
            if isinstance(item, kinds):
                self._add_all(visit(self, item), depth)
                return self._add_all(_attributes_beside(item), depth)
        if not is_foreign(type(item)):
            self._add_all(_attributes(item), depth)
        return None

    def _add_all(self, parts: Iterable[Any], depth: int) -> None:
        for part in parts:
            self._add(part, depth + 1)

    def _note(self, *texts: str) -> None:
        for text in texts:
            self._hash.update(f"{len(text)}:{text}".encode(errors="surrogatepass"))

    def _tensor(self, item: Tensor) -> Iterable[Any]:
        if isinstance(item, nn.Parameter):
            self.parameters.append(item)
        self._note(str(item.dtype), str(tuple(item.shape)), str(item.requires_grad), str(item.layout))
        if item.layout == torch.strided and item.device.type != "meta":
            numbers = item.detach().resolve_conj().resolve_neg().cpu().contiguous()
            self._hash.update(numbers.flatten().view(torch.uint8).numpy().tobytes())
        return (item.grad,) if item.is_leaf and item.grad is not None else ()

    def _array(self, item: Any) -> Iterable[Any]:
        if item.dtype.hasobject:
            return item.ravel().tolist()
        self._note(str(item.dtype), str(item.shape))
        self._hash.update(np.ascontiguousarray(item).tobytes())
        return ()

    def _bytes(self, item: Any) -> Iterable[Any]:
        try:
            content = item.tobytes() if isinstance(item, (memoryview, array)) else bytes(item)
        except ValueError:  # a view that was released shows nothing
            return ()
        self._note(str(len(content)))
        self._hash.update(content)
        return ()

    def _set(self, item: Any) -> Iterable[Any]:
        return sorted(map(repr, item))

    def _module(self, item: nn.Module) -> Iterable[Any]:
        """All that it holds; hooks of a tape come and go, which leaves the same dicts."""
        return [*vars(item).items(), *_class_parts(type(item))]


def _function_parts(_: Memory, item: Any) -> Iterable[Any]:
    if is_foreign(item):
        return ()
    names, globals_ = names_of(item.__code__), item.__globals__
    cells = [cell.cell_contents for cell in item.__closure__ or () if _is_filled(cell)]
    used = [*cells, *(globals_[name] for name in names if name in globals_), *modules_imported_in(item)]
    kept = [part for part in used if not isinstance(part, types.ModuleType)]
    named = [part for module in used if is_own_module(module) for part in module_parts(module, names)]
    return [item.__defaults__, item.__kwdefaults__, dict(vars(item)), *kept, *named]


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _class_parts(kind: type) -> Iterable[Any]:
    """Attributes of the classes that are not PyTorch's."""
    return [part for base in kind.__mro__ if not is_foreign(base) for part in _own_attributes(base)]


def _own_attributes(kind: type) -> Iterable[Any]:
    skipped = ("__dict__", "__weakref__", "__doc__", "__annotations__", "__abstractmethods__")
    return [part for name, part in list(vars(kind).items()) if name not in skipped and not name.startswith("_abc")]


def _attributes_beside(item: Any) -> Iterable[Any]:
    """Attributes of containers and tensors beside what they contain."""
    if isinstance(item, (nn.Module, type, types.FunctionType)):
        return ()
    if not is_foreign(type(item)):
        return _attributes(item)
    return list(vars(item).items()) if isinstance(item, Tensor) else ()


def _attributes(item: Any) -> Iterable[Any]:
    slots = [name for base in type(item).__mro__ for name in _slots(base)]
    held = [getattr(item, name) for name in slots if hasattr(item, name)]
    return [*getattr(item, "__dict__", {}).items(), *held, *_class_parts(type(item))]


def _slots(kind: type) -> Iterable[str]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__") and not name.startswith("__")]


_LRU = type(functools.lru_cache(lambda: None))
_VISITS: list[tuple[Any, Callable[[Memory, Any], Iterable[Any]]]] = [
    (Tensor, Memory._tensor),
    (np.ndarray, Memory._array),
    (nn.Module, Memory._module),
    ((bytearray, memoryview, array), Memory._bytes),
    ((io.BytesIO, io.StringIO), lambda _, item: () if item.closed else (item.getvalue(),)),
    (torch.Generator, lambda _, item: (item.get_state(),)),
    ((types.SimpleNamespace, argparse.Namespace), lambda _, item: list(vars(item).items())),
    (Mapping, lambda _, item: list(item.items())),
    ((list, tuple, deque, UserList), lambda _, item: list(item)),
    ((set, frozenset), Memory._set),
    (types.FunctionType, _function_parts),
    (types.MethodType, lambda _, item: (item.__self__, item.__func__)),
    (functools.partial, lambda _, item: (item.func, item.args, item.keywords)),
    (_LRU, lambda _, item: (str(item.cache_info()), item.__wrapped__)),
    ((staticmethod, classmethod), lambda _, item: (item.__func__,)),
    (property, lambda _, item: (item.fget, item.fset)),
    (type, lambda _, item: () if is_foreign(item) else _class_parts(item)),
]
