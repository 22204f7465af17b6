"""How far two or more noises, taken together, stray: radii that hold at a stated level for the integer laws in use.

    pair_radius(X, Y)(t)   q ≥ the level-quantile of |X − t·Y|, X and Y independent
    joint_radius(X…)(c…)   q ≥ the level-quantile of |Σ c_i·X_i|, all X_i independent
    sum_radius(X, m)       the least whole q with P[|X₁ + … + X_m| ≤ q] ≥ level, or a little more

Proofs on docs/proofs/answer/interval.md.  Nothing here sees a released number: a radius is a function of public laws
alone.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from discreet import real
from discreet.ndarrays import Floats, Ints
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace

PairRadius = Callable[[Floats], Floats]
JointRadius = Callable[[Sequence[Floats]], Floats]

_GRID = 2048  # ratios of two scales at which their joint quantile is tabled
_COARSE = 64  # the same for three and four
_SPLITS = tuple(Fraction(k, 16) for k in (1, 4, 8, 12, 15))
_MARGIN = 1 + 1e-9  # far above the rounding of every float formula here
_LONGEST = 1 << 22  # points of the widest law that is convolved
_TINY = Fraction(1, 10**200)  # below, a probability is left to exact arithmetic
_FLOAT_MISS = 1e-9  # what a convolution in floats may err by


class Law(Protocol):
    """A symmetric integer noise that knows its own radius."""

    def radius(self, level: Fraction) -> int: ...


def pair_radius(x: Law, y: Law, level: Fraction) -> PairRadius:
    """t ↦ q(t) with P[|X − t·Y| ≤ q(t)] ≥ level for each t, at or above a bound that grows with |t|.

    Two Laplace or two Gaussian laws by their exact continuous form and ½ step each; always, and for any other two, by
    giving each a share of 1 − level (Bonferroni).  The smaller of the two is taken.

    >>> q = pair_radius(DiscreteLaplace(Fraction(10)), DiscreteLaplace(Fraction(10)), Fraction(95, 100))
    >>> [round(float(r), 1) for r in q(np.array([0.0, 1.0]))]   # alone ±30; two together less than ±60
    [30.5, 42.2]
    """
    apart = _apart(x, y, level)
    if 1 - level < _TINY:
        return apart
    match x, y:
        case DiscreteLaplace(), DiscreteLaplace():
            joint = _two_laplaces(x.scale, y.scale, 1 - level)
        case RoundedGaussian(), RoundedGaussian():
            joint = _two_gaussians(x.sigma, y.sigma, 1 - level)
        case _:
            return apart
    return lambda t: np.minimum(joint(t), apart(t))


def _apart(x: Law, y: Law, level: Fraction) -> PairRadius:
    """The least over a few public splits of r_X + |t|·r_Y."""
    missed = 1 - level
    ends = [(x.radius(1 - share * missed), y.radius(1 - (1 - share) * missed)) for share in _SPLITS]

    def radius(t: Floats) -> Floats:
        size = np.abs(t)
        best = np.full(size.shape, np.inf)
        for x_radius, y_radius in ends:
            np.minimum(best, x_radius + size * y_radius, out=best)
        return best * _MARGIN

    return radius


# --- two Gaussians -------------------------------------------------------------------------------------------------


def _two_gaussians(x: Fraction, y: Fraction, missed: Fraction) -> PairRadius:
    """z·√(σ_x² + t²σ_y²) + ½ + |t|/2: the continuous pair is normal, and rounding moves each by at most ½."""
    z, a, b = normal_radius(missed) * _MARGIN, float(x), float(y)

    def radius(t: Floats) -> Floats:
        size = np.abs(t)
        joint: Floats = z * np.hypot(a, size * b) + 0.5 * (1 + size)
        return joint

    return radius


@lru_cache(maxsize=256)
def normal_radius(missed: Fraction) -> float:
    """A float just above z with P[|N(0,1)| > z] = missed, certified."""
    from statistics import NormalDist  # slow to import, and rarely needed

    z = -NormalDist().inv_cdf(float(missed) / 2) + 1e-12
    while not _beyond(Fraction(z), missed / 2):
        z += 1e-9
    return z


def _beyond(z: Fraction, missed: Fraction) -> bool:
    return real.less(lambda: real.normal_tail(real.ball(z)), lambda: real.ball(missed))


# --- two Laplaces --------------------------------------------------------------------------------------------------


def _two_laplaces(x: Fraction, y: Fraction, missed: Fraction) -> PairRadius:
    """max·κ(min/max) + ½ + |t|/2, for the scales `_wider` of X and of t·Y."""
    a, b, table = _wider(x), _wider(y), _pair_table(missed)

    def radius(t: Floats) -> Floats:
        size = np.abs(t)
        scaled = size * b
        wide, narrow = np.maximum(a, scaled), np.minimum(a, scaled)
        index = np.minimum(np.ceil(narrow / wide * _GRID), _GRID).astype(np.int64)
        joint: Floats = wide * table[index] + 0.5 * (1 + size)
        return joint

    return radius


def _wider(scale: Fraction) -> float:
    """b' = 1/(2·tanh(1/2b)): continuous Laplace noise of that scale is less peaked than integer noise of scale b, made
    continuous by a uniform ±½."""
    half = float(min(1 / (2 * scale), Fraction(400)))
    return 1 / (2 * math.tanh(half))


@lru_cache(maxsize=64)
def _pair_table(missed: Fraction) -> Floats:
    """κ(r) for r = 0, 1/2048 … 1: P[|Z + r·Z'| > κ] ≤ missed for standard Laplace Z, Z'; it grows with r."""
    eta, ratio = float(missed), np.arange(_GRID + 1) / _GRID
    low = np.full(ratio.shape, -math.log(eta))
    return _least_tail_point(lambda s: _pair_tail(ratio, s), low, 2 * low + 2.0, eta, halvings=60) * _MARGIN


def _least_tail_point(tail: PairRadius, low: Floats, high: Floats, eta: float, *, halvings: int) -> Floats:
    """Points just above the least with tail(point) ≤ eta, by halving [low, high]; high grows until it is enough."""
    while (tail(high) > eta).any():
        high = high * 2
    for _ in range(halvings):
        middle = (low + high) / 2
        enough = tail(middle) <= eta
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high


def _pair_tail(r: Floats, s: Floats) -> Floats:
    """P[|Z + r·Z'| > s] = (e^(−s) − r²·e^(−s/r))/(1 − r²), and (1 + s/2)·e^(−s) at r = 1."""
    inner = np.maximum(r[1:-1], 1e-300)
    tail = np.exp(-s)
    tail[1:-1] *= (1 - inner**2 * np.exp(-s[1:-1] * (1 / inner - 1))) / (1 - inner**2)
    tail[-1] *= 1 + s[-1] / 2
    return tail


# --- three and more --------------------------------------------------------------------------------------------------


def joint_radius(laws: Sequence[Law], level: Fraction) -> JointRadius:
    """c ↦ q with P[|Σ c_i·X_i| ≤ q] ≥ level for independent X_i; at or above a bound that grows with every |c_i|.

    All Gaussian: normal, and ½ step each.  Two to four Laplace: by a table of their joint law.  Always, and
    for mixed laws: each at an equal share of what may be missed.
    """
    missed, k = 1 - level, len(laws)
    alone = [float(law.radius(1 - missed / k)) for law in laws]

    def apart(sizes: Floats) -> Floats:
        return np.tensordot(alone, sizes, axes=1) * _MARGIN

    joint = (_together(laws, missed) if missed >= _TINY else None) or apart

    def radius(coefficients: Sequence[Floats]) -> Floats:
        sizes = np.abs(np.stack(coefficients))
        return np.minimum(joint(sizes), apart(sizes))

    return radius


def _together(laws: Sequence[Law], missed: Fraction) -> PairRadius | None:
    sigmas = [float(law.sigma) for law in laws if isinstance(law, RoundedGaussian)]
    scales = [_wider(law.scale) for law in laws if isinstance(law, DiscreteLaplace)]
    if len(sigmas) == len(laws):
        return _gaussians(sigmas, missed)
    if 2 <= len(scales) == len(laws) <= 4:
        return _laplaces(scales, missed)
    return None


def _gaussians(sigmas: list[float], missed: Fraction) -> PairRadius:
    z = normal_radius(missed) * _MARGIN

    def radius(sizes: Floats) -> Floats:
        joint: Floats = z * np.sqrt(np.tensordot(np.square(sigmas), sizes**2, axes=1)) + sizes.sum(axis=0) / 2
        return joint

    return radius


def _laplaces(scales: list[float], missed: Fraction) -> PairRadius:
    """Of two to four: the widest, the second, and the others as if each were as wide as the third."""
    others = max(len(scales) - 2, 1)
    table = _joint_table(missed, others)

    def radius(sizes: Floats) -> Floats:
        wide = np.sort(np.tensordot(np.diag(scales), sizes, axes=1), axis=0)[::-1]
        widest = np.maximum(wide[0], 1e-300)
        second = _grid_index(wide[1] / widest, _offset(1, others))
        third = _grid_index(wide[min(2, len(scales) - 1)] / widest, _offset(2, others)) if len(scales) > 2 else 0
        joint: Floats = widest * table[second, third] + sizes.sum(axis=0) / 2
        return joint

    return radius


def _offset(number: int, others: int) -> float:
    """The offset of a scale's grid: no two scales of a table are closer than a quarter of a 64th."""
    return number / (others + 2)


def _grid_index(ratio: Floats, offset: float) -> Ints:
    """The first k with (k + offset)/64 at or above the ratio."""
    return np.clip(np.ceil(ratio * _COARSE - offset), 0, _COARSE).astype(np.int64)


@lru_cache(maxsize=64)
def _joint_table(missed: Fraction, others: int) -> Floats:
    """κ with P[|Z + r·Z₁ + s·(Z₂ + …)| > κ] ≤ missed, r on the first grid, each of the others on a grid of its own."""
    eta, grid = float(missed), np.arange(_COARSE + 1)
    second, third = np.meshgrid(grid, grid, indexing="ij")
    scales = [np.ones(second.shape), (second + _offset(1, others)) / _COARSE]
    scales += [(third + _offset(2 + i, others)) / _COARSE for i in range(others)]
    low = np.full(second.shape, -math.log(eta))
    kappa = _least_tail_point(lambda s: _joint_tail(scales, s), low, 2 * low + 4.0, eta, halvings=45)
    return kappa * (1 + 1e-6)  # the sum below loses up to seven of sixteen digits


def _joint_tail(scales: list[Floats], x: Floats) -> Floats:
    """P[|Σ a·Z_a| > x] = Σ over the scales a of e^(−x/a)·Π a²/(a² − b²), b the others, all different."""
    tail = np.zeros(x.shape)
    for i, a in enumerate(scales):
        term = np.exp(-x / a)
        for j, b in enumerate(scales):
            if j != i:
                term = term * (a * a / (a * a - b * b))
        tail += term
    return tail


# --- sums of many ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def sum_radius(law: Law, m: int, level: Fraction) -> int:
    """The least whole q with P[|X₁ + … + X_m| ≤ q] ≥ level, by convolution with 10⁻⁹ to spare.

    Where the law is too wide or the level too near 1 for that: m·radius(1 − (1 − level)/m), which always holds.

    >>> law = DiscreteLaplace(Fraction(10))
    >>> law.radius(Fraction(95, 100)), sum_radius(law, 2, Fraction(95, 100)), sum_radius(law, 10, Fraction(95, 100))
    (30, 41, 89)
    """
    if m <= 1:
        return law.radius(level) if m else 0
    half = _sum_masses(law, m) if 1 - level >= Fraction(1, 10**6) else None
    if half is None:
        return m * law.radius(1 - (1 - level) / m)
    # P[|S| > q] for q = 0, 1, …: twice the masses above, summed from the far end, where they are smallest
    outside = 2 * np.append(np.cumsum(half[:0:-1])[::-1], 0.0) + _FLOAT_MISS
    return int(np.argmax(outside <= float(1 - level)))


def _sum_masses(law: Law, m: int) -> Floats | None:
    """P[S = k] for k = 0, 1, … by fast Fourier transform; None where it would be too long."""
    match law:
        case DiscreteLaplace():
            wide, root = float(law.scale), math.sqrt(2)
        case RoundedGaussian():
            wide, root = float(law.sigma) + 0.5, 1.0
        case _:
            return None
    reach = 45 * wide + 12 * root * wide * math.sqrt(m) + 8  # beyond: less than 10⁻¹² of the sum's law
    size = 1 << math.ceil(math.log2(2 * reach))
    if size > _LONGEST or m > 10**5:
        return None
    law_transformed = np.fft.rfft(_ring(law, size)).real  # symmetric laws have real transforms
    return np.maximum(np.fft.irfft(law_transformed**m, size)[: size // 2], 0.0)


def _ring(law: DiscreteLaplace | RoundedGaussian, size: int) -> Floats:
    """P[X = k] at k and at size − k."""
    k = np.minimum(np.arange(size), size - np.arange(size)).astype(np.float64)
    match law:
        case DiscreteLaplace():
            half = float(min(1 / (2 * law.scale), Fraction(400)))
            return math.tanh(half) * np.exp(-np.minimum(2 * half * k, 700.0))
        case RoundedGaussian():
            edges = [math.erfc((j + 0.5) / (float(law.sigma) * math.sqrt(2))) for j in range(size // 2 + 1)]
            halves = np.append(1 - edges[0], -np.diff(edges) / 2)
            masses: Floats = halves[k.astype(np.int64)]
            return masses
