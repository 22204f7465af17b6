"""The best of a random number of runs: its price is above the exact one, and not far above that of one run.

The slow twin enumerates: for a mechanism with few outputs, the law of the selected one is known exactly.
"""

import itertools
import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import optimize, stats

from discreet import real
from discreet.deep.accounting.plan import plan
from discreet.deep.accounting.run_count import RunCount, run_count
from discreet.deep.accounting.selection import Selection, curve_epsilon, order_epsilon, selection
from discreet.errors import BadValue, IntegrityError, NotPriced
from discreet.noise.source import SYSTEM
from discreet.privacy import price
from discreet.privacy.cost import Approx, Gaussian, Pure, Repeated, Sampled
from replay import Replay

DELTA = 1e-5
LAWS = ("logarithmic", "geometric")


def generating(count, x):
    """E[x^K] = ln(1 − (1−γ)x)/ln γ, or γx/(1 − (1−γ)x)."""
    gamma = float(count.gamma)
    rest = 1 - (1 - gamma) * x
    return gamma * x / rest if count.shape else np.log(rest) / math.log(gamma)


def selected(law, order, count):
    """The law of the best output, of one run with this law; `order` ranks outputs, the best last."""
    ranked = np.asarray(law)[order]
    above = generating(count, np.cumsum(ranked)) - generating(count, np.cumsum(ranked) - ranked)
    result = np.empty(len(ranked))
    result[order] = above
    return result


def delta_between(first, second, epsilon):
    """The larger δ of both orders."""
    factor = math.exp(epsilon)
    return max(np.maximum(a - factor * b, 0).sum() for a, b in ((first, second), (second, first)))


def exact_epsilon(first, second, delta):
    if delta_between(first, second, 0.0) <= delta:
        return 0.0
    return optimize.brentq(lambda e: delta_between(first, second, e) - delta, 0.0, 40.0, xtol=1e-10)


def gaussian_cells(sigma):
    """A Gaussian mechanism on neighbours, its output rounded to cells: never more revealing than the mechanism."""
    cuts = np.linspace(-9 * sigma, 9 * sigma + 1, 700)
    return tuple(np.diff(np.concatenate([[0.0], stats.norm.cdf(cuts, shift, sigma), [1.0]])) for shift in (0.0, 1.0))


def orders(size):
    """Ways to rank outputs: by the likelihood ratio either way, from the middle, from the ends, and at random."""
    places = np.arange(size)
    yield from (places, places[::-1], np.argsort(np.abs(places - size / 2)), np.argsort(-np.abs(places - size / 2)))
    yield np.random.default_rng(4).permutation(size)


# --- the law of the number of runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("runs", ["1.5", 3, 10])
def test_the_law_has_the_stated_mean_and_no_more(law, runs):
    count = run_count(runs, law)
    masses = np.diff([0.0, *(cumulative_of(count, k) for k in range(1, 1000))])
    mean = float((masses * np.arange(1, 1000)).sum())
    assert mean == pytest.approx(float(count.mean), rel=1e-6)
    assert float(F(runs)) * 0.999_999 <= count.mean <= F(runs)


def cumulative_of(count, k):
    """P[K ≤ k] from the formula of the masses, in floats."""
    gamma = float(count.gamma)
    if count.shape:
        return 1 - (1 - gamma) ** k
    return math.fsum((1 - gamma) ** j / (-math.log(gamma) * j) for j in range(1, k + 1))


@pytest.mark.parametrize("law", LAWS)
def test_cumulative_probabilities_are_certified(law):
    count = run_count(3, law)
    for k in (1, 2, 7, 40):
        assert float(real.lower(count.cumulative(k))) == pytest.approx(cumulative_of(count, k), rel=1e-12)
        assert 0 < real.upper(count.cumulative(k)) <= 1


@pytest.mark.parametrize("law", LAWS)
def test_numbers_of_runs_follow_their_law(law):
    """N = 20,000 draws, Pearson's test at a false-alarm rate of 10⁻⁶."""
    count = run_count(3, law)
    drawn = np.array([count.draw(SYSTEM) for _ in range(20_000)])
    cumulative = np.array([0.0, *(cumulative_of(count, k) for k in range(1, 12)), 1.0])
    counts, expected = np.bincount(np.minimum(drawn, 12), minlength=13)[1:], np.diff(cumulative)
    assert stats.chisquare(counts, expected * 20_000).pvalue > 1e-6
    other = expected * np.where(np.arange(12) % 2, 1.1, 0.9)
    assert stats.chisquare(counts, other / other.sum() * 20_000).pvalue < 1e-6


def test_a_draw_compares_one_uniform_number_with_all_ends():
    count = RunCount(F(1, 2), 1)  # P[K ≤ k] = 1 − 2^−k
    assert count.draw(Replay([1 << 61])) == 1
    assert count.draw(Replay([13 << 60])) == 3
    assert count.draw(Replay([1 << 63, 1 << 60])) == 2  # the first 64 digits tie with ½


@pytest.mark.parametrize(
    ("runs", "law", "words"),
    [(1, "logarithmic", "runs"), (1001, "geometric", "runs"), ("x", "geometric", "runs"), (3, "poisson", "law")],
)
def test_numbers_of_runs_that_make_no_sense_are_refused(runs, law, words):
    with pytest.raises(BadValue, match=words):
        run_count(runs, law)


