"""Least squares from noisy moments: the kernel's slow twin and bound, its noise, and what it learns."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.bounded import RowLimit
from discreet.errors import BadValue
from discreet.kernel.encode import Design, Encoding
from discreet.kernel.gram import BESIDE, DIAGONAL, GRAM
from discreet.kernel.rows import UnitRows
from discreet.learn.fit import fit_arrays
from discreet.learn.input.arrays import ArrayFacts, columns_of, subject_of_arrays
from discreet.learn.learner import LATTICE
from discreet.learn.price import parse_price
from discreet.learn.risk.adassp import adassp_plan, least_squares
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.risk.second_moments import filtered_weights, moments_of
from learn.minima import ADDED, NUMBER, REPLACED

CATEGORY = {"size": 3}


def public_of(norm=Fraction(3, 2), rows=1, balance=7):
    return {"features": [NUMBER, CATEGORY], "target": NUMBER, "norm": norm, "rows": rows, "balance": balance}


def invented_units(random, count, most_rows=3):
    """Units with their rows: a number, a category and a target, some cells empty, many at the ends."""
    units = []
    for _ in range(count):
        size = int(random.integers(1, most_rows + 1))
        units.append(
            [
                (
                    random.choice([-1.0, 1.0, random.uniform(-1.2, 1.2), math.nan], p=[0.3, 0.3, 0.35, 0.05]),
                    int(random.integers(-1, 3)),
                    random.choice([-1.0, 1.0, random.uniform(-1, 1), math.nan], p=[0.4, 0.4, 0.15, 0.05]),
                )
                for _ in range(size)
            ]
        )
    return units


def chunk_of(units):
    rows = [row for unit in units for row in unit]
    starts = np.cumsum([0, *map(len, units)])[:-1] if units else np.zeros(0)
    columns = {
        "x": np.array([row[0] for row in rows], dtype=float),
        "c": np.array([row[1] for row in rows], dtype=np.int64),
        "y": np.array([row[2] for row in rows], dtype=float),
    }
    return UnitRows(columns, starts.astype(np.int64), len(rows))


def twin(units, public):
    """The same, row by row in whole numbers."""
    width, norm = 5, int(public["norm"] * 1024)
    gram, answers = [[0] * width for _ in range(width)], [0] * width
    for unit in units:
        for row in unit[: public["rows"]]:
            if math.isnan(row[2]):
                continue
            counted = min(len(unit), public["rows"])
            share = (1 - 2.0**-20) / counted if counted > 1 else 1.0
            x = [1024.0, 0.0 if math.isnan(row[0]) else float(round(min(max(row[0], -1), 1) * 1024)), 0.0, 0.0, 0.0]
            if row[1] >= 0:
                x[2 + row[1]] = 1024.0
            squares = sum(number * number for number in x)
            long = squares > norm**2
            factor = (norm / math.sqrt(squares) * (1 - 2.0**-20) if long else 1.0) * math.sqrt(share)
            whole = [math.trunc(number * factor) for number in x]
            answer = math.trunc(float(round(row[2] * 1024)) * math.sqrt(share))
            for i in range(width):
                answers[i] += whole[i] * answer
                for j in range(width):
                    gram[i][j] += whole[i] * whole[j]
    triangle = [gram[i][j] * (DIAGONAL if i == j else BESIDE) for i in range(width) for j in range(i, width)]
    return [*triangle, *(number * public["balance"] for number in answers)]


@pytest.mark.parametrize("rows", [1, 3])
def test_the_kernel_equals_its_slow_twin(rows):
    random, public = np.random.default_rng(0), public_of(rows=rows)
    for _ in range(10):
        units = invented_units(random, 40, 4)
        assert GRAM(chunk_of(units), public).tolist() == twin(units, public)


def test_a_unit_adds_the_same_wherever_it_lies():
    units, public = invented_units(np.random.default_rng(1), 50), public_of(rows=3)
    whole = GRAM(chunk_of(units), public)
    for sizes in ([1] * 50, [49, 1], [7, 20, 23]):
        ends = np.cumsum([0, *sizes])
        parts = [GRAM(chunk_of(units[first:end]), public) for first, end in pairwise(ends)]
        assert (np.sum(parts, axis=0) == whole).all()


def reached(relation, norm=Fraction(3, 2), rows=2):
    """The largest l2² of a change, as a share of the stated; and whether all norms are covered."""
    random, public = np.random.default_rng(2), public_of(norm, rows)
    stated, largest, covered = GRAM.sensitivity(public, RowLimit(4, relation)), 0.0, True
    for _ in range(150):
        pair = [GRAM(chunk_of(invented_units(random, 1, 3)), public).astype(object) for _ in range(2)]
        change = pair[0] - pair[1] if relation is REPLACED else pair[0]
        squares = sum(number * number for number in change)
        covered &= squares <= stated.l2_squared and sum(map(abs, change)) <= stated.l1
        covered &= max(map(abs, change)) <= stated.linf and sum(number != 0 for number in change) <= stated.l0
        largest = max(largest, float(squares / stated.l2_squared))
    return covered, largest


@pytest.mark.parametrize(("relation", "share"), [(ADDED, 0.95), (REPLACED, 0.6)])
def test_no_unit_moves_the_moments_further_than_stated(relation, share):
    covered, largest = reached(relation)
    assert covered
    assert largest > share


def test_a_kernel_that_forgets_to_clip_is_caught(monkeypatch):
    right = Design.of

    def unclipped(chunk, encoding, columns):
        design = right(chunk, encoding, columns)
        return type(design)(
            design.encoding, design.crossed, design.numbers, np.ones_like(design.clipping), design.share
        )

    monkeypatch.setattr(Design, "of", unclipped)
    assert not reached(ADDED)[0]


def test_the_bound_is_the_one_of_the_page():
    """25R⁴ + m²B²R² in steps, and 2·25R⁴ + 4m²B²R² for replaced units."""
    moments, answers = (5 * 1536**2) ** 2, (7 * 1024 * 1536) ** 2
    assert GRAM.sensitivity(public_of(), RowLimit(1, ADDED)).l2_squared == moments + answers
    assert GRAM.sensitivity(public_of(), RowLimit(1, REPLACED)).l2_squared == 2 * moments + 4 * answers


def test_parameters_without_a_meaning_are_refused():
    for wrong in ({"norm": 100}, {"balance": 0}, {"target": CATEGORY}, {"extra": 1}):
        with pytest.raises(BadValue):
            GRAM.length(public_of() | wrong)


# --- the model -------------------------------------------------------------------------------------------------------


def linear_table(rows, columns, seed):
    """Numbers within ± 1 whose signal is four times their noise."""
    random = np.random.default_rng(seed)
    weights = random.standard_normal(columns)
    x = random.uniform(-1, 1, (rows, columns))
    weights *= np.sqrt(3) * 0.25 / np.linalg.norm(weights)
    return x, np.clip(x @ weights + 0.125 * random.standard_normal(rows), -1, 1)


def fitted_r2(rows, columns, epsilon, delta="1e-5", seed=0, **options):
    x, y = linear_table(rows + 3000, columns, seed)
    facts = ArrayFacts(bounds=(-1, 1), target_bounds=(-1, 1))
    subject, view = subject_of_arrays(columns_of(x[:rows]), y[:rows], None, facts)
    fit = fit_arrays(LinearLearner("huber", "adassp", **options), subject, parse_price(epsilon, delta), view)
    predicted = fit.model.scores(subject.encoded(columns_of(x[rows:])))[:, 0]
    return 1 - ((y[rows:] - predicted) ** 2).mean() / y[rows:].var(), fit


def test_goals_of_linear_regression_are_met():
    assert np.mean([fitted_r2(20000, 10, "0.1", seed=seed)[0] for seed in range(4)]) > 0.65
    assert fitted_r2(20000, 10, 1)[0] > 0.78
    assert fitted_r2(20000, 10, 1, delta=None)[0] > 0.76
    assert min(fitted_r2(2000, 50, "0.1", seed=seed)[0] for seed in range(3)) > -0.2


def test_with_little_noise_it_is_least_squares():
    r2, fit = fitted_r2(5000, 4, 10**6, alpha="0.001")
    x, y = linear_table(8000, 4, 0)
    design = np.concatenate([np.ones((5000, 1)), x[:5000]], axis=1)
    right = np.linalg.lstsq(design, y[:5000], rcond=None)[0]
    assert np.abs(fit.model.lines[0] - right).max() < 2e-3
    assert fit.privacy.arithmetic == LATTICE
    assert r2 > 0.7


def test_a_diagonal_moment_has_the_noise_of_the_formula():
    _, fit = fitted_r2(100, 10, 1)
    radius = 11**0.5
    assert fit.plan.deviation == pytest.approx(3.7306 * np.sqrt(2) * radius**2, rel=0.03)  # ω = R/B


def test_released_moments_are_unpacked_as_they_were_packed():
    random = np.random.default_rng(3)
    x, y = random.integers(-900, 900, (20, 3)), random.integers(-900, 900, 20)
    gram, answers = x.T @ x, x.T @ y
    triangle = [gram[i, j] * (DIAGONAL if i == j else BESIDE) for i in range(3) for j in range(i, 3)]
    read = moments_of(np.array([*triangle, *(answers * 9)]), 3, 9)
    assert np.allclose(read[0] * 1024**2, gram)
    assert np.allclose(read[1] * 1024**2, answers)


def test_the_ridge_lifts_the_least_eigenvalue_to_the_noise():
    gram, answers = np.diag([-5.0, 100.0]), np.array([1.0, 1.0])
    assert least_squares(gram, answers, 10.0) == pytest.approx([1 / 20, 1 / 125])
    assert least_squares(np.diag([50.0, 100.0]), answers, 10.0) == pytest.approx([1 / 50, 1 / 100])


def test_classes_are_refused():
    subject, _ = subject_of_arrays(
        columns_of(np.zeros((3, 1))), np.zeros(3), None, ArrayFacts(bounds=(0, 1), classes=(0, 1))
    )
    with pytest.raises(BadValue, match="number with bounds"):
        adassp_plan(subject, parse_price(1, "1e-5"))


# --- moments in place of gradients -----------------------------------------------------------------------------------


def skewed_table(rows, seed):
    """Amounts near their lower bound, as fares and distances are, and a category beside them."""
    random = np.random.default_rng(seed)
    amounts = random.exponential(0.1, (rows, 2)).clip(0, 2) - 1
    kinds = random.integers(0, 3, rows)
    y = np.clip(amounts[:, 0] - 0.5 * amounts[:, 1] + 0.2 * (kinds == 1) + 0.05 * random.standard_normal(rows), -1, 1)
    columns = {"a": amounts[:, 0], "b": amounts[:, 1], "c": np.array(["x", "y", "z"])[kinds]}
    facts = ArrayFacts(bounds={"a": (-1, 1), "b": (-1, 1)}, values={"c": ["x", "y", "z"]}, target_bounds=(-1, 1))
    return columns, y, facts, np.column_stack([amounts, np.eye(3)[kinds]])


def test_with_little_noise_a_regression_by_default_is_least_squares():
    columns, y, facts, x = skewed_table(5000, 1)
    subject, view = subject_of_arrays(columns_of(columns), y, None, facts)
    fit = fit_arrays(LinearLearner("huber"), subject, parse_price(10**4, "1e-5"), view)
    right = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    predicted = fit.model.scores(subject.encoded(columns_of(columns)))[:, 0]
    assert np.abs(predicted - right).max() < 0.02
    assert any("second moments" in words for words in fit.plan.mechanisms)


@pytest.mark.parametrize("options", [{"solver": "descent"}, {"norm": "20"}])
def test_moments_are_not_taken_where_they_cannot_be(options):
    columns, y, facts, _ = skewed_table(50, 2)
    subject, _ = subject_of_arrays(columns_of(columns), y, None, facts)
    assert not LinearLearner("huber", **options).plan(subject, parse_price(10**4, "1e-5")).has_moments


def test_no_eigenvalue_of_noisy_moments_makes_weights_large():
    answers = np.array([1.0, 1.0])
    assert filtered_weights(np.diag([50.0, 100.0]), answers, (0.0, 1e-9), 1.0, 2) == pytest.approx([1 / 50, 1 / 100])
    for value in (-5.0, 0.0, 1e-9, 5.0):
        weights = filtered_weights(np.diag([value, 100.0]), answers, (10.0, 10.0), 1.0, 2)
        assert np.abs(weights).max() <= 1 / 20


def test_no_centred_row_is_longer_than_the_norm_of_moments():
    columns, y, facts, _ = skewed_table(400, 3)
    subject, view = subject_of_arrays(columns_of(columns), y, None, facts)
    plan = LinearLearner("huber").plan(subject, parse_price(1, "1e-5"))
    for seed in range(20):
        random = np.random.default_rng(seed)
        centre = np.array([0, *random.integers(-1024, 1025, 2), *random.multinomial(1024, [0.2, 0.3, 0.5])])
        norm = plan.columns.longest_at(centre)
        assert norm <= plan.columns.longest
        rows = view.rows(subject.columns).compute()
        encoding = Encoding.parse(plan.columns.encoding(centre, norm))
        assert (Design.of(rows, encoding, subject.columns[:-1]).clipping == 1).all()


def test_descent_is_nearly_least_squares_where_noise_is_small():
    """Many small answers and few large ones: with slopes clipped to .4 a line runs below their mean."""
    random = np.random.default_rng(2)
    x = random.uniform(-1, 1, (20_000, 3))
    y = np.clip(-1 + 0.25 * np.exp(x @ [0.6, -0.4, 0.2] + 0.7 * random.normal(size=len(x))), -1, 1)
    subject, view = subject_of_arrays(columns_of(x), y, None, ArrayFacts(bounds=(-1, 1), target_bounds=(-1, 1)))
    learner, price = LinearLearner("huber", "descent"), parse_price(100, "1e-6")
    plan = learner.plan(subject, price)
    for rows, slope in ((20_000.0, Fraction(1)), (20.0, Fraction(4, 10))):
        assert plan.rule.course(rows, np.zeros(4, dtype=np.int64), plan.limits).slope == slope
    predicted = fit_arrays(learner, subject, price, view).scores(subject.encoded(columns_of(x)))[:, 0]
    exact = np.column_stack([np.ones(len(x)), x])
    fitted = exact @ np.linalg.lstsq(exact, y, rcond=None)[0]
    assert abs((predicted - y).mean()) < 0.01
    assert np.mean((predicted - fitted) ** 2) < 0.0004
