"""What the verbs about a question share: their flags, the dataset they open, and command lines to paste."""

import contextlib
import shlex
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import exact
from discreet.cli.fixes import curated, require_delta
from discreet.cli.places import require_metadata_file
from discreet.cli.typed import named, refitted, whole
from discreet.errors import BadValue, DiscreetError, EngineFailed, bad

if TYPE_CHECKING:
    from discreet.dataset import Asking, Dataset
    from discreet.table import Table

Toml = Annotated[Path, typer.Argument(metavar="TOML", readable=False, help="The metadata file, such as people.toml.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question; - reads it from stdin.")]
Eps = Annotated[str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="What the question may cost.")]
Error = Annotated[
    list[str] | None, typer.Option("--error", metavar="±", help="Or the ± to reach: n=15, or n=15,total=200.")
]
Delta = Annotated[str | None, typer.Option(metavar="δ", help="Its δ; by default a hundredth of the budget's.")]
Level = Annotated[str | None, typer.Option(metavar="P", help="How often ± holds; 0.95 by default.")]
As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="NAME", help="Who asks, for caps of their own.", callback=lambda name: named(name, "--as")
    ),
]
AtSize = Annotated[str | None, typer.Option(metavar="N", help="Show the ± of means for groups of N rows.")]
Rehearse = Annotated[
    bool, typer.Option("--rehearse", help="Invent the rows from the metadata: nothing private is opened or charged.")
]
Why = Annotated[str | None, typer.Option(metavar="TEXT", help="The reason, which the ledger keeps.")]

_MOST_SIZE = 10**12


@dataclass(frozen=True)
class Wanted:
    """A question and its price as they were typed."""

    verb: str
    toml: Path
    sql: str
    eps: str | None = None
    error: tuple[str, ...] = ()
    delta: str | None = None
    level: str | None = None
    analyst: str | None = None
    at_size: str | None = None
    rehearse: bool = False

    def command(self, *more: str) -> str:
        """The command line that says the same, safe to paste into a shell."""
        words = ["discreet", self.verb, str(self.toml), self.sql]
        flags = [("--eps", self.eps), *(("--error", one) for one in self.error), ("--delta", self.delta)]
        flags += [("--level", self.level), ("--as", self.analyst), ("--at-size", self.at_size)]
        words += [word for flag, value in flags if value is not None for word in (flag, value)]
        return shlex.join([*words, *(["--rehearse"] if self.rehearse else []), *more])

    @property
    def price(self) -> dict[str, Any]:
        """What a plan takes: epsilon or error, delta, level."""
        errors = wanted_errors(self.error) if self.error else None
        return {"epsilon": self.eps, "error": errors, "delta": self.delta, "level": self.level}

    @property
    def size(self) -> int | None:
        """The number of rows at which to show the ± of means."""
        return None if self.at_size is None else whole(self.at_size, "at-size", 1, _MOST_SIZE, such_as=1000)


def wanted_errors(texts: tuple[str, ...]) -> dict[str, str]:
    """The ± of each column as typed; "" stands for the only column.

    >>> wanted_errors(("n=15,age=0.5",)), wanted_errors(("15",))
    ({'n': '15', 'age': '0.5'}, {'': '15'})
    """
    found: dict[str, str] = {}
    for part in ",".join(texts).split(","):
        name, equals, value = part.rpartition("=")
        name = name.strip()
        if not value.strip() or (equals and not name) or name in found:
            rule, fix = "must be NAME=± for each column, with commas between", "Write, for example: --error n=15"
            raise bad("error", rule, ",".join(texts), fix)
        found[name] = value.strip()
    for name, value in found.items():
        _require_width(name, value)
    return found


def _require_width(name: str, value: str) -> None:
    """Refuses what is no ±; a column's name without one gets its ± in the fix."""
    if name:
        exact.positive(value, f"error of {name}")
        return
    column = value if value.isidentifier() and value.casefold() not in ("nan", "inf", "infinity", "true") else "n"
    refitted(lambda: exact.positive(value, "error"), f"Write, for example: --error {column}=15")


def read_sql(typed: str) -> str:
    """The question's text, from stdin if a dash stands for it."""
    if typed != "-":
        return typed
    try:
        text = sys.stdin.read().strip()
    except UnicodeDecodeError:
        fix = "Write it in UTF-8: iconv -f latin1 -t utf-8 question.sql | discreet ask people.toml - --eps 1"
        raise BadValue("SQL must be text.", "What came from stdin is not UTF-8.", fix) from None
    if not text:
        fix = "Write, for example: echo 'SELECT COUNT(*) AS n FROM people' | discreet ask people.toml - --eps 1"
        raise BadValue("SQL must not be empty.", "Nothing came from stdin.", fix)
    return text


@contextlib.contextmanager
def opened(toml: Path, second_ledger: str | None = None, *, rehearse: bool = False) -> "Iterator[Dataset]":
    """The dataset, let go of at the end; what the ledger refuses ends with a command for its curator."""
    from discreet.dataset import open_dataset

    require_metadata_file(toml)
    told = _revealed() if rehearse else curated(toml)  # a command for the curator may need a look at the real ledger
    with told, open_dataset(toml, second_ledger=second_ledger, rehearsal=rehearse) as dataset:
        yield dataset


@contextlib.contextmanager
def _revealed() -> Iterator[None]:
    """Refusals of a rehearsal are stamped, and any other failure is told with its traceback: its rows are invented."""
    from discreet.rehearsal.stamp import titled

    try:
        yield
    except DiscreetError as error:
        error.what = titled(error.what)
        raise
    except (typer.TyperException, typer.Exit, typer.Abort):
        raise
    except Exception as error:
        told = "".join(traceback.format_exception(error)).rstrip()
        fix = "Find it by the traceback above: its rows are invented, and nothing real was opened or charged."
        raise EngineFailed(titled(f"{type(error).__name__}: {error}"), told, fix) from None


@contextlib.contextmanager
def opened_table(toml: Path) -> "Iterator[Table]":
    """The same for verbs that ask nothing."""
    from discreet import metadata
    from discreet.table import Table

    require_metadata_file(toml)
    table = Table(metadata.load(toml), toml)
    with curated(toml), contextlib.closing(table):
        yield table


def asking(dataset: "Dataset", wanted: Wanted) -> "Asking":
    """The question, refused where it cannot be answered or has no price."""
    found = dataset.sql(wanted.sql)
    if wanted.eps is not None and wanted.error:
        fix = f"Keep one of them: {replace(wanted, error=()).command()}"
        raise BadValue("The price is given twice.", "--eps says what to spend, --error finds it.", fix)
    if wanted.eps is None and not wanted.error and found.options.epsilon is None:
        raise _no_price(found, wanted)
    require_delta(found, wanted)
    return found


def _no_price(found: "Asking", wanted: Wanted) -> BadValue:
    """The refusal of a question without a price, with the user's own line and both ways to give one."""
    from discreet.query.recipe import MeanAmong, Single

    lines = [replace(wanted, eps="1").command()]
    named = zip(found.draft.question.outputs, found.draft.recipes, strict=True)
    known = next((output.name for output, recipe in named if isinstance(recipe, Single | MeanAmong)), None)
    if known is not None:
        lines.append(replace(wanted, error=(f"{known}=15",)).command())
    fix = "\n".join(["Say what to spend, or how exact it must be:", *lines])
    return BadValue("The question has no price.", "Neither --eps nor --error was given.", fix)
