"""Exact output laws on small inputs, as certified balls: no draws, no statistics.

A law maps every output to its probability.  Unbounded outputs are cut to a public window with one output for each
tail: a coarser view of the same mechanism, so every bound read off it holds for the whole.  All laws are built from
what the mechanism itself would use: its rate, its noise, its coins and its scores.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from flint import arb, ctx

from discreet.audit.forest import placed
from discreet.mechanism import quantile
from discreet.mechanism.additive import Additive
from discreet.mechanism.additive import Law as Noise
from discreet.mechanism.beta import Bias
from discreet.mechanism.demonstration import AllOrNothing, NameAndShame
from discreet.mechanism.keys import KeySelection
from discreet.mechanism.quantile import Quantile
from discreet.mechanism.response import KaryResponse, Survey
from discreet.mechanism.select import ExponentialMechanism, NoisyMax, PermuteAndFlip, TopK
from discreet.mechanism.threshold import SparseVector
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.real import ball
from discreet.release.measure import Measurement


@dataclass(frozen=True)
class Number:
    """`at` + noise, one of many that are independent of each other."""

    noise: Noise
    at: int


OutputLaw = dict[Any, arb]
Numbers = tuple[Number, ...]  # too many for one law of them all; joint.py makes it of those that differ
Told = OutputLaw | Numbers
_REACH = 90  # noise beyond 90 scales has less than 2⁻¹²⁸ of the mass and enters as a ball
_NUMBERS = range(-2, 4)


def law(mechanism: Any, exact: Any, window: range) -> OutputLaw:
    """Every output with its probability; `window` bounds the numbers told apart where noise is added."""
    match mechanism:
        case Additive():
            return independent([windowed(mechanism.noise, int(x), window) for x in _flat(exact)])
        case ExponentialMechanism():
            return exponential(exact, mechanism.rate)
        case PermuteAndFlip():
            return permute_and_flip(exact, mechanism.rate)
        case NoisyMax():
            return noisy_max(exact, mechanism.noise)
        case TopK():
            return top(exact, mechanism.choice.rate, mechanism.k)
        case Quantile():
            return law(mechanism.choice, quantile.scores(list(exact), mechanism.q), window)
        case Bias():
            return law(mechanism.choice, mechanism.scores(list(exact)), window)
        case KaryResponse():
            return independent([_kary(mechanism, int(x)) for x in _flat(exact)])
        case Survey():
            return independent([_coin(ball(mechanism.yes_probability(int(x)))) for x in _flat(exact)])
        case SparseVector():
            return sparse(mechanism, exact)
        case KeySelection():
            return released(exact, mechanism.threshold, mechanism.noise)
        case NameAndShame():
            return _named(tuple(exact), mechanism.delta)
        case AllOrNothing():
            return _added([(tuple(exact), ball(mechanism.delta)), ((), 1 - ball(mechanism.delta))])
        case _:
            raise TypeError("no exact law is known for this mechanism")


def windowed(noise: Noise, at: int, window: range) -> OutputLaw:
    """`at` + noise, cut to the window."""
    last = window[-1]
    found: OutputLaw = {k: mass(noise, k - at) for k in window}
    found[f"≥ {last + 1}"] = above(noise, last - at)
    found[f"≤ {window[0] - 1}"] = above(noise, at - window[0])
    return found


def numbers(mechanism: Measurement, exact: Any) -> Numbers:
    """All numbers of a table over a tree, as the mechanism's own code adds them up, each with its noise."""
    noises = [one.noise for level in mechanism.mechanisms for one in level]
    values, which = placed(mechanism, exact)
    return tuple(Number(noises[i], at) for i, at in zip(which.tolist(), values.tolist(), strict=True))


def exponential(scores: Sequence[int], rate: Fraction) -> OutputLaw:
    """P[i] ∝ e^(rate·score_i)."""
    best = max(map(int, scores))
    weights = [(-ball(rate * (best - int(s)))).exp() for s in scores]
    total = sum(weights, start=arb(0))
    return {i: w / total for i, w in enumerate(weights)}


def permute_and_flip(scores: Sequence[int], rate: Fraction) -> OutputLaw:
    """A uniform choice among the heads of coins of bias e^(−rate·gap), summed over all sets of heads."""
    best = max(map(int, scores))
    coins = [(-ball(rate * (best - int(s)))).exp() for s in scores]
    found = {i: arb(0) for i in range(len(coins))}
    for heads in product((False, True), repeat=len(coins)):
        if any(heads):
            chance = _product(c if h else 1 - c for c, h in zip(coins, heads, strict=True)) / sum(heads)
            for i in range(len(coins)):
                found[i] += chance if heads[i] else 0
    return found


def noisy_max(scores: Sequence[int], noise: DiscreteLaplace) -> OutputLaw:
    """P[i is the first to reach the largest noisy score], summed over that score."""
    values = [int(s) for s in scores]
    reach = math.ceil(noise.scale * _REACH)
    rest = arb(0).union(above(noise, reach) * 2)
    found = {}
    for i, own in enumerate(values):
        total = rest
        for top_score in range(own - reach, own + reach + 1):
            others = (1 - above(noise, top_score - s - (1 if j < i else 0)) for j, s in enumerate(values) if j != i)
            total += mass(noise, top_score - own) * _product(others)
        found[i] = total
    return found


