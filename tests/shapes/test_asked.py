"""Questions really asked, many times over: SQL → gate → ledger → stored answer, on both of two neighbouring tables.

Each time by another analyst, so that no answer is a replay.  Events are fixed beforehand from the exact values that are
known here: {value ≥ the first table's}, {value = the first table's}, {two differ as on the first table}, {not there}.
All witnesses together raise a false alarm with probability at most 5·10⁻⁷.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from audit.power import sure_power
from discreet import gate
from discreet import table as tables
from discreet.audit.bounds import Odds, lower_bound, refutes
from discreet.audit.events import Event
from discreet.audit.features import Coordinate, Difference, NoNumber
from discreet.mechanism import additive
from discreet.mechanism.keys import KeySelection
from discreet.noise.laplace import DiscreteLaplace
from shapes.test_drawn_mutants import NONE, Seeded, noise_shared_by_groups

ALPHA = 5e-7
CI_RUNS, LONG_RUNS = 50, 300  # on each side
DELTA = "1e-9"  # of a question: 500 of them fit in the budget with room
TOML = """\
[dataset]
name = "people"
source = "people.csv"
neighbours = "{relation}"
[unit]
key = "person"
max_rows = 3
[columns.kind]
type = "category"
values = ["a", "b", "c"]
[columns.age]
type = "integer"
bounds = [-5, 20]
bins = [-5, 0, 10, 20]
[columns.vip]
type = "boolean"
[columns.town]
type = "text"
[budget]
epsilon = 100000
delta = 1e-6
"""
BASE = [(f"u{i}", "b", 5, "false", "oslo") for i in range(68)]
TARGET, OTHER = [("x", "a", 20, "true", "oslo")] * 3, [("x", "c", -5, "false", "rome")] * 3
TABLES = {"with": BASE + TARGET, "less": BASE, "other": BASE + OTHER}
ADD, REPLACE = ("add-remove", "less"), ("replace-one", "other")


@dataclass(frozen=True)
class Witness:
    """A question, the relation and the second table, the exact values on the first and on the second."""

    sql: str
    under: tuple[str, str]
    first: tuple[float, ...]
    second: tuple[float, ...]
    epsilon: str = "0.5"

    @property
    def events(self):
        moved = [i for i, (first, other) in enumerate(zip(self.first, self.second, strict=True)) if first != other]
        events = [
            event
            for i in moved
            for event in (
                Event(Coordinate(i), "≥" if self.first[i] > self.second[i] else "≤", self.first[i]),
                Event(Coordinate(i), "=", self.first[i]),
            )
        ]
        if len(self.first) > 1:
            events.append(Event(Difference(0, 1), "=", self.first[0] - self.first[1]))
        return [*events, Event(NoNumber(0), "=", 0)]


WITNESSES = [
    Witness("SELECT COUNT(*) AS n FROM people", ADD, (71,), (68,)),
    Witness("SELECT COUNT(DISTINCT person) AS n FROM people", ADD, (69,), (68,)),
    Witness("SELECT COUNT(*) AS n FROM people WHERE kind = 'a' AND age > 6", ADD, (3,), (0,)),
    Witness("SELECT SUM(age) AS s FROM people", ADD, (400,), (340,)),
    Witness("SELECT AVG(age) AS m FROM people", ADD, (400 / 71,), (5,)),
    Witness("SELECT STDDEV(age) AS d FROM people", ADD, (3.03,), (0,)),
    Witness("SELECT MEDIAN(CASE WHEN vip THEN age ELSE -5 END) AS m FROM people", ADD, (-4,), (-5,)),
    Witness("SELECT MODE(kind) AS m FROM people WHERE kind != 'b'", ADD, (0,), (1,)),
    Witness("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind", ADD, (3, 68, 0), (0, 68, 0)),
    Witness("SELECT COUNT(*) AS n, SUM(vip) AS v, SUM(age) AS s FROM people", ADD, (71, 3, 400), (68, 0, 340)),
    Witness("SELECT town, COUNT(DISTINCT person) AS n FROM people GROUP BY town", ADD, (69,), (68,), "2.6"),
    Witness("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind", REPLACE, (3, 68, 0), (0, 68, 3)),
]
PLACES = {"a": 0, "b": 1, "c": 2}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """The dataset of that table under that relation, opened once."""
    datasets = {}

    def dataset(name, relation):
        if (name, relation) not in datasets:
            folder = tmp_path_factory.mktemp("asked")
            (folder / "people.toml").write_text(TOML.format(relation=relation))
            lines = ["person,kind,age,vip,town", *(",".join(map(str, row)) for row in TABLES[name])]
            (folder / "people.csv").write_text("\n".join(lines) + "\n")
            datasets[name, relation] = dp.open(folder / "people.toml", second_ledger="the same rows, another relation")
        return datasets[name, relation]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield dataset
        for opened in datasets.values():
            opened.close()


def asked(dataset, witness, analysts):
    """A row of numbers an answer, each for an analyst of its own; nan where a key is not there."""
    asking, answers = dataset.sql(witness.sql), []
    for analyst in analysts:
        answer = asking.ask(epsilon=witness.epsilon, delta=DELTA, analyst=analyst)
        assert not answer.replayed
        assert Fraction(answer.cost["epsilon"]) == Fraction(witness.epsilon)
        values = [PLACES.get(value, value) for column in answer.columns for value in column.value]
        answers.append([*values, *[np.nan] * (len(witness.first) - len(values))][: len(witness.first)])
    return np.array(answers, dtype=np.float64)


def analysts(turn, runs):
    """Names that no other turn has."""
    return [f"analyst {turn} {number}" for number in range(runs)]


def findings(people, witness, turn, runs):
    """The claim and its largest lower bound, over all events and both orders."""
    relation, second = witness.under
    first, other = (asked(people(name, relation), witness, analysts(turn, runs)) for name in ("with", second))
    test = claim(witness)
    each = ALPHA / (len(WITNESSES) * 2 * len(witness.events))
    rows = [
        lower_bound(test, event.hits(*sides), each)
        for event in witness.events
        for sides in ((first, other), (other, first))
    ]
    return test, max(rows)


def claim(witness):
    return Odds(Fraction(witness.epsilon), Fraction(DELTA))


def power(witness, chances, runs):
    """Of one event among all that are counted for the witness."""
    each = ALPHA / (len(WITNESSES) * 2 * len(witness.events))
    return sure_power(claim(witness), chances, runs, each)


@pytest.mark.parametrize("turn", range(len(WITNESSES)), ids=lambda turn: WITNESSES[turn].sql[7:40])
def test_no_question_is_refuted_by_what_is_stored(people, turn):
    """N = 50 on each side: what one number would show without noise is refuted with power 1 − 10⁻⁶ (below)."""
    assert not refutes(*findings(people, WITNESSES[turn], turn, CI_RUNS))


@pytest.mark.long
@pytest.mark.parametrize("turn", range(len(WITNESSES)), ids=lambda turn: WITNESSES[turn].sql[7:40])
def test_no_question_is_refuted_by_what_is_stored_many_times(people, turn):
    """N = 300 on each side."""
    assert not refutes(*findings(people, WITNESSES[turn], 20 + turn, LONG_RUNS))


# --- the same with a planted fault ------------------------------------------------------------------------------------


def noise_left_out(patch):
    real = additive.laplace
    patch.setattr(additive, "laplace", lambda *given: replace(real(*given), noise=DiscreteLaplace(NONE)))


def source_with_a_seed(patch):
    """Every answer has the same noise."""
    patch.setattr(tables, "disclose", lambda *given, **named: gate.disclose(*given, source=Seeded(7), **named))


def noise_an_eighth(patch):
    real = additive.laplace

    def mutant(*given):
        mechanism = real(*given)
        return replace(mechanism, noise=DiscreteLaplace(mechanism.noise.scale / 8))

    patch.setattr(additive, "laplace", mutant)


def seeded_witness():
    """COUNT(*), with the first table's value moved by the noise that the seed gives."""
    noise = int(DiscreteLaplace(Fraction(6)).draw(1, Seeded(7))[0])
    return replace(WITNESSES[0], first=(71 + noise,), second=(68 + noise,))


