"""The audit of every shape, its deterministic half: no neighbouring table moves any part further than is promised."""

from dataclasses import fields, is_dataclass
from itertools import chain, product
from typing import get_args

import pytest

from discreet.errors import NotAnswerable
from discreet.query import nodes
from discreet.query.parts import Part, Units
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
    wanted,
    with_population,
)
from shapes.tables import apart, measured, opened, together, with_units, without_units

NORMS = ("l0", "l1", "l2_squared", "linf")
CI_ROWS, LONG_ROWS = (500, 100), (10_000, 1_000)  # of the unit with the most, and in how many groups


def swept(folder, family, pairs, batches):
    """By table, the exact parts of all plans."""
    found = {}
    for number, name in enumerate(dict.fromkeys(chain(*pairs))):
        with opened(folder / str(number), family.tables[name], family.unit) as engine:
            found[name] = measured(engine, batches)
    return found


def broken_promises(family, plans, found):
    """Every violation between neighbours, of the sameness of what is the same, and of the charge."""
    for place, made in plans.items():
        yield from ((place, one) for one in overcharged(made))
        for one, other in family.neighbours[made.draft.schema.relation]:
            yield from ((place, x) for x in violations(made, found[one][place], found[other][place]))
        for one, other in family.same:
            yield from ((place, x) for x in differences(made, found[one][place], found[other][place]))


def reached(pairs, plans, found):
    """Where a norm of a change is as large as is promised: the kind of part and the norm."""
    reaches = set()
    for place, made in plans.items():
        for (one, other), part in product(pairs, made.measured):
            moved = norms(part.part, change(found[one][place][part.part], found[other][place][part.part]))
            reaches |= {(type(part.part), norm) for norm in NORMS if moved[norm] == getattr(part.sensitivity, norm)}
    return reaches


def audited(folder, family, relation, shapes, batched):
    """The shapes that break a promise, and which promises are reached."""
    shapes = [shape for shape in shapes if shape.family == family.unit and shape.relation is relation]
    plans = {place: planned(shape) for place, shape in enumerate(shapes)}
    pairs = family.neighbours[relation]
    found = swept(folder, family, [*pairs, *family.same], batched(plans))
    broken = [(shapes[place], one) for place, one in broken_promises(family, plans, found)]
    return broken, reached(pairs, plans, found)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("family", [with_units(*CI_ROWS), without_units()], ids=lambda family: family.unit)
def test_no_neighbour_moves_any_part_further_than_promised_and_every_promise_is_tight(tmp_path, family, relation):
    shapes = covering() + plain() + with_population()
    broken, reaches = audited(tmp_path, family, relation, shapes, apart)
    assert broken == []
    kinds_of_parts = [kind for kind in get_args(Part) if family.unit == "with" or kind is not Units]
    assert set(product(kinds_of_parts, NORMS)) == reaches


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("family", [with_units(*LONG_ROWS), without_units()], ids=lambda family: family.unit)
def test_no_neighbour_moves_any_part_of_any_shape_further_than_promised(tmp_path, family, grouping, relation):
    shapes = [shape for shape in every() if shape.grouping == grouping and accepted(shape)]
    assert audited(tmp_path, family, relation, shapes, together)[0] == []


def test_the_covering_handful_holds_every_combination_that_is_wanted():
    handful = covering()
    assert all(map(accepted, handful))
    assert set().union(*(combined(choices(shape)) for shape in handful)) == set(wanted())
    assert len(handful) < 600


@pytest.mark.parametrize("pair", sorted(sorted(pair) for pair in REFUSED), ids=str)
def test_what_is_called_refused_is_refused(pair):
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
