"""Names in the package, its tests and its benchmarks follow docs/design.md, "How names and sentences read"."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
PROJECT = Path(__file__).parents[1]
CHECKS = sorted(path for folder in ("tests", "benchmarks") for path in (PROJECT / folder).rglob("*.py"))
FILLERS = {"again", "at", "found", "made", "most", "near", "one", "small"}  # a noun says more, whatever it holds
IRREGULAR = {"begun", "bent", "built", "chosen", "done", "drawn", "found", "given", "held", "kept", "known", "laid"}
IRREGULAR |= {"lost", "made", "meant", "paid", "said", "seen", "sent", "shown", "spelt", "taken", "thrown", "told"}
IRREGULAR |= {"written"}
CONTRACT = {"done", "stored"}  # of runs and payers, which rooms are written against
FACE = {"disobeyed", "hashed", "poisoned", "tuned"}  # of what others write against: local protocols, nets
# the argument in another type
ALIKE = {"concatenated", "declared", "encoded", "negated", "rounded", "unsupported", "watched"}
NOUNS = {"embed", "feed", "need", "seed", "shed", "speed"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_participle(name: str) -> bool:
    word = name.strip("_")
    return "_" not in word and ((word.endswith("ed") and word not in NOUNS) or word in IRREGULAR)


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[Function, str]]:
    """Every function below a node, with the class that it is a method of."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child, owner
        yield from functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def gives_its_argument_back(function: Function, owner: str) -> bool:
    """Whether the result has the type of an argument: only then a participle says what a function does."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    types = {ast.unparse(argument.annotation).strip("'\"") for argument in arguments if argument.annotation}
    result = "" if function.returns is None else ast.unparse(function.returns).strip("'\"")
    return result in types | ({owner, "Self"} if owner else set())


def wrong_functions(tree: ast.AST) -> list[str]:
    """Participles that name no changed argument; properties are values, so they may be called so."""
    plain = ((function, owner) for function, owner in functions(tree) if not is_property(function))
    return [
        function.name
        for function, owner in plain
        if is_participle(function.name) and not gives_its_argument_back(function, owner)
        if function.name not in CONTRACT | FACE | ALIKE
    ]


def is_property(function: Function) -> bool:
    return any(ast.unparse(decorator) in ("property", "cached_property") for decorator in function.decorator_list)


def fillers(tree: ast.AST) -> list[str]:
    """Locals, arguments and captures that have the name of nothing."""
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    names += [node.name for node in ast.walk(tree) if isinstance(node, ast.MatchAs) and node.name is not None]
    return [name for name in names if name in FILLERS]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_locals_and_functions_are_named_by_what_they_are(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not fillers(tree)
    assert not wrong_functions(tree)


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_locals_of_tests_and_benchmarks_are_named_by_what_they_hold(path):
    assert not fillers(ast.parse(path.read_text(encoding="utf-8")))


def test_the_rules_find_a_filler_and_a_participle():
    tree = ast.parse("def spelt(question: str) -> list[str]:\n    found = [question]\n    return found")
    assert fillers(tree) == ["found"]
    assert wrong_functions(tree) == ["spelt"]
    assert not wrong_functions(ast.parse("def clamped(x: int) -> int:\n    return x"))
