"""Every key of the TOML with a line to paste, and the word that an unknown one was meant to be."""

from collections.abc import Mapping
from typing import Any

from discreet.errors import MetadataError
from discreet.schema.words import key as dotted
from discreet.schema.words import suggestion, toml_value

TABLES: Mapping[str, Mapping[str, str]] = {
    "dataset": {
        "format": "format = 1",
        "name": 'name = "people"',
        "source": 'source = "people.csv"',
        "neighbours": 'neighbours = "add-remove"',
        "population": "population = 60000",
    },
    "unit": {"key": 'key = "person_id"', "max_rows": "max_rows = 5"},
    "columns": {
        "type": 'type = "integer"',
        "bounds": "bounds = [0, 110]",
        "values": 'values = ["north", "south"]',
        "values_from": 'values_from = "regions.csv"',
        "step": "step = 1",
        "bins": "bins = [0, 18, 65, 110]",
        "why_public": 'why_public = "…"',
        "fixed_per_unit": "fixed_per_unit = true",
        "null": 'null = "key"',
        "empty": 'empty = "null"',
    },
    "budget": {
        "epsilon": "epsilon = 3",
        "delta": "delta = 1e-7",
        "analysts": "[budget.analysts]",
        "max_epsilon_per_question": "max_epsilon_per_question = 0.5",
        "max_delta": "max_delta = 1e-6",
        "share_answers": "share_answers = true",
    },
    "limits": {
        "memory_gib": "memory_gib = 6",
        "seconds": "seconds = 600",
        "prepare_seconds": "prepare_seconds = 7200",
        "threads": "threads = 2",
    },
    "hierarchy": {
        "levels": 'levels = ["country", "region", "ward"]',
        "tree": 'tree = "geo.csv"',
        "branches": 'branches = [["north", "ward 1"], ["north", "ward 2"]]',
    },
}
NAMED = ("columns", "hierarchy")  # one table per name: [columns.age]
HEADINGS = {
    "dataset": "[dataset]",
    "unit": "[unit]",
    "columns": "[columns.age]",
    "budget": "[budget]",
    "limits": "[limits]",
    "hierarchy": "[hierarchy.geo]",
}
_OTHER_WORDS: Mapping[str, Mapping[str, str]] = {
    "dataset": dict.fromkeys(("table", "file", "path", "data", "csv", "parquet"), "source")
    | dict.fromkeys(("relation", "adjacency", "adjacent", "neighbor_relation"), "neighbours")
    | dict.fromkeys(("n", "size", "units", "people"), "population")
    | {"version": "format", "title": "name", "id": "name"},
    "unit": dict.fromkeys(("id", "column", "person", "user", "privacy_id", "name", "field"), "key")
    | dict.fromkeys(("cap", "rows", "max_contributions", "max_ids", "limit", "contributions"), "max_rows"),
    "columns": dict.fromkeys(("min", "max", "lower", "upper", "range", "limits", "clip", "clamp", "domain"), "bounds")
    | dict.fromkeys(("categories", "enum", "keys", "options", "levels", "choices"), "values")
    | dict.fromkeys(("resolution", "granularity", "precision", "grid"), "step")
    | dict.fromkeys(("edges", "buckets", "breaks", "cuts"), "bins")
    | dict.fromkeys(("why", "reason", "because", "public"), "why_public")
    | dict.fromkeys(("fixed", "constant", "per_unit"), "fixed_per_unit")
    | dict.fromkeys(("missing", "na", "nan", "nullable"), "null")
    | dict.fromkeys(("blank", "empty_text", "empty_string"), "empty")
    | dict.fromkeys(("dtype", "kind"), "type"),
    "budget": dict.fromkeys(("max_epsilon", "per_question", "max_per_question"), "max_epsilon_per_question")
    | dict.fromkeys(("users", "people", "caps"), "analysts")
    | dict.fromkeys(("share", "shared", "publish"), "share_answers")
    | {"eps": "epsilon", "total": "epsilon", "delta_max": "max_delta"},
    "limits": dict.fromkeys(("memory", "ram", "memory_gb", "max_memory", "gib"), "memory_gib")
    | dict.fromkeys(("timeout", "time", "max_seconds"), "seconds")
    | dict.fromkeys(("cores", "cpus", "processors"), "threads"),
    "hierarchy": dict.fromkeys(("columns", "order"), "levels")
    | dict.fromkeys(("file", "path", "csv"), "tree")
    | dict.fromkeys(("edges", "paths", "rows"), "branches"),
    "": dict.fromkeys(("table", "data", "source", "schema"), "dataset")
    | dict.fromkeys(("privacy_unit", "person", "user", "protects"), "unit")
    | dict.fromkeys(("fields", "variables", "attributes"), "columns")
    | dict.fromkeys(("privacy", "spend", "allowance"), "budget")
    | dict.fromkeys(("limit", "engine", "resources"), "limits")
    | dict.fromkeys(("tree", "geo", "geography", "nesting"), "hierarchy"),
}


