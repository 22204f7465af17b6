"""The price of the best of a random number of trainings: 1.1 to 1.6 times that of one for 2 to 10 on average.

Each run, with its noisy score, promises δ_Q(ε) in both orders.  K runs are made, K drawn by `run_count`, and only the
one with the best score is shown.  With E[K] and the γ and η of K's law:

    by the curve    ε(δ) = ε_Q(δ/E[K]) + (1 + η)·ε₁,   ε₁ nearly the least with δ_Q(ε₁) ≤ γ(e^{ε₁} − 1)/(1 − γ)
    by an order     R'_α = R_α + (1 + η)·((1 − 1/β)·R_β + ln(1/γ)/β) + ln E[K]/(α − 1), for every β > 1

The first is proven in docs/proofs/deep/accounting/selection.md, the second is Papernot & Steinke's (2022).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.deep.accounting.asked import open_delta, stored_amount
from discreet.deep.accounting.plan import Plan
from discreet.deep.accounting.run_count import LOGARITHMIC, RunCount, run_count
from discreet.deep.accounting.stream import StreamPlan
from discreet.errors import IntegrityError, NotPriced
from discreet.privacy import convert, price
from discreet.privacy import cost as costs
from discreet.privacy import renyi as curves
from discreet.privacy.certify import down, up
from discreet.privacy.cost import Approx, Cost, require_cost
from discreet.real import ball

_BISECTIONS, _LARGEST_STEP = 16, Fraction(600)
_DIGITS = 12
_KIND = "deep selection"


@dataclass(frozen=True)
class Selection:
    """The best of K runs of `base`, as one (ε, δ) promise about everything that is shown."""

    base: Cost
    count: RunCount
    delta: Fraction
    epsilon: Fraction
    route: str

    @property
    def cost(self) -> Cost:
        """What is charged before the first run, for all of them."""
        return Approx(self.epsilon, self.delta)

    def words(self) -> str:
        """The selection in sentences."""
        alone = amounts.text_up(price.epsilon(self.base, self.delta).value)
        runs = amounts.text_up(self.count.mean, 3)
        whole = f"ε = {amounts.text_up(self.epsilon)} at δ = {amounts.text_of(self.delta)}"
        return (
            f"A random number of runs is made, {runs} on average by the {self.count.law} law, and the one with the "
            f"best noisy score is shown: {whole}, where one run alone has {alone}.\n"
            "How many runs there were is never shown, and must not be told by the time they take."
        )

    def to_json(self) -> dict[str, Any]:
        """The selection as JSON; amounts are texts, exact."""
        return {
            "kind": _KIND,
            "base": costs.to_json(self.base),
            "gamma": str(self.count.gamma),
            "shape": self.count.shape,
            "delta": str(self.delta),
            "epsilon": str(self.epsilon),
            "route": self.route,
        }

    @classmethod
    def from_json(cls, stored: Any) -> "Selection":
        """The selection that `to_json` described; its ε is priced again, and refused if it is below that price."""
        fix = "Give what to_json gave, or price the selection anew."
        try:
            if not isinstance(stored, Mapping):
                raise ValueError("no object")
            count = RunCount(stored_amount(stored["gamma"]), stored["shape"])
            base, delta = costs.from_json(stored["base"]), open_delta(stored_amount(stored["delta"]))
            read = cls(base, count, delta, stored_amount(stored["epsilon"]), str(stored["route"]))
        except (KeyError, ValueError, TypeError, ZeroDivisionError):
            raise IntegrityError("This is not a stored selection.", "It is not what one writes.", fix) from None
        if read.to_json() != dict(stored) or read.epsilon < _least_epsilon(base, count, delta)[0]:
            raise IntegrityError("This selection was changed.", "Its runs are priced higher than it states.", fix)
        return read


def selection(base: Cost | Plan | StreamPlan, *, delta: Any, runs: Any = 3, law: str = LOGARITHMIC) -> Selection:
    """The price at δ of the best of so many runs on average; `base` is one run and its score, as a plan or a cost.

    >>> from discreet.privacy.cost import Gaussian
    >>> best = selection(Gaussian(4), delta="1e-5")
    >>> round(float(best.epsilon), 2), round(float(price.epsilon(Gaussian(4), "1e-5").value), 2)
    (1.18, 0.93)
    """
    cost = base.cost if isinstance(base, (Plan, StreamPlan)) else require_cost(base)
    count, open_at = run_count(runs, law), open_delta(delta)
    epsilon, route = _least_epsilon(cost, count, open_at)
    return Selection(cost, count, open_at, epsilon, route)


def _least_epsilon(base: Cost, count: RunCount, delta: Fraction) -> tuple[Fraction, str]:
    """The smaller of both bounds in 12 digits, rounded up, and its route."""
    bounds = [bound for bound in (curve_epsilon(base, count, delta), order_epsilon(base, count, delta)) if bound]
    if not bounds:
        what = f"No selection among these runs has an ε at δ = {amounts.text_of(delta)}."
        raise NotPriced(what, "Part of a run's promise fails with a larger probability.", "Ask at a larger δ.")
    epsilon, route = min(bounds)
    return Fraction(amounts.rounded_up(epsilon, _DIGITS)), route


def curve_epsilon(base: Cost, count: RunCount, delta: Fraction) -> tuple[Fraction, str] | None:
    """ε by the run's own curve; None where it has none."""
    step = _least_step(base, count)
    if step is None:
        return None
    try:
        inner = price.epsilon(base, delta / Fraction(amounts.rounded_up(count.mean, 6)))
    except NotPriced:
        return None
    return inner.value + (1 + count.shape) * step, f"selection by the curve of one run: {inner.route}"


def _least_step(base: Cost, count: RunCount) -> Fraction | None:
    """ε₁ by bisection; every one that is returned was tried."""

    def is_enough(step: Fraction) -> bool:
        room = down(lambda: ball(count.gamma / (1 - count.gamma)) * ball(step).expm1())
        return room >= 1 or price.delta(base, step).value <= room

    low, high = Fraction(0), Fraction(1, 64)
    while not is_enough(high):
        low, high = high, high * 2
        if high > _LARGEST_STEP:
            return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def order_epsilon(base: Cost, count: RunCount, delta: Fraction) -> tuple[Fraction, str] | None:
    """ε by Rényi divergence at the best of the orders; None where part of the cost has a δ of its own."""
    divergences = [(order, curves.divergence(base, order)) for order in curves.ORDERS]
    if any(each.delta for _, each in divergences):
        return None
    more_runs, spread = up(lambda: ball(count.mean).log()), up(lambda: -ball(count.gamma).log())
    lift = min((1 - 1 / beta) * each.value + spread / beta for beta, each in divergences)
    bounds = []
    for order, each in divergences:
        whole = each.value + (1 + count.shape) * lift + more_runs / (order - 1)
        bounds.append((convert.epsilon_of_renyi(whole, order, delta), order))
    epsilon, order = min(bounds)
    return epsilon, f"selection by Rényi at order {float(order):.6g}"
