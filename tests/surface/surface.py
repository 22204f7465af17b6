"""The public surface of the package: names, verbs with their options, error codes, TOML keys and keys of `--json`."""

import contextlib
import io
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import discreet as dp
from discreet import errors
from discreet.cli import main
from discreet.cli.verbs import VERBS, Verbs
from discreet.metadata.keys import TABLES

Surface = dict[str, Any]
METADATA = """
[dataset]
format = 1
name = "people"
source = "people.csv"
[unit]
key = "person_id"
max_rows = 2
[columns.region]
type = "category"
values = ["north", "south"]
why_public = "regions are on every map"
[columns.age]
type = "integer"
bounds = [0, 110]
[budget]
epsilon = 50
delta = 1e-7
[hierarchy.geo]
levels = ["country", "region"]
branches = [["land", "north"], ["land", "south"]]
"""
SURVEY = """
title = "Tax"
epsilon = "1"
[groups]
region = ["north", "south"]
[questions.q1]
text = "Did you ever dodge a tax?"
values = ["no", "yes"]
method = "binary"
required = true
"""
QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY region"
LEARN = ["--model", "naive-bayes", "--target", "region", "--features", "age"]
TRAIN = ["--target", "region", "--features", "age", "--rows", "200", "--epochs", "1", "--hidden", "2", "--eps", "1"]
COMMANDS = {  # name → the command line after the metadata file's place
    "check": ["check", "people.toml"],
    "quote": ["quote", "people.toml", QUESTION, "--eps", "1"],
    "ask": ["ask", "people.toml", QUESTION, "--eps", "1", "--yes"],
    "explain": ["explain", "people.toml", "last"],
    "budget": ["budget", "people.toml"],
    "ledger": ["ledger", "people.toml"],
    "release plan": ["release", "plan", "people.toml", "--eps", "1"],
    "learn plan": ["learn", "plan", "people.toml", *LEARN, "--eps", "1"],
    "learn fit": ["learn", "fit", "people.toml", *LEARN, "--eps", "1", "-o", "region.dp", "--yes"],
    "learn predict": ["learn", "predict", "region.dp", "people.csv"],
    "learn card": ["learn", "card", "region.dp"],
    "learn verify": ["learn", "verify", "region.dp", "--ledger", "people.toml"],
    "learn score": ["learn", "score", "people.toml", "region.dp", "--metric", "accuracy", "--eps", "1"],
    "learn quote": ["learn", "quote", "people.toml", "region.dp", "--metric", "accuracy", "--eps", "1"],
    "learn fairness": ["learn", "fairness", "people.toml", "region.dp", "--by", "region", "--eps", "1"],
    "synth quote": ["synth", "quote", "people.toml", "--eps", "1"],
    "synth build": ["synth", "build", "people.toml", "--eps", "1", "-o", "s.parquet", "--yes"],
    "synth report": ["synth", "report", "s.parquet", "people.toml", "--eps", "1", "-o", "synthetic.html", "--yes"],
    "train plan": ["train", "plan", "people.toml", *TRAIN],
    "train": ["train", "people.toml", *TRAIN, "-o", "net.dp", "--yes"],
    "train card": ["train", "card", "net.dp"],
    "train predict": ["train", "predict", "net.dp", "people.csv"],
    "survey design": ["survey", "design", "tax.toml", "--precision", "3"],
    "survey page": ["survey", "page", "tax.toml", "-o", "page.html"],
    "survey simulate": ["survey", "simulate", "tax.toml", "--people", "1000", "-o", "reports.parquet"],
    "survey estimate": ["survey", "estimate", "tax.toml", "reports.parquet", "--by", "region", "--from-shuffler"],
    "survey report": ["survey", "report", "tax.toml", "reports.parquet", "-o", "report.html"],
    "odds": ["odds", "--eps", "1"],
    "attack": ["attack", "shame"],
    "attack list": ["attack", "list"],
    "curve": ["curve", "dimensions"],
    "lecture": ["lecture", "5"],
    "picture": ["picture", "--size", "64"],
    "a refusal": ["ask", "people.toml", "SELECT * FROM people", "--eps", "1", "--yes"],
}


def surface(folder: Path) -> Surface:
    """Everything that a program or a person outside the package can name; `folder` is empty."""
    (folder / "people.toml").write_text(METADATA)
    (folder / "tax.toml").write_text(SURVEY)
    rows = [f"{number // 2},{('north', 'south')[number % 2]},{number % 90}" for number in range(400)]
    (folder / "people.csv").write_text("\n".join(["person_id,region,age", *rows]) + "\n")
    with dp.open(folder / "people.toml") as people:
        question, built = people.sql(QUESTION), people.agg(n=dp.count())
        objects = {
            "Asking": question,
            "Building": built,
            "Quote": question.quote(epsilon=1),
            "Answer": built.ask(epsilon=1),
            "Releasing": people.release(),
            "Dataset": people,
            "Limits": dp.Limits(),
            "Sensitivity": dp.Sensitivity(1, 1, 1, 1),
            "noise": dp.noise,
            "odds": dp.odds,
        }
        members = {name: _members(value) for name, value in objects.items()}
    return {
        "names": list(dp.__all__),
        "members": members,
        "verbs": {name: _options(name) for name in VERBS},
        "errors": {kind.__name__: [kind.code, kind.exit] for kind in _errors(errors.DiscreetError)},
        "toml": {table: list(keys) for table, keys in TABLES.items()},
        "json": {name: sorted(_paths(_reply(words))) for name, words in COMMANDS.items()},
    }


def _members(value: Any) -> list[str]:
    if isinstance(value, ModuleType):  # its own names, not those that it imports
        homes = ((name, getattr(item, "__module__", "")) for name, item in vars(value).items())
        listed = [name for name, home in homes if home.startswith(value.__name__)]
    else:
        listed = dir(value)
    return sorted(name for name in listed if not name.startswith("_"))


def _options(verb: str) -> list[str]:
    command: Any = Verbs().get_command(None, verb)
    names = (name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))
    return sorted(name for name in names if name.startswith("-"))


def _errors(kind: type[Any]) -> list[type[Any]]:
    return [
        kind,
        *(below for error in kind.__subclasses__() for below in _errors(error) if "rehears" not in error.__module__),
    ]


def _reply(words: list[str]) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
        main.status([*words, "--json"])
    return json.loads(printed.getvalue())


def _paths(value: Any, path: str = "") -> set[str]:
    """Every key of a JSON value, with the keys above it."""
    if isinstance(value, list):
        return set().union(*(_paths(item, f"{path}[]") for item in value))
    if not isinstance(value, dict):
        return set()
    return {f"{path}.{key}" for key in value}.union(*(_paths(item, f"{path}.{key}") for key, item in value.items()))


if __name__ == "__main__":
    import sys

    print(json.dumps(surface(Path(sys.argv[1])), indent=1, ensure_ascii=False))