def require_known(table: tuple[str, ...], content: Mapping[str, Any]) -> None:
    """Refuses the first key that a table does not have; an empty `table` is the top of the file."""
    known = TABLES[table[0]] if table else TABLES
    for key, value in content.items():
        if key not in known:
            raise _unknown_key(table, key, value) if table else _unknown_table(key, value)


def require_table(table: tuple[str, ...], content: Any) -> Mapping[str, Any]:
    """The content, if it is a table; else the refusal that shows the heading to write."""
    if isinstance(content, Mapping):
        return content
    kind = table[0]
    heading = HEADINGS[kind] if len(table) == 1 else f"[{dotted(*table)}]"
    line = next(iter(TABLES[kind].values()))
    what = f"{dotted(*table)} must be a table."
    raise MetadataError(what, f"You gave {_short(toml_value(content))}.", f"Write:\n{heading}\n{line}")


def missing(table: tuple[str, ...], key: str) -> MetadataError:
    """The refusal of a table without a key it must have."""
    what = f"{dotted(*table, key)} must be given."
    return MetadataError(what, "It is not there.", f"Under [{dotted(*table)}] write: {TABLES[table[0]][key]}")


def _unknown_key(table: tuple[str, ...], key: str, value: Any) -> MetadataError:
    kind = table[0]
    what = f"{_short(dotted(*table, key))} is not a key of [{dotted(*table)}]."
    why = f"The keys there are {', '.join(TABLES[kind])}."
    elsewhere = [table_name for table_name in TABLES if key in TABLES[table_name]]
    similar = suggestion(key, TABLES[kind], _OTHER_WORDS[kind])
    misspelt = suggestion(key, TABLES[kind])
    if misspelt is not None and misspelt == similar and not isinstance(value, Mapping):
        return MetadataError(what, why, f"Did you mean {similar!r}? Write: {similar} = {_short(toml_value(value))}")
    if elsewhere:
        line = "" if isinstance(value, Mapping) else f" and write there: {key} = {_short(toml_value(value))}"
        return MetadataError(what, why, f"{key!r} belongs to {HEADINGS[elsewhere[0]]}: move it{line}")
    if similar is not None:
        return MetadataError(what, why, f"Did you mean {similar!r}? Write, for example: {TABLES[kind][similar]}")
    return MetadataError(what, why, "Remove the line, or put # before it.")


def _unknown_table(key: str, value: Any) -> MetadataError:
    is_table = isinstance(value, Mapping)
    what = f"{_short(dotted(key))} is not a {'table' if is_table else 'key at the top'} of the file."
    why = f"The tables are {', '.join(HEADINGS.values())}."
    if not is_table:
        homes = [kind for kind in TABLES if key in TABLES[kind]]
        if homes:
            line = f"{HEADINGS[homes[0]]}\n{key} = {_short(toml_value(value))}"
            return MetadataError(what, why, f"Write it under its heading:\n{line}")
    similar = suggestion(key, TABLES, _OTHER_WORDS[""])
    if similar is None:
        return MetadataError(what, why, "Remove it, or put # before each of its lines.")
    return MetadataError(what, why, f"Did you mean {similar!r}? Write: {HEADINGS[similar]}")


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
