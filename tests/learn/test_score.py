"""Scores are what plain computation gives where there is no noise, and their intervals hold where there is."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, exp, floor, log, log2, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

import discreet as dp
from discreet.errors import BadValue, EngineFailed
from discreet.learn.heldout import auc, metrics
from discreet.learn.heldout.interval import Law, count_estimate, share_estimate, width_factor
from discreet.learn.heldout.predictor import digest, predictor_of
from discreet.learn.heldout.trial import Scored, trial_of
from discreet.learn.price import parse_price
from discreet.noise.laplace import DiscreteLaplace
from discreet.relation import Relation

from .people import rows_of, write
from .public_model import linear_fit

FEATURES = ["age", "sex", "region"]
LEVEL = Fraction(95, 100)
RUNS = 600
EVEN = auc.edges(np.array([0.0003, 0.9997]), auc.BINS)
LEAST = int(binom.ppf(1e-6, RUNS, 0.95))  # fewer hits of an interval that holds 95 of 100 have a chance below 1e-6


def scored(columns, model, ids):
    """The target and the predictions of those persons, computed plainly."""
    rows = np.isin(columns["id"], ids)
    table = {name: columns[name][rows] for name in FEATURES}
    return columns["sick"][rows], model.predict_proba(table), table


def held_out(people, part):
    """The ids in a part, read beside the gate: for tests alone."""
    rows = people.table.view().rows(["age", "pay"], where=part.where).compute()
    return rows.columns["pay"][rows.starts], rows.columns["age"][rows.starts]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    columns = rows_of(3000, 21)
    columns["pay"] = np.arange(3000) / 10 + 50  # tells who is who
    with dp.open(write(tmp_path_factory.mktemp("score"), columns)) as people:
        train, test = people.split(test="0.4")
        model = train.learn(dp.learn.NaiveBayes(), target="sick", features=FEATURES).fit(epsilon=2)
        pay, _ = held_out(people, test)
        ids = columns["id"][np.searchsorted(columns["pay"], pay - 0.01)]
        yield people, train, test, model, scored(columns, model, ids)


# --- without noise ---------------------------------------------------------------------------------------------------


def test_accuracy_and_log_loss_are_the_plain_ones_without_noise(fitted):
    _, _, test, model, (target, probability, _) = fitted
    right = accuracy_score(target, np.array(["no", "yes"])[probability.argmax(axis=1)])
    score = test.score(model, metric="accuracy", epsilon=10_000)
    assert score.value == right
    assert score.low < right < score.high < score.low + 0.002
    score = test.score(model, metric="log_loss", epsilon=10_000)
    losses, rest = slow_losses(target, probability)
    step = metrics.LogLoss.norm
    margin = 200 / step / len(target)  # of noise of scale 12 steps: more has a chance of 1e-7
    assert score.value == pytest.approx(7 * losses / (losses + rest), abs=7 * margin)
    assert score.persons.value == pytest.approx(len(target), abs=400 / step)
    own = np.where(target == "yes", probability[:, 1], probability[:, 0])
    plain = log_loss(np.ones(len(own)), np.maximum(own, np.exp(-7)), labels=[0, 1])
    assert score.value == pytest.approx(plain, abs=7 * (margin + 0.5 / step))  # each row was rounded to a step


def slow_losses(target, probability):
    """Σ −ln p and Σ 7 + ln p in steps of 2⁻¹⁴, row by row, where a loss above 7 counts as 7."""
    losses = rest = 0
    for name, row in zip(target, probability, strict=True):
        own = row[["no", "yes"].index(name)]
        steps = floor(min(-log(own) if own > 0 else 7.0, 7.0) / 7 * 7 * 2**14 + 0.5)
        losses, rest = losses + steps, rest + 7 * 2**14 - steps
    return losses, rest


def test_log_loss_counts_what_a_slow_twin_counts():
    rng = np.random.default_rng(6)
    sick = np.concatenate([[0.0, 1.0, 1e-300, np.exp(-7), np.exp(-7.001), 1 - 1e-16], rng.random(500) ** 9])
    probability = np.stack([1 - sick, sick], axis=1)
    for code, name in enumerate(("no", "yes")):
        rows = Scored(np.full(len(sick), code), probability, np.full(len(sick), -1))
        assert metrics.LogLoss().counts(rows).tolist() == list(slow_losses([name] * len(sick), probability))


def test_auc_is_the_plain_one_but_for_its_bins(fitted):
    _, _, test, model, (target, probability, _) = fitted
    score = test.score(model, metric="auc", epsilon=10_000)
    binned = np.searchsorted(auc.edges_of(predictor_of(model), 1, auc.BINS), probability[:, 1])
    assert score.value == pytest.approx(roc_auc_score(target == "yes", binned), abs=1e-9)
    assert score.value == pytest.approx(roc_auc_score(target == "yes", probability[:, 1]), abs=0.003)
    coarse = test.score(model, metric="auc", epsilon=10_000, bins=8)
    binned = np.searchsorted(auc.edges_of(predictor_of(model), 1, 8), probability[:, 1])
    assert coarse.value == pytest.approx(roc_auc_score(target == "yes", binned), abs=1e-9)
    turned = test.score(model, metric="auc", epsilon=10_000, positive="no")
    assert turned.value == pytest.approx(score.value, abs=0.003)


def test_r_squared_is_the_plain_one_without_noise(tmp_path):
    columns = rows_of(2000, 22)
    with dp.open(write(tmp_path, columns)) as people:
        fit = linear_fit(people.table.schema, "pay", "age", 100, 3)
        object.__setattr__(fit.plan, "price", parse_price(1))
        score = people.score(fit, metric="r2", epsilon=10_000)
        expected = r2_score(columns["pay"], 100 + 3.0 * columns["age"])
        assert score.value == pytest.approx(expected, abs=1e-3)
        assert score.low < expected < score.high
        assert "not charged to this ledger" in str(score)
        none = people.score(fit, metric="r2", epsilon="0.001")
        assert none.value is None or none.low < expected < none.high
        assert none.to_json()["low"] is None or none.low > -1e9


@pytest.mark.parametrize("share", [0.5, 0.3, 0.03])
@pytest.mark.parametrize("spread", [0.01, 0.1, 0.4])
def test_a_model_with_probabilities_in_a_narrow_range_keeps_its_order(tmp_path, share, spread):
    """Caught here: bins that are even from −8 to 8, of which such a model uses four."""
    columns = rows_of(20_000, 25)
    with dp.open(write(tmp_path, columns)) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=FEATURES).fit(epsilon=5)
        subject = model.fit_.plan.subject

    class Narrow:
        def scores(self, encoded):
            odds = model.fit_.model.scores(encoded)[:, 1]
            line = spread * np.log(odds / (1 - odds)) + log(share / (1 - share))
            return np.stack([1 / (1 + np.exp(line)), 1 / (1 + np.exp(-line))], axis=1)

    predictor = Narrow()
    predictor.subject = subject
    probability = Narrow().scores(subject.encoded({name: columns[name] for name in FEATURES}))[:, 1]
    between, target = auc.edges_of(predictor, 1, auc.BINS), columns["sick"] == "yes"
    counts = auc.histogram(target, probability, between)
    binned = auc.auc_estimate(counts, Law(0.0, 0.0, LEVEL)).value
    assert binned == pytest.approx(roc_auc_score(target, probability), abs=0.005)
    assert len(between) == auc.BINS - 1
    assert np.array_equal(between, auc.edges_of(predictor, 1, auc.BINS))


@pytest.mark.parametrize("scores", [[], [0.5], [np.nan, 0.2], [0.0, 1.0], [0.0, 1e-9, 1e-8], [0.2, 0.2, 0.7]], ids=str)
@pytest.mark.parametrize("bins", [4, 5, 96])
def test_all_scores_have_as_many_bins_as_asked(scores, bins):
    between = auc.edges(np.array(scores), bins)
    assert len(between) == bins - 1
    assert np.all(np.diff(between) >= 0)
    apart = np.unique(np.array(scores)[np.isfinite(scores)])
    if len(apart) <= bins // 2:
        assert len(np.unique(np.searchsorted(between, apart))) == len(apart)


@pytest.mark.parametrize("epsilon", [30, 1000, 10_000])
def test_an_area_with_hardly_any_noise_is_known(fitted, epsilon):
    """Caught here: rounding that refuses the value itself, and with it all others."""
    _, _, test, model, _ = fitted
    score = test.score(model, metric="auc", epsilon=epsilon)
    assert score.value is not None
    assert score.low <= score.value <= score.high < score.low + 0.02


@pytest.mark.parametrize("seed", range(20))
def test_an_r_squared_lies_in_an_interval_that_ends_or_is_not_known(seed):
    rng, metric = np.random.default_rng(seed), metrics.RSquared(0, 1)
    number = np.clip(rng.normal(0.4, 0.2, 60), 0, 1)
    rows = Scored(number, number[:, None], np.full(60, -1))
    for scale in (0.01, 3.0, 3.0 * metrics.STEPS, 10.0 * metrics.STEPS):
        noisy = metric.counts(rows) + noise(scale, 5, rng)
        estimate = metric.estimate(noisy, metrics.Law(scale, 2 * scale**2, LEVEL))
        assert estimate.value is None or -np.inf < estimate.low <= estimate.value <= estimate.high
        assert scale > 3 or estimate.value is not None


def test_binning_loses_less_than_a_thousandth():
    rng = np.random.default_rng(5)
    for share, spread in ((0.5, 1.0), (0.5, 2.5), (0.03, 1.2), (0.2, 0.8)):
        line = spread * rng.normal(size=200_000) + log(share / (1 - share))
        probability = 1 / (1 + np.exp(-line))
        target = rng.random(len(line)) < probability
        counts = auc.histogram(target, probability, auc.edges(probability[:4000], auc.BINS))
        binned = auc.auc_estimate(counts, Law(0.0, 0.0, LEVEL)).value
        assert binned == pytest.approx(roc_auc_score(target, probability), abs=0.001)


# --- whole units -----------------------------------------------------------------------------------------------------


def test_a_person_counts_once_however_many_rows(tmp_path):
    """Caught here: rows counted in place of persons."""
    with dp.open(write(tmp_path, rows_of(300, 23, rows=3), max_rows=3)) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=["age"]).fit(epsilon=10)
        assert people.score(model, metric="accuracy", epsilon=10_000).persons.value == 300
        assert people.score(model, metric="accuracy", epsilon=10_000, max_rows=2).persons.value == 600
        trial = trial_of(people.table.schema, model, max_rows=2)
        assert trial.sensitivity(1, 1).l1 == 2
        with pytest.raises(BadValue, match="max_rows"):
            people.score(model, metric="accuracy", epsilon=1, max_rows=4)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", ["accuracy", "auc", "log_loss", "r2"])
def test_no_unit_moves_the_counts_by_more_than_is_stated(relation, name):
    rng = np.random.default_rng(7)
    metric = _metric(name)
    touched = 1 if metric.norm == 1 else metric.length
    stated = _Sized(relation).sensitivity(metric.norm, touched)
    reached = 0
    for _ in range(300):
        row, replacement = (_one_row(rng, name) for _ in range(2))
        other = np.zeros(metric.length) if relation is Relation.ADD_REMOVE else metric.counts(replacement)
        moved = np.abs(metric.counts(row) - other)
        assert moved.sum() <= stated.l1
        assert (moved**2).sum() <= stated.l2_squared
        assert moved.max() <= stated.linf
        assert (moved > 0).sum() <= stated.l0
        reached = max(reached, moved.sum())
    assert reached > stated.l1 * (0.95 if relation is Relation.ADD_REMOVE or metric.norm == 1 else 0.5)


def _metric(name):
    own = {"r2": metrics.RSquared(0, 1), "auc": metrics.Auc(1, tuple(EVEN.tolist()))}
    return own.get(name) or metrics.metric_of(name, _Classes(), None)


def _one_row(rng, name):
    if name == "r2":
        odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, rng.random(), rng.random()])
        return Scored(np.array([rng.choice([0.0, 1.0, rng.random()])]), np.array([[odd]]), np.array([-1]))
    probability = rng.choice([0.0, 1.0, np.nan, rng.random(), rng.random()])
    return Scored(rng.integers(0, 2, 1), np.array([[1 - probability, probability]]), np.array([-1]))


class _Classes:
    classes = ("no", "yes")


class _Sized:
    def __init__(self, relation):
        self.schema, self.max_rows = type("S", (), {"relation": relation}), 1

    def sensitivity(self, norm, touched):
        from discreet.learn.heldout.trial import Trial

        return Trial.sensitivity(self, norm, touched)


def test_models_score_each_row_by_itself(fitted):
    """A row's last digit must not depend on the rows beside it, or one unit could move another to the next bin."""
    _, _, _, model, _ = fitted
    rng, subject = np.random.default_rng(3), model.fit_.plan.subject
    columns = subject.encoded(
        {"age": rng.integers(18, 90, 999), "sex": rng.choice(["f", "m"], 999), "region": rng.choice(["n", "w"], 999)}
    )
    whole = model.fit_.model.scores(columns)
    for first, step in ((0, 7), (13, 1), (500, 2)):
        part = model.fit_.model.scores({name: column[first::step] for name, column in columns.items()})
        assert np.array_equal(part, whole[first::step])


