"""Every mechanism is registered, its pairs are neighbours, and no claim is refuted."""

import ast
import inspect
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from discreet import local, mechanism, release
from discreet.audit.bounds import Odds, Shift
from discreet.audit.claim import Claim, audit_draws, audit_exactly
from discreet.audit.claims import claims
from discreet.audit.forest import exact_layout
from discreet.audit.reporting import Reporting
from discreet.audit.small_tables import SmallTables
from discreet.audit.trial import readings
from discreet.bounded import Sensitivity
from discreet.deep.audit.tiny import Steps
from discreet.learn import risk
from discreet.learn.risk.objective import ObjectivePerturbation
from discreet.learn.risk.output import OutputPerturbation
from discreet.mechanism.additive import Additive
from discreet.mechanism.beta import Bias
from discreet.mechanism.demonstration import AllOrNothing, NameAndShame
from discreet.mechanism.quantile import Quantile
from discreet.mechanism.response import KaryResponse, Survey
from discreet.mechanism.vectors import Vectors
from discreet.privacy.cost import Approx, Exponential, Gaussian, Pure, Repeated, Together, Zcdp
from discreet.relation import Relation
from discreet.release.measure import Measurement

FEW = 600


def constructors() -> set[object]:
    """Every public function of these folders that returns something with a cost, a sensitivity and a call."""
    names = set()
    homes = [(home, Path(str(home.__file__)).parent) for home in (mechanism, release, risk)]
    for home, path in [(home, path) for home, folder in homes for path in sorted(folder.glob("*.py"))]:
        module = import_module(f"{home.__name__}.{path.stem}")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            function = getattr(module, node.name)
            result = inspect.signature(function).return_annotation
            if isinstance(result, type) and {"cost", "sensitivity", "__call__"} <= {
                *dir(result),
                *getattr(result, "__dataclass_fields__", ()),
            }:
                names.add(function)
    return names


def test_every_constructor_is_registered() -> None:
    assert len(constructors()) >= 28
    assert constructors() | protocols() | {Steps, SmallTables} == {claim.constructor for claim in claims()}


def protocols() -> set[object]:
    """Every constructor of a local protocol; the others compare trusts and cross two answers."""
    return {getattr(local, name) for name in local.__all__} - {local.compare, local.cross}


def test_every_claim_has_its_own_name_and_three_pairs() -> None:
    names = [claim.name for claim in claims()]
    assert len(set(names)) == len(names)
    for claim in claims():
        assert len(claim.pairs) >= 3, claim.name
        assert all(first != other for first, other in claim.pairs), claim.name


def flat(side: object) -> list[int]:
    return list(side) if isinstance(side, tuple) else [side]  # type: ignore[list-item]


def are_neighbours(claim: Claim, first: object, other: object) -> bool:
    """Whether a pair is as near as the mechanism's sensitivity says."""
    mechanism, s = claim.mechanism, claim.mechanism.sensitivity
    if isinstance(mechanism, Measurement):
        return table_moves_within(mechanism, first, other)
    if isinstance(mechanism, Vectors):
        moves = zip(s.parts.values(), first, other, strict=True)
        return all(within(own, np.subtract(before, after)) for own, before, after in moves)
    if isinstance(mechanism, (ObjectivePerturbation, OutputPerturbation)):
        return differs_by_one_row(first, other, mechanism.sensitivity.relation)
    if isinstance(mechanism, Steps):
        return differs_by_one_row(first, other, Relation.ADD_REMOVE)
    a, b = flat(first), flat(other)
    match mechanism:
        case NameAndShame() | AllOrNothing():
            return len(b) == len(a) + 1 and b[: len(a)] == a
        case Reporting():
            moves = [abs(x - y) for x, y in zip(a, b, strict=True) if x != y]
            return len(moves) == 1 and moves[0] <= mechanism.apart
        case KaryResponse() | Survey():
            return sum(x != y for x, y in zip(a, b, strict=True)) == 1
        case Additive() | Quantile() | Bias() | SmallTables():
            return within(s, [x - y for x, y in zip(a, b, strict=True)])
        case _:
            return max(abs(x - y) for x, y in zip(a, b, strict=True)) <= s.linf


