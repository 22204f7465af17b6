"""Privacy loss distributions by dp-accounting, for composed and sampled costs; imported only when first used.

Losses are put on a grid by the pessimistic rule of Doroshenko et al. (2022), so δ(ε) is too small by the rounding of
floats at most; docs/proofs/privacy/pld.md bounds that, and it is added to δ as `allowance`.  Where the allowance is
not small against the δ asked for, or the grid would be too wide, this route gives no bound.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet import amounts
from discreet.privacy import convert
from discreet.privacy.flat import Atoms, Choice, Concentrated, Normal, Odds, Thinned
from discreet.privacy.renyi import total_odds

_UNIT = 2.0**-53
_FINE, _WIDE, _SINGLE = 100, 2**20, 2**17  # points per standard deviation, per total width, per single step
_LARGEST_LOSS = 600.0
_MOST_TIMES = 10**8
_ROUNDING = 1e-14  # of δ at one grid point, for one step, per unit of loss
_TAIL = 1e-15  # mass beyond the grid, counted as infinite loss, per composition
_LEAST_DELTA = Fraction(1, 10**12)


@dataclass(frozen=True)
class Loss:
    """The privacy loss of a composition on its grid, in both directions, and a bound on the rounding of floats."""

    distribution: Any
    interval: float
    allowance: float

    def delta(self, epsilon: float) -> float:
        """δ at ε, too small by the allowance at most, which is not yet added."""
        import numpy as np

        with np.errstate(all="ignore"):
            return float(self.distribution.get_delta_for_epsilon(epsilon))

    def epsilon(self, delta: float) -> float:
        """ε at δ on the grid."""
        import numpy as np

        with np.errstate(all="ignore"):
            return float(self.distribution.get_epsilon_for_delta(delta))


@dataclass(frozen=True)
class _Shape:
    mean: float
    deviation: float
    reach: float


def epsilon_at(atoms: Atoms, delta: Fraction) -> "tuple[Fraction, Loss] | None":
    """ε at δ and its distribution, rounded up; None where this route does not reach."""
    if delta < _LEAST_DELTA:
        return None
    loss = distribution(atoms)
    if loss is None or 2 * loss.allowance > delta:
        return None
    usable_delta = amounts.float_down(delta) - loss.allowance
    guess = loss.epsilon(usable_delta)
    if not math.isfinite(guess):
        return None
    for doubling in range(40):
        # The inverse is only a hint: what counts is δ at the ε returned.
        if loss.delta(guess) <= usable_delta:
            return Fraction(guess), loss
        guess += (guess + loss.interval) * 1e-12 * 2.0**doubling
    return None


def delta_at(atoms: Atoms, epsilon: Fraction) -> "tuple[Fraction, Loss] | None":
    """δ at ε and its distribution, rounded up by the allowance."""
    if epsilon > _LARGEST_LOSS:
        return None
    loss = distribution(atoms)
    if loss is None:
        return None
    value = loss.delta(amounts.float_down(epsilon)) + loss.allowance
    return (min(Fraction(1), Fraction(value)), loss) if math.isfinite(value) and value >= 0 else None


def distribution(atoms: Atoms) -> "Loss | None":
    """The pessimistic distribution of a composition; None out of range."""
    pairs = with_dominating_pairs(atoms)
    return None if pairs is None else _compose(pairs, 1)


def optimistic(atoms: Atoms) -> "Loss | None":
    """The optimistic distribution: the true price is not far below it; for tests and for stating slack."""
    pairs = with_dominating_pairs(atoms)
    return None if pairs is None else _compose(pairs, -1)


def with_dominating_pairs(atoms: Atoms) -> "Atoms | None":
    """The composition from atoms that have a dominating pair, None where there is none.

    A choice pays for all its parts, and a sample of mixed atoms is priced as if it were everyone.
    """
    pairs: list[Any] = []
    for atom, times in atoms:
        match atom:
            case Thinned(atoms=((Normal(), 1),)) | Odds() | Normal():
                pairs.append((atom, times))
            case Thinned() if total_odds(atom.atoms) is not None:
                pairs.append((atom, times))
            case Thinned() | Choice():
                for part in atom.parts if isinstance(atom, Choice) else (atom.atoms,):
                    inner = with_dominating_pairs(part)
                    if inner is None:
                        return None
                    pairs += [(each, count * times) for each, count in inner]
            case Concentrated():
                return None
    mu_squared = sum((atom.mu_squared * times for atom, times in pairs if isinstance(atom, Normal)), Fraction(0))
    others = [(atom, times) for atom, times in pairs if not isinstance(atom, Normal)]
    return (*others, (Normal(mu_squared), 1)) if mu_squared else tuple(others)


@lru_cache(maxsize=8)
def _compose(pairs: Atoms, side: int) -> "Loss | None":
    import numpy as np

    total, allowance = None, 0.0
    try:
        interval = _interval(pairs)
        if interval is None:
            return None
        with np.errstate(all="ignore"):
            for atom, times in pairs:
                single = _distribution_of(atom, interval, side)
                power = single.self_compose(times, _TAIL) if times > 1 else single
                allowance += times * _ROUNDING * (1 + _shape(atom).reach) + _self_allowance(single, power, times)
                if total is None:
                    total = power
                else:
                    total = total.compose(power, _TAIL)
                    allowance += _pair_allowance(total)
    except (ValueError, OverflowError, MemoryError, FloatingPointError):
        return None  # out of dp-accounting's range; other routes have a wider one
    return Loss(total, interval, allowance) if total is not None else None


@lru_cache(maxsize=8)
def _distribution_of(atom: Any, interval: float, side: int) -> Any:
    """The distribution of one atom in both directions, on the grid of `interval`; a run is priced at many lengths."""
    from dp_accounting.pld import privacy_loss_distribution as library

    match atom:
        case Normal():
            return _gaussian(atom.mu_squared, 1.0, interval, side)
        case Thinned(atoms=((Normal() as normal, 1),)):
            return _gaussian(normal.mu_squared, amounts.float_up(atom.rate), interval, side)
        case Odds():
            return _two_point(library, atom.epsilon, atom.delta, Fraction(1), interval, side)
        case Thinned():
            total = total_odds(atom.atoms)
            if total is None:
                raise ValueError("not a pure sample")
            return _two_point(library, total.epsilon, total.delta, atom.rate, interval, side)
        case _:
            raise ValueError("no dominating pair")


def _gaussian(mu_squared: Fraction, rate: float, interval: float, side: int) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as library

    sigma = 1 / math.sqrt(float(mu_squared))
    return library.from_gaussian_mechanism(
        sigma * (1 - 4 * _UNIT * side),
        sampling_prob=rate,
        value_discretization_interval=interval,
        pessimistic_estimate=side > 0,
        use_connect_dots=side > 0,
    )


def _two_point(library: Any, epsilon: Fraction, delta: Fraction, rate: Fraction, interval: float, side: int) -> Any:
    """Randomized response at (ε, δ), on a Poisson sample if rate < 1: loss +∞ with probability δ, else two values."""
    side_of = amounts.float_up if side > 0 else amounts.float_down
    e, p = side_of(epsilon), side_of(rate)
    if delta and rate < 1:  # (ε, δ) on a sample is (ln(1+p(e^ε−1)), pδ)
        e, p, delta = side_of(convert.sampled_epsilon(epsilon, rate)), 1.0, delta * rate
    flip, keep = 1 / (1 + math.exp(e)), 1 / (1 + math.exp(-e))
    high, low = math.log1p(p * math.expm1(e)), math.log1p(p * math.expm1(-e))
    lost = side_of(delta)
    grid = _pessimistic_grid if side > 0 else _optimistic_grid
    remove = grid({high: flip * math.exp(high), low: keep * math.exp(low)}, lost, interval)
    if p == 1.0:
        return library.PrivacyLossDistribution(remove)
    return library.PrivacyLossDistribution(remove, grid({-high: flip, -low: keep}, lost, interval))


def _pessimistic_grid(losses: "dict[float, float]", lost: float, interval: float) -> Any:
    """Chords through the exact δ at the grid points around each loss (Doroshenko et al. 2022)."""
    from dp_accounting.pld import pld_pmf

    points = sorted({rounded(loss / interval) for loss in losses for rounded in (math.floor, math.ceil)})

    def delta(epsilon: float) -> float:
        excess = sum(mass * -math.expm1(epsilon - loss) for loss, mass in losses.items() if loss > epsilon)
        return min(1.0, lost + (1 - lost) * excess)

    deltas = [delta(point * interval) for point in points]
    return pld_pmf.create_pmf_pessimistic_connect_dots(interval, points, deltas).to_dense_pmf()


def _optimistic_grid(losses: "dict[float, float]", lost: float, interval: float) -> Any:
    """Each loss rounded down."""
    from dp_accounting.pld import pld_pmf

    masses: dict[int, float] = {}
    for loss, mass in losses.items():
        point = math.floor(loss / interval)
        masses[point] = masses.get(point, 0.0) + (1 - lost) * mass
    return pld_pmf.create_pmf(masses, interval, lost, False).to_dense_pmf()


def _interval(pairs: Atoms) -> "float | None":
    """The grid's step: fine against one atom's loss, coarse enough that the composition fits; None if none fits."""
    shapes = [(_shape(atom), times) for atom, times in pairs]
    if not shapes or any(times > _MOST_TIMES for _, times in shapes):
        return None
    if any(not math.isfinite(s.mean + s.deviation + s.reach) for s, _ in shapes):
        return None
    reach = max(s.reach for s, _ in shapes)
    spread = math.sqrt(sum(times * s.deviation**2 for s, times in shapes))
    width = 2 * (sum(times * s.mean for s, times in shapes) + 10 * spread + reach)
    if not 0 < width < 2 * _LARGEST_LOSS:
        return None
    match pairs:
        case ((Odds() as odds, times),) if times > 1 and width / float(odds.epsilon) < 2 * _WIDE:
            return float(odds.epsilon) * (1 + 1e-12)  # both losses all but on the grid
        case _:
            fine = min(s.deviation for s, _ in shapes) / _FINE
    return max(fine, width / _WIDE, 2 * reach / _SINGLE)


def _shape(atom: Any) -> _Shape:
    """The rough size of one atom's loss; it only chooses the grid, so floats are enough."""
    match atom:
        case Normal():
            mu = math.sqrt(float(atom.mu_squared))
            return _Shape(mu * mu / 2, mu, mu * mu / 2 + 10 * mu)
        case Thinned(atoms=((Normal() as normal, 1),)):
            mu, p = math.sqrt(float(normal.mu_squared)), float(atom.rate)
            if mu > 25:
                return _Shape(math.inf, math.inf, math.inf)
            deviation = min(mu, p * math.sqrt(math.expm1(min(mu * mu, 600.0))))
            return _Shape(deviation**2 / 2, deviation, math.log1p(p * math.expm1(min(10 * mu + mu * mu / 2, 700.0))))
        case _:
            total = total_odds(((atom, 1),))
            e = float(total.epsilon) if total is not None else math.inf
            if e > _LARGEST_LOSS:
                return _Shape(math.inf, math.inf, math.inf)
            return _Shape(e * math.tanh(e / 2), max(e / math.cosh(e / 2), e / 100), e)


