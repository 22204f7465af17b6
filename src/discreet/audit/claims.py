"""Every mechanism's claim, with the neighbours that are most likely to break it.

A constructor is registered under the name of its claims: the mechanism it made, at least three neighbouring inputs to
draw on, and a tiny world for brute force.  Pairs follow StatDP (Ding et al. 2018): one above, half up and half down,
all above, cross; and beside a typical input the empty one and the ends of the range.
"""

from collections.abc import Iterator
from functools import cache

from discreet.audit import release_claims
from discreet.audit.brute import keys_entered, keys_exchanged, nearby, one_row_more, one_row_other
from discreet.audit.claim import EPSILONS, Claim
from discreet.audit.claim import audit_draws as audit_draws
from discreet.audit.claim import audit_exactly as audit_exactly
from discreet.audit.trial import Pair
from discreet.bounded import cells, rows, scalar
from discreet.mechanism import additive, beta, demonstration, keys, quantile, response, select, threshold
from discreet.mechanism.promise import LARGEST
from discreet.relation import Relation

_WIDE = 4_000  # of those with many numbers a run
_FEWER = 2_000  # runs of mechanisms that must be asked one run at a time


@cache
def claims() -> tuple[Claim, ...]:
    """Every registered claim, in the order of the modules."""
    return tuple(claim for family in (*_MECHANISMS, release_claims.family) for claim in family())


_COUNTS: tuple[Pair, ...] = ((40, 41), (0, 1), (LARGEST - 1, LARGEST), (-LARGEST, 1 - LARGEST))
_FEW_COUNTS = tuple((n, n + 1) for n in range(4))
_TWO_CELLS: tuple[Pair, ...] = (((0, 0), (1, 1)), ((5, 5), (6, 4)), ((9, 0), (9, 1)), ((0, 0), (1, 0)))
_SCORES: tuple[Pair, ...] = (
    ((0, 0, 0, 0), (1, 0, 0, 0)),  # one above
    ((0, 0, 0, 0), (1, 1, -1, -1)),  # half up, half down
    ((0, 0, 0, 0), (1, 1, 1, 1)),  # all above
    ((1, 0, 0, 0), (0, 1, 1, 1)),  # cross
    ((1 - LARGEST, LARGEST - 1, 0, 0), (-LARGEST, LARGEST, 0, 0)),  # the ends
)
_RISING: tuple[Pair, ...] = (
    ((0, 0, 0, 0), (1, 0, 0, 0)),
    ((0, 0, 0, 0), (0, 1, 1, 1)),
    ((0, 0, 0, 0), (1, 1, 1, 1)),
    ((3, 1, 0, 0), (3, 2, 1, 1)),
)


def _additive() -> Iterator[Claim]:
    for e in EPSILONS:
        yield Claim(f"laplace-{e}", additive.laplace, additive.laplace(scalar(1), e), _COUNTS, _FEW_COUNTS)
    histogram = additive.laplace(cells(1, 1), 1)
    ends = (((0, 0, 0), (1, 0, 0)), ((4, 0, 0), (4, 0, 1)), ((2, 3, 1), (2, 4, 1)))
    yield Claim("laplace-histogram", additive.laplace, histogram, ends, tuple(one_row_more()), margin=1)
    moved = additive.laplace(cells(2, 1, Relation.REPLACE_ONE), 1)
    ends = (((1, 0, 0), (0, 1, 0)), ((4, 0, 0), (3, 0, 1)), ((2, 3, 1), (2, 4, 0)))
    yield Claim("laplace-replace-one", additive.laplace, moved, ends, tuple(one_row_other(rows=3)), margin=1)
    both = additive.laplace(cells(2, 1), 1)
    yield Claim("laplace-two-cells", additive.laplace, both, _TWO_CELLS, tuple(nearby(range(3), 2)))
    made = additive.least_error(scalar(1), 1, "1e-7")
    yield Claim("least-error-one", additive.least_error, made, _COUNTS, _FEW_COUNTS)


