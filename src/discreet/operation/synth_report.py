"""Write the page of a synthetic table from its file, with a check of it against the private table where one is paid."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import outputs
from discreet.errors import BadValue, BudgetExceeded, CannotWrite, DiscreetError, bad, fixed_by
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.refusal import down
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.learn import call_fix, reply_data
from discreet.operation.reply import Reply
from discreet.operation.synth import table_facts
from discreet.operation.synth_files import require_place, rerun_fix

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.synth.check.quote import CheckQuote
    from discreet.synth.check.result import Check
    from discreet.synth.synthetic import SyntheticTable

ENDINGS = (".html", ".htm")
_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left
_OFFERED = Fraction(1, 10)  # of what the table cost, for a check


@dataclass(frozen=True)
class SynthReportCall:
    """A page to be written, and the price of a check on it; without a price there is none, and nothing is charged."""

    synthetic_file: Path
    metadata: Path
    epsilon: str | None = None
    delta: str | None = None
    target: str | None = None  # of the model that is trained on synthetic rows and tried on real ones
    analyst: str | None = None
    rehearse: bool = False
    output: Path | None = None  # the page to write
    replaces: bool = False  # what is there
    second_ledger: str | None = None
    verb: str = "synth report"

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        return call_fix(self, words, more)

    @property
    def terms(self) -> dict[str, Any]:
        """The arguments of a check."""
        return {"epsilon": self.epsilon, "delta": self.delta, "target": self.target, "analyst": self.analyst}


def report(
    call: SynthReportCall, *, agree: "Callable[[CheckQuote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[Check | None]":
    """Read the file, check it where a price is given, and write the page; before a charge `agree` gets the quote."""
    from discreet.synth.report.page import report as write_report
    from discreet.synth.saved.file import load

    path = page_file(call)
    _require_price_of_options(call)
    with open_called(call) as dataset:
        table = load(call.synthetic_file, dataset)
        check = None if call.epsilon is None else _charged_check(call, table, agree, watch)
        fix = call.fix("What was paid for is stored; write the page elsewhere for nothing:", output=UNKNOWN)
        with fixed_by(fix, CannotWrite):
            write_report(table, path, check, replace=call.replaces)
        data = reply_data(dataset, call, **_facts(call, dataset, table, check), file=str(path))
    return Reply(data, check, next=_following(call, table, check, Fraction(data["remaining"]["epsilon"])))


def page_file(call: SynthReportCall) -> Path:
    """The page to write; refused, before anything is spent, if it could not be written afterwards."""
    place = call.synthetic_file.parent / f"{call.synthetic_file.stem}.html"
    path = place if call.output is None else call.output
    if path.suffix.lower() not in ENDINGS:
        raise bad("output", "must end in .html", str(path), "Write, for example: -o report.html")
    if outputs.is_same_file(path, call.synthetic_file):
        raise bad("output", "must be another file than the synthetic table", str(path), "Give another name after -o.")
    require_place(path, call.metadata, replaces=call.replaces, example="report.html", fix=rerun_fix(call))
    return path


# --- inside ----------------------------------------------------------------------------------------------------------


def _require_price_of_options(call: SynthReportCall) -> None:
    """Refuses options of a check without its price."""
    if call.epsilon is None and (call.delta, call.target, call.analyst) != (None, None, None):
        fix = replace(call, epsilon="0.1").fix("Say what it may cost:")
        raise BadValue("A check has no price.", "--delta, --target and --as are about a check, and --eps pays it.", fix)


def _charged_check(
    call: SynthReportCall,
    table: "SyntheticTable",
    agree: "Callable[[CheckQuote], object] | None",
    watch: Watch,
) -> "Check":
    """The check, charged once; with agreement where that is asked for."""
    from discreet.synth.check.check import check, quote_check

    priced = quote_check(table, **call.terms)
    if agree is not None:
        agree(priced)
    with watch() as progress, _affordable(call, table):
        return check(table, **call.terms, progress=progress)


def _facts(call: SynthReportCall, dataset: "Dataset", table: "SyntheticTable", check: "Check | None") -> dict[str, Any]:
    """What programs read: of the table, and of the check, which the cost and the receipt are of."""
    about = {
        **table_facts(table),
        "privacy": table.privacy_.to_json(),
        "remaining": dataset.table.remaining(call.analyst),
    }
    if check is None:
        return {**about, "check": None, "replayed": False}
    more = {"cost": check.cost, "receipt": check.receipt, "replayed": check.is_replayed}
    return {**about, "check": check.to_json(), **more}


@contextlib.contextmanager
def _affordable(call: SynthReportCall, table: "SyntheticTable") -> Iterator[None]:
    """Refuse what exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = _cheaper(call, table, min(error.remaining, error.requested))
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Spend less:"), RAISE)) from None


def _cheaper(call: SynthReportCall, table: "SyntheticTable", remaining: Fraction) -> SynthReportCall | None:
    """The same call at a price that fits; None if there is none."""
    from discreet.synth.check.check import quote_check

    for share in _SHARES:
        offer = replace(call, epsilon=down(remaining * share))
        with contextlib.suppress(DiscreetError):
            if Fraction(offer.epsilon or 0) > 0 and quote_check(table, **offer.terms).fits:
                return offer
    return None


def _following(
    call: SynthReportCall, table: "SyntheticTable", check: "Check | None", remaining: Fraction
) -> tuple[Fix, ...]:
    """A check, where there was none and something remains; after a rehearsal nothing."""
    epsilon = down(min(table.privacy_.epsilon * _OFFERED, remaining))
    if check is not None or epsilon == "0":
        return ()
    return (replace(call, epsilon=epsilon).fix("Next:"),)
