"""Recompute what a model's file states: its digest, its promise from its cost, its plan from its facts, and, against a
ledger, its charge, whom it protects and the released numbers.

A file without a ledger proves that it is whole and that its statements agree with each other.  Only the ledger can say
that these numbers were released and paid for.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet import envelope
from discreet.errors import IntegrityError
from discreet.learn.fit import (
    Fit,
    from_bytes,
    ledger_of,
    price_json,
    protected_json,
    stored_facts,
    stored_price,
    stored_protected,
    stored_result,
)
from discreet.learn.learner import Released
from discreet.learn.learners import learner_of
from discreet.learn.price import Price
from discreet.learn.privacy import GIVEN, INVENTED_WORDS, REHEARSED, WHOLE, Privacy
from discreet.learn.saved import file
from discreet.learn.saved.rebuild import description_of
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening
from discreet.metadata import load
from discreet.privacy import price
from discreet.privacy.cost import to_json
from discreet.query.explain import unit
from discreet.table import Table


@dataclass(frozen=True)
class Verification:
    """What was recomputed and agreed, a sentence each; whatever does not agree raises IntegrityError instead."""

    checks: tuple[str, ...]
    privacy: Privacy

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {"checks": list(self.checks), "privacy": self.privacy.to_json()}

    def __str__(self) -> str:
        return "\n".join(self.checks)


def verify(path: Any, ledger: Any = None) -> Verification:
    """Recompute what a model's file states; `ledger` is a dataset, the file of its metadata, or a ledger.

    IntegrityError names the first statement that does not hold.
    """
    stored = file.read_bytes(path)
    stated, _ = file.contents(stored)
    fit = file.from_bytes(stored)
    stamp = [INVENTED_WORDS] if fit.privacy.is_invented else []
    checks = [*stamp, "The digest is that of the file.", *_require_promise(fit, stated)]
    if ledger is not None and fit.privacy.receipt.startswith(REHEARSED):
        why = "It is of invented rows; their ledger was thrown away."
        fix = "Fit the model without a rehearsal, then verify that file."
        raise IntegrityError("REHEARSAL: no ledger holds this model.", why, fix)
    if ledger is not None:
        with _open_ledger(ledger) as opened:
            checks += _require_charged(fit, opened)
    return Verification(tuple(checks), fit.privacy)


def _require_promise(fit: Fit, stated: Mapping[str, Any]) -> list[str]:
    """Refuses a promise that its own cost, or the plan rebuilt from the facts, does not have."""
    privacy = fit.privacy
    bound = price.delta(privacy.cost, privacy.epsilon).value
    if bound > privacy.delta:
        raise _wrong("The stated ε and δ do not follow from the cost.", "The cost has a larger δ at that ε.")
    recomputed = json.loads(json.dumps(description_of(fit)))
    own, theirs = recomputed["privacy"], stated["privacy"]
    wrong = [name for name in own if _text(theirs.get(name)) != _text(own[name])]
    is_reworded = wrong == ["mechanisms"] and stated.get("version") != envelope.version()
    if (wrong and not is_reworded) or set(theirs) != set(own):
        raise _wrong("The promise is not that of the plan.", f"Another value was stated: {', '.join(wrong) or 'more'}.")
    _require_nothing_more(stated, recomputed)
    return [
        "The stated ε and δ follow from the cost.",
        "A plan made anew from the facts has the stated cost"
        + (
            " and mechanisms."
            if not is_reworded
            else "; its mechanisms are worded by another version, and not checked."
        ),
    ]


def _require_nothing_more(stated: Mapping[str, Any], recomputed: Mapping[str, Any]) -> None:
    """Refuses statements beside those that are recomputed, and such of another type, as 1.0 is for 1."""
    for name in ("facts", "schema", "price"):
        if _text(stated[name]) != _text(recomputed[name]):
            raise _wrong("The file states something else than its plan has.", f"Its {name} are others.")
    parts_hold_more = any(set(part) != {"name", "shape"} for part in stated["parts"])
    if set(stated) != {*recomputed, "parts", "version"} or parts_hold_more:
        raise _wrong("The file states more than a model has.", "What is not recomputed proves nothing.")


def _text(value: Any) -> str:
    """JSON in one spelling, in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def _require_charged(fit: Fit, ledger: Ledger) -> list[str]:
    """Refuses a model that has no charge in the ledger, other numbers, or a promise to others."""
    privacy = fit.privacy
    if not privacy.is_charged:
        raise _wrong("No ledger holds this model.", "It was fitted without one, as it says itself.")
    number = privacy.receipt.partition("-")[0]
    entry = ledger.entry_of(privacy.receipt)
    if entry is None or entry.get("kind") != "purse":
        raise _wrong(f"The ledger has no receipt {privacy.receipt}.", f"Its entry {number} is another, or not there.")
    if entry["cost"] != to_json(privacy.cost):
        raise _wrong("The ledger charged another cost.", f"See entry {number}.")
    result = stored_result(ledger, privacy.receipt)
    if result is None:
        raise _wrong("The ledger holds no result of this fit.", "It was interrupted or abandoned.")
    if stored_facts(result) != json.loads(json.dumps(fit.facts.to_json())):
        raise _wrong("The ledger holds another model.", "Its facts are others.")
    if not _is_at_price(fit, stored_price(result)):
        raise _wrong("The ledger holds another model.", "Its price is another.")
    if not _is_same(from_bytes(result), fit.released):
        raise _wrong("The ledger released other numbers.", "Those in the file were changed.")
    _require_protected(fit, entry, ledger.standing().opening)
    _require_stored_protection(fit, stored_protected(result))
    return [f"The ledger holds receipt {privacy.receipt} at that cost.", "The ledger released the same numbers."]


