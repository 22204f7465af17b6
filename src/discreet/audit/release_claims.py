"""Claims of tables over a tree: both noises, both forms, both relations, one view of the cells and several."""

from collections.abc import Iterator
from fractions import Fraction

from discreet.audit import places
from discreet.audit.claim import EPSILONS, Claim
from discreet.audit.places import (
    DEEP,
    DEEP_SHARES,
    FLAT,
    FLAT_SHARES,
    VIEW_SHARES,
    VIEWS,
    Table,
    grown,
    plain_design,
    with_more,
)
from discreet.audit.trial import Pair
from discreet.relation import Relation
from discreet.release.measure import Design, Form, all_cells, count_sensitivity, gaussian, laplace, size_sensitivity

_ADD, _REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
_ONE = Fraction(1)
_WIDE = 5_000  # runs of those with many numbers each
_MANY = 10**12
_DELTA = Fraction(1, 100)


def family() -> Iterator[Claim]:
    """All claims of releases; their names begin with release."""
    yield from _counts()
    yield from _views()
    yield from _sizes()
    yield from _plain_sizes()
    yield from _gaussians()


_NOBODY: Table = places.empty_table(DEEP, 2)
_SOME: Table = ((3, 1), (7, 0), (0, 2), (2, 9))


def _counts() -> Iterator[Claim]:
    world = places.entering(places.small_tables(DEEP, 1, 3), places.tables_with_unit)
    for e in EPSILONS:
        mechanism = laplace(plain_design(DEEP, count_sensitivity(1, _ADD)), Fraction(e), DEEP_SHARES)
        yield Claim(f"release-{e}", laplace, mechanism, _entry_pairs(), world)
    mechanism = laplace(plain_design(DEEP, count_sensitivity(2, _ADD), 2), _ONE, DEEP_SHARES)
    pairs = (
        *((side, with_more(side, (1, 0), (1, 0))) for side in (_NOBODY, _SOME)),  # both rows in one cell
        (_SOME, with_more(_SOME, (1, 0), (3, 1))),
        (_SOME, with_more(_SOME, (2, 0), (2, 1))),
    )
    world = places.entering(places.small_tables(DEEP, 2, 1), places.tables_with_unit, 2)
    yield Claim("release-two-rows", laplace, mechanism, pairs, world, _WIDE)
    mechanism = laplace(plain_design(DEEP, count_sensitivity(1, _REPLACE), 2), 2 * _ONE, DEEP_SHARES)
    world = places.exchanging(places.small_tables(DEEP, 2, 2), places.tables_with_unit)
    yield Claim("release-replace-one", laplace, mechanism, _move_pairs(), world, _WIDE)


def _entry_pairs() -> tuple[Pair, ...]:
    """A unit more in a ward, in a leaf further up; where nobody is, and where many are."""
    nobody = places.empty_table(DEEP, 1)
    many: Table = ((_MANY,),) * 4
    return (
        (nobody, with_more(nobody, (1, 0))),
        (nobody, with_more(nobody, (0, 0))),
        (many, with_more(many, (2, 0))),
        (many, with_more(many, (3, 0))),
    )


def _move_pairs() -> tuple[Pair, ...]:
    """A unit that goes elsewhere as another, or as itself, or stays as another; from further up, and in one region."""
    slots = ((1, 0), (3, 1)), ((1, 0), (3, 0)), ((1, 0), (1, 1)), ((0, 0), (2, 1)), ((1, 0), (2, 1))
    return tuple((with_more(_SOME, old), with_more(_SOME, new)) for old, new in slots)


def _views() -> Iterator[Claim]:
    nobody, some = places.empty_table(FLAT, 4), ((3, 0, 5, 1), (0, 0, 2, 8))
    mechanism = laplace(plain_design(FLAT, count_sensitivity(1, _ADD), views=VIEWS), 2 * _ONE, VIEW_SHARES)
    pairs = tuple((side, with_more(side, slot)) for side in (nobody, some) for slot in ((0, 0), (1, 3)))
    world = places.entering(places.small_tables(FLAT, 4, 2), places.tables_with_unit)
    yield Claim("release-marginals", laplace, mechanism, pairs, world, _WIDE)
    mechanism = laplace(plain_design(FLAT, count_sensitivity(1, _REPLACE), views=VIEWS), 4 * _ONE, VIEW_SHARES)
    world = places.exchanging(places.small_tables(FLAT, 4, 1), places.tables_with_unit)
    yield Claim("release-marginals-replace-one", laplace, mechanism, _change_pairs(), world, _WIDE)


