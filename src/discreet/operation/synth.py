"""Quote and build a synthetic table of a dataset."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BudgetExceeded, CannotWrite, DiscreetError, bad, fixed_by
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.refusal import down
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.learn import call_fix, reply_data, require_price
from discreet.operation.reply import Reply
from discreet.operation.synth_children import children_facts, opened_children, require_child_files
from discreet.operation.synth_files import require_place, rerun_fix
from discreet.operation.synth_zeros import read_zeros

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.synth.quote import SynthQuote
    from discreet.synth.synthetic import SyntheticTable
    from discreet.synth.task import SynthTask

ENDINGS = {".parquet": "pyarrow", ".csv": "pyarrow"}  # of files, and the package that writes them
_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left
_CHECKED = 10  # the check that is offered costs this part of the table


@dataclass(frozen=True)
class SynthCall:
    """A synthetic table and its price; amounts as they were typed."""

    metadata: Path
    columns: str | None = None  # with commas between
    epsilon: str | None = None
    delta: str | None = None
    method: str | None = None
    max_cells: str | None = None
    rows: str | None = None  # of the synthetic table, if that number is public
    zeros: Path | None = None  # a public file of impossible combinations
    analyst: str | None = None
    rehearse: bool = False
    child: Path | None = None  # the metadata of a second table, with rows of the same units
    output: Path | None = None  # the file to write
    replaces: bool = False  # what is there
    second_ledger: str | None = None
    verb: str = "synth build"

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        return call_fix(self, words, more)

    @property
    def price(self) -> dict[str, Any]:
        """The arguments of a plan."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    def options(self) -> dict[str, Any]:
        """The arguments of `Dataset.synthesize` beside columns and zeros; refused where they break a rule."""
        from discreet.synth import plan

        options: dict[str, Any] = {}
        if self.method is not None:
            if self.method not in plan.METHODS:
                raise bad("method", f"must be one of {', '.join(plan.METHODS)}", self.method, "Write: --method auto")
            options["method"] = self.method
        if self.max_cells is not None:
            fewest, limit = plan.LEAST_CELLS, plan.MOST_CELLS
            options["max_cells"] = amounts.whole(self.max_cells, "max-cells", fewest, limit, such_as=plan.MAX_CELLS)
        if self.rows is not None:
            options["rows"] = amounts.whole(self.rows, "rows", plan.LEAST_ROWS, plan.MOST_ROWS, such_as=10_000)
        return options


def quote(call: SynthCall) -> "Reply[SynthQuote]":
    """Price, noise, when pairs pay and what would remain, and the call that builds the table.  Costs nothing."""
    with open_called(call) as dataset, opened_children(call) as children:
        task = task_of(dataset, call, children)
        priced = task.quote(**call.price, analyst=call.analyst)
        offer = replace(call, verb="synth build")
        cheaper = None if priced.fits else _cheaper(task, offer, Fraction(priced.remaining["epsilon"]))
    fixes: tuple[Fix, ...] = (offer.fix("To build it:"),) if priced.fits else ()
    fixes = fixes if cheaper is None else (cheaper.fix("This fits:"),)
    return Reply(reply_data(dataset, call, **priced.to_json()), priced, next=fixes)