def _gaussian() -> Iterator[Claim]:
    for sigma in ("1", "4"):
        made = additive.gaussian(scalar(1), sigma)
        yield Claim(f"gaussian-{sigma}", additive.gaussian, made, _COUNTS, _FEW_COUNTS, margin=30)
        made = additive.discrete_gaussian(scalar(1), sigma)
        yield Claim(f"discrete-gaussian-{sigma}", additive.discrete_gaussian, made, _COUNTS, _FEW_COUNTS, margin=30)
    made = additive.gaussian(cells(2, 1), 2)
    yield Claim("gaussian-two-cells", additive.gaussian, made, _TWO_CELLS, tuple(nearby(range(2), 2)), margin=8)
    for e in EPSILONS:
        made = additive.analytic_gaussian(scalar(1), e, "1e-5")
        yield Claim(f"analytic-gaussian-{e}", additive.analytic_gaussian, made, _COUNTS, _FEW_COUNTS, margin=30)
    made = additive.classic_gaussian(scalar(1), "0.5", "1e-5")
    yield Claim("classic-gaussian", additive.classic_gaussian, made, _COUNTS, _FEW_COUNTS, margin=30)
    zero, one = (0,) * 20, (1,) * 20
    made = additive.least_error(cells(20, 1), 1, "1e-7")
    pairs = ((zero, one), ((7,) * 20, (8, 6) * 10), (zero, (1, *zero[1:])))
    yield Claim("least-error-many", additive.least_error, made, pairs, most_runs=_WIDE)


def _choices() -> Iterator[Claim]:
    world, any_scores = tuple(nearby(range(3), 3)), cells(4, 1)
    for e in EPSILONS:
        yield Claim(f"exponential-{e}", select.exponential, select.exponential(any_scores, e), _SCORES, world)
        made = select.monotone_exponential(any_scores, e)
        yield Claim(f"monotone-{e}", select.monotone_exponential, made, _RISING, tuple(one_row_more()))
        flip = select.permute_and_flip(any_scores, e)
        yield Claim(f"permute-and-flip-{e}", select.permute_and_flip, flip, _SCORES, world, _FEWER)
        loudest = select.noisy_max(any_scores, e)
        yield Claim(f"noisy-max-{e}", select.noisy_max, loudest, _SCORES, tuple(nearby(range(2), 3)))
    for k in (2, 3):
        yield Claim(f"top-{k}", select.top_k, select.top_k(any_scores, 1, k), _SCORES, tuple(nearby(range(2), 4)))
        made_top = select.monotone_top_k(any_scores, 1, k)
        yield Claim(f"monotone-top-{k}", select.monotone_top_k, made_top, _RISING, tuple(one_row_more(4, 3)))


def _responses() -> Iterator[Claim]:
    people: tuple[Pair, ...] = ((0, 1), ((0, 0, 0), (0, 1, 0)), ((1, 1), (1, 0)))
    for e in EPSILONS:
        yield Claim(f"response-{e}", response.response, response.response(e), people, people)
    five: tuple[Pair, ...] = ((0, 1), (0, 4), (2, 3), ((4, 4), (4, 0)))
    yield Claim("response-five", response.response, response.response(1, 5), five, five)
    yield Claim("two-coins", response.two_coins, response.two_coins(), people, people)
    yield Claim("two-coins-uneven", response.two_coins, response.two_coins("0.5", "0.1"), people, people)


