"""The steps of a fit: each measures something of the rows through the gate, stored before it is seen."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.bounded import Bounded, SideBySide, side_by_side
from discreet.engine.passes import kernel_pass, rows_pass
from discreet.engine.protocol import Progress, View
from discreet.errors import BadValue, bad
from discreet.kernel.contract import kernel_of
from discreet.learn.price import Price
from discreet.learn.subject import Subject
from discreet.mechanism.additive import Additive
from discreet.mechanism.promise import Mechanism
from discreet.mechanism.vectors import vectors
from discreet.ndarrays import Ints
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Exacts
from discreet.query.tally import Tally
from discreet.run import Run


class Steps:
    """The run of one fit: tables of counts and sums of kernels, each with noise for a share of the price."""

    def __init__(self, run: Run, subject: Subject, price: Price, progress: Progress | None = None) -> None:
        self._run, self._subject, self._price = run, subject, price
        self._progress, self._spent = progress, Fraction(0)

    @property
    def view(self) -> View:
        """The rows of the run."""
        return self._run.view

    def tables(self, name: str, tallies: Mapping[str, Tally], mechanisms: Mapping[str, Additive]) -> dict[str, Ints]:
        """The tables with noise, all measured in one step."""
        exact = side_by_side({key: table_of(self.view, tally) for key, tally in tallies.items()})
        noisy = self.measure(name, vectors(mechanisms), exact, pack=partial(_join, list(tallies)))
        ends = np.cumsum([tally.cells.size for tally in tallies.values()])[:-1]
        return dict(zip(tallies, np.split(noisy, ends), strict=True))

    def sum(
        self, name: str, kernel: str, public: dict[str, Any], share: Fraction, *, columns: Sequence[str] | None = None
    ) -> Ints:
        """A kernel's sum with the noise that this share of the price buys.

        The noise is planned from the row limit of the subject; the view derives the sum's own bound, and the gate
        compares the two.
        """
        mechanism = self._price.mechanism(kernel_of(kernel).sensitivity(public, self._subject.limit), share)
        exact = self.view.sum(kernel, columns or self._subject.columns, public, where=self._subject.where)
        noisy = self.measure(name, mechanism, exact)
        self._spent += share
        return noisy

    def measure(self, name: str, mechanism: Mechanism, exact: Bounded[Any], *, pack: Any = None) -> Ints:
        """Released whole numbers as one flat vector, the same whenever the fit is taken up again."""
        self._tell(name)
        stored = self._run.step(name, mechanism, exact, pack=pack or _to_bytes)
        return np.frombuffer(stored, dtype="<i8").astype(np.int64)

    def _tell(self, name: str) -> None:
        """Report the step that begins, and which share of the price earlier sums have taken."""
        if self._progress is not None:
            self._progress(f"fitting: {name}", float(self._spent))


def tables_tallies(subject: Subject, bins: int) -> dict[str, Tally]:
    """For each feature the tally of rows by class and cell."""
    return {
        feature.name: draft_of(subject.question(bins, feature), subject.schema).tally for feature in subject.features
    }


def table_of(view: View, tally: Tally) -> Bounded[Ints]:
    """The counts of a tally of one part, flat, with the bound that the view derived."""
    (part,), bounded = tally.parts, view.tally(tally)
    if not isinstance(bounded.sensitivity, SideBySide):
        raise TypeError

    def counts(exacts: Exacts) -> Ints:
        numbers = exacts.parts[part]
        if not isinstance(numbers, np.ndarray):
            raise TypeError
        return numbers

    return bounded.then(counts, bounded.sensitivity.parts[part], proof="query.md")


def require_sum(subject: Subject, kernel: str, public: dict[str, Any], price: Price, share: Fraction) -> None:
    """Refuses, for a plan, what the view or the noise would refuse in the middle of a fit that is charged already."""
    _, sensitivity = kernel_pass(subject.schema, kernel, subject.columns, public)
    try:
        price.mechanism(sensitivity, share)
    except BadValue:
        typed_rho = float(f"{price.mu**2 / 2:.6g}")  # σ was rounded up, so that μ²/2 is a little below
        name, given = ("rho", typed_rho) if price.is_rho else ("epsilon", float(price.terms.epsilon))
        rule = "must be larger for this model: the noise of one of its steps would be wider than 10^12 steps"
        raise bad(name, rule, given, "Spend more, or use fewer features or passes.") from None


def require_rows(subject: Subject) -> None:
    """Refuses, for a plan, rows that the view would refuse to hand to a mechanism once the fit is charged."""
    rows_pass(subject.schema, subject.columns)


def tally_sensitivities(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    """How far one unit moves each table."""
    return {name: next(iter(tally.sensitivity.parts.values())) for name, tally in tallies.items()}


def _to_bytes(released: Any) -> bytes:
    return np.asarray(released).astype("<i8").tobytes()


def _join(names: Sequence[str], released: Mapping[str, Ints]) -> bytes:
    return b"".join(_to_bytes(released[name]) for name in names)
