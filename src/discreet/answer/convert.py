"""An answer as a frame of pandas, Polars or Arrow: keys first, then each value beside its ±."""

import json
from typing import TYPE_CHECKING, Any

from discreet.answer.column import one_value
from discreet.errors import bad

if TYPE_CHECKING:
    from discreet.answer.answer import Answer


def to_pandas(answer: "Answer") -> Any:
    """A pandas frame; `attrs["discreet"]` holds its provenance."""
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError:
        raise _absent("pandas") from None
    frame = pandas.DataFrame(_lists(answer))
    frame.attrs["discreet"] = answer.provenance()
    return frame


def to_polars(answer: "Answer") -> Any:
    """A Polars frame.  It carries no metadata, so other facts about a column stand in columns beside it."""
    try:
        import polars
    except ImportError:
        raise _absent("polars") from None
    facts = {name: [fact] * len(answer) for c in answer.columns for name, fact in answer.beside(c).items()}
    return polars.DataFrame(_lists(answer) | facts, strict=False)


def to_arrow(answer: "Answer") -> Any:
    """An Arrow table; the schema's metadata `discreet` holds its provenance as JSON."""
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise _absent("pyarrow") from None
    provenance = json.dumps(answer.provenance(), sort_keys=True)
    return pyarrow.table(_lists(answer)).replace_schema_metadata({"discreet": provenance})


def _lists(answer: "Answer") -> dict[str, list[Any]]:
    keys = {name: [label[i] for label in answer.labels] for i, name in enumerate(answer.keys)}
    pairs = {}
    for column in answer.columns:
        pairs[column.name] = list(map(one_value, column.value))
        pairs[f"{column.name}_moe"] = list(column.moe)
    return keys | pairs


def _absent(package: str) -> Exception:
    return bad("frame", f"needs the package {package}", f"no {package} here", "Install discreet[frames].")
