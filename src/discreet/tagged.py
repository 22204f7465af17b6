"""Write and read values as JSON under explicit tags, so that stored values do not depend on the names of classes.

    {"is": "compare", "op": "=", "left": {"is": "column", "name": "age"}, "right": {"is": "constant", "value": 5}}

A field at its default is left out, so a field that is added later, with a default, changes nothing that is stored.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.errors import IntegrityError

_TAG, _ONLY = "is", "of"


@dataclass(frozen=True)
class Form:
    """The stored name of a class and of its fields: "op left right", or "attribute=stored" where the two differ."""

    tag: str
    fields: str = ""

    @property
    def names(self) -> dict[str, str]:
        """The stored name of each attribute."""
        pairs = (name.split("=") for name in self.fields.split())
        return {pair[0]: pair[-1] for pair in pairs}


@dataclass(frozen=True)
class Single:
    """A kind of value that is stored as one JSON value."""

    tag: str
    kind: type | tuple[type, ...]
    stored: Callable[[Any], Any]
    value: Callable[[Any], Any]


SINGLES = (
    Single("fraction", Fraction, str, Fraction),
    Single("datetime", datetime, datetime.isoformat, datetime.fromisoformat),
    Single("date", date, date.isoformat, date.fromisoformat),
    Single("float", float, float.hex, float.fromhex),
)


class Tags:
    """A closed table of classes and single values, read both ways."""

    def __init__(self, forms: Mapping[type, Form], singles: tuple[Single, ...] = ()) -> None:
        self.forms, self.singles = dict(forms), (*singles, *SINGLES)
        self._shapes = {kind: (form.tag, form.names, _defaults(kind)) for kind, form in self.forms.items()}
        self._kinds = {form.tag: kind for kind, form in self.forms.items()}
        self._single = {single.tag: single for single in self.singles}
        if len(self._kinds) + len(self._single) < len(self.forms) + len(self.singles):
            raise ValueError("every tag means one kind of value")

    def plain(self, value: Any) -> Any:
        """The value as JSON.

        >>> @dataclass(frozen=True)
        ... class Sort:
        ...     name: str
        ...     descending: bool = False
        >>> Tags({Sort: Form("order", "name descending")}).plain((Sort("n"), Fraction(1, 3)))
        [{'is': 'order', 'name': 'n'}, {'is': 'fraction', 'of': '1/3'}]
        """
        kind = type(value)
        if value is None or kind in (str, int, bool):
            return value
        if kind in (tuple, list):
            return [self.plain(part) for part in value]
        if kind in self._shapes:
            tag, names, defaults = self._shapes[kind]
            given = ((stored, name, getattr(value, name)) for name, stored in names.items())
            kept = {s: self.plain(v) for s, name, v in given if name not in defaults or not _same(v, defaults[name])}
            return {_TAG: tag} | kept
        for single in self.singles:
            if isinstance(value, single.kind):
                return {_TAG: single.tag, _ONLY: single.stored(value)}
        raise TypeError(f"{kind.__name__} has no tag")

    def value(self, stored: Any) -> Any:
        """The value that `plain` described; lists come back as tuples.  Anything else is refused."""
        try:
            return self._value(stored)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            pass
        why = "A tag or a field in it is not known to this Discreet, or was changed."
        raise IntegrityError("What is stored cannot be read.", why, "Verify the ledger, or use a newer Discreet.")

    def _value(self, stored: Any) -> Any:
        if isinstance(stored, list):
            return tuple(self._value(part) for part in stored)
        if not isinstance(stored, dict):
            return stored
        tag = stored[_TAG]
        if tag in self._single:
            return self._single[tag].value(stored[_ONLY])
        kind = self._kinds[tag]
        attributes = {name: attribute for attribute, name in self._shapes[kind][1].items()}
        return kind(**{attributes[name]: self._value(part) for name, part in stored.items() if name != _TAG})


def _defaults(kind: type) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind) if field.default is not MISSING}


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
