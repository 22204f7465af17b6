"""Planted faults in what is drawn or charged: each is refuted by draws, with a computed power of at least 1 − 10⁻⁶.

One event a fault is fixed beforehand; its chances on either side follow from the faulty law, and the binomial law of
its hits gives the power (audit/power.py).  The general audit must find an event by itself besides.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit.answers import Pair, audited_answer, charged_tests, exact_of
from audit.copies import one_by_one, side_by_side
from audit.power import sure_power
from discreet.audit.bounds import ALPHA, lower_bound, refutes
from discreet.audit.events import Event
from discreet.audit.features import Coordinate
from discreet.mechanism import additive
from discreet.mechanism.keys import KeySelection
from discreet.mechanism.quantile import scores
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Pure
from discreet.query import joint
from discreet.query import plan as planning
from discreet.query.bound import draft_of
from discreet.query.parts import Rows, RowSum
from discreet.query.sql import parse_sql
from discreet.relation import Relation
from discreet.terms import Terms
from replay import Seeded
from shapes.shapes import schema
from shapes.tables import EMPTY, HIGH, opened

NONE = Fraction(1, 10**6)  # the scale of noise that is never anything but 0
CERTAIN = (1.0, 0.0)
THRESHOLD = 75  # of TOWNS below
FEW = 100  # draws of what is seen in every one of them


def person(name, cells):
    return [[name, *cells]] * 3


def young(cells):
    return [*cells[:3], "3", *cells[4:]]  # eight ages, from -5 on, lie below


TABLES = {
    "empty": [],
    "one": person("x", HIGH),
    "nothing": person("x", EMPTY),
    "young": person("u", young(HIGH)),
    "young and one": person("u", young(HIGH)) + person("x", HIGH),
    "town": [[f"u{i}", *HIGH] for i in range(THRESHOLD)],
    "town and one": [[f"u{i}", *HIGH] for i in range(THRESHOLD)] + person("x", HIGH),
}
ROWS, MEAN = "SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS m FROM people"
KINDS = "SELECT kind, COUNT(*) AS n FROM people GROUP BY kind"
BOTH = "SELECT COUNT(*) AS n, COUNT(age) AS m FROM people"
MEDIAN, TOWNS = "SELECT MEDIAN(age) AS m FROM people", "SELECT town, COUNT(*) AS n FROM people GROUP BY town"


# --- the mutants ------------------------------------------------------------------------------------------------------


def laplace_like(patch, mutant):
    real = additive.laplace
    patch.setattr(additive, "laplace", lambda sensitivity, epsilon: mutant(real(sensitivity, epsilon), sensitivity))


def noise_halved(patch):
    laplace_like(patch, lambda mechanism, _: replace(mechanism, noise=DiscreteLaplace(mechanism.noise.scale / 2)))


def split_forgotten(patch):
    """Every part is drawn at the whole ε of 1, and costs its share."""
    laplace_like(patch, lambda mechanism, moved: replace(mechanism, noise=DiscreteLaplace(moved.l1)))


def noise_left_out_of_one(patch):
    """The sum of a mean has none, the count has."""
    laplace_like(
        patch, lambda mechanism, moved: replace(mechanism, noise=DiscreteLaplace(NONE)) if moved.linf > 3 else mechanism
    )


def half_charged(patch):
    """What is drawn at ε = 1 is called ½, by the mechanism and by the plan."""
    laplace_like(patch, lambda mechanism, _: replace(mechanism, cost=Pure(mechanism.cost.epsilon / 2)))
    real = planning.Plan

    def mutant(draft, joint, terms, why):
        return real(draft, joint, replace(terms, epsilon=terms.epsilon / 2), why)

    patch.setattr(planning, "Plan", mutant)


def noise_shared_by_groups(patch):
    def drawn(self, exact, source):
        return np.asarray(exact) + self.noise.draw(1, source)

    patch.setattr(additive.Additive, "__call__", drawn)


def noise_shared_by_outputs(patch):
    """Each output is drawn from the same words."""
    real = joint.Joint.__call__

    def drawn(self, exact, source):
        seed = int(source.words(1)[0])
        parts = [real(joint.Joint((measured,)), exact, Seeded(seed)) for measured in self.measured]
        return replace(
            parts[0], parts={part: numbers for released in parts for part, numbers in released.parts.items()}
        )

    patch.setattr(joint.Joint, "__call__", drawn)


def noise_the_same_every_time(patch):
    real = joint.Joint.__call__
    patch.setattr(joint.Joint, "__call__", lambda self, exact, source: real(self, exact, Seeded(7)))


def threshold_without_noise(patch):
    real = planning._keys
    patch.setattr(planning, "_keys", lambda *given: replace(real(*given), noise=DiscreteLaplace(NONE)))


def choice_without_its_factor(patch):
    """The exponential mechanism with e^(ε·score/Δ) where scores are not monotone."""
    real = planning.quantile

    def mutant(*given, **named):
        mechanism = real(*given, **named)
        return replace(mechanism, choice=replace(mechanism.choice, rate=2 * mechanism.choice.rate))

    patch.setattr(planning, "quantile", mutant)


# --- events and their chances -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Least:
    """The least over all places: {least ≥ 0} is that all are."""

    def of(self, outputs):
        return outputs.reshape(len(outputs), -1).min(axis=1)


def at_least_first(pair):
    """{every number ≥ the first table's}: Π P[X ≥ 0] and Π P[X ≥ move], each part its own noise."""
    p = q = 1.0
    for measured in pair.plan.measured:
        move = abs(int(pair.first.parts[measured.part][0] - pair.second.parts[measured.part][0]))
        p, q = p * above(measured.mechanism.noise, -1), q * above(measured.mechanism.noise, move - 1)
    return p * (1 - 1e-9), q * (1 + 1e-9)


def above(noise, least):
    return float(str(noise.above(least).mid().str(20, radius=False)))


def below_young(pair):
    """{chosen ≤ 7} of the median, P ∝ e^(rate·score): one more old unit lowers these scores and lifts those above."""
    (measured,) = pair.plan.measured
    chances = []
    for side in (pair.first, pair.second):
        weights = np.exp(
            float(measured.mechanism.choice.rate) * scores(side.parts[measured.part].of(0, 26), Fraction(1, 2))
        )
        chances.append(weights[:8].sum() / weights.sum())
    return chances[0] * (1 - 1e-9), chances[1] * (1 + 1e-9)


def certain(pair):
    return CERTAIN


# What the fixed event looks at: numbers of all parts and groups, turned so that the first table's are the larger.


def plain(pair, copies):
    """y less the first table's, turned so that it falls where the second table's is lower."""
    columns = []
    for measured in pair.plan.measured:
        for place in range(len(pair.first.keys)):
            first, second = (int(side.parts[measured.part][place]) for side in (pair.first, pair.second))
            turn = 1 if first >= second else -1
            columns.append(turn * (copies.parts[measured.part][:, place] - first))
    return np.column_stack(columns)


def apart(pair, copies):
    """The first number less the second, both less the first table's."""
    released = plain(pair, copies)
    return released[:, 0] - released[:, 1]


def the_sum(pair, copies):
    (place,) = [i for i, measured in enumerate(pair.plan.measured) if isinstance(measured.part, RowSum)]
    return plain(pair, copies)[:, place]


def chosen(pair, copies):
    (measured,) = pair.plan.measured
    return copies.parts[measured.part][:, 0]


def shown(pair, copies):
    return copies.shown[:, 0].astype(np.int64)


def first_ever(pair, copies):
    """Less the noise that is known by now."""
    return plain(pair, copies)[:, 0] - int(DiscreteLaplace(Fraction(3)).draw(1, Seeded(7))[0])


@dataclass(frozen=True)
class Mutant:
    """The fault, the question and the tables that show it, the event, its chances, and how many draws are enough."""

    plant: Callable[[Any], None]
    sql: str
    tables: tuple[str, str]
    read: Callable[[Any, Any], np.ndarray]
    event: Event
    chances: Callable[[Pair], tuple[float, float]]
    runs: int
    draws: Any = side_by_side
    delta: str = "0"


SAME, ALL = Event(Coordinate(0), "=", 0), Event(Least(), "≥", 0)
MUTANTS = [
    Mutant(noise_halved, ROWS, ("one", "empty"), plain, ALL, at_least_first, 4_000),
    Mutant(split_forgotten, MEAN, ("one", "empty"), plain, ALL, at_least_first, 6_000),
    Mutant(half_charged, ROWS, ("one", "empty"), plain, ALL, at_least_first, 6_000),
    Mutant(noise_left_out_of_one, MEAN, ("one", "empty"), the_sum, SAME, certain, FEW),
    Mutant(noise_shared_by_groups, KINDS, ("one", "empty"), apart, SAME, certain, FEW, one_by_one),
    Mutant(noise_shared_by_outputs, BOTH, ("nothing", "empty"), apart, SAME, certain, FEW, one_by_one),
    Mutant(noise_the_same_every_time, ROWS, ("one", "empty"), first_ever, SAME, certain, FEW, one_by_one),
    Mutant(threshold_without_noise, TOWNS, ("town and one", "town"), shown, Event(Coordinate(0), "=", 1), certain, FEW,
           delta="1e-6"),
    Mutant(choice_without_its_factor, MEDIAN, ("young", "young and one"), chosen, Event(Coordinate(0), "≤", 7),
           below_young, 8_000),
]  # fmt: skip
IDS = [mutant.plant.__name__ for mutant in MUTANTS]


def planned(mutant):
    draft = draft_of(parse_sql(mutant.sql).question, schema("with", Relation.ADD_REMOVE))
    return planning.plan_of(draft, Terms.parse(1, mutant.delta))


def paired(mutant, engines):
    plan = planned(mutant)
    return Pair(plan, *(exact_of(engines[name], plan) for name in mutant.tables))


def bound_found(mutant, pair):
    """The lower bound of the fixed event, and what it is held against."""
    drawn = [
        mutant.read(pair, mutant.draws(pair.plan, side, mutant.runs, SYSTEM)) for side in (pair.first, pair.second)
    ]
    test = charged_tests(pair.plan)[0]
    return test, lower_bound(test, mutant.event.hits(*drawn), ALPHA)


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    opens = {name: opened(tmp_path_factory.mktemp("mutants") / "table", rows, "with") for name, rows in TABLES.items()}
    yield opens
    for engine in opens.values():
        engine.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=IDS)
