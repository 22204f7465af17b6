"""Options that several verbs share, handed to each of them as one call."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from discreet.cli.reply import Reply

Verb = Callable[..., Reply]


def taking(options: Callable[..., Mapping[str, Any]], call_of: Callable[..., Any]) -> Callable[[Verb], Verb]:
    """A decorator: the verb takes shared options beside its own, at the place of its argument `call`.

    `options` declares them and gives them by the names of a call, `call_of` makes the call.
    """
    shared = inspect.signature(options).parameters

    def with_options(function: Verb) -> Verb:
        own = inspect.signature(function).parameters
        parts = [list(shared.values()) if name == "call" else [option] for name, option in own.items()]
        together = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in parts for option in part]

        def verb_function(**typed: Any) -> Reply:
            flags = options(**{name: typed.pop(name) for name in shared})
            return function(call=call_of(**flags), **typed)

        verb_function.__name__, verb_function.__doc__ = function.__name__, function.__doc__
        verb_function.__annotations__ = {option.name: option.annotation for option in together} | {"return": Reply}
        verb_function.__signature__ = inspect.Signature(together)  # type: ignore[attr-defined]  # typer reads it
        return verb_function

    return with_options
