"""A hybrid of a window and two points, on a lattice: a number of a person, 0 … N steps, protected whatever it is.

    with probability A/2³²   piecewise: a uniform draw from the window x … x+w−1 with probability t = T/2³², else from
                             all outputs 0 … M−1, M = N + w;   ratio 1 + t·M/((1 − t)·w)
    else                     two points: high with probability (B + D·x)/2³², else low        (Duchi et al. 2018)

Both means are straight lines in x with rational coefficients, so each report has an exactly unbiased number of steps.
The form is that of Wang et al. (2019).  Their w and A follow from ε alone; here they are those whose largest variance
over all answers is least.  With d = x − N/2, r = (1 − t)/t and δ = tanh(ε/2)/N the variances are

    window   (w² − 1)/12t + (1 − t)(M² − 1)/12t² + r·d²          two points   1/4δ² − d²

so a mixture is largest at the middle or at the ends, and for each w the best share is 0, 1, or t, where both are equal.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from discreet import real
from discreet.local.keep import keep_ratio, keep_threshold, require_fine
from discreet.local.words import SIDES, Bytes, WordList, bytes_of, coins, histogram, numbers_of, uniforms, width_of
from discreet.local.words import words as draw_words
from discreet.ndarrays import Bools, Floats, Ints
from discreet.noise.source import Source

_WINDOWS = 4000  # widths that are tried, all of them where steps are few


@dataclass(frozen=True)
class HybridCode:
    """Thresholds over 2³²: `share` = A, `keep` = T, `base` = B, `slope` = D."""

    steps: int  # N
    window: int  # w
    share: int
    keep: int
    base: int
    slope: int

    @property
    def size(self) -> int:
        return self.steps + 1

    @property
    def spread(self) -> int:
        return self.steps + self.window  # M

    @property
    def outputs(self) -> int:
        return self.spread + 2

    @property
    def report_bytes(self) -> int:
        return width_of(self.outputs)

    @property
    def ratio(self) -> Fraction:
        high = Fraction(self.base + self.slope * self.steps)
        points = max(high / self.base, (SIDES - self.base) / (SIDES - high))
        window = keep_ratio(self.keep, Fraction(self.spread, self.window))
        return max(points if self.share < SIDES else window, window if self.share else points)

    def draw(self, answers: Ints, source: Source) -> Bytes:
        """One report a person."""
        n, answers = answers.size, answers.astype(np.int64)
        inside = answers + uniforms(self.window, n, source)
        piece = np.where(coins(self.keep, n, source), inside, uniforms(self.spread, n, source))
        point = self.spread + (draw_words(n, source) < self.base + self.slope * answers)
        return bytes_of(np.where(coins(self.share, n, source), piece, point).astype(np.uint32), self.report_bytes)

    def report(self, answer: int, words: WordList) -> bytes:
        """The report of those words."""
        if words.coin(self.share):
            kept, inside, anywhere = words.coin(self.keep), words.uniform(self.window), words.uniform(self.spread)
            output = answer + inside if kept else anywhere
        else:
            output = self.spread + words.coin(self.base + self.slope * answer)
        return output.to_bytes(self.report_bytes, "little")

    def law(self, answer: int) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        for output, chance in enumerate(self._chances(answer)):
            yield output.to_bytes(self.report_bytes, "little"), chance

    def is_report(self, reports: Bytes) -> Bools:
        """Which rows are an output that some answer can have: of windows, of two points, or of both."""
        numbers = numbers_of(reports)
        first, last = 0 if self.share else self.spread, self.outputs if self.share < SIDES else self.spread
        valid: Bools = (numbers >= first) & (numbers < last)
        return valid

    def counts(self, reports: Bytes) -> Ints:
        """How many reports have each output."""
        return histogram(reports, self.outputs)

    def unbiased_steps(self, output: int) -> Fraction:
        """The number of steps that an output stands for: its mean over the law of x is x."""
        if output >= self.spread:
            return Fraction((output - self.spread) * SIDES - self.base, self.slope)
        t = Fraction(self.keep, SIDES)
        return (output - (1 - t) * Fraction(self.spread - 1, 2)) / t - Fraction(self.window - 1, 2)

    @cached_property
    def steps_of_outputs(self) -> Floats:
        """`unbiased_steps` of every output."""
        pieces = np.arange(self.spread) if self.share else np.zeros(self.spread)
        t = self.keep / SIDES
        numbers = (pieces - (1 - t) * (self.spread - 1) / 2) / t - (self.window - 1) / 2
        return np.append(
            numbers, [float(self.unbiased_steps(self.spread)), float(self.unbiased_steps(self.spread + 1))]
        )

    def variance(self, answer: int) -> Fraction:
        """Of `unbiased_steps` for that answer, in steps²; exact."""
        t, middle = Fraction(self.keep, SIDES), Fraction(self.spread - 1, 2)
        centre = answer + Fraction(self.window - 1, 2)
        within = Fraction(self.window**2 - 1, 12) + (centre - middle) ** 2
        around = t * within + (1 - t) * Fraction(self.spread**2 - 1, 12)  # of the output, about the middle
        piecewise = (around - (t * (centre - middle)) ** 2) / t**2
        high = Fraction(self.base + self.slope * answer, SIDES)
        points = high * (1 - high) * Fraction(SIDES, self.slope) ** 2
        share = Fraction(self.share, SIDES)
        return share * piecewise + (1 - share) * points

    def to_json(self) -> Mapping[str, Any]:
        """The integers of the law."""
        numbers = {"steps": self.steps, "window": self.window, "share": self.share, "keep": self.keep}
        return {"kind": "number", **numbers, "base": self.base, "slope": self.slope, "bytes": self.report_bytes}

    def _chances(self, answer: int) -> Iterator[Fraction]:
        share, t = Fraction(self.share, SIDES), Fraction(self.keep, SIDES)
        for output in range(self.spread):
            inside = t / self.window if answer <= output < answer + self.window else Fraction(0)
            yield share * (inside + (1 - t) / self.spread)
        high = Fraction(self.base + self.slope * answer, SIDES)
        yield from ((1 - share) * (1 - high), (1 - share) * high)


def hybrid_code(epsilon: Fraction, steps: int) -> HybridCode:
    """The hybrid for 0 … steps whose largest variance is least, with the largest thresholds that ε allows."""
    require_fine(epsilon, Fraction(2 * steps))
    window, part = _best_mixture(float(epsilon), steps)
    half = real.floor(lambda: (real.ball(epsilon) / 2).tanh() / (2 * steps), 32)
    keep = keep_threshold(epsilon, Fraction(steps + window, window))
    share = {"points": 0, "window": SIDES, "both": keep}[part]
    return HybridCode(steps, window, share, keep, SIDES // 2 - half * steps, 2 * half)


@lru_cache(256)
def _best_mixture(epsilon: float, steps: int) -> tuple[int, str]:
    """The width w, and whether windows, points or both are sent, with the least of the largest variances."""
    w = np.unique(np.geomspace(1, 4 * steps + 1, _WINDOWS).astype(np.int64)).astype(np.float64)
    outputs, ends = steps + w, (steps / 2) ** 2
    t = np.expm1(epsilon) / (np.expm1(epsilon) + outputs / w)
    window = (w**2 - 1) / (12 * t) + (1 - t) * (outputs**2 - 1) / (12 * t**2)
    points = (steps / np.tanh(epsilon / 2)) ** 2 / 4
    largest = {
        "points": np.full(w.size, points),
        "both": t * window + (1 - t) * points,
        "window": window + (1 - t) / t * ends,
    }
    part = min(largest, key=lambda name: float(largest[name].min()))
    return int(w[np.argmin(largest[part])]), part
