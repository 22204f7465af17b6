"""Read impossible combinations from a public TOML or JSON file, in which a range is spelt differently from a list.

    [[zeros]]
    age = { from = 0, to = 14 }                     a closed range
    marital_status = ["married", "divorced"]        several values
    [[zeros]]
    pregnant = true                                 one value
    births = { empty = true }                       the empty cell; in JSON null too

JSON has the same tables in a list.  The file is public: nothing that ends otherwise is opened, nor any table with a
ledger or one that metadata at hand name.  Another private file that is given by mistake is read, so of its keys and
values none is repeated that is not in the metadata.
"""

import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet import outputs
from discreet.errors import BadValue, MetadataError, bad
from discreet.schema import Schema
from discreet.schema.words import toml_value

MOST_BYTES = 2**20
KEY = "zeros"
_RANGE, _EMPTY = {"from", "to"}, {"empty"}
_SPELLING = "In a file a range is spelt { from = 0, to = 14 }, and the empty cell { empty = true }."
_FIX = 'Write, for example:\n[[zeros]]\nage = { from = 0, to = 14 }\nmarital_status = ["married"]'


def read_zeros(path: Path, toml: Path, schema: Schema) -> list[dict[str, Any]]:
    """The combinations in the file, as `Dataset.synthesize` takes them; `toml` is the metadata at hand.

    Refused where the table does not have them, with how a file spells what is meant.
    """
    _require_public(path, toml)
    tables = _document(path)
    if isinstance(tables, dict):
        if set(tables) != {KEY}:
            raise BadValue("zeros must be a file with the one key zeros.", "This one has others.", _FIX)
        tables = tables[KEY]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise bad(KEY, "must be a file with a list of tables", type(tables).__name__, _FIX)
    zeros = [
        {name: _cells(given, _shown(name, place, schema)) for name, given in table.items()}
        for place, table in enumerate(tables)
    ]
    _require_sense(zeros, schema)
    return zeros


def _shown(name: str, place: int, schema: Schema) -> str:
    """Where a cell stands: a name that is no column's is not repeated."""
    return f"zeros[{place}]" if schema.find(name) is None else f"zeros[{place}].{name}"


def _require_sense(zeros: list[dict[str, Any]], schema: Schema) -> None:
    """Refuses combinations that the table does not have, without what the file says instead."""
    from discreet.synth.column.choice import near_name
    from discreet.synth.column.stated import stated_zeros

    for place, zero in enumerate(zeros):
        unknown = [name for name in zero if schema.find(name) is None]
        if unknown:
            what, why = f"zeros[{place}] must name declared columns.", "It names another, which is not repeated here."
            raise BadValue(what, why, f"{near_name(schema, unknown[0])} {_SPELLING}")
    try:
        stated_zeros(schema, zeros)
    except BadValue as refusal:
        advice = (*refusal.advice, _SPELLING)
        raise BadValue(refusal.what, "What the file has there is not repeated here.", advice, refusal.rule) from None


def _require_public(path: Path, toml: Path) -> None:
    """Refuses, unread, what is no TOML or JSON by its name, or a private table by what is known of it."""
    shown = toml_value(str(path))
    if path.suffix.lower() not in (".toml", ".json"):
        what = "zeros must be a public file that ends in .toml or .json."
        raise MetadataError(what, f"You gave {shown}.", "Name the combinations in a file such as zeros.toml.")
    if outputs.input_kind(path, toml) == outputs.TABLE:
        what = "zeros must be a public file, not a private table."
        raise MetadataError(what, f"You gave {shown}, which is one.", "Name the combinations in a file of their own.")


def _document(path: Path) -> Any:
    """What the file says; numbers with a point are exact decimals."""
    shown = toml_value(str(path))
    try:
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError):
        content = None
    if content is None:
        what = "zeros must be a file that is there, may be read and has at most 1 MiB."
        raise MetadataError(what, f"You gave {shown}.", "Check its name, or join combinations by lists of values.")
    try:
        text = content.decode("utf-8-sig")
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text, parse_float=Decimal)
        return json.loads(text, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError):  # both kinds of broken text, and bytes that are no UTF-8
        kind = path.suffix[1:].upper()
        raise MetadataError(f"zeros must be {kind} in UTF-8.", f"{shown} is not.", _FIX) from None


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _cells(given: Any, where: str) -> Any:
    """A range as a pair, the empty cell as None, and values as they are."""
    if isinstance(given, list):
        return [_cell(cell, where) for cell in given]
    if isinstance(given, dict) and set(given) == _RANGE:
        return given["from"], given["to"]
    return _cell(given, where)


def _cell(given: Any, where: str) -> Any:
    if not isinstance(given, dict):
        return given
    if set(given) == _EMPTY and given["empty"] is True:
        return None
    rule = "must be a value, a list of values, a range or the empty cell"
    raise BadValue(f"{where} {rule}.", "It is a table with other keys.", _SPELLING, rule)
