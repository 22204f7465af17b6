"""What a function reaches in modules by names: `helpers.log` in its code is the attribute `log` of `helpers`.

Modules of the standard library, of PyTorch and of installed packages are not looked into: what they hold changes for
reasons of their own.  Of the user's modules only attributes that the function's code names are followed, so nothing
of a large module but what this net can write to.
"""

import dis
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

_FOREIGN = {"torch", "numpy", "discreet"} | set(sys.stdlib_module_names)
_INSTALLED = ("site-packages", "dist-packages")


def is_foreign(item: Any) -> bool:
    """Whether a class or a function is PyTorch's, NumPy's, ours or the standard library's."""
    return str(getattr(item, "__module__", None)).partition(".")[0] in _FOREIGN


def is_own_module(item: Any) -> bool:
    """Whether this is a module that the user wrote."""
    if not isinstance(item, types.ModuleType) or item.__name__.partition(".")[0] in _FOREIGN:
        return False
    return not any(folder in str(getattr(item, "__file__", "")) for folder in _INSTALLED)


def module_parts(module: types.ModuleType, names: Iterable[str]) -> Iterator[Any]:
    """The attributes of these names, also of the user's modules inside: `package.helpers.log`."""
    waiting, seen = [module], {id(module)}
    while waiting:
        parts = vars(waiting.pop())
        for name in names:
            part = parts.get(name)
            if not isinstance(part, types.ModuleType):
                yield part
            elif is_own_module(part) and id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


@functools.lru_cache(maxsize=1000)
def names_of(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function and the functions written in it look up."""
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in names_of(part)]
    return tuple(sorted({*code.co_names, *inner}))


def modules_imported_in(function: types.FunctionType) -> list[types.ModuleType]:
    """Modules that are imported inside a function and loaded."""
    package = function.__globals__.get("__package__") or ""
    spelt = [name for name in _imports_in(function.__code__) for name in (name, f"{package}.{name}".rstrip("."))]
    loaded = [sys.modules.get(name) for path in spelt for name in (path.partition(".")[0], path)]
    return [module for module in loaded if isinstance(module, types.ModuleType)]


@functools.lru_cache(maxsize=1000)
def _imports_in(code: types.CodeType) -> tuple[str, ...]:
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _imports_in(part)]
    return (*(step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME"), *inner)
