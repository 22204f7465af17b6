"""How far one unit moves what a check measures, by brute force: many neighbours of tiny tables, beside the bound."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.bounded import RowLimit
from discreet.noise.source import SYSTEM
from discreet.relation import Relation
from discreet.synth.check.check import plan_of
from discreet.synth.check.measuring import comparison, count_public
from discreet.synth.check.plan import COUNT
from discreet.synth.check.tables import STEPS
from synth.check.held import HeldView
from synth.folk import written

COLUMNS = ["sex", "age", "pay", "ill"]
CELLS = [[0, 30.0, 90.0, 1.0], [1, 70.0, 3.0, 0.0], [-1, np.nan, 100.0, 1.0], [0, 5.0, np.nan, np.nan]]
NAMES = ("cells", "columns", "pairs", "triples", "correlation", "each column", "each pair", "each correlation")
NAMES += ("classes", "area")


def planned(folder, max_rows, relation):
    """A plan of everything that can be asked, at a huge ε."""
    toml = written(folder, max_rows=max_rows, neighbours=str(relation), epsilon=10**6)
    with dp.open(toml) as people:
        table = people.synthesize(COLUMNS).build(epsilon=50)
        return plan_of(table, people.table, epsilon=10**5, delta=0, target="ill")


@pytest.fixture(scope="module", params=[(1, Relation.ADD_REMOVE), (1, Relation.REPLACE_ONE), (2, Relation.ADD_REMOVE),
                                        (2, Relation.REPLACE_ONE)], ids=lambda p: f"{p[0]} rows, {p[1]}")  # fmt: skip
def case(request, tmp_path_factory):
    max_rows, relation = request.param
    return planned(tmp_path_factory.mktemp("folk"), max_rows, relation), max_rows, relation


def single_units(max_rows):
    """Every unit of 1 to `max_rows` rows of the cells."""
    return [list(rows) for size in range(1, max_rows + 1) for rows in combinations_with_replacement(CELLS, size)]


def neighbours(max_rows, relation):
    """Pairs of tables of at most three units that differ in one."""
    units = single_units(max_rows)
    bases = [[], [units[0]], [units[-1], units[1]]]
    for base in bases:
        if relation is Relation.ADD_REMOVE:
            yield from ((base, [*base, unit]) for unit in units)
        else:
            yield from (([*base, old], [*base, new]) for old, new in product(units, repeat=2) if old is not new)


def numbers(plan, max_rows, relation, units, name, total):
    view = HeldView(units, COLUMNS, RowLimit(max_rows, relation))
    return comparison(view, plan, name, total).compute()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("total", [STEPS, 7 * STEPS + 12345], ids=["one unit", "seven units"])
def test_no_neighbour_moves_numbers_further_than_their_noise_covers(case, name, total):
    plan, max_rows, relation = case
    assert name in plan.asked
    bound, furthest = plan.mechanism(name).sensitivity, Fraction(0)
    exact = {}

    def counted(units):
        key = str(units)
        if key not in exact:
            exact[key] = numbers(plan, max_rows, relation, units, name, total)
        return exact[key]

    for before, after in neighbours(max_rows, relation):
        moved = np.abs(counted(after) - counted(before))
        assert int((moved > 0).sum()) <= bound.l0
        assert int(moved.sum()) <= bound.l1
        assert int((moved**2).sum()) <= bound.l2_squared
        assert int(moved.max(initial=0)) <= bound.linf
        furthest = max(furthest, Fraction(int(moved.sum())))
    assert furthest >= (bound.l1 / 40 if total > STEPS else 1)  # so far that a bound 40 times as small would be caught


def test_the_count_of_units_moves_by_one_unit(case):
    plan, max_rows, relation = case
    public = count_public(plan.compared.build)

    def counted(units):
        names = plan.compared.build.plan.subject.column_names
        return HeldView(units, COLUMNS, RowLimit(max_rows, relation)).sum("marginals", names, public).compute()

    bound = plan.mechanism(COUNT).sensitivity
    moved = [np.abs(counted(after) - counted(before)) for before, after in neighbours(max_rows, relation)]
    assert max(int(own.sum()) for own in moved) <= bound.l1
    assert all(own.shape == (1,) for own in moved)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_compared_states_the_bound_that_its_noise_covers(case, name):
    plan, max_rows, relation = case
    view = HeldView([[CELLS[0]]], COLUMNS, RowLimit(max_rows, relation))
    exact = comparison(view, plan, name, STEPS)
    assert plan.mechanism(name).sensitivity == exact.sensitivity
    assert exact.proof.startswith(("synth/check.md", "learn/heldout/score.md"))
    assert plan.mechanism(name)(exact.compute(), SYSTEM).shape == exact.compute().shape


def test_shares_of_all_that_is_asked_add_up_to_the_price(case):
    plan, *_ = case
    assert sum(plan.share(name) for name in plan.asked) == 1


def test_products_of_nine_move_by_all_that_their_noise_covers(case):
    plan, max_rows, relation = case
    products = plan.compared.products
    age, pay = sorted(products.scores)
    size = len(products.scores[pay])
    scores = {
        age: np.full(len(products.scores[age]), 3.0),
        pay: np.where(np.arange(size) < size // 2, 3.0, -3.0),
    }
    extreme = replace(plan, compared=replace(plan.compared, products=replace(products, scores=scores)))
    low, high = [[0, 30.0, 3.0, 1.0]] * max_rows, [[0, 30.0, 90.0, 1.0]] * max_rows
    tables = [[low], [low, high]] if relation is Relation.ADD_REMOVE else [[low], [high]]
    before, after = (numbers(extreme, max_rows, relation, units, "each correlation", STEPS) for units in tables)
    assert int(np.abs(after - before).sum()) == extreme.mechanism("each correlation").sensitivity.l1
