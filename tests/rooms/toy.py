"""A toy room, by the contract alone: count regions; in the largest one a kernel, and a short training in two blocks."""

import json
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.bounded import RowLimit
from discreet.kernel.contract import kernel_of
from discreet.mechanism import additive
from discreet.noise.bernoulli import bernoulli
from discreet.noise.gaussian import RoundedGaussian
from discreet.privacy.cost import Gaussian, Pure, Repeated, Sampled, Together
from discreet.query.bound import draft_of
from discreet.query.nodes import Col, Compare, CountRows, Key, Literal, Output, Question
from discreet.request import Request
from discreet.terms import Terms

EPSILON, DELTA, SHARE, STEPS = Fraction(3000), Fraction(1, 10**8), Fraction(1, 4), 5
STEP = Sampled(SHARE, Gaussian(4))
MOMENTS = {"features": [{"low": 0, "high": 9}], "target": {"size": 2}}
SIGMA = 200  # in steps of 2⁻¹⁰; a person moves all six numbers by √3
COST = Together((Pure(1000), Gaussian("0.1"), Repeated(STEP, 2 * STEPS)))


@dataclass(frozen=True)
class Block:
    """Five steps towards the mean, each person's difference clipped to ±16 and persons sampled anew at each step."""

    start: int
    sensitivity: RowLimit
    cost = Repeated(STEP, STEPS)

    def __call__(self, rows, source):
        mean, ages = self.start, rows.columns["age"][rows.starts]
        for _ in range(STEPS):
            chosen = bernoulli(SHARE, rows.units, source)
            moved = np.clip(np.nan_to_num(ages[chosen]) - mean, -16, 16).astype(np.int64).sum()
            mean += round((moved + int(RoundedGaussian(Fraction(64)).draw(1, source)[0])) / 50)
        return mean


def request(analyst=None):
    return Request({"toy": 2}, Terms(EPSILON, DELTA), analyst=analyst, memo={"text": "a toy"})


def tally_of(table, key, where=None):
    """Rows by one public column."""
    question = Question(table.schema.name, (Output("n", CountRows()),), (Key(key, Col(key)),), where)
    return draft_of(question, table.schema).tally


def noisy_counts(run, name, tally, epsilon=1000):
    """Counts with Laplace noise."""
    (part,) = tally.parts
    own = tally.sensitivity.parts[part]
    counts = run.view.tally(tally).then(lambda exacts: exacts.parts[part], own, proof="query.md")
    return stepped(run, name, additive.laplace(own, epsilon), counts)


def stepped(run, name, mechanism, bounded):
    """A step whose released numbers are stored as JSON."""
    return json.loads(run.step(name, mechanism, bounded, pack=lambda told: str(np.asarray(told).tolist()).encode()))


def toy(table, *, analyst=None):
    """The room: its result as JSON bytes, and the receipt of its run."""
    run = table.run(request(analyst), COST)
    if (result := run.result()) is not None:
        return result, run.receipt
    regions = noisy_counts(run, "regions", tally_of(table, "region"))
    best = table.schema.find("region").values[int(np.argmax(regions))]
    here = Compare("=", Col("region"), Literal(best))
    limit, mean = RowLimit(table.schema.max_rows), 0
    noise = additive.gaussian(kernel_of("class_moments").sensitivity(MOMENTS, limit), SIGMA)
    sums = run.view.sum("class_moments", ["age", "region"], MOMENTS, where=here)
    moments = stepped(run, "moments", noise, sums)
    for block in range(2):
        mean = stepped(run, f"block {block}", Block(mean, limit), run.view.rows(["age"], where=here))
    told = {"best": best, "regions": regions, "moments": moments, "mean": mean}
    return run.done(json.dumps(told).encode()).stored, run.receipt
