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

from discreet.audit.forest import exact_layout
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
from discreet.mechanism.vectors import Vectors
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.real import ball
from discreet.release.measure import Measurement


@dataclass(frozen=True)
class Number:
    """`exact` + noise, one of many that are independent of each other."""

    noise: Noise
    exact: int


OutputLaw = dict[Any, arb]
Numbers = tuple[Number, ...]  # too many for one joint law; joint.py builds it from those that differ
ExactLaw = OutputLaw | Numbers
_REACH = 90  # noise beyond 90 scales has less than 2⁻¹²⁸ of the mass and enters as a ball
_NUMBERS = range(-2, 4)


def law(mechanism: Any, exact: Any, window: range) -> OutputLaw:
    """Every output with its probability; `window` bounds the numbers told apart where noise is added."""
    match mechanism:
        case Additive():
            return independent([window_law(mechanism.noise, int(x), window) for x in _flat(exact)])
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
            return independent([_coin(ball(mechanism.said_yes(int(x)))) for x in _flat(exact)])
        case SparseVector():
            return sparse(mechanism, exact)
        case KeySelection():
            return selection_law(exact, mechanism.threshold, mechanism.noise)
        case NameAndShame():
            return _name_and_shame(tuple(exact), mechanism.delta)
        case AllOrNothing():
            return _summed_by_output([(tuple(exact), ball(mechanism.delta)), ((), 1 - ball(mechanism.delta))])
        case _:
            raise TypeError("no exact law is known for this mechanism")


def window_law(noise: Noise, exact: int, window: range) -> OutputLaw:
    """The law of `exact` + noise, cut to the window."""
    last = window[-1]
    law: OutputLaw = {k: mass(noise, k - exact) for k in window}
    law[f"≥ {last + 1}"] = above(noise, last - exact)
    law[f"≤ {window[0] - 1}"] = above(noise, exact - window[0])
    return law


def numbers(mechanism: Measurement, exact: Any) -> Numbers:
    """All numbers of a table over a tree, as the mechanism's own code adds them up, each with its noise."""
    noises = [additive.noise for level in mechanism.mechanisms for additive in level]
    values, indices = exact_layout(mechanism, exact)
    return tuple(Number(noises[i], value) for i, value in zip(indices.tolist(), values.tolist(), strict=True))


def vector_numbers(mechanism: Vectors, exact: Sequence[Sequence[int]]) -> Numbers:
    """All numbers of vectors side by side, each with the noise of its vector."""
    pairs = zip(mechanism.mechanisms.values(), exact, strict=True)
    return tuple(Number(own.noise, int(value)) for own, vector in pairs for value in vector)


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
    law = {i: arb(0) for i in range(len(coins))}
    for heads in product((False, True), repeat=len(coins)):
        if any(heads):
            chance = _product(c if h else 1 - c for c, h in zip(coins, heads, strict=True)) / sum(heads)
            for i in range(len(coins)):
                law[i] += chance if heads[i] else 0
    return law


def noisy_max(scores: Sequence[int], noise: DiscreteLaplace) -> OutputLaw:
    """P[i is the first to reach the largest noisy score], summed over that score."""
    values = [int(s) for s in scores]
    reach = math.ceil(noise.scale * _REACH)
    tail = arb(0).union(above(noise, reach) * 2)
    law = {}
    for i, score in enumerate(values):
        total = tail
        for top_score in range(score - reach, score + reach + 1):
            others = (1 - above(noise, top_score - s - (1 if j < i else 0)) for j, s in enumerate(values) if j != i)
            total += mass(noise, top_score - score) * _product(others)
        law[i] = total
    return law


def top(scores: Sequence[int], rate: Fraction, k: int) -> OutputLaw:
    """k exponential choices one after the other, each without those before."""
    law: OutputLaw = {(): arb(1)}
    for _ in range(k):
        longer: OutputLaw = {}
        for chosen, chance in law.items():
            remaining = [i for i in range(len(scores)) if i not in chosen]
            for index, choice in exponential([scores[i] for i in remaining], rate).items():
                longer[(*chosen, remaining[index])] = chance * choice
        law = longer
    return law


