"""Every mechanism's claim, with the neighbours that are most likely to break it.

Each claim has a constructor, the mechanism it built, at least three neighbouring inputs to draw on, and a tiny world
for brute force.  Pairs follow StatDP (Ding et al. 2018): one above, half up and half down, all above, cross; and beside
a typical input the empty one and the ends of the range.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from discreet.audit import (
    deep_claims,
    kernel_claims,
    local_claims,
    minimiser_claims,
    release_claims,
    small_claims,
    synth_claims,
    vector_claims,
)
from discreet.audit.brute import keys_entered, keys_exchanged, nearby, one_row_more, one_row_other
from discreet.audit.claim import EPSILONS, Claim
from discreet.audit.trial import Pair
from discreet.bounded import cells, rows, scalar
from discreet.mechanism import additive, beta, demonstration, keys, quantile, response, select, threshold
from discreet.mechanism.promise import LARGEST
from discreet.relation import Relation

_WIDE = 4_000  # runs of mechanisms with many numbers a run
_FEWER = 2_000  # runs of mechanisms that are called once a run


@cache
def claims() -> tuple[Claim, ...]:
    """Every registered claim, in the order of the modules."""
    noisy = (vector_claims, kernel_claims, minimiser_claims, release_claims, local_claims, deep_claims)
    modules = (*noisy, small_claims, synth_claims)
    return tuple(claim for family in (*_MECHANISMS, *(module.family for module in modules)) for claim in family())


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
    replaced = additive.laplace(cells(2, 1, Relation.REPLACE_ONE), 1)
    ends = (((1, 0, 0), (0, 1, 0)), ((4, 0, 0), (3, 0, 1)), ((2, 3, 1), (2, 4, 0)))
    yield Claim("laplace-replace-one", additive.laplace, replaced, ends, tuple(one_row_other(rows=3)), margin=1)
    two_cells = additive.laplace(cells(2, 1), 1)
    yield Claim("laplace-two-cells", additive.laplace, two_cells, _TWO_CELLS, tuple(nearby(range(3), 2)))
    mechanism = additive.least_error(scalar(1), 1, "1e-7")
    yield Claim("least-error-one", additive.least_error, mechanism, _COUNTS, _FEW_COUNTS)


def _gaussian() -> Iterator[Claim]:
    for sigma in ("1", "4"):
        mechanism = additive.gaussian(scalar(1), sigma)
        yield Claim(f"gaussian-{sigma}", additive.gaussian, mechanism, _COUNTS, _FEW_COUNTS, margin=30)
        discrete = additive.discrete_gaussian(scalar(1), sigma)
        yield Claim(f"discrete-gaussian-{sigma}", additive.discrete_gaussian, discrete, _COUNTS, _FEW_COUNTS, margin=30)
    mechanism = additive.gaussian(cells(2, 1), 2)
    yield Claim("gaussian-two-cells", additive.gaussian, mechanism, _TWO_CELLS, tuple(nearby(range(2), 2)), margin=8)
    quarter = additive.gaussian_share(scalar(1), Fraction(2), Fraction(1, 4))
    yield Claim("gaussian-share", additive.gaussian_share, quarter, _COUNTS, _FEW_COUNTS, margin=30)
    for e in EPSILONS:
        mechanism = additive.analytic_gaussian(scalar(1), e, "1e-5")
        yield Claim(f"analytic-gaussian-{e}", additive.analytic_gaussian, mechanism, _COUNTS, _FEW_COUNTS, margin=30)
    mechanism = additive.classic_gaussian(scalar(1), "0.5", "1e-5")
    yield Claim("classic-gaussian", additive.classic_gaussian, mechanism, _COUNTS, _FEW_COUNTS, margin=30)
    zeros, ones = (0,) * 20, (1,) * 20
    mechanism = additive.least_error(cells(20, 1), 1, "1e-7")
    pairs = ((zeros, ones), ((7,) * 20, (8, 6) * 10), (zeros, (1, *zeros[1:])))
    yield Claim("least-error-many", additive.least_error, mechanism, pairs, most_runs=_WIDE)


def _choices() -> Iterator[Claim]:
    world, any_scores = tuple(nearby(range(3), 3)), cells(4, 1)
    for e in EPSILONS:
        yield Claim(f"exponential-{e}", select.exponential, select.exponential(any_scores, e), _SCORES, world)
        mechanism = select.monotone_exponential(any_scores, e)
        yield Claim(f"monotone-{e}", select.monotone_exponential, mechanism, _RISING, tuple(one_row_more()))
        flip = select.permute_and_flip(any_scores, e)
        yield Claim(f"permute-and-flip-{e}", select.permute_and_flip, flip, _SCORES, world, _FEWER)
        loudest = select.noisy_max(any_scores, e)
        yield Claim(f"noisy-max-{e}", select.noisy_max, loudest, _SCORES, tuple(nearby(range(2), 3)))
    for k in (2, 3):
        yield Claim(f"top-{k}", select.top_k, select.top_k(any_scores, 1, k), _SCORES, tuple(nearby(range(2), 4)))
        top = select.monotone_top_k(any_scores, 1, k)
        yield Claim(f"monotone-top-{k}", select.monotone_top_k, top, _RISING, tuple(one_row_more(4, 3)))


def _responses() -> Iterator[Claim]:
    people: tuple[Pair, ...] = ((0, 1), ((0, 0, 0), (0, 1, 0)), ((1, 1), (1, 0)))
    for e in EPSILONS:
        yield Claim(f"response-{e}", response.response, response.response(e), people, people)
    five: tuple[Pair, ...] = ((0, 1), (0, 4), (2, 3), ((4, 4), (4, 0)))
    yield Claim("response-five", response.response, response.response(1, 5), five, five)
    yield Claim("two-coins", response.two_coins, response.two_coins(), people, people)
    yield Claim("two-coins-uneven", response.two_coins, response.two_coins("0.5", "0.1"), people, people)


def _sparse() -> Iterator[Claim]:
    zeros, ones, half = (0,) * 10, (1,) * 10, (0,) * 5 + (1,) * 5
    questions = (zeros, ones), (half, half[::-1]), (zeros, (1, *zeros[1:])), ((0, 1) * 5, (1, 0) * 5)
    world = tuple(nearby((0, 1), 3))
    for e in EPSILONS:
        mechanism = threshold.sparse_vector(scalar(1), e, threshold=0, positives=1)
        yield Claim(f"sparse-vector-{e}", threshold.sparse_vector, mechanism, questions, world, _FEWER)
    mechanism = threshold.sparse_vector(scalar(1), 2, threshold=1, positives=3)
    yield Claim("sparse-vector-three", threshold.sparse_vector, mechanism, questions, world, _FEWER)
    mechanism = threshold.numeric_sparse_vector(scalar(1), 1, threshold=0, positives=2, numbers=1)
    yield Claim("sparse-vector-numbers", threshold.numeric_sparse_vector, mechanism, questions, world, _FEWER)


def _grids() -> Iterator[Claim]:
    grid: tuple[Pair, ...] = (
        ((1, 4, 6, 2, 0), (1, 4, 7, 2, 0)),
        ((0, 0, 0, 0, 0), (0, 0, 0, 0, 1)),
        ((9, 0, 0, 0, 9), (10, 0, 0, 0, 9)),
        ((LARGEST, 0, 0, 0, 0), (LARGEST, 0, 0, 0, 1)),
    )
    for q in ("0.5", "0.9", "0"):
        mechanism = quantile.quantile(rows(1), 1, q=q)
        yield Claim(f"quantile-{q}", quantile.quantile, mechanism, grid, tuple(one_row_more()))
    two_rows = tuple((h, tuple(c + 2 * (v == i) for i, c in enumerate(h))) for h, _ in one_row_more() for v in range(3))
    mechanism = quantile.quantile(rows(2), 1, q="0.25")
    yield Claim("quantile-two-rows", quantile.quantile, mechanism, two_rows[:6], two_rows)
    flips: tuple[Pair, ...] = (((3, 4), (4, 4)), ((0, 0), (1, 0)), ((12, 0), (12, 1)))
    for e in EPSILONS:
        bias = beta.bias(e, low="0.1", high="0.9", points=9)
        yield Claim(f"bias-{e}", beta.bias, bias, flips, tuple(one_row_more(2)))
    turned: tuple[Pair, ...] = (((3, 4), (4, 3)), ((1, 0), (0, 1)), ((12, 0), (11, 1)))
    bias = beta.bias(1, low="0.01", high="0.9", points=9, under=Relation.REPLACE_ONE)
    yield Claim("bias-replace-one", beta.bias, bias, turned, tuple(one_row_other(2)))


def _keys() -> Iterator[Claim]:
    for e in EPSILONS:
        mechanism = keys.key_selection(1, e, "0.01")
        tau = mechanism.threshold
        pairs = (((0,), (1,)), ((tau,), (tau + 1,)), ((0, tau, 1), (0, tau - 1, 1)), ((0, 0, 5), (0, 1, 5)))
        yield Claim(f"keys-{e}", keys.key_selection, mechanism, pairs, tuple(keys_entered(range(tau + 3), 2, 1)))
    three = keys.key_selection(3, 2, "0.01")
    yield Claim("keys-three-groups", keys.key_selection, three, _entry_pairs(three), _entry_world(three))
    normal = keys.gaussian_key_selection(3, 3, "0.001")
    yield Claim("gaussian-keys", keys.gaussian_key_selection, normal, _entry_pairs(normal), _entry_world(normal))
    yield from _keys_by_replacement()


def _keys_by_replacement() -> Iterator[Claim]:
    for groups, name in ((1, "one-group"), (2, "two-groups")):
        laplace = keys.key_selection(groups, 2, "0.01", relation=Relation.REPLACE_ONE)
        world = tuple(keys_exchanged((0, laplace.threshold), 2 * groups, groups))
        yield Claim(f"keys-replace-one-{name}", keys.key_selection, laplace, _exchange_pairs(laplace, groups), world)
    normal = keys.gaussian_key_selection(2, 3, "0.001", relation=Relation.REPLACE_ONE)
    world = tuple(keys_exchanged((0, normal.threshold), 4, 2))
    yield Claim("gaussian-keys-replace-one", keys.gaussian_key_selection, normal, _exchange_pairs(normal, 2), world)


def _entry_pairs(selection: keys.KeySelection) -> tuple[Pair, ...]:
    """Three keys nobody had, three near the threshold, and some of each."""
    tau = selection.threshold
    return ((0, 0, 0), (1, 1, 1)), ((tau,) * 3, (tau + 1,) * 3), ((0, 1, tau), (1, 2, tau + 1)), ((1, 0, 0), (2, 0, 0))


def _entry_world(selection: keys.KeySelection) -> tuple[Pair, ...]:
    """Three keys that nobody has, or one unit, or about as many as the threshold."""
    return tuple(keys_entered((0, 1, selection.threshold - 1, selection.threshold), 3, 3))


def _exchange_pairs(selection: keys.KeySelection, groups: int) -> tuple[Pair, ...]:
    """Keys left and entered: only there for one of the tables, near the threshold, and one of each."""
    tau, rare = selection.threshold, (1,) * groups + (0,) * groups
    common, mixed = tuple(tau + c for c in rare), tuple(tau * (i % 2) + c for i, c in enumerate(rare))
    mixed_exchanged = tuple(m + 1 - 2 * c for m, c in zip(mixed, rare, strict=True))
    pairs = [(counts, counts[groups:] + counts[:groups]) for counts in (rare, common)]
    return (*pairs, (mixed, mixed_exchanged))


def _demonstrations() -> Iterator[Claim]:
    people: tuple[Pair, ...] = (((), (7,)), ((1, 2), (1, 2, 3)), ((5,), (5, 9)))
    shame = demonstration.name_and_shame("0.1")
    yield Claim("name-and-shame", demonstration.name_and_shame, shame, people, people, _FEWER)
    nothing = demonstration.all_or_nothing("0.1")
    yield Claim("all-or-nothing", demonstration.all_or_nothing, nothing, people, people, _FEWER)


_MECHANISMS = (_additive, _gaussian, _choices, _responses, _sparse, _grids, _keys, _demonstrations)