def test_planted_fault_is_refuted_with_computed_power_and_nothing_without_it(engines, monkeypatch, mutant):
    test, bound = bound_found(mutant, paired(mutant, engines))
    assert not refutes(test, bound)
    with monkeypatch.context() as patch:
        mutant.plant(patch)
        pair = paired(mutant, engines)
        assert sure_power(charged_tests(pair.plan)[0], mutant.chances(pair), mutant.runs, ALPHA) >= 1 - 1e-6
        assert refutes(*bound_found(mutant, pair))


@pytest.mark.parametrize("mutant", MUTANTS, ids=IDS)
def test_general_audit_refutes_a_planted_fault_by_an_event_of_its_own_choice(engines, monkeypatch, mutant):
    """Four times the draws, since half go to the choice; twice where every single one tells."""
    mutant.plant(monkeypatch)
    runs = mutant.runs * (2 if mutant.draws is one_by_one else 4)
    row = audited_answer("planted", paired(mutant, engines), runs=runs, draws=mutant.draws)
    assert row.is_refuted, row


def test_the_threshold_equals_the_size_of_the_town(engines):
    pair = paired(MUTANTS[IDS.index("threshold_without_noise")], engines)
    (keys,) = [measured.mechanism for measured in pair.plan.measured if isinstance(measured.mechanism, KeySelection)]
    assert keys.threshold == THRESHOLD


def test_the_parts_that_faults_are_planted_in_are_there(engines):
    assert [type(measured.part) for measured in planned(MUTANTS[1]).measured] == [Rows, RowSum]


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=IDS)
def test_ninety_nine_of_a_hundred_repeats_are_refuted(engines, monkeypatch, mutant):
    mutant.plant(monkeypatch)
    pair = paired(mutant, engines)
    assert sum(refutes(*bound_found(mutant, pair)) for _ in range(100)) >= 99
