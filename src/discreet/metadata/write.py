"""Write metadata as TOML that reads back equal, with comments that explain its keys."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from discreet.metadata.header import like_column, like_unit
from discreet.metadata.read import Metadata, delta_ceiling
from discreet.schema import Column, Empty, Null
from discreet.schema.column import default_step
from discreet.schema.limits import GIBIBYTE
from discreet.schema.words import key, toml_value

_WIDTH = 86
_TOP = """\
# Public facts about a private table. Nothing here may be read off the data: take bounds and values from law, tariffs,
# maps or common knowledge, and say so in why_public. `discreet check` lists what is missing.
"""
_NO_UNIT = """\
# Without this table each row is protected on its own. If a person can have several rows, name the column that says
# whose they are, and how many of them may count.
# [unit]
# key = {}
# max_rows = 5
"""
_NO_BUDGET = """\
# Until there is a budget nothing can be asked. See what an epsilon means: discreet odds --eps 3
# [budget]
# epsilon = 3
# delta = 1e-7
"""
_DECLARE = "# A column that is not declared does not exist for any question.\n"
_EXAMPLE = """\
# [{}]
# type = "integer"                  # category | integer | number | boolean | date | datetime | text
# bounds = [0, 110]                 # put your own in place; for category: values = ["north", "south"]
# why_public = "…"                  # where the bounds or values come from; never the data
"""


def dumps(metadata: Metadata, undeclared: Sequence[str] = ()) -> str:
    """The TOML of the metadata; `undeclared` column names of the header are listed in a comment."""
    schema = metadata.schema
    files = dict(metadata.values_from)
    parts = [_TOP, _dataset(metadata), _unit(metadata, undeclared)]
    parts += [_column(column, files.get(column.name)) for column in schema.columns]
    if not schema.columns:
        named = next(iter(undeclared), "age") if schema.unit else like_column(undeclared) or "age"
        parts.append(_DECLARE + _EXAMPLE.format(key("columns", named)))
    if undeclared:
        parts.append((_DECLARE if schema.columns else "") + _undeclared_comment(undeclared))
    parts += _hierarchies(metadata)
    parts += [_budget(metadata), *_limits(metadata)]
    return "\n".join(parts)


def _table(heading: str, lines: Iterable[tuple[str, str, str]]) -> str:
    """A heading and `key = value` lines, their comments in one column."""
    body = []
    for name, value, comment in lines:
        plain = f"{name} = {value}"
        body.append(f"{plain:<33} # {comment}" if comment and "\n" not in value else plain)
    return "\n".join([f"[{heading}]", *body, ""])


def _dataset(metadata: Metadata) -> str:
    schema = metadata.schema
    lines = [("format", "1", ""), ("name", toml_value(schema.name), "what questions call it: FROM …")]
    if metadata.source is not None:
        lines.append(("source", toml_value(metadata.source), "the private table, seen from this file's folder"))
    lines.append(("neighbours", toml_value(str(schema.relation)), "or replace-one, when the number of units is public"))
    if schema.population is not None:
        lines.append(("population", str(schema.population), "how many units there are, as published"))
    return _table("dataset", lines)


def _unit(metadata: Metadata, undeclared: Sequence[str]) -> str:
    unit = metadata.schema.unit
    if unit is None:
        return _NO_UNIT.format(toml_value(like_unit(undeclared) or "…"))
    lines = [
        ("key", toml_value(unit.key), "whose row it is: who is protected"),
        ("max_rows", str(unit.max_rows), "more rows of one unit are left out; a lower cap means less noise"),
    ]
    return _table("unit", lines)


def _column(column: Column, file: str | None) -> str:
    lines = [("type", toml_value(str(column.type)), "")]
    if column.bounds is not None:
        lines.append(("bounds", toml_value(column.bounds), "values beyond count as the nearer end"))
    if file is not None:
        lines.append(("values_from", toml_value(file), "a public file"))
    elif column.values is not None:
        lines.append(("values", _list(column.values), ""))
    if column.step is not None and column.step != default_step(column):
        lines.append(("step", toml_value(column.step), "the lattice numbers are rounded to"))
    if column.bins is not None:
        lines.append(("bins", _list(column.bins), ""))
    if column.fixed_per_unit:
        lines.append(("fixed_per_unit", "true", "one value per unit"))
    if column.null is not Null.DROP:
        lines.append(("null", toml_value(str(column.null)), "empty cells are a group"))
    if column.empty is not Empty.VALUE:
        lines.append(("empty", toml_value(str(column.empty)), "an empty text is an empty cell"))
    if column.why_public is not None:
        lines.append(("why_public", toml_value(column.why_public), ""))
    elif column.bounds or column.values:
        lines.append(("# why_public", '"…"', "where the bounds or values come from; never the data"))
    return _table(key("columns", column.name), lines)


def _list(items: Sequence[Any]) -> str:
    """A list on one line if it is short, else on several."""
    line = toml_value(items)
    if len(line) <= _WIDTH:
        return line
    lines = [""]
    for item in map(toml_value, items):
        if len(lines[-1]) + len(item) > _WIDTH:
            lines.append("")
        lines[-1] += f"{item}, "
    return "\n".join(["[", *(f"    {line.rstrip()}" for line in lines if line), "]"])


def _undeclared_comment(names: Sequence[str]) -> str:
    sentence = "In the header, not declared: " + ", ".join(names)
    lines = textwrap.wrap(sentence, 118, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)
    return "\n".join([*lines, ""])


def _hierarchies(metadata: Metadata) -> Iterator[str]:
    for hierarchy in metadata.schema.hierarchies:
        lines = [("levels", toml_value(hierarchy.levels), "top first; the last is a column")]
        if hierarchy.tree is not None:
            lines.append(("tree", toml_value(hierarchy.tree), "a public CSV with these columns"))
        elif hierarchy.branches:
            lines.append(("branches", _list(hierarchy.branches), ""))
        yield _table(key("hierarchy", hierarchy.name), lines)


def _budget(metadata: Metadata) -> str:
    budget = metadata.budget
    if budget is None:
        return _NO_BUDGET
    lines = [("epsilon", toml_value(budget.epsilon), "for all questions together; fixed once the ledger is open")]
    if budget.delta or "budget.delta" in metadata.said:
        lines.append(("delta", toml_value(budget.delta), "for Gaussian noise and keys that are not public"))
    if budget.max_epsilon_per_question is not None:
        lines.append(("max_epsilon_per_question", toml_value(budget.max_epsilon_per_question), ""))
    if budget.max_delta != delta_ceiling(metadata.schema.population):
        lines.append(("max_delta", toml_value(budget.max_delta), "the ceiling of every delta"))
    if budget.share_answers:
        lines.append(("share_answers", "true", "an answer paid for once is free for all"))
    text = _table("budget", lines)
    if not budget.analysts:
        return text
    caps = [(key(analyst), toml_value(cap), "") for analyst, cap in budget.analysts]
    return "\n".join([text, _table(key("budget", "analysts"), caps)])


def _limits(metadata: Metadata) -> Iterator[str]:
    limits = metadata.limits
    if limits is not None:
        facts = {
            "memory_gib": toml_value(Fraction(limits.memory, GIBIBYTE)),
            "seconds": toml_value(Fraction(str(limits.seconds))),
            "prepare_seconds": toml_value(Fraction(str(limits.prepare_seconds))),
            "threads": str(limits.threads),
        }
        yield _table("limits", [(named, facts[named], "") for named in facts if key("limits", named) in metadata.said])