def differs_by_one_row(first: object, other: object, relation: Relation) -> bool:
    """Whether a row was added, or stands in the place of another."""
    left, entered = (list((Counter(a) - Counter(b)).elements()) for a, b in ((first, other), (other, first)))
    return len(entered) == 1 and len(left) == (0 if relation is Relation.ADD_REMOVE else 1)


def within(s: Sensitivity, change: object) -> bool:
    moved = np.abs(np.asarray(change)).ravel()
    moved = moved[moved > 0]
    return moved.sum() <= s.l1 and (moved * moved).sum() <= s.l2_squared and moved.max(initial=0) <= s.linf


numbers = lru_cache(maxsize=1 << 12)(exact_layout)


def table_moves_within(measurement: Measurement, before: object, other: object) -> bool:
    """The leaves within what is promised for them, and every level and view within what its noise is made for."""
    (first, which), (second, _) = numbers(measurement, before), numbers(measurement, other)
    noises = [noise for level in measurement.mechanisms for noise in level]
    levels = [within(noise.sensitivity, (first - second)[which == i]) for i, noise in enumerate(noises)]
    return all(levels) and within(measurement.leaf_sensitivity, np.subtract(before, other))


@pytest.mark.parametrize("claim", claims(), ids=lambda c: c.name)
def test_pairs_are_neighbours(claim: Claim) -> None:
    assert all(are_neighbours(claim, *pair) for pair in (*claim.pairs, *claim.world))
    if claim.name.startswith("monotone"):
        assert all(x <= y for first, other in (*claim.pairs, *claim.world) for x, y in zip(first, other, strict=True))


@pytest.mark.parametrize("claim", claims(), ids=lambda c: c.name)
def test_claim_is_not_refuted_by_draws(claim: Claim) -> None:
    """20,000 runs a side, α = 10⁻⁶ a claim."""
    row = audit_draws(claim)
    assert row.verdict == "not refuted", row


@pytest.mark.parametrize("claim", [c for c in claims() if c.world], ids=lambda c: c.name)
def test_claim_is_not_refuted_by_its_exact_law(claim: Claim) -> None:
    row = audit_exactly(claim)
    assert row.verdict == "not refuted", row
    assert row.lower_bound > 0


@pytest.mark.parametrize("name", ["laplace-1", "exponential-1", "response-2", "permute-and-flip-1"])
def test_audit_of_a_tight_claim_comes_near_it(name: str) -> None:
    """The audit is not vacuous: exact laws reach these claims, and draws more than half of them where told apart."""
    claim = next(c for c in claims() if c.name == name)
    assert audit_exactly(claim).lower_bound > 0.999 * float(claim.mechanism.cost.epsilon)
    if name in ("laplace-1", "response-2"):
        assert audit_draws(claim).lower_bound > 0.8 * float(claim.mechanism.cost.epsilon)


def test_costs_are_read_as_tests() -> None:
    unit = Fraction(1)
    assert readings(Exponential(unit)) == (Odds(unit),)
    assert readings(Together((Pure(unit), Repeated(Pure(unit), 2)))) == (Odds(Fraction(3)),)
    assert readings(Approx(unit, Fraction(1, 10))) == (Odds(unit, Fraction(1, 10)),)
    shift, odds = readings(Gaussian(2))
    assert isinstance(shift, Shift)
    assert shift.mu >= Fraction(1, 2)
    assert isinstance(odds, Odds)
    (odds,) = readings(Zcdp(unit))
    assert odds.delta == Fraction(1, 100)


@pytest.mark.long
@pytest.mark.parametrize("claim", claims(), ids=lambda c: c.name)
def test_many_audits_raise_no_alarm(claim: Claim) -> None:
    """300 audits at 600 runs a side, α = 10⁻⁶ each: one alarm in all would have odds of 1 to 30 at the very worst.

    A mechanism that solves a risk in every run is audited 30 times.
    """
    audits = 300 if claim.most_runs >= FEW else 30
    assert [row for row in (audit_draws(claim, runs=FEW) for _ in range(audits)) if row.is_refuted] == []