def _change_pairs() -> tuple[Pair, ...]:
    """A unit of another place, age and sex; of the same place; of the same age; of another place alone."""
    side = ((3, 0, 5, 1), (0, 0, 2, 8))
    slots = ((0, 0), (1, 3)), ((0, 0), (0, 3)), ((0, 1), (1, 0)), ((0, 2), (1, 2))
    return tuple((with_more(side, old), with_more(side, new)) for old, new in slots)


_GROUPS: Table = ((1, 0, 2), (3, 1, 0), (0, 0, 4), (2, 2, 1))


def sizes_from_top(rows: int, relation: Relation) -> Design:
    """Sizes 1, 2 and 3 or more over the deep tree, each person protected."""
    cells = (all_cells(("size",), 3),)
    return Design(DEEP, Form.FROM_TOP, cells, size_sensitivity(rows, relation), count_sensitivity(rows, relation))


def _sizes() -> Iterator[Claim]:
    mechanism = laplace(sizes_from_top(1, _ADD), _ONE, DEEP_SHARES)
    world = places.entering(places.small_tables(DEEP, 3, 2), places.tables_with_person)
    yield Claim("release-sizes", laplace, mechanism, _join_pairs(), world, _WIDE)
    mechanism = laplace(sizes_from_top(1, _REPLACE), 2 * _ONE, DEEP_SHARES)
    world = places.exchanging(places.small_tables(DEEP, 3, 2), places.tables_with_person)
    yield Claim("release-sizes-replace-one", laplace, mechanism, _group_change_pairs(), world, _WIDE)


def _join_pairs() -> tuple[Pair, ...]:
    """A first person of all, the first of a group, one who joins a group, one who makes a group of the largest size."""
    nobody = places.empty_table(DEEP, 3)
    steps = (nobody, 1, 0), (_GROUPS, 3, 0), (_GROUPS, 1, 1), (_GROUPS, 1, 2), (_GROUPS, 0, 1)
    return tuple((table, grown(table, leaf, size)) for table, leaf, size in steps)


def _group_change_pairs() -> tuple[Pair, ...]:
    """The last of two in a group goes elsewhere: to begin a group, to join one, to make one of the largest size."""
    slots = ((1, 1), (3, 0)), ((1, 1), (3, 2)), ((3, 0), (1, 2)), ((0, 1), (2, 0)), ((1, 1), (1, 2))
    return tuple((grown(_GROUPS, *old), grown(_GROUPS, *new)) for old, new in slots)


def _plain_sizes() -> Iterator[Claim]:
    groups: Table = ((2, 1, 0), (1, 3, 2))
    pairs = tuple((groups, grown(groups, *slot)) for slot in ((0, 1), (0, 2), (1, 0), (1, 2)))
    mechanism = laplace(plain_design(FLAT, size_sensitivity(1, _ADD), 3), _ONE, FLAT_SHARES)
    world = places.entering(places.small_tables(FLAT, 3, 3), places.tables_with_person)
    yield Claim("release-plain-sizes", laplace, mechanism, pairs, world, _WIDE)
    slots = ((0, 1), (1, 2)), ((0, 1), (1, 0)), ((0, 1), (0, 2)), ((1, 0), (1, 2))
    pairs = tuple((grown(groups, *old), grown(groups, *new)) for old, new in slots)
    mechanism = laplace(plain_design(FLAT, size_sensitivity(1, _REPLACE), 3), 2 * _ONE, FLAT_SHARES)
    world = places.exchanging(places.small_tables(FLAT, 3, 2), places.tables_with_person)
    yield Claim("release-plain-sizes-replace-one", laplace, mechanism, pairs, world, _WIDE)


def _gaussians() -> Iterator[Claim]:
    mechanism = gaussian(plain_design(DEEP, count_sensitivity(2, _ADD)), 1, _DELTA, DEEP_SHARES)
    pairs = tuple((first, with_more(second, slot)) for (first, second), slot in zip(_entry_pairs(), _LAST, strict=True))
    world = places.entering(places.small_tables(DEEP, 1, 1), places.tables_with_unit, 2)
    yield Claim("release-gaussian-two-rows", gaussian, mechanism, pairs, world)
    mechanism = gaussian(plain_design(FLAT, count_sensitivity(1, _REPLACE), views=VIEWS), 2, _DELTA, VIEW_SHARES)
    world = places.exchanging(places.small_tables(FLAT, 4, 0), places.tables_with_unit)
    yield Claim("release-gaussian-replace-one", gaussian, mechanism, _change_pairs(), world, _WIDE)
    mechanism = gaussian(sizes_from_top(1, _ADD), 1, _DELTA, DEEP_SHARES)
    world = places.entering(places.small_tables(DEEP, 3, 1), places.tables_with_person)
    yield Claim("release-gaussian-sizes", gaussian, mechanism, _join_pairs(), world, _WIDE)


_LAST = (1, 0), (3, 0), (2, 0), (3, 0)  # the second rows: with the first, or far from it