def _require_protected(fit: Fit, entry: Mapping[str, Any], opening: Opening) -> None:
    """Refuses another relation, unit or dataset than the ledger's, and a promise that covers more than was charged.

    The charge of a fit to a dataset names a snapshot of its rows; that of a fit to arrays has none, and the unit in its
    memo.  How many rows of a unit count is one of the facts; how many it has at most is stored beside the numbers.
    """
    schema, rows = fit.plan.subject.schema, fit.plan.subject.max_rows
    is_dataset = entry["snapshot"] != ""
    if fit.privacy.covers != (WHOLE if is_dataset else GIVEN):
        fitted_to = "the dataset" if is_dataset else "arrays of the caller"
        raise _wrong("The promise covers something else than was charged.", f"The charge was for a fit to {fitted_to}.")
    if schema.relation is not opening.relation:
        raise _wrong("The ledger has another relation.", f"Its neighbours are by {opening.relation}.")
    charged_unit = opening.unit if is_dataset else entry["memo"].get("unit")
    if unit(schema) != charged_unit:
        raise _wrong("The ledger protects another unit.", f"The charge was for each {charged_unit}.")
    if is_dataset and schema.name != opening.dataset:
        raise _wrong("The ledger is of another dataset.", f"It is that of {opening.dataset}.")
    if not is_dataset and schema.unit is not None and schema.max_rows != rows:
        raise _wrong("The unit has another number of rows.", f"Of arrays it is the one that counts, {rows}.")


def _require_stored_protection(fit: Fit, stored: Mapping[str, Any] | None) -> None:
    """Refuses another unit, number of its rows or relation than those of the charged fit.

    An older Discreet stored none of them, so of its fits `max_rows` of a dataset's unit is compared with nothing: the
    ledger has it only inside a hash of all metadata.
    """
    if stored is None:
        return
    own = protected_json(fit.plan.subject)
    wrong = [name for name in own if stored.get(name) != own[name]]
    if wrong:
        charged = ", ".join(f"{name} = {stored.get(name)}" for name in wrong)
        raise _wrong("The ledger protects others than the file says.", f"The charged fit had {charged}.")


def _is_at_price(fit: Fit, stored: Price | None) -> bool:
    """Whether a plan for the stored price has that of the file; what an older Discreet stored has none to compare."""
    if stored is None:
        return True
    learner = learner_of(fit.facts.learner, fit.facts.options)
    return price_json(learner.plan(fit.plan.subject, stored).price) == price_json(fit.plan.price)


def _is_same(ours: Released, theirs: Released) -> bool:
    return list(ours) == list(theirs) and all(np.array_equal(ours[name], theirs[name]) for name in ours)


@contextlib.contextmanager
def _open_ledger(ledger: Any) -> Iterator[Ledger]:
    """The ledger of a dataset, of a metadata file, or itself; one that is not there is not made."""
    if not isinstance(ledger, (str, Path)):
        yield _existing(ledger)
        return
    toml = Path(ledger)
    with contextlib.closing(Table(load(toml), toml)) as table:
        yield _existing(table)


def _existing(ledger: Any) -> Ledger:
    table = getattr(ledger, "table", ledger)
    if isinstance(table, Table) and table.standing() is None:
        raise _wrong(f"{table.schema.name} has no ledger yet.", "Nothing was ever charged to it.")
    return ledger_of(ledger)


def _wrong(what: str, why: str) -> IntegrityError:
    return IntegrityError(what, why, "Do not use the model; ask whoever made it for the file that was saved.")
