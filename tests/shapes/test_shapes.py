"""The audit of every shape, its deterministic half: no neighbouring table moves any part further than is promised."""

from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from itertools import chain, product
from typing import get_args

import pytest

from discreet.errors import NotAnswerable
from discreet.query import nodes
from discreet.query.compile.statements import statements
from discreet.query.parts import Part, Sizes, Units
from discreet.relation import Relation
from shapes.checks import change, differences, norms, overcharged, violations
from shapes.shapes import (
    AGGREGATES,
    AXES,
    GROUPINGS,
    REFUSED,
    Shape,
    accepted,
    choices,
    combined,
    covering,
    every,
    plain,
    planned,
    schema,
    wanted,
    with_population,
)
from shapes.tables import apart, measured, measured_parts, opened, together, with_units, without_units

NORMS = ("l0", "l1", "l2_squared", "linf")
CI_ROWS, LONG_ROWS = (500, 100), (10_000, 1_000)  # of the unit with the most, and in how many groups
WITHOUT = without_units()
CI_FAMILIES, LONG_FAMILIES = (with_units(*CI_ROWS), WITHOUT), (with_units(*LONG_ROWS), WITHOUT)


@pytest.fixture(scope="module")
def prepared(request, tmp_path_factory):
    """A family and its tables by name, each prepared once for all the questions about it."""
    family, folder = request.param, tmp_path_factory.mktemp("tables")
    with ExitStack() as engines:
        results = {}
        for number, (name, rows) in enumerate(family.tables.items()):
            results[name] = engines.enter_context(opened(folder / str(number), rows, family.unit))
        yield family, results


def broken_promises(family, plans, results):
    """Every violation between neighbours, of the sameness of what is the same, and of the charge."""
    for place, plan in plans.items():
        yield from ((place, violation) for violation in overcharged(plan))
        for first, other in family.neighbours[plan.draft.schema.relation]:
            yield from ((place, x) for x in violations(plan, results[first][place], results[other][place]))
        for first, other in family.same:
            yield from ((place, x) for x in differences(plan, results[first][place], results[other][place]))


def reached(family, plans, results):
    """Where a norm of a change is as large as is promised: the relation, the kind of part and the norm."""
    reaches = set()
    for place, plan in plans.items():
        relation = plan.draft.schema.relation
        for (first, other), part in product(family.neighbours[relation], plan.measured):
            moved = norms(part.part, change(results[first][place][part.part], results[other][place][part.part]))
            tight = [norm for norm in NORMS if moved[norm] == getattr(part.sensitivity, norm)]
            reaches |= {(relation, type(part.part), norm) for norm in tight}
    return reaches


def audited(family, engines, shapes, batched):
    """The shapes that break a promise; and the plans with their exact parts by table."""
    plans = {place: planned(shape) for place, shape in enumerate(shapes)}
    batches = batched(plans)
    results = {name: measured(engine, _about(name, family, plans, batches)) for name, engine in engines.items()}
    return [(shapes[place], violation) for place, violation in broken_promises(family, plans, results)], plans, results


def _about(name, family, plans, batches):
    """The batches with a plan under a relation that has the table of that name in a pair."""
    pairs = {relation: {*chain(*family.neighbours[relation], *family.same)} for relation in Relation}
    return [
        batch for batch in batches if any(name in pairs[plans[place].draft.schema.relation] for place in batch.plans)
    ]


@pytest.mark.parametrize("prepared", CI_FAMILIES, ids=lambda family: family.unit, indirect=True)
def test_no_neighbour_moves_any_part_further_than_promised_and_every_promise_is_tight(prepared):
    family, engines = prepared
    shapes = [shape for shape in covering() + plain() + with_population() if shape.family == family.unit]
    broken, plans, results = audited(family, engines, shapes, apart)
    assert broken == []
    counted = [kind for kind in get_args(Part) if kind is not Sizes]  # no question has it: tests/release looks at those
    kinds_of_parts = [kind for kind in counted if family.unit == "with" or kind is not Units]
    assert set(product(Relation, kinds_of_parts, NORMS)) == reached(family, plans, results)


@pytest.mark.long
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("prepared", LONG_FAMILIES, ids=lambda family: family.unit, indirect=True)
def test_no_neighbour_moves_any_part_of_any_shape_further_than_promised(prepared, grouping, record_property):
    family, engines = prepared
    wanted_here = (shape for shape in every() if (shape.grouping, shape.family) == (grouping, family.unit))
    shapes = [shape for shape in wanted_here if accepted(shape)]
    record_property("shapes", len(shapes))
    assert audited(family, engines, shapes, together)[0] == []


def test_the_statements_of_a_question_do_not_know_the_relation():
    """Why plans under either relation may be measured together."""
    for shape in covering():
        plan = planned(shape)
        others = [schema(shape.unit, relation) for relation in Relation]
        draft, parts = plan.draft, measured_parts(plan)
        first, other = (statements(x, draft.cells, draft.question.where, draft.caps, parts) for x in others)
        assert first == other


def test_the_covering_handful_holds_every_combination_that_is_wanted():
    handful = covering()
    assert all(map(accepted, handful))
    assert set().union(*(combined(choices(shape)) for shape in handful)) == set(wanted())
    assert len(handful) < 600


@pytest.mark.parametrize("pair", sorted(sorted(pair) for pair in REFUSED), ids=str)
def test_every_pair_listed_as_refused_is_refused(pair):
    chosen = {name: values[0] for name, values in AXES.items()} | dict(pair)
    with pytest.raises(NotAnswerable):
        planned(Shape(**chosen))


def test_every_aggregate_and_every_kind_of_expression_is_in_a_shape():
    seen = set()
    for shape in covering():
        seen |= kinds(planned(shape).draft.question)
    assert not {kind.__name__ for kind in get_args(nodes.Aggregate) + get_args(nodes.Expr)} - seen
    assert "Bins" in seen
    assert len(AGGREGATES) >= len(get_args(nodes.Aggregate))


def kinds(node):
    """The names of all nodes below."""
    if isinstance(node, tuple):
        return set().union(*map(kinds, node))
    if not is_dataclass(node):
        return set()
    return {type(node).__name__}.union(*(kinds(getattr(node, field.name)) for field in fields(node)))