def top(scores: Sequence[int], rate: Fraction, k: int) -> OutputLaw:
    """k exponential choices one after the other, each without those before."""
    found: OutputLaw = {(): arb(1)}
    for _ in range(k):
        longer: OutputLaw = {}
        for before, chance in found.items():
            left = [i for i in range(len(scores)) if i not in before]
            for at, more in exponential([scores[i] for i in left], rate).items():
                longer[(*before, left[at])] = chance * more
        found = longer
    return found


def sparse(mechanism: SparseVector, exact: Sequence[int]) -> OutputLaw:
    """Every list of verdicts, ⊥ and ⊤ or the noisy number, summed over the noise of the threshold."""
    noise = mechanism.threshold_noise
    reach = math.ceil(noise.scale * _REACH)
    found: OutputLaw = {}
    for shift in range(-reach, reach + 1):
        level = mechanism.threshold + shift
        ups = [above(mechanism.question_noise, level - 1 - int(q)) for q in exact]
        for pattern, chance in verdicts(ups, mechanism.positives):
            found[pattern] = found.get(pattern, arb(0)) + mass(noise, shift) * chance
    rest = arb(0).union(above(noise, reach) * 2)
    found = {pattern: chance + rest for pattern, chance in found.items()}
    return found if mechanism.number_noise is None else _numbered(found, exact, mechanism.number_noise)


def verdicts(ups: Sequence[arb], positives: int) -> Iterator[tuple[str, arb]]:
    """(pattern, probability) given P[above] of each question, stopping after so many positives."""
    open_: list[tuple[str, arb]] = [("", arb(1))]
    for up in ups:
        after = []
        for pattern, chance in open_:
            if pattern.count("⊤") == positives:
                yield pattern, chance
            else:
                after += [(pattern + "⊤", chance * up), (pattern + "⊥", chance * (1 - up))]
        open_ = after
    yield from open_


def released(counts: Sequence[int], threshold: int, noise: Noise) -> OutputLaw:
    """1 for each key with count + noise > threshold, else 0; a key nobody has, count 0, is never released."""
    return _tuples([_coin(above(noise, threshold - c) if c >= 1 else arb(0)) for c in map(int, counts)])


def independent(parts: Sequence[OutputLaw]) -> OutputLaw:
    """The law of all parts side by side; a single part keeps its own outputs."""
    return parts[0] if len(parts) == 1 else _tuples(parts)


def _tuples(parts: Sequence[OutputLaw]) -> OutputLaw:
    found: OutputLaw = {(): arb(1)}
    for part in parts:
        found = {(*before, y): p * q for before, p in found.items() for y, q in part.items()}
    return found


def mass(noise: Noise, k: int) -> arb:
    """P[noise = k]."""
    return _mass(noise, k, ctx.prec)


def above(noise: Noise, t: int) -> arb:
    """P[noise > t]."""
    return _above(noise, t, ctx.prec)


@lru_cache(maxsize=1 << 16)
def _mass(noise: Noise, k: int, bits: int) -> arb:
    return noise.mass(k)


@lru_cache(maxsize=1 << 16)
def _above(noise: Noise, t: int, bits: int) -> arb:
    match noise:
        case DiscreteGaussian():
            return _summed_above(noise, t)
        case _:
            return noise.above(t)


def _summed_above(noise: DiscreteGaussian, t: int) -> arb:
    """P[noise > t] of a symmetric law: half of what is left beside the middle, less what lies between."""
    if t < 0:
        return 1 - _summed_above(noise, -t - 1)
    return (1 - mass(noise, 0)) / 2 - sum((mass(noise, k) for k in range(1, t + 1)), start=arb(0))


def _numbered(found: OutputLaw, exact: Sequence[int], noise: DiscreteLaplace) -> OutputLaw:
    """Beside each positive its number, drawn afresh."""
    both: OutputLaw = {}
    for pattern, chance in found.items():
        numbers = [windowed(noise, int(exact[i]), _NUMBERS) for i, sign in enumerate(pattern) if sign == "⊤"]
        for said, more in _tuples(numbers).items():
            both[(pattern, said)] = chance * more
    return both


def _kary(mechanism: KaryResponse, truth: int) -> OutputLaw:
    others = mechanism.choices - 1
    keep = 1 / (1 + others * (-ball(mechanism.epsilon)).exp())
    return {v: keep if v == truth else (1 - keep) / others for v in range(mechanism.choices)}


def _coin(yes: arb) -> OutputLaw:
    return {1: yes, 0: 1 - yes}


def _named(rows: tuple[int, ...], delta: Fraction) -> OutputLaw:
    parts = []
    for heads in product((False, True), repeat=len(rows)):
        chance = _product(ball(delta) if h else 1 - ball(delta) for h in heads)
        parts.append((tuple(row for row, h in zip(rows, heads, strict=True) if h), chance))
    return _added(parts)


def _added(parts: list[tuple[Any, arb]]) -> OutputLaw:
    found: OutputLaw = {}
    for output, chance in parts:
        found[output] = found.get(output, arb(0)) + chance
    return found


def _product(factors: Iterator[arb]) -> arb:
    made = arb(1)
    for factor in factors:
        made *= factor
    return made


def _flat(exact: Any) -> list[int]:
    return list(exact) if isinstance(exact, (tuple, list)) else [int(exact)]
