"""Fixes of a refusal as data: a verb and its arguments, which every surface writes in its own way.

    Fix("Set it with a reason:", "budget set", {"epsilon": "5", "why": UNKNOWN})
    at the command line   Set it with a reason: discreet budget set people.toml --epsilon 5 --why "…"
    in a JSON object      {"verb": "budget set", "arguments": {"epsilon": "5", "why": "…"}, "words": "Set it …"}

A surface fills in what it knows and the refusal does not, such as the file of the metadata.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

UNKNOWN = "…"  # an argument that only the reader knows

_POSITIONAL = (
    *(
        "attack",
        "curve",
        "table",
        "synthetic_file",
        "metadata",
        "sql",
        "receipt",
        "folder",
        "model_file",
        "rows_file",
        "flags",
    ),
)
_WITHOUT_METADATA = (
    "attack",
    "attack list",
    "audit",
    "curve",
    "demo",
    "demo lecture",
    "init",
    "learn card",
    "learn predict",
    "learn verify",
    "lecture",
    "odds",
    "picture",
    "train card",
    "train predict",
)
_FLAGS = {
    "": {
        "epsilon": "--eps",
        "analyst": "--as",
        "output": "-o",
        "max_epsilon_per_question": "--max-eps-per-question",
    },
    "budget set": {"epsilon": "--epsilon", "analyst": "--analyst"},
    "init": {"epsilon": "--epsilon"},
    "learn verify": {"charged_to": "--ledger"},
}
_IN_PYTHON = {"open": "dp.open", "ledger adopt": "Ledger.adopt"}


@dataclass(frozen=True)
class Fix:
    """`words`, and the operation that they announce; on a line of its own where they end with a line break."""

    words: str
    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def about(self, metadata: str) -> "Fix":
        """The same on that dataset, where the verb takes one."""
        if self.verb in _WITHOUT_METADATA:
            return self
        return replace(self, arguments={"metadata": metadata, **self.arguments})

    def to_json(self) -> dict[str, Any]:
        """The fix as programs read it."""
        arguments = {name: _plain(value) for name, value in self.arguments.items() if _is_set(value)}
        return {"verb": self.verb, "arguments": arguments, "words": self.words.strip()}


Advice = str | Fix | tuple[str | Fix, ...]
Spelling = Callable[[Fix], str]


def parts_of(advice: Advice) -> tuple[str | Fix, ...]:
    """The sentences and fixes, one by one."""
    return advice if isinstance(advice, tuple) else (advice,)


def advice_text(parts: Iterable[str | Fix], spell: Spelling) -> str:
    """The text of an advice, a line for each part."""
    return "\n".join(part if isinstance(part, str) else _line(part, spell) for part in parts)


def _line(fix: Fix, spell: Spelling) -> str:
    return fix.words + (" " if fix.words and not fix.words.endswith("\n") else "") + spell(fix)


def in_python(fix: Fix) -> str:
    """The call that does it, or the command line where Python has none.

    >>> in_python(Fix("", "ledger adopt", {"ledger": "people.ledger", "why": UNKNOWN}))
    'Ledger.adopt("people.ledger", why="…")'
    >>> in_python(Fix("", "open", {"second_ledger": UNKNOWN}))
    'dp.open(…, second_ledger="…")'
    """
    if fix.verb not in _IN_PYTHON:
        return command_line(fix)
    arguments, file = fix.arguments, "metadata" if fix.verb == "open" else "ledger"
    positional = [_literal(arguments[file])] if file in arguments else [UNKNOWN] if fix.verb == "open" else []
    named = [f"{name}={_literal(value)}" for name, value in arguments.items() if name not in ("metadata", "ledger")]
    return f"{_IN_PYTHON[fix.verb]}({', '.join([*positional, *named])})"


def command_line(fix: Fix) -> str:
    """The command that does it, safe to paste into a shell.

    >>> command_line(Fix("", "ask", {"sql": "SELECT COUNT(*)", "metadata": "people.toml", "epsilon": 1, "yes": True}))
    "discreet ask people.toml 'SELECT COUNT(*)' --eps 1 --yes"
    >>> command_line(Fix("", "budget set", {"epsilon": 5, "analyst": ("ana=1", "bob=2"), "why": UNKNOWN}))
    'discreet budget set … --epsilon 5 --analyst ana=1 --analyst bob=2 --why "…"'
    """
    arguments = {name: value for name, value in fix.arguments.items() if _is_set(value)}
    if "metadata" not in arguments and fix.verb not in _WITHOUT_METADATA:
        arguments = {"metadata": UNKNOWN, **arguments}
    words = [_bare(arguments[name]) for name in _POSITIONAL if name in arguments]
    flags = _FLAGS[""] | _FLAGS.get(fix.verb, {})
    for name, value in arguments.items():
        flag = flags.get(name, f"--{name.replace('_', '-')}")
        if name not in (*_POSITIONAL, "ledger"):
            for word in value if isinstance(value, tuple) else (value,):
                words += [flag] if word is True else [flag, _word(word)]
    return " ".join(["discreet", fix.verb, *words])


def _literal(value: Any) -> str:
    return json.dumps(str(value), ensure_ascii=False)


def _bare(value: Any) -> str:
    return UNKNOWN if value == UNKNOWN else _word(value)


def _word(value: Any) -> str:
    return f'"{UNKNOWN}"' if value == UNKNOWN else shlex.quote(str(value))


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _plain(value: Any) -> Any:
    """The value as JSON has it: exact amounts and paths as text."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, (bool, int)) else str(value)