# --- intervals -------------------------------------------------------------------------------------------------------


def noise(scale, size, rng):
    """Two-sided geometric noise, by NumPy: seeded, for tests alone."""
    q = np.exp(-1 / scale)
    return rng.geometric(1 - q, size) - rng.geometric(1 - q, size)


@pytest.mark.parametrize("level", ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"])
def test_the_factor_holds_every_mixture_of_laplace_noise(level):
    """By numerical inversion of the characteristic function Π 1/(1 + a²t²)."""
    rng, factor = np.random.default_rng(1), width_factor(Fraction(level))
    weights = [np.ones(k) for k in (1, 2, 3, 4, 8, 64)] + [rng.random(rng.integers(2, 9)) ** 3 for _ in range(40)]
    for weight in weights:
        own = weight / np.sqrt(2 * (weight**2).sum())  # variance 1
        times = np.arange(0.5, 40_000) * 5e-3
        density = np.exp(-np.log1p(np.outer(own**2, times**2)).sum(axis=0))
        inside = 2 / np.pi * float((np.sin(factor * times) / times * density).sum() * 5e-3)
        assert inside >= float(Fraction(level)) - 1e-4


@pytest.mark.parametrize(
    ("yes", "no", "scale"),
    [(700, 300, 10.0), (700, 300, 0.3), (20, 5, 10.0), (20, 5, 1.0), (0, 1000, 2.0), (3, 0, 0.2), (5000, 4000, 1.0)],
)
def test_intervals_of_shares_hold(yes, no, scale):
    rng, exact = np.random.default_rng(31), yes / (yes + no)
    hits = 0
    for a, b in noise(scale, (RUNS, 2), rng):
        estimate = share_estimate(yes + int(a), no + int(b), scale=scale, level=LEVEL)
        hits += estimate.low <= exact <= estimate.high
    assert hits >= LEAST


def two_sided(scale, least):
    """The two-sided geometric law: the whole numbers that have a larger chance than `least`, and their chances."""
    q = np.exp(-1 / scale)
    furthest = int(-scale * log(least)) + 1
    values = np.arange(-furthest, furthest + 1)
    return values, (1 - q) / (1 + q) * q ** np.abs(values)


def summed_law(scale, numbers):
    """The law of a sum of several such numbers."""
    values, chances = two_sided(scale, 1e-12)
    total = chances
    for _ in range(numbers - 1):
        total = np.convolve(total, chances)
    return np.arange(-numbers * values[-1], numbers * values[-1] + 1), total


@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
@pytest.mark.parametrize(
    ("yes", "no", "scale"),
    [*((yes, no, scale) for yes, no in ((7, 3), (1, 0), (2, 301)) for scale in (0.05, 0.3, 1.0)), (40, 41, 2.0)],
)
def test_intervals_of_shares_hold_by_the_exact_law(yes, no, scale, level):
    """All outcomes of both noises, each with its chance; those of a chance below 1e-7 count as misses."""
    values, chances = two_sided(scale, 1e-7)
    coverage, exact = 0.0, yes / (yes + no)
    for (a, b), chance in zip(product(values.tolist(), repeat=2), np.outer(chances, chances).flat, strict=True):
        estimate = share_estimate(yes + a, no + b, scale=scale, level=Fraction(level))
        coverage += chance * (estimate.low <= exact <= estimate.high)
    assert coverage >= float(Fraction(level))


@pytest.mark.parametrize("level", ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"])
@pytest.mark.parametrize("numbers", [(1, 1), (1, 2), (2, 2), (2, 3)], ids=str)
def test_half_a_step_is_enough_beside_the_factor(numbers, level):
    """P(|(1 − p)η − pη'| ≤ zσ(p) + ½ …) by the exact law, for sums of as many numbers as rates of groups have."""
    factor = width_factor(Fraction(level))
    for scale in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0):
        (values, chances), (others, second) = (summed_law(scale, count) for count in numbers)
        below = np.concatenate([[0.0], np.cumsum(second)])
        for p in np.linspace(0, 1, 101)[1:]:
            spread = sqrt(2 * (numbers[0] * (1 - p) ** 2 + numbers[1] * p**2)) * scale
            radius = factor * spread + (numbers[0] * (1 - p) + numbers[1] * p) / 2
            low, high = np.ceil(((1 - p) * values - radius) / p), np.floor(((1 - p) * values + radius) / p)
            first, last = (np.clip(end - others[0], 0, len(others)).astype(int) for end in (low, high + 1))
            assert chances @ np.maximum(below[last] - below[first], 0.0) >= float(Fraction(level))


@pytest.mark.parametrize(("bins", "size", "scale"), [(96, 4000, 10.0), (96, 400, 10.0), (16, 4000, 2.0)])
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_intervals_of_areas_hold(bins, size, scale, share):
    rng = np.random.default_rng(32)
    line = 1.3 * rng.normal(size=size) + log(share / (1 - share))
    probability = 1 / (1 + np.exp(-line))
    counts = auc.histogram(rng.random(size) < probability, probability, auc.edges(probability, bins))
    variance = DiscreteLaplace(Fraction(scale)).variance
    exact = auc.auc_estimate(counts, Law(0.0, 0.0, LEVEL)).value
    hits = 0
    for drawn in noise(scale, (RUNS, 2 * bins), rng):
        estimate = auc.auc_estimate(counts + drawn, Law(scale, variance, LEVEL))
        hits += estimate.low <= exact <= estimate.high
    assert hits >= LEAST


def ordered_within_bins(probability, target, edges, turned):
    """The scores with all of the class above all of the rest inside each bin, or below: as far off as bins allow."""
    moved = np.where(target, 1.0, 0.0) * (-1 if turned else 1)
    return np.searchsorted(edges, probability) + (moved + 1) / 4


@pytest.mark.parametrize(
    ("bins", "size", "scale"), [(96, 4000, 10.0), (96, 400, 10.0), (96, 20_000, 1.0), (96, 4000, 0.05), (8, 4000, 2.0)]
)
@pytest.mark.parametrize("share", [0.5, 0.05])
@pytest.mark.parametrize("turned", [False, True])
def test_intervals_of_exact_scores_hold_whatever_the_order_within_bins_is(bins, size, scale, share, turned):
    rng = np.random.default_rng(35)
    probability = 1 / (1 + np.exp(-1.3 * rng.normal(size=size) - log(share / (1 - share))))
    target, edges = rng.random(size) < probability, auc.edges(probability, bins)
    counts, variance = auc.histogram(target, probability, edges), DiscreteLaplace(Fraction(scale)).variance
    furthest = roc_auc_score(target, ordered_within_bins(probability, target, edges, turned))
    plain, hits, plain_hits = roc_auc_score(target, probability), 0, 0
    metric, law = metrics.Auc(1, tuple(edges.tolist())), Law(scale, variance, LEVEL)
    for drawn in noise(scale, (RUNS, 2 * bins), rng):
        own = metric.exact_scores(counts + drawn, law)
        hits += own.low <= furthest <= own.high
        plain_hits += own.low <= plain <= own.high
    assert hits >= LEAST
    assert plain_hits >= LEAST


def test_the_interval_of_binned_scores_alone_would_miss_the_order_within_bins():
    """The planted mistake: without half of the pairs within bins the interval does not hold the exact area."""
    rng = np.random.default_rng(36)
    probability = 1 / (1 + np.exp(-1.3 * rng.normal(size=20_000)))
    target, edges = rng.random(20_000) < probability, auc.edges(probability, 96)
    counts = auc.histogram(target, probability, edges)
    furthest = roc_auc_score(target, ordered_within_bins(probability, target, edges, False))
    metric, law = metrics.Auc(1, tuple(edges.tolist())), Law(1.0, 2.0, LEVEL)
    binned, exact = metric.estimate(counts, law), metric.exact_scores(counts, law)
    assert binned.high < furthest <= exact.high
    assert binned.value == exact.value


def test_a_score_tells_the_interval_of_exact_scores(fitted):
    _, _, test, model, (target, probability, _) = fitted
    score = test.score(model, metric="auc", epsilon=10_000)
    assert score.exact_scores.low < score.low < score.high < score.exact_scores.high
    assert score.exact_scores.high - score.exact_scores.low < 0.03
    assert score.exact_scores.low <= roc_auc_score(target == "yes", probability[:, 1]) <= score.exact_scores.high
    assert score.to_json()["exact_scores"] == {"low": score.exact_scores.low, "high": score.exact_scores.high}
    assert "By exact scores" in str(score)
    plain = test.score(model, metric="accuracy", epsilon=10_000)
    assert plain.exact_scores is None
    assert "exact_scores" not in plain.to_json()


@pytest.mark.parametrize("mean", [0.0, 0.9])
@pytest.mark.parametrize("spread", [0.1, 0.03])
def test_an_r_squared_is_told_where_its_quote_says_so(mean, spread):
    """Nearly always at the quoted size, and hardly ever at a twentieth of it."""
    rng, metric, scale = np.random.default_rng(37), metrics.RSquared(0, 1), 3.0 * metrics.STEPS
    law = metrics.Law(scale, 2 * scale**2, LEVEL)
    quoted = metric.told_size(law, spread, mean)
    assert metric.told_spread(quoted, law, mean) <= spread < 1.1 * metric.told_spread(quoted, law, mean)
    told = []
    for size in (quoted, quoted // 20):
        gap = spread if mean == 0 else (1 - mean) / 2  # from the mean to the higher of two values
        share = 1 / (1 + (spread / gap) ** 2)  # of the lower one
        number = np.where(np.arange(size) < share * size, -gap * (1 - share) / share, gap) + (1 + mean) / 2
        rows = Scored(number, np.clip(number + 0.2 * spread, 0, 1)[:, None], np.full(size, -1))
        counts = metric.counts(rows)
        told.append(sum(metric.estimate(counts + n, law).value is not None for n in noise(scale, (RUNS, 5), rng)))
    assert told[0] >= LEAST
    assert told[1] < RUNS / 2


@pytest.mark.parametrize("size", [50, 2000])
def test_intervals_of_r_squared_hold(size):
    rng, metric = np.random.default_rng(33), metrics.RSquared(0, 1)
    number = np.clip(rng.normal(0.4, 0.2, size), 0, 1)
    rows = Scored(number, np.clip(number + rng.normal(0, 0.1, size), 0, 1)[:, None], np.full(size, -1))
    exact, scale = r2_score(number, rows.scores[:, 0]), 3.0 * metrics.STEPS
    counts, hits = metric.counts(rows), 0
    for drawn in noise(scale, (RUNS, 5), rng):
        estimate = metric.estimate(counts + drawn, metrics.Law(scale, 2 * scale**2, LEVEL))
        hits += estimate.low <= exact <= estimate.high
    assert hits >= LEAST


@pytest.mark.parametrize("name", ["accuracy", "log_loss", "auc"])
@pytest.mark.parametrize("size", [100, 1000])
def test_intervals_about_the_population_hold(name, size):
    rng, metric = np.random.default_rng(34), _metric(name)
    scale = 2.0 * metric.norm
    law = metrics.Law(scale, 2 * scale**2, LEVEL, is_population=True)

    def drawn(count):
        probability = 1 / (1 + np.exp(-1.5 * rng.normal(size=count)))
        target = (rng.random(count) < probability).astype(np.int64)
        return Scored(target, np.stack([1 - probability, probability], axis=1), np.full(count, -1))

    quiet = metrics.Law(1e-9, 0.0, LEVEL)
    exact = metric.estimate(metric.counts(drawn(2_000_000)), quiet).value
    hits = 0
    for numbers in noise(scale, (RUNS, metric.length), rng):
        estimate = metric.estimate(metric.counts(drawn(size)) + numbers, law)
        hits += estimate.low <= exact <= estimate.high
    assert hits >= LEAST


def test_intervals_shrink_with_the_noise():
    widths = []
    for scale in (30.0, 10.0, 1.0, 0.1):
        estimate = share_estimate(700, 300, scale=scale, level=LEVEL)
        widths.append(estimate.high - estimate.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[1] < 2 * 2.2 * sqrt(2) * 10 * sqrt(0.7**2 + 0.3**2) / 1000 + 0.002
    assert NormalDist().inv_cdf(0.975) < width_factor(LEVEL) < 2.13
    assert count_estimate(-5, scale=1.0, numbers=1, level=LEVEL).value == 0


@pytest.mark.parametrize("numbers", [1, 2, 3, 5, 16, 192, 2048])
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.95", "0.99", "0.999"])
def test_the_sum_of_noisy_numbers_is_within_its_interval_as_often_as_the_level(numbers, level):
    """The exact law of a sum, by the transform of one noise: a sum of whole numbers is whole, so ½ is added once."""
    for scale in (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 5.0, 20.0):
        ratio, reach = exp(-1 / scale), int(60 * scale + 40)
        size = 2 ** ceil(log2(2 * (14 * sqrt(2 * numbers) * scale + 60 + reach)))
        places = np.arange(-reach, reach + 1)
        law = np.zeros(size)
        law[places % size] = (1 - ratio) / (1 + ratio) * ratio ** abs(places)
        total = np.fft.ifft(np.fft.fft(law) ** numbers).real
        radius = int(count_estimate(0, scale=scale, numbers=numbers, level=Fraction(level)).high)
        assert total[np.arange(-radius, radius + 1) % size].sum() >= float(level)


def test_what_noise_hides_has_no_value():
    for yes, no in ((0, 0), (-3, -4), (2, -1), (1, 1)):
        estimate = share_estimate(yes, no, scale=10.0, level=LEVEL)
        assert (estimate.value, estimate.low, estimate.high) == (None, 0.0, 1.0)


# --- the gate --------------------------------------------------------------------------------------------------------


def test_scores_are_replayed_for_nothing(fitted):
    people, _, test, model, _ = fitted
    first = test.score(model, metric="accuracy", epsilon="0.5")
    charges = people.budget.charges
    narrower = test.score(model, metric="accuracy", epsilon="0.5", level="0.8")
    wider = test.score(model, metric="accuracy", epsilon="0.5", of="population")
    assert (first.is_replayed, narrower.is_replayed, wider.is_replayed) == (False, True, True)
    assert first.value == narrower.value == wider.value
    assert narrower.low > first.low > wider.low
    assert people.budget.charges == charges
    assert "population" in str(wider)
    assert first.to_json()["value"] == first.value
    test.score(model, metric="auc", epsilon="0.5", bins=8)
    test.score(model, metric="auc", epsilon="0.5", bins=16)
    assert people.budget.charges == charges + 2


def test_scores_and_rates_call_the_model_as_people_do(fitted):
    _, train, test, _, _ = fitted
    model = train.learn(dp.learn.LogisticRegression(), target="sick", features=["age"]).fit(epsilon=1)
    assert test.score(model, metric="accuracy", epsilon=1).model == "logistic regression for sick"
    assert str(test.fairness(model, by="sex", epsilon=1)).startswith("logistic regression for sick, by sex")


@pytest.mark.parametrize(
    "wrong",
    [
        {"metric": "f1"},
        {"metric": "r2"},
        {"metric": "auc", "positive": "maybe"},
        {"metric": "auc", "bins": 1},
        {"metric": "accuracy", "of": "all"},
        {"metric": "accuracy", "max_rows": 2},
        {"metric": "accuracy", "epsilon": 0},
        {"metric": "accuracy", "level": 1},
        {"metric": "accuracy", "model": "no model"},
    ],
    ids=str,
)
def test_refusals_come_before_any_charge(fitted, wrong):
    people, _, test, model, _ = fitted
    entries = people.budget.entries
    asked = {"model": model, "epsilon": 1} | wrong
    with pytest.raises(BadValue):
        test.score(asked.pop("model"), **asked)
    assert people.budget.entries == entries


def test_models_of_other_columns_are_refused_before_any_charge(fitted):
    people, _, test, _, _ = fitted
    entries = people.budget.entries
    rng = np.random.default_rng(2)
    cases = [
        ({"height": rng.random(50)}, {"bounds": (0, 1)}),
        ({"age": rng.choice(["a", "b"], 50)}, {"values": {"age": ["a", "b"]}}),
    ]
    for table, facts in cases:
        model = dp.learn.NaiveBayes(epsilon=5, classes=["no", "yes"], **facts)
        model.fit(table, rng.choice(["no", "yes"], 50))
        with pytest.raises(BadValue):
            test.score(model, metric="accuracy", epsilon=1, target="sick")
    assert people.budget.entries == entries


def test_a_failure_in_prediction_has_the_fixed_reply_and_keeps_its_charge(tmp_path, monkeypatch):
    with dp.open(write(tmp_path, rows_of(50, 24))) as people:
        model = people.learn(dp.learn.NaiveBayes(), target="sick", features=["age"]).fit(epsilon=1)
        spent = people.budget.spent.epsilon

        def broken(columns):
            raise ValueError(f"the first age is {columns['age'][0]}")

        monkeypatch.setitem(model.fit_.__dict__, "model", type("Broken", (), {"scores": staticmethod(broken)}))
        with pytest.raises(EngineFailed) as failed:
            people.score(model, metric="accuracy", epsilon=1)
        assert "age" not in str(failed.value)
        assert failed.value.__cause__ is None
        assert people.budget.spent.epsilon == spent + 1


def test_models_of_arrays_are_scored_by_the_names_of_their_columns(fitted):
    _, _, test, _, (target, _, rows) = fitted
    rng = np.random.default_rng(4)
    table = {"region": rng.choice(["s", "w", "n"], 800), "age": rng.integers(18, 90, 800)}
    sick = np.where(table["age"] + 40 * (table["region"] == "w") > 60, "yes", "no")
    facts = {"bounds": {"age": (18, 90)}, "values": {"region": ["w", "n", "s"]}, "classes": ["yes", "no"]}
    model = dp.learn.NaiveBayes(epsilon=50, **facts)
    model.fit(table, sick)
    with pytest.raises(BadValue, match="target=…"):
        test.score(model, metric="accuracy", epsilon=1)  # no column is called y
    score = test.score(model, metric="accuracy", epsilon=10_000, target="sick")
    assert score.value == accuracy_score(target, model.predict(rows))
    assert "not charged to this ledger" in str(score)
    with pytest.raises(BadValue, match="classes"):
        test.score(model, metric="accuracy", epsilon=1, target="sex")


def test_models_of_a_matrix_are_refused_with_what_to_do(fitted):
    people, _, test, _, _ = fitted
    rng, entries = np.random.default_rng(8), people.budget.entries
    model = dp.learn.NaiveBayes(epsilon=5, bounds=(0, 1), classes=["no", "yes"])
    model.fit(rng.random((50, 2)), rng.choice(["no", "yes"], 50))
    for ask in (
        lambda: test.score(model, metric="accuracy", epsilon=1, target="sick"),
        lambda: test.fairness(model, by="sex", epsilon=1, target="sick"),
        lambda: test.quote_score(model, metric="accuracy", epsilon=1, target="sick"),
    ):
        with pytest.raises(BadValue, match="Fit it to a frame or a dict"):
            ask()
    assert people.budget.entries == entries


def test_equal_numbers_at_another_price_are_another_model(fitted):
    """Bins and smoothing follow from the price, so a stored score of the one is none of the other."""
    *_, model, _ = fitted
    other = replace(model.fit_.plan, price=parse_price(3))
    assert digest(replace(model.fit_, plan=other)) != digest(model.fit_)
    assert digest(replace(model.fit_)) == digest(model.fit_)