# --- the price is above the exact one --------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_the_selected_law_is_that_of_all_numbers_of_runs(law):
    """Four outputs, two of them tied in score and told apart by a fair tag: enumeration of up to 200 runs."""
    count, masses = run_count(2, law), np.array([0.1, 0.2, 0.3, 0.4])
    ends = [0.0, *(cumulative_of(count, k) for k in range(1, 201))]
    chance_of_runs = np.diff(ends)
    better = masses.cumsum()
    by_runs = sum(p * (better**k - (better - masses) ** k) for k, p in enumerate(chance_of_runs, start=1))
    assert selected(masses, np.arange(4), count) == pytest.approx(by_runs, abs=1e-9)
    # outputs 1 and 2 tied: a run's tag is fair, so the tied pair wins as one output, in the ratio of its masses
    halves = np.array([0.1, 0.1, 0.15, 0.1, 0.15, 0.4])
    split = selected(halves, np.arange(6), count)
    joined = selected(np.array([0.1, 0.5, 0.4]), np.arange(3), count)
    assert split[1:5].sum() == pytest.approx(joined[1])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("runs", [2, 10])
@pytest.mark.parametrize("sigma", ["1", "3.73063163482"])
def test_no_ranking_of_a_gaussian_reveals_more_than_is_priced(law, runs, sigma):
    best = selection(Gaussian(F(sigma)), delta="1e-5", runs=runs, law=law)
    laws = gaussian_cells(float(F(sigma)))
    exact = max(exact_epsilon(*(selected(each, order, best.count) for each in laws), DELTA) for order in orders(701))
    assert exact <= best.epsilon
    assert exact >= float(best.epsilon) * 0.65  # a ranking by the likelihood reaches so much of it
    alone = exact_epsilon(*laws, DELTA)
    assert exact > alone * 1.02  # so the price of one run would be too small


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [F(1, 2), F(2)])
def test_no_ranking_of_pure_mechanisms_reveals_more_than_is_priced(law, epsilon):
    """All rankings of all mechanisms with three outputs whose masses have the ratios e^±ε and 1."""
    best = selection(Pure(epsilon), delta="1e-5", runs=5, law=law)
    factor = math.exp(float(epsilon))
    exact = 0.0
    for high in (0.01, 0.1, 0.3):
        low = high / factor
        middle = 1 - high - (1 - high) / factor
        for first, second in (
            ((high, 1 - high, 0.0), (low, 1 - low, 0.0)),
            ((factor / (1 + factor), 1 / (1 + factor), 0.0), (1 / (1 + factor), factor / (1 + factor), 0.0)),
            ((low, middle / 2, 1 - low - middle / 2), (high, middle / 2, 1 - high - middle / 2)),
        ):
            if delta_between(np.array(first), np.array(second), float(epsilon)) > 1e-15:
                continue
            for order in itertools.permutations(range(3)):
                laws = (selected(np.array(each), list(order), best.count) for each in (first, second))
                exact = max(exact, exact_epsilon(*laws, DELTA))
    assert float(epsilon) < exact <= best.epsilon
    assert best.epsilon <= (2 + best.count.shape) * epsilon  # Papernot & Steinke's price of a pure run


@pytest.mark.parametrize("law", LAWS)
def test_the_route_by_orders_is_a_bound_too(law):
    count = run_count(4, law)
    laws = gaussian_cells(2.0)
    exact = max(exact_epsilon(*(selected(each, order, count) for each in laws), DELTA) for order in orders(701))
    by_order, by_curve = (route(Gaussian(2), count, F(1, 10**5))[0] for route in (order_epsilon, curve_epsilon))
    assert exact <= by_curve <= by_order


# --- what it costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("runs", "epsilon"), [(3, 1.27), (10, 1.51)])
def test_the_best_of_three_costs_a_quarter_more_than_one(runs, epsilon):
    """MNIST's plan at ε = 1 (B = 2,048, 439 steps)."""
    training = plan(rows=60_000, batch_size=2048, steps=439, sigma="2.834214", delta="1e-5")
    best = selection(training, delta="1e-5", runs=runs)
    assert float(best.epsilon) == pytest.approx(epsilon, abs=0.01)
    assert best.cost == Approx(best.epsilon, "1e-5")
    assert best.base == training.cost
    assert "curve" in best.route
    assert "never shown" in best.words()


def test_the_price_rises_with_runs_and_falls_with_noise():
    prices = [selection(Gaussian(3), delta="1e-5", runs=runs).epsilon for runs in ("1.1", 2, 5, 50)]
    assert prices == sorted(prices)
    assert selection(Gaussian(4), delta="1e-5", runs=5).epsilon < prices[2]
    assert prices[0] > price.epsilon(Gaussian(3), "1e-5").value


def test_a_run_that_fails_outright_has_a_price_by_the_curve_alone():
    count = run_count(3)
    assert order_epsilon(Approx(1, "1e-7"), count, F(1, 10**5)) is None
    best = selection(Approx(1, "1e-7"), delta="1e-5")
    assert 1 < best.epsilon <= 2
    with pytest.raises(NotPriced):
        selection(Approx(1, "1e-5"), delta="1e-5")


def test_a_stored_selection_is_read_back_and_a_changed_one_refused():
    best = selection(Repeated(Sampled("0.1", Gaussian(4)), 10), delta="1e-5", runs=3)
    stored = json.loads(json.dumps(best.to_json()))
    assert Selection.from_json(stored) == best
    changes = [{"epsilon": "1/100"}, {"gamma": "1/1000"}, {"shape": 2}, {"base": {}}, {"more": 1}, {"delta": "0"}]
    for change in changes:
        with pytest.raises(IntegrityError):
            Selection.from_json(stored | change)
    for other in (None, [], {}, {"gamma": 1}):
        with pytest.raises(IntegrityError):
            Selection.from_json(other)