def sparse(mechanism: SparseVector, exact: Sequence[int]) -> OutputLaw:
    """Every list of verdicts, ⊥ and ⊤ or the noisy number, summed over the noise of the threshold."""
    noise = mechanism.threshold_noise
    reach = math.ceil(noise.scale * _REACH)
    law: OutputLaw = {}
    for shift in range(-reach, reach + 1):
        noisy_threshold = mechanism.threshold + shift
        ups = [above(mechanism.question_noise, noisy_threshold - 1 - int(q)) for q in exact]
        for pattern, chance in verdicts(ups, mechanism.positives):
            law[pattern] = law.get(pattern, arb(0)) + mass(noise, shift) * chance
    tail = arb(0).union(above(noise, reach) * 2)
    law = {pattern: chance + tail for pattern, chance in law.items()}
    return law if mechanism.number_noise is None else _with_numbers(law, exact, mechanism.number_noise)


def verdicts(ups: Sequence[arb], positives: int) -> Iterator[tuple[str, arb]]:
    """(pattern, probability) given P[above] of each question, stopping after so many positives."""
    unfinished: list[tuple[str, arb]] = [("", arb(1))]
    for up in ups:
        longer = []
        for pattern, chance in unfinished:
            if pattern.count("⊤") == positives:
                yield pattern, chance
            else:
                longer += [(pattern + "⊤", chance * up), (pattern + "⊥", chance * (1 - up))]
        unfinished = longer
    yield from unfinished


def selection_law(counts: Sequence[int], threshold: int, noise: Noise) -> OutputLaw:
    """1 for each key with count + noise > threshold, else 0; a key nobody has, count 0, is never released."""
    return _tuples([_coin(above(noise, threshold - c) if c >= 1 else arb(0)) for c in map(int, counts)])


def independent(parts: Sequence[OutputLaw]) -> OutputLaw:
    """The law of all parts side by side; a single part keeps its own outputs."""
    return parts[0] if len(parts) == 1 else _tuples(parts)


def _tuples(parts: Sequence[OutputLaw]) -> OutputLaw:
    law: OutputLaw = {(): arb(1)}
    for part in parts:
        law = {(*outputs, y): p * q for outputs, p in law.items() for y, q in part.items()}
    return law


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
    """P[noise > t] of a symmetric law: half of the mass beside 0, less the masses of 1 … t."""
    if t < 0:
        return 1 - _summed_above(noise, -t - 1)
    return (1 - mass(noise, 0)) / 2 - sum((mass(noise, k) for k in range(1, t + 1)), start=arb(0))


def _with_numbers(law: OutputLaw, exact: Sequence[int], noise: DiscreteLaplace) -> OutputLaw:
    """Beside each positive its number, drawn afresh."""
    longer: OutputLaw = {}
    for pattern, chance in law.items():
        numbers = [window_law(noise, int(exact[i]), _NUMBERS) for i, sign in enumerate(pattern) if sign == "⊤"]
        for values, number_chance in _tuples(numbers).items():
            longer[(pattern, values)] = chance * number_chance
    return longer


def _kary(mechanism: KaryResponse, truth: int) -> OutputLaw:
    others = mechanism.choices - 1
    keep = 1 / (1 + others * (-ball(mechanism.epsilon)).exp())
    return {v: keep if v == truth else (1 - keep) / others for v in range(mechanism.choices)}


def _coin(yes: arb) -> OutputLaw:
    return {1: yes, 0: 1 - yes}


def _name_and_shame(rows: tuple[int, ...], delta: Fraction) -> OutputLaw:
    parts = []
    for heads in product((False, True), repeat=len(rows)):
        chance = _product(ball(delta) if h else 1 - ball(delta) for h in heads)
        parts.append((tuple(row for row, h in zip(rows, heads, strict=True) if h), chance))
    return _summed_by_output(parts)


def _summed_by_output(parts: list[tuple[Any, arb]]) -> OutputLaw:
    law: OutputLaw = {}
    for output, chance in parts:
        law[output] = law.get(output, arb(0)) + chance
    return law


def _product(factors: Iterator[arb]) -> arb:
    return math.prod(factors, start=arb(1))


def _flat(exact: Any) -> list[int]:
    return list(exact) if isinstance(exact, (tuple, list)) else [int(exact)]