CERTAIN = [
    (noise_left_out, WITNESSES[0]),
    (noise_shared_by_groups, WITNESSES[8]),
    (source_with_a_seed, seeded_witness()),
]


@pytest.mark.parametrize(("plant", "witness"), CERTAIN, ids=lambda given: getattr(given, "__name__", ""))
def test_planted_fault_is_refuted_by_fifty_answers_a_side(people, monkeypatch, plant, witness):
    """The event {value, or difference, as without noise} is certain on the first table and impossible on the second."""
    assert power(witness, (1.0, 0.0), CI_RUNS) >= 1 - 1e-6
    plant(monkeypatch)
    assert refutes(*findings(people, witness, 40 + CERTAIN.index((plant, witness)), CI_RUNS))


@pytest.mark.long
def test_an_eighth_of_the_noise_is_refuted_by_three_hundred_answers_a_side(people, monkeypatch):
    """Scale ¾ for 6 on a count that moves by 3: {value ≥ 71} has the chances P[X ≥ 0] and P[X ≥ 3]."""
    noise = DiscreteLaplace(Fraction(6, 8))
    chances = tuple(float(noise.above(least).mid().str(20, radius=False)) for least in (-1, 2))
    assert power(WITNESSES[0], chances, LONG_RUNS) >= 1 - 1e-6
    noise_an_eighth(monkeypatch)
    assert refutes(*findings(people, WITNESSES[0], 50, LONG_RUNS))


# What is chosen has a cut for a value, and squares have noise at every ε here: there the values only place events.
PLACED = ("MEDIAN", "MODE", "STDDEV")
EXACT = [i for i, witness in enumerate(WITNESSES) if not any(name in witness.sql for name in PLACED)]


@pytest.mark.parametrize("place", EXACT)
def test_exact_values_behind_the_events_are_right(people, place):
    """At ε = 5,000 no part has noise but for a chance below 10⁻¹¹ each, which is asserted."""
    dear = replace(WITNESSES[place], epsilon="5000")
    plan = people("with", dear.under[0]).sql(dear.sql).plan(epsilon=dear.epsilon, delta=DELTA)
    assert all(2 * measured.mechanism.noise.above(0) < 1e-11 for measured in plan.measured)
    for name, exact in (("with", dear.first), (dear.under[1], dear.second)):
        assert asked(people(name, dear.under[0]), dear, analysts(60 + place, 1))[0] == pytest.approx(exact, abs=0.01)


def test_private_key_is_shown_sometimes(people):
    """The crowd lies about the threshold: P[shown] is between 1/20 and 19/20."""
    plan = people("with", "add-remove").sql(WITNESSES[10].sql).plan(epsilon=WITNESSES[10].epsilon, delta=DELTA)
    (keys,) = [measured.mechanism for measured in plan.measured if isinstance(measured.mechanism, KeySelection)]
    assert 0.05 < float(keys.noise.above(keys.threshold - 69).mid().str(20, radius=False)) < 0.95