def _sparse() -> Iterator[Claim]:
    zero, one = (0,) * 10, (1,) * 10
    asked = ((zero, one), ((0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5), (zero, (1, *zero[1:])), ((0, 1) * 5, (1, 0) * 5))
    world = tuple(nearby((0, 1), 3))
    for e in EPSILONS:
        made = threshold.sparse_vector(scalar(1), e, threshold=0, positives=1)
        yield Claim(f"sparse-vector-{e}", threshold.sparse_vector, made, asked, world, _FEWER)
    made = threshold.sparse_vector(scalar(1), 2, threshold=1, positives=3)
    yield Claim("sparse-vector-three", threshold.sparse_vector, made, asked, world, _FEWER)
    made = threshold.numeric_sparse_vector(scalar(1), 1, threshold=0, positives=2, numbers=1)
    yield Claim("sparse-vector-numbers", threshold.numeric_sparse_vector, made, asked, world, _FEWER)


def _grids() -> Iterator[Claim]:
    grid: tuple[Pair, ...] = (
        ((1, 4, 6, 2, 0), (1, 4, 7, 2, 0)),
        ((0, 0, 0, 0, 0), (0, 0, 0, 0, 1)),
        ((9, 0, 0, 0, 9), (10, 0, 0, 0, 9)),
        ((LARGEST, 0, 0, 0, 0), (LARGEST, 0, 0, 0, 1)),
    )
    for q in ("0.5", "0.9", "0"):
        made = quantile.quantile(rows(1), 1, q=q)
        yield Claim(f"quantile-{q}", quantile.quantile, made, grid, tuple(one_row_more()))
    many = tuple((h, tuple(c + 2 * (v == i) for i, c in enumerate(h))) for h, _ in one_row_more() for v in range(3))
    made = quantile.quantile(rows(2), 1, q="0.25")
    yield Claim("quantile-two-rows", quantile.quantile, made, many[:6], many)
    flips: tuple[Pair, ...] = (((3, 4), (4, 4)), ((0, 0), (1, 0)), ((12, 0), (12, 1)))
    for e in EPSILONS:
        made_bias = beta.bias(e, low="0.1", high="0.9", points=9)
        yield Claim(f"bias-{e}", beta.bias, made_bias, flips, tuple(one_row_more(2)))
    turned: tuple[Pair, ...] = (((3, 4), (4, 3)), ((1, 0), (0, 1)), ((12, 0), (11, 1)))
    made_bias = beta.bias(1, low="0.01", high="0.9", points=9, under=Relation.REPLACE_ONE)
    yield Claim("bias-replace-one", beta.bias, made_bias, turned, tuple(one_row_other(2)))


def _keys() -> Iterator[Claim]:
    for e in EPSILONS:
        made = keys.key_selection(1, e, "0.01")
        at = made.threshold
        pairs = (((0,), (1,)), ((at,), (at + 1,)), ((0, at, 1), (0, at - 1, 1)), ((0, 0, 5), (0, 1, 5)))
        yield Claim(f"keys-{e}", keys.key_selection, made, pairs, tuple(keys_entered(range(at + 3), 2, 1)))
    many = keys.key_selection(3, 2, "0.01")
    yield Claim("keys-three-groups", keys.key_selection, many, _entered(many), _all_entered(many))
    normal = keys.gaussian_key_selection(3, 3, "0.001")
    yield Claim("gaussian-keys", keys.gaussian_key_selection, normal, _entered(normal), _all_entered(normal))
    yield from _keys_by_replacement()


def _keys_by_replacement() -> Iterator[Claim]:
    for groups, name in ((1, "one-group"), (2, "two-groups")):
        made = keys.key_selection(groups, 2, "0.01", relation=Relation.REPLACE_ONE)
        world = tuple(keys_exchanged((0, made.threshold), 2 * groups, groups))
        yield Claim(f"keys-replace-one-{name}", keys.key_selection, made, _exchanged(made, groups), world)
    normal = keys.gaussian_key_selection(2, 3, "0.001", relation=Relation.REPLACE_ONE)
    world = tuple(keys_exchanged((0, normal.threshold), 4, 2))
    yield Claim("gaussian-keys-replace-one", keys.gaussian_key_selection, normal, _exchanged(normal, 2), world)


def _entered(made: keys.KeySelection) -> tuple[Pair, ...]:
    """Three keys nobody had, three near the threshold, and some of each."""
    at = made.threshold
    return ((0, 0, 0), (1, 1, 1)), ((at,) * 3, (at + 1,) * 3), ((0, 1, at), (1, 2, at + 1)), ((1, 0, 0), (2, 0, 0))


def _all_entered(made: keys.KeySelection) -> tuple[Pair, ...]:
    """Three keys that nobody has, or one unit, or about as many as the threshold."""
    return tuple(keys_entered((0, 1, made.threshold - 1, made.threshold), 3, 3))


def _exchanged(made: keys.KeySelection, groups: int) -> tuple[Pair, ...]:
    """Keys left and entered: only there for one of the tables, near the threshold, and one of each."""
    at, sides = made.threshold, (1,) * groups + (0,) * groups
    near, mixed = tuple(at + s for s in sides), tuple(at * (i % 2) + s for i, s in enumerate(sides))
    turned = [tuple(first[(i + groups) % (2 * groups)] for i in range(2 * groups)) for first in (sides, near)]
    other = tuple(m + 1 - 2 * s for m, s in zip(mixed, sides, strict=True))
    return (sides, turned[0]), (near, turned[1]), (mixed, other)


def _demonstrations() -> Iterator[Claim]:
    people: tuple[Pair, ...] = (((), (7,)), ((1, 2), (1, 2, 3)), ((5,), (5, 9)))
    shame = demonstration.name_and_shame("0.1")
    yield Claim("name-and-shame", demonstration.name_and_shame, shame, people, people, _FEWER)
    nothing = demonstration.all_or_nothing("0.1")
    yield Claim("all-or-nothing", demonstration.all_or_nothing, nothing, people, people, _FEWER)


_MECHANISMS = (_additive, _gaussian, _choices, _responses, _sparse, _grids, _keys, _demonstrations)
