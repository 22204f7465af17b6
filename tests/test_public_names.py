"""The face of the package: a short sorted list of names, fetched when used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

HEAVY = {"scipy", "dp_accounting", "matplotlib", "duckdb", "typer", "rich", "pandas", "polars"}


def said(program: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def declared() -> list[str]:
    """The names the type checker sees, read off the source."""
    tree = ast.parse(Path(discreet.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    fetched = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return [alias.asname or alias.name for node in fetched for alias in node.names]


def test_public_names_are_exactly_the_sorted_ones_that_resolve() -> None:
    assert discreet.__all__ == sorted(discreet.__all__)
    assert discreet.__all__ == sorted(declared()) == sorted(discreet._HOMES)
    imported: dict[str, object] = {}
    exec("from discreet import *", imported)
    assert sorted(name for name in imported if not name.startswith("__")) == discreet.__all__
    assert [name for name in dir(discreet) if not name.startswith("__")] == discreet.__all__


def test_each_name_is_the_thing_itself() -> None:
    from discreet import bounded, errors, relation
    from discreet.privacy import odds

    assert discreet.Sensitivity is bounded.Sensitivity
    assert discreet.BadValue is errors.BadValue
    assert discreet.Relation is relation.Relation
    assert discreet.odds is odds
    assert discreet.noise.discrete_laplace(3, 4).shape == (4,)


def test_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'anonymise'"):
        discreet.anonymise  # noqa: B018


def test_import_loads_nothing_heavy_and_neither_do_the_names() -> None:
    program = "import json, sys, discreet; {use}; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    for use in ("pass", "[getattr(discreet, name) for name in discreet.__all__]"):
        loaded = set(json.loads(said(program.format(use=use))))
        assert "discreet" in loaded
        assert not loaded & HEAVY