def _self_allowance(single: Any, power: Any, times: int) -> float:
    """A bound on what rounding in the losses and in the k-fold Fourier power takes from δ (docs/proofs/privacy/pld.md).

    k·η·√(Σ_j |â_j|^{2(k−1)}), with â the Fourier transform of one step and η the rounding of one frequency.
    """
    import numpy as np
    from scipy import fft

    if times == 1:
        return 0.0
    points = max(pmf.size for pmf in _directions(power))
    worst = 0.0
    for pmf in _directions(single):
        probabilities = pmf.to_dense_pmf()._probs
        length = fft.next_fast_len(max(points, len(probabilities)))
        rounding = _fft_rounding(length)
        sizes = np.minimum(1.0, np.abs(fft.rfft(probabilities, length)) + rounding)
        worst = max(worst, rounding * math.sqrt(2 * float(np.sum(sizes ** (2 * (times - 1))))))
    return times * worst


def _pair_allowance(total: Any) -> float:
    """The same for one convolution of two laws."""
    points = 2 * max(pmf.size for pmf in _directions(total)) + 2
    return 3 * _fft_rounding(points) * math.sqrt(points)


def _fft_rounding(points: int) -> float:
    return 8 * _UNIT * (math.log2(points) + 1)


def _directions(distribution: Any) -> "tuple[Any, Any]":
    return distribution._pmf_remove, distribution._pmf_add