def build(
    call: SynthCall, *, agree: "Callable[[SynthQuote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[SyntheticTable]":
    """Charge once, build and write the file; before that `agree` gets the quote, and raises without agreement."""
    path = output_file(call)
    with open_called(call) as dataset, opened_children(call) as children:
        task = task_of(dataset, call, children)
        require_child_files(call, path, children, rerun_fix(call))
        priced = task.quote(**call.price, analyst=call.analyst)
        if agree is not None:
            agree(priced)
        with watch() as progress, _affordable(call, task):
            table = task.build(**call.price, analyst=call.analyst, progress=progress)
            elsewhere = call.fix("The table is stored; write it elsewhere for nothing:", output=UNKNOWN)
            with fixed_by(elsewhere, CannotWrite), fixed_by(elsewhere):
                table.save(path, replace=call.replaces and not call.rehearse)
        facts = {name: value for name, value in priced.to_json().items() if name not in ("remaining_after", "fits")}
        facts |= _paid_facts(table)  # begun at another default δ, a build keeps its price; the quote has the new one
        facts |= {"remaining": task.table.remaining(call.analyst), "receipt": table.privacy_.receipt}
    more = {"file": str(path), "replayed": table.build.is_replayed, "privacy": table.privacy_.to_json()}
    data = reply_data(dataset, call, **facts, **table_facts(table), **more)
    if call.child is not None:
        return Reply(data | children_facts(table, path), table, next=())
    return Reply(data, table, next=_following(call, path, Fraction(facts["remaining"]["epsilon"])))


# --- shared with reports ----------------------------------------------------------------------------------------------


def task_of(dataset: "Dataset", call: SynthCall, children: "Mapping[str, Dataset] | None" = None) -> "SynthTask":
    """The table to be built; refused without a price, and where it has no meaning at any."""
    options, zeros = call.options(), None
    if call.zeros is not None:
        zeros = read_zeros(call.zeros, call.metadata, dataset.table.schema)
    task = dataset.synthesize(_columns(call.columns), zeros=zeros, children=children, **options)
    require_price(call)
    return task


def output_file(call: SynthCall) -> Path:
    """The file to write; refused, before anything is spent, if it could not be written afterwards."""
    ending = ".rehearsal.parquet" if call.rehearse else ".synthetic.parquet"
    path = call.metadata.parent / f"{call.metadata.stem}{ending}" if call.output is None else call.output
    needed = ENDINGS.get(path.suffix.lower())
    if needed is None:
        rule = f"must end in {' or '.join(ENDINGS)}"
        raise bad("output", rule, str(path), "Write, for example: -o synthetic.parquet")
    if find_spec(needed) is None:
        raise bad("output", f"needs the package {needed}", str(path), "Install discreet[frames].")
    is_replaced, fix = call.replaces and not call.rehearse, rerun_fix(call)
    require_place(path, call.metadata, replaces=is_replaced, example="synthetic.parquet", fix=fix)
    return path


def table_facts(table: "SyntheticTable") -> dict[str, Any]:
    """What programs read of a synthetic table: its number of rows, its columns and what was measured for it."""
    from discreet.synth.doubts import doubts_of

    measured = [measurement.to_json() for measurement in table.measured]
    doubts = doubts_of(table.build)
    return {
        "rows": table.rows,
        "units": table.rows if table.codes.units is None else len(set(table.codes.units.tolist())),
        "columns": list(table.columns),
        "measured": measured,
        "doubts": doubts,
    }


# --- inside ----------------------------------------------------------------------------------------------------------


def _columns(typed: str | None) -> list[str] | None:
    """The columns that were typed with commas between; None for all."""
    names = None if typed is None else [name.strip() for name in typed.split(",")]
    if names is not None and "" in names:
        raise bad("columns", "must be names with commas between", typed, "Write, for example: --columns age,region")
    return names


def _paid_facts(table: "SyntheticTable") -> dict[str, Any]:
    """The cost of a table and what it measured, at the price that it has; a rehearsal says so first."""
    from discreet.rehearsal.stamp import SENTENCE
    from discreet.synth.quote import count_deviation

    plan, privacy = table.build.plan, table.privacy_
    cost, stamp = plan.price.terms.cost_json(privacy.relation, privacy.unit), [SENTENCE] if privacy.is_invented else []
    return {"cost": cost, "deviation": count_deviation(plan), "words": [*stamp, *plan.words()]}


@contextlib.contextmanager
def _affordable(call: SynthCall, task: "SynthTask") -> Iterator[None]:
    """Refuse what exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = _cheaper(task, call, min(error.remaining, error.requested))
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Spend less:"), RAISE)) from None


def _cheaper(task: "SynthTask", call: SynthCall, remaining: Fraction) -> SynthCall | None:
    """The same call at a price that fits; None if there is none."""
    for share in _SHARES:
        epsilon = Fraction(down(remaining * share))
        offer = replace(call, epsilon=down(epsilon))
        with contextlib.suppress(DiscreetError):
            if epsilon > 0 and task.quote(**offer.price, analyst=call.analyst).fits:
                return offer
    return None


def _following(call: SynthCall, path: Path, remaining: Fraction) -> tuple[Fix, ...]:
    """A page about the table with a check that costs a tenth of it, as far as that remains; of a CSV, which has no
    promise, first the file that has one."""
    if path.suffix.lower() == ".csv":
        return (call.fix("Next:", output=str(path.parent / f"{path.stem}.parquet")),)
    epsilon = down(min(Fraction(call.epsilon or 0) / _CHECKED, remaining))
    checked = {"epsilon": None if epsilon == "0" else epsilon, "analyst": call.analyst, "rehearse": call.rehearse}
    report = Fix("Next:", "synth report", {"synthetic_file": str(path), "metadata": str(call.metadata), **checked})
    return (report, replace(call, rehearse=False).fix("Next:")) if call.rehearse else (report,)
