"""Planted faults of the floor below the noise: each is caught by the very checks that the audit of shapes makes.

A mutant is a fault in a real function, or in the SQL that passes through it; nothing is drawn, so once is always.
"""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from discreet.engine import cells as engine_cells
from discreet.engine import packing, prepare
from discreet.query import aggregate, bound
from discreet.query import plan as planning
from discreet.query.compile import exacts
from discreet.query.compile import statements as compiling
from discreet.query.meaning.cells import Cells, KeyCells
from discreet.query.parts import Present, Ranks, RowSum
from discreet.query.sensitivity import sensitivity
from discreet.relation import Relation
from discreet.schema import Type
from shapes.checks import differences, overcharged, violations
from shapes.shapes import Shape, planned
from shapes.tables import apart, measured, opened, with_units

FAMILY = with_units(500, 100)
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def shape(aggregate_name, grouping="none", caps="schema's", budget="approx", relation=ADD):
    return Shape(aggregate_name, "none", grouping, caps, budget, relation, "with")


WITNESSES = {
    "rows": shape("rows"),
    "rows, two each": shape("rows", caps="rows"),
    "rows by kind": shape("rows", "category"),
    "rows by age": shape("rows", "lattice"),
    "rows by region": shape("rows", "fixed"),
    "rows by town": shape("rows", "private"),
    "rows by kind, one group": shape("rows", "category", "groups"),
    "rows by age, one group": shape("rows", "lattice", "groups"),
    "units": shape("units"),
    "sum": shape("sum"),
    "sum replaced": shape("sum", relation=REPLACE),
    "rows replaced": shape("rows", "category", relation=REPLACE),
    "sum large": shape("sum large"),
    "mean": shape("mean"),
    "median": shape("median"),
    "units by kind": shape("units", "category"),
    "rows by town and kind": shape("rows", "private and public"),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The parts on a table as it is, measured once."""

    @cache
    def found(name):
        return parts(tmp_path_factory.mktemp("clean") / "table", name, WITNESSES)

    return found


def parts(folder, name, witnesses):
    """By witness, its plan and its exact parts on that table."""
    plans = {witness: planned(WITNESSES[witness]) for witness in witnesses}
    with opened(folder, FAMILY.tables[name], "with") as engine:
        return plans, measured(engine, apart(plans))


def broken(before, after, pair):
    """Every promise that a witness breaks between the two: (witness, promise)."""
    (plans, old), (_, new) = before, after
    check = differences if pair in FAMILY.same else violations
    related = (
        [ADD, REPLACE]
        if pair in FAMILY.same
        else [relation for relation in Relation if pair in FAMILY.neighbours[relation]]
    )
    broken = {
        (witness, violation.promise)
        for witness, planned_question in plans.items()
        for violation in overcharged(planned_question)
    }
    for witness, plan in plans.items():
        if plan.draft.schema.relation in related:
            broken |= {(witness, violation.promise) for violation in check(plan, old[witness], new[witness])}
    return broken


# --- the mutants ------------------------------------------------------------------------------------------------------


def edited(monkeypatch, home, name, old, new):
    """The function's SQL with the old text, which must be there, replaced."""
    real = getattr(home, name)

    def mutant(*given, **named):
        mechanism = real(*given, **named)
        assert re.search(old, mechanism)
        return re.sub(old, new, mechanism)

    monkeypatch.setattr(home, name, mutant)


def moved_like(monkeypatch, mutant):
    monkeypatch.setattr(bound, "sensitivity", lambda part, reach: mutant(part, reach, sensitivity(part, reach)))


def measured_like(monkeypatch, kind, mutant):
    """Parts of that kind measured by other SQL."""
    real = compiling.measure

    def measure(part, named, *, units):
        sensitivity = real(part, named, units=units)
        return mutant(sensitivity) if isinstance(part, kind) else sensitivity

    monkeypatch.setattr(compiling, "measure", measure)


def keys_like(monkeypatch, mutant):
    real = planning._keys
    monkeypatch.setattr(planning, "_keys", lambda *given: mutant(real(*given)))


def bounding_skipped(patch):
    edited(patch, prepare, "_ranked_rows", r"r <= \d+", "r <= 1000000")


def rank_for_row_number(patch):
    edited(patch, prepare, "_ranked_rows", r"row_number\(\) OVER w", "rank() OVER w")


def file_order_in_the_hash(patch):
    edited(patch, prepare, "_ranked_rows", r"id & \d+", r"CAST(hash(row_number() OVER ()) >> 33 AS BIGINT)")


def fixed_per_unit_unenforced(patch):
    edited(patch, prepare, "_ranked_rows", r"(r <= \d+) AND .*", r"\1")


def every_row_without_an_id_a_unit(patch):
    real = prepare.unit_key
    patch.setattr(prepare, "unit_key", lambda *given: f"coalesce({real(*given)}, 'x' || row_number() OVER ())")


def clamp_after_the_sum(patch):
    real = packing._range
    patch.setattr(engine_cells, "_nearest", lambda read, lattice: f"TRY_CAST({read} AS BIGINT)")
    # a digit keeps within its range by itself: a cell that passes its bounds must be a word of its own
    patch.setattr(
        packing, "_range", lambda schema, column: None if column.type is Type.INTEGER else real(schema, column)
    )


def sum_in_floats(patch):
    measured_like(patch, RowSum, lambda sql: sql.replace("coalesce(sum(", "coalesce(sum(1e0 * "))


def exact_number_in_the_mean(patch):
    patch.setattr(aggregate, "public_rows", lambda question, schema: 29)


def quantile_moved_by_one_row(patch):
    half_unit = Fraction(1)
    moved_like(
        patch, lambda part, reach, s: sensitivity(part, replace(reach, rows=half_unit)) if type(part) is Ranks else s
    )


def root_of_rows_in_l2(patch):
    moved_like(patch, lambda part, reach, s: replace(s, l2_squared=s.l1))


def replaced_like_removed(patch):
    plain = {"relation": ADD}
    moved_like(patch, lambda part, reach, s: replace(sensitivity(part, replace(reach, **plain)), relation=s.relation))


def one_group_instead_of_all(patch):
    moved_like(patch, lambda part, reach, s: sensitivity(part, replace(reach, groups=1)))


def threshold_on_rows(patch):
    measured_like(patch, Present, lambda sql: "count(*)")


def threshold_one_too_low(patch):
    keys_like(patch, lambda keys: replace(keys, threshold=keys.threshold - 1))


def delta_of_keys_not_in_the_cost(patch):
    keys_like(patch, lambda keys: replace(keys, cost=keys.cost.costs[0]))


def delta_not_charged(patch):
    real = planning.Plan

    def mutant(draft, joint, terms, why):
        return real(draft, joint, replace(terms, delta=Fraction(0)), why)

    patch.setattr(planning, "Plan", mutant)


def groups_trusted_without_ranking(patch):
    patch.setattr(compiling._Frame, "ranks_groups", property(lambda frame: False))


def cap_on_rows_forgotten(patch):
    patch.setattr(compiling._Frame, "rows", property(lambda frame: frame.schema.max_rows))


def dense_codes_for_ids(patch):
    edited(patch, prepare, "_units", r"CAST\(CAST\(unhex.*\) AS id", "row_number() OVER (ORDER BY u) AS id")


def units_counted_as_rows(patch):
    patch.setattr(compiling, "unit_count", lambda *given: "count(*)")


def groups_by_label(patch):
    """Labels that two places share make one group of them, after the units of each were counted."""
    real = exacts._distinct

    def labelled(stored):
        return real([tuple("a" if part in (0, 1, 2) else part for part in key) for key in stored])

    patch.setattr(exacts, "_distinct", labelled)
    patch.setattr(KeyCells, "label", lambda key, stored: stored)


def groups_left_out_added_to_another(patch):
    """All groups but one are said to be empty by the words of WHERE, and what is in them goes to that one."""
    patch.setattr(bound, "with_kept", lambda cells, where, schema: replace(cells, kept=(0,)))
    patch.setattr(Cells, "numbers", lambda cells, places: 0 * places)


def groups_left_out_that_are_there(patch):
    """The reach of a unit counts one group, and all groups are answered."""
    real = bound.caps_and_reach
    patch.setattr(bound, "caps_and_reach", lambda asked, schema, cells: real(asked, schema, replace(cells, kept=(0,))))


MUTANTS = [  # the fault, between which tables it shows, and in which witness which promise breaks
    (bounding_skipped, ("empty", "double"), ("rows", "l1")),
    (rank_for_row_number, ("empty", "double"), ("rows", "l1")),
    (file_order_in_the_hash, ("all", "less first"), ("rows by age", "l1")),
    (file_order_in_the_hash, ("all", "shuffled"), ("rows by kind", "same")),
    (fixed_per_unit_unenforced, ("all", "less mixed"), ("rows by region", "l0")),
    (every_row_without_an_id_a_unit, ("all", "shuffled"), ("rows", "same")),
    (clamp_after_the_sum, ("empty", "double"), ("sum", "l1")),
    (sum_in_floats, ("all", "less double"), ("sum large", "l1")),
    (exact_number_in_the_mean, ("all", "less double"), ("mean", "public number of rows")),
    (quantile_moved_by_one_row, ("empty", "double"), ("median", "l1")),
    (root_of_rows_in_l2, ("empty", "double"), ("rows", "l2_squared")),
    (replaced_like_removed, ("double", "another"), ("rows replaced", "l1")),
    (one_group_instead_of_all, ("empty", "many"), ("rows by town", "l0")),
    (threshold_on_rows, ("empty", "double"), ("rows by town", "linf")),
    (threshold_one_too_low, ("empty", "many"), ("rows by town", "delta of keys")),
    (delta_of_keys_not_in_the_cost, ("empty", "many"), ("rows by town", "delta of keys")),
    (delta_not_charged, ("empty", "many"), ("rows by town", "delta")),
    (groups_trusted_without_ranking, ("empty", "many"), ("rows by age, one group", "l0")),
    (cap_on_rows_forgotten, ("empty", "double"), ("rows, two each", "l1")),
    (dense_codes_for_ids, ("all", "less first"), ("rows by age, one group", "l0")),
    (units_counted_as_rows, ("empty", "double"), ("units", "l1")),
    (groups_by_label, ("empty", "kinds"), ("rows by town and kind", "linf")),
    (groups_left_out_added_to_another, ("empty", "kinds"), ("units by kind", "linf")),
    (groups_left_out_that_are_there, ("empty", "kinds"), ("units by kind", "l0")),
]


@pytest.mark.parametrize(("plant", "pair", "caught"), MUTANTS, ids=lambda given: getattr(given, "__name__", ""))
def test_planted_fault_breaks_a_promise_that_holds_without_it(clean, tmp_path, monkeypatch, plant, pair, caught):
    assert broken(clean(pair[0]), clean(pair[1]), pair) == set()
    with monkeypatch.context() as patch:
        plant(patch)
        before, after = (parts(tmp_path / str(side), pair[side], caught[:1]) for side in (0, 1))
    assert caught in broken(before, after, pair)
