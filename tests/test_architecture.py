"""Imports point one way, and three fences hold: randomness, rows and heavy packages each have one home."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "discreet"
ROWS = [
    "errors exact fix inert real relation state tagged",
    "schema bounded envelope noise privacy terms",
    "mechanism ledger metadata plot shares",
    "query kernel outputs",
    "engine answer",
    "gate",
    "run",
    "table",
    "ask release constrained synth learn deep local",
    "rehearsal",
    "dataset federated audit",
    "attack report demo",
    "operation",
    "cli service console",
]
ROW = {name: row for row, names in enumerate(ROWS) for name in names.split()}
INNER = {("exact", "errors"), ("relation", "errors"), ("state", "errors"), ("tagged", "errors"), ("errors", "inert"), ("errors", "fix")}
RANDOM = {"random", "secrets", "numpy.random", "torch.random", "uuid"}
DRIVERS = {"duckdb", "sqlalchemy", "psycopg", "pyspark"}
HEAVY = {
    "dp_accounting": {"privacy"},
    "scipy": {"privacy", "mechanism", "audit", "release"},
    "matplotlib": {"plot"},
    "typer": {"cli"},
    "rich": {"cli", "demo", "plot"},
    "torch": {"deep"},
    "sklearn": {"learn"},
    "cvxpy": {"release", "constrained"},
    "numba": {"release"},
    "ortools": {"release", "attack"},
}
MODULES = sorted(SRC.rglob("*.py"))


def home(path):
    """The folder or module of the package a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def compiled(path):
    """Whether a module is compiled code, which may import its compiler and is itself imported lazily."""
    return path.is_relative_to(SRC / "release" / "fit" / "kernels")


def imports(tree, *, lazy):
    """Dotted names imported at the top of the file, or anywhere in it."""
    nodes = ast.walk(tree) if lazy else tree.body
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_module_keeps_the_house_rules(path):
    tree, here = ast.parse(path.read_text()), home(path)
    everything = list(imports(tree, lazy=True))
    for name in everything:
        package, _, rest = name.partition(".")
        if package == "discreet" and here != "__init__":
            target = rest.split(".")[0]
            one_way = target == here or ROW[target] < ROW[here] or (here, target) in INNER
            assert one_way, f"{here} (row {ROW[here]}) imports {target} (row {ROW[target]})"
        if here != "noise":
            assert not any(name == r or name.startswith(r + ".") for r in RANDOM), f"randomness outside noise: {name}"
            assert name != "os.urandom"
        if here != "engine":
            assert package not in DRIVERS, f"rows outside engine: {name}"
        assert here in HEAVY.get(package, {here}), f"{name} has its own folder"
    for name in imports(tree, lazy=False):
        package = name.partition(".")[0]
        assert package not in HEAVY or here in {"plot", "cli"} or compiled(path), f"{name} must be imported lazily"
        assert not name.startswith("discreet.release.fit.kernels") or compiled(path), f"{name} brings a compiler"
    source = path.read_text()
    if here != "noise":
        assert "np.random" not in source
        assert "urandom" not in source
    assert len(source.splitlines()) <= 400, "one idea a module"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_functions_fit_on_a_screen(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 60, f"{node.name} is longer than a screen"


def test_the_rules_see_a_breach(tmp_path):
    """The test above can fail: a planted breach is seen by the same reader of imports."""
    tree = ast.parse("def f():\n    import numpy.random\n    from discreet.cli import main\n")
    assert set(imports(tree, lazy=True)) == {"numpy.random", "discreet.cli.main"}
    assert set(imports(tree, lazy=False)) == set()
