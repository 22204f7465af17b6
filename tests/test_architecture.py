"""Imports point one way, three fences hold (randomness, rows and heavy packages each have one home), and nobody reads
sentences."""

import ast
import re
from pathlib import Path

import pytest

from discreet import errors
from discreet.cli.verbs import VERBS

SRC = Path(__file__).parent.parent / "src" / "discreet"
ROWS = [
    "errors amounts durable fix inert ndarrays real relation state tagged",
    "schema bounded envelope noise privacy terms",
    "mechanism ledger metadata plot shares",
    "query kernel outputs",
    "engine answer remaining request",
    "gate",
    "run",
    "table",
    "ask release constrained learn local",
    "synth",
    "deep rehearsal survey",
    "dataset federated audit",
    "attack report demo",
    "lecture",
    "operation",
    "cli service console",
    "__main__",
]
ROW = {name: row for row, names in enumerate(ROWS) for name in names.split()}
INNER = {
    ("amounts", "errors"),
    ("relation", "errors"),
    ("state", "errors"),
    ("tagged", "errors"),
    ("errors", "inert"),
    ("errors", "fix"),
}
RANDOM = {"random", "secrets", "numpy.random", "torch.random", "uuid"}
DRIVERS = {"duckdb", "sqlalchemy", "psycopg", "pyspark"}
HEAVY = {
    "dp_accounting": {"privacy"},
    "scipy": {"privacy", "mechanism", "audit", "release", "local", "synth", "attack"},
    "matplotlib": {"plot"},
    "typer": {"cli"},
    "rich": {"cli", "demo", "plot"},
    "torch": {"deep", "attack"},
    "sklearn": {"learn", "attack"},
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


def is_face(path):
    """Whether a module is the scikit-learn face of learners, which is itself imported lazily."""
    return path.is_relative_to(SRC / "learn" / "estimators")


def is_net(path):
    """Whether a module trains nets, which is itself imported lazily."""
    return home(path) == "deep" and path != SRC / "deep" / "__init__.py"


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
        is_home = here in {"plot", "cli"} or compiled(path) or is_face(path) or is_net(path)
        assert package not in HEAVY or is_home, f"{name} must be imported lazily"
        assert not name.startswith("discreet.release.fit.kernels") or compiled(path), f"{name} brings a compiler"
        assert not name.startswith("discreet.deep") or here == "deep", f"{name} brings torch"
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


SENTENCES = {"what", "why", "fix"}
READING = {
    *("partition", "rpartition", "split", "rsplit", "replace", "find", "rfind", "index", "translate"),
    *("startswith", "endswith", "removeprefix", "removesuffix"),
    *("sub", "search", "match", "fullmatch", "findall", "finditer"),
}
REFUSALS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def sentences_read(tree):
    """Where a sentence of a refusal is taken apart; to wrap its lines is to show it."""
    whole = {ast.unparse(node) for name in refusals_caught(tree) for node in ast.walk(ast.parse(f"str({name})"))}

    def has_sentence(node):
        sentence = any(isinstance(part, ast.Attribute) and part.attr in SENTENCES for part in ast.walk(node))
        return sentence or any(isinstance(part, ast.Call) and ast.unparse(part) in whole for part in ast.walk(node))

    for node in ast.walk(tree):
        read = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
            read = [node.func.value, *node.args]
        elif isinstance(node, ast.Compare) and any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            read = node.comparators
        if any(map(has_sentence, read)):
            yield node.lineno


def refusals_caught(tree):
    """Names of caught exceptions that are ours alone."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name]
    ours = {node.name: set() for node in handlers}
    for node in handlers:
        ours[node.name].add(any(isinstance(part, ast.Name) and part.id in REFUSALS for part in ast.walk(node.type)))
    return {name for name, kinds in ours.items() if kinds == {True}}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_no_module_reads_the_sentences_of_a_refusal(path):
    assert list(sentences_read(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "breach",
    [
        're.sub("x", "y", error.fix)',
        'error.what.partition(" must ")',
        'error.what.startswith(f"{file}: ")',
        '"budget set" in error.fix',
        "try:\n    f()\nexcept (OSError, BadValue) as refused:\n    str(refused).split()",
    ],
)
def test_a_planted_reader_of_sentences_is_seen(breach):
    assert list(sentences_read(ast.parse(breach)))


COMMAND = re.compile(rf"\bdiscreet (?:{'|'.join(sorted({name.split()[0] for name in VERBS}))})\b")
SPELT = {  # commands in texts that are no fix
    "cli/asking.py": "a pipe of the shell",
    "cli/ledger.py": "a line of help",
    "demo/tour_page.py": "the end of the tour",
    "envelope.py": "the first bytes of what is stored",
    "fix.py": "the one builder",
    "ledger/chain.py": "what is hashed first",
    "metadata/write.py": "comments of a new file",
    "release/stored.py": "the first bytes of what was stored",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_only_one_module_spells_commands(path):
    tree = ast.parse(path.read_text())
    documented = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    docstrings = {id(node.body[0].value) for node in documented if ast.get_docstring(node) is not None}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
    spelt = [node.value for node in texts if isinstance(node.value, str) and COMMAND.search(node.value)]
    assert not spelt or path.relative_to(SRC).as_posix() in SPELT


def test_the_rules_see_a_breach(tmp_path):
    """The test above can fail: a planted breach is seen by the same reader of imports."""
    tree = ast.parse("def f():\n    import numpy.random\n    from discreet.cli import main\n")
    assert set(imports(tree, lazy=True)) == {"numpy.random", "discreet.cli.main"}
    assert set(imports(tree, lazy=False)) == set()
