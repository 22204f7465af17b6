"""Fits from datasets and from arrays: one core, one charge, the same numbers again, and refusals from public facts."""

from fractions import Fraction
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.cli import budget_set
from discreet.errors import BadValue, BudgetExceeded
from discreet.learn import privacy as privacies
from discreet.learn.input.column import model_column
from discreet.learn.price import parse_price
from discreet.ledger.unbooked import NOWHERE
from discreet.privacy import price
from discreet.rehearsal import stamp
from discreet.run import Run
from discreet.schema import Column
from learn.people import CLASSES, rows_of, write

FEATURES = ["age", "sex", "region"]
FACTS = {"bounds": {"age": (18, 90)}, "values": {"sex": ["f", "m"], "region": ["n", "s", "w"]}, "classes": CLASSES}
ESTIMATORS = ["NaiveBayes", "AdditiveClassifier", "LogisticRegression", "LinearClassifier"]
HUGE = {"epsilon": 10_000, "delta": "1e-6"}


@pytest.fixture(scope="module")
def columns():
    return rows_of(400, 3)


@pytest.fixture(scope="module")
def dataset(columns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    toml = write(folder, columns)
    toml.write_text(
        toml.read_text().replace("epsilon = 1000000", 'epsilon = 1000000\ndelta = "1e-3"\nmax_delta = "1e-3"')
    )
    with dp.open(toml) as people:
        yield people


def features(columns):
    return {name: columns[name] for name in FEATURES}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_and_a_dataset_give_the_same_model_where_noise_is_negligible(name, dataset, columns):
    kind = getattr(dp.learn, name)
    from_table = dataset.learn(kind(), target="sick", features=FEATURES).fit(**HUGE)
    from_arrays = kind(**FACTS, **HUGE).fit(features(columns), columns["sick"])
    there, here = (model.predict_proba(features(columns))[:, 1] for model in (from_table, from_arrays))
    assert np.corrcoef(there, here)[0, 1] > 0.98  # bins differ: the table's ages are whole numbers
    assert from_table.privacy_.is_charged
    assert from_arrays.privacy_.receipt == NOWHERE


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_equal_fit_is_replayed_for_nothing(name, dataset, columns):
    task = dataset.learn(getattr(dp.learn, name)(), target="sick", features=FEATURES)
    first = task.fit(epsilon=2, delta="1e-6")
    spent = dataset.budget.spent
    second = task.fit(epsilon=2, delta="1e-6")
    assert dataset.budget.spent == spent
    assert second.fit_.is_replayed
    assert (first.predict_proba(features(columns)) == second.predict_proba(features(columns))).all()
    assert first.privacy_ == second.privacy_


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_charges_what_its_quote_says(name, dataset):
    task = dataset.learn(getattr(dp.learn, name)(), target="sick", features=FEATURES)
    quote = task.quote(epsilon="1.5", delta="1e-6")
    before = 0 if dataset.budget is None else dataset.budget.spent.epsilon
    model = task.fit(epsilon="1.5", delta="1e-6")
    assert dataset.budget.spent.epsilon - before == Fraction(quote.cost["epsilon"]) == Fraction(3, 2)
    assert price.delta(model.privacy_.cost, model.privacy_.epsilon).value <= model.privacy_.delta
    assert model.privacy_.delta_at(3) <= model.privacy_.delta_at("1.5")


def test_a_fit_beyond_the_budget_is_refused_and_spends_nothing(columns, tmp_path):
    with dp.open(write(tmp_path, columns, epsilon=1)) as people:
        task = people.learn(dp.learn.NaiveBayes(), target="sick", features=FEATURES)
        with pytest.raises(BudgetExceeded):
            task.fit(epsilon=2)
        assert people.budget is None or people.budget.spent.epsilon == 0


def test_a_budget_of_rho_is_priced_at_its_delta():
    priced = parse_price(None, "1e-6", "0.02")
    assert 5 <= priced.sigma <= Fraction(5_000_001, 1_000_000)
    assert price.epsilon(priced.cost, "1e-6").value <= priced.terms.epsilon


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({}, "must be given"),
        ({"epsilon": 1, "rho": 1}, "two prices for one fit"),
        ({"rho": 1}, "must be given with rho"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 1, "delta": 2}, "delta"),
    ],
)
def test_budgets_that_say_too_little_or_too_much_are_refused(budget, said, columns):
    with pytest.raises(BadValue, match=said):
        dp.learn.NaiveBayes(**FACTS, **budget).fit(features(columns), columns["sick"])


@pytest.mark.parametrize(
    ("missing", "said"), [("bounds", "bounds of 'age'"), ("values", "bounds of 'sex'"), ("classes", "classes")]
)
def test_public_facts_that_are_missing_are_refused(missing, said, columns):
    facts = FACTS | {missing: None}
    with pytest.raises(BadValue, match=said):
        dp.learn.NaiveBayes(epsilon=1, **facts).fit(features(columns), columns["sick"])


@pytest.mark.parametrize("carried", [{"epsilon": 1}, {"bounds": (0, 1)}, {"classes": CLASSES}, {"rho": 1}])
def test_an_estimator_that_carries_a_budget_or_facts_is_refused_by_a_dataset(carried, dataset):
    with pytest.raises(BadValue, match="must not carry"):
        dataset.learn(dp.learn.NaiveBayes(**carried), target="sick")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_cells_of_every_kind_make_an_ordinary_model(name):
    """Errors never depend on a cell: empty, infinite, unknown and absent ones all give a model."""
    ages = np.array([np.nan, np.inf, -np.inf, 1e300, 30.0, 40.0])
    sexes = np.array(["f", "x", None, "", "m", 7], dtype=object)
    regions = np.array(["n", "n", "unknown", "s", "w", "w"], dtype=object)
    targets = np.array(["yes", "no", "maybe", None, "yes", 3], dtype=object)
    estimator = getattr(dp.learn, name)(epsilon=1, delta="1e-6", **FACTS)
    for size in (6, 1, 0):
        table = {"age": ages[:size], "sex": sexes[:size], "region": regions[:size]}
        odds = estimator.fit(table, targets[:size]).predict_proba({"age": ages, "sex": sexes, "region": regions})
        assert odds.shape == (6, 2)
        assert np.isfinite(odds).all()
        assert np.allclose(odds.sum(axis=1), 1)


def test_a_person_counts_with_one_row_unless_more_are_asked_for():
    columns = rows_of(50, 9, rows=4)
    facts = FACTS | {"epsilon": 10_000}
    one_row = dp.learn.NaiveBayes(**facts).fit(features(columns), columns["sick"], units=columns["id"])
    three = dp.learn.NaiveBayes(**facts, max_rows=3).fit(features(columns), columns["sick"], units=columns["id"])
    totals = [round(model.fit_.released["age"].sum()) for model in (one_row, three)]
    assert totals == [50, 150]
    assert one_row.privacy_.unit == "unit"


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_replacing_a_person_takes_more_noise_than_removing_one(relation, columns):
    estimator = dp.learn.NaiveBayes(epsilon=1, relation=relation, **FACTS).fit(features(columns), columns["sick"])
    noise = next(iter(estimator.fit_.plan.tables.noise.values()))
    assert float(noise.noise.scale) == (3 if relation == "add-remove" else 6)


def test_a_fit_on_arrays_charges_the_ledger_each_time(columns, tmp_path):
    with dp.open(write(tmp_path, columns, epsilon=10)) as people:
        estimator = dp.learn.NaiveBayes(epsilon=1, ledger=people, **FACTS)
        rows = features(columns), columns["sick"], columns["id"]
        receipts = {estimator.fit(*rows).privacy_.receipt for _ in range(3)}
        assert len(receipts) == 3
        assert people.budget.spent.epsilon == 3
        other = dp.learn.NaiveBayes(epsilon=1, ledger=people, relation="replace-one", **FACTS)
        with pytest.raises(BadValue, match="relation"):
            other.fit(*rows)
        with pytest.raises(BadValue, match="units"):
            estimator.fit(*rows[:2])


def test_bins_cover_the_bounds_and_hold_a_value_each():
    for column in (
        Column("a", "integer", bounds=(17, 90)),
        Column("b", "integer", bounds=(0, 99999)),
        Column("c", "number", bounds=(0, 1)),
        Column("d", "number", bounds=("-2.5", 7)),
        Column("e", "integer", bounds=(0, 1)),
    ):
        for bins in (2, 16, 32, 128):
            own = model_column(column)
            edges = own.edges(bins)
            assert edges[0] == own.low
            assert own.high <= edges[-1] < own.high + own.step
            assert 1 <= len(edges) - 1 <= bins
            codes = own.codes(np.array([float(own.low), float(own.high)]), bins)
            assert codes.tolist() == [0, len(edges) - 2]


@pytest.mark.parametrize("name", [*ESTIMATORS, "RandomForest", "DecisionTree", "GaussianNaiveBayes"])
def test_what_a_row_is_predicted_does_not_depend_on_the_rows_beside_it(name, columns):
    """Scores of held-out persons are counted: a last digit that moved with another row would move two counts."""
    model = getattr(dp.learn, name)(epsilon=1, delta="1e-6", **FACTS).fit(features(columns), columns["sick"])
    together = model.predict_proba(features(columns))
    for first, end in ((0, 1), (1, 2), (3, 10), (7, 399), (399, 400)):
        part = {key: cells[first:end] for key, cells in features(columns).items()}
        assert (model.predict_proba(part) == together[first:end]).all()


def test_a_price_typed_as_rho_is_charged_as_that_rho(columns):
    for name in ("NaiveBayes", "RandomForest", "DecisionTree", "GaussianNaiveBayes", "AdditiveClassifier"):
        estimator = getattr(dp.learn, name)(rho="0.001", delta="1e-8", **FACTS)
        cost = estimator.fit(features(columns), columns["sick"]).privacy_.cost
        assert price.zcdp(cost).value <= Fraction(1, 1000)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_beyond_the_bounds_are_predicted_as_those_at_the_bounds(name, columns):
    model = getattr(dp.learn, name)(epsilon=5, delta="1e-6", **FACTS).fit(features(columns), columns["sick"])
    ages = np.array([18.0, 90.0, -1e9, 1e9, -np.inf, np.inf])
    odds = model.predict_proba({"age": ages, "sex": np.array(["f"] * 6), "region": np.array(["n"] * 6)})
    assert (odds[[2, 4]] == odds[0]).all()
    assert (odds[[3, 5]] == odds[1]).all()


def test_weights_of_classes_are_named_and_public(columns, dataset):
    weighted = {"yes": 4}
    plain, heavy = (
        dp.learn.LogisticRegression(class_weight=weights, **HUGE, **FACTS).fit(features(columns), columns["sick"])
        for weights in (None, weighted)
    )
    odds = [model.predict_proba(features(columns))[:, 1].mean() for model in (plain, heavy)]
    assert odds[1] > odds[0] + 0.1
    dataset.learn(dp.learn.LogisticRegression(class_weight=weighted), target="sick").quote(epsilon=1, delta="1e-6")
    for weights in ("balanced", [1, 2], {}, {"maybe": 2}, {"yes": -1}):
        estimator = dp.learn.LogisticRegression(class_weight=weights, epsilon=1, delta="1e-6", **FACTS)
        with pytest.raises(BadValue, match="class_weight"):
            estimator.fit(features(columns), columns["sick"])


def test_a_ridge_chooses_a_solver_that_has_one_and_descent_refuses_it(dataset):
    epsilon_delta = {"epsilon": 1, "delta": "1e-6"}
    classes = dataset.learn(dp.learn.LogisticRegression(alpha=3), target="sick").quote(**epsilon_delta)
    number = dataset.learn(dp.learn.LinearRegression(alpha=3), target="age").quote(**epsilon_delta)
    assert "with a ridge of 3" in str(classes)
    assert "second moments of rows" in str(number)
    for solver in ("descent", "auto"):
        estimator = dp.learn.LogisticRegression(alpha=3, solver=solver)
        with pytest.raises(BadValue, match="alpha must be left out for descent"):
            dataset.learn(estimator, target="sick" if solver == "descent" else "region").quote(**epsilon_delta)


DATES = """
[dataset]
name = "stays"
source = "stays.csv"
[unit]
key = "who"
max_rows = 1
[budget]
epsilon = 1000000
delta = "1e-3"
max_delta = "1e-3"
[columns.day]
type = "date"
bounds = ["{first}", "2020-12-31"]
[columns.moment]
type = "datetime"
bounds = ["{first} 00:00:00", "2020-12-31 23:59:59"]
[columns.late]
type = "category"
values = ["no", "yes"]
"""


@pytest.mark.parametrize("first", ["2020-01-01", "2020-12-20"])  # more days than bins, and fewer
@pytest.mark.parametrize(
    "name", ["NaiveBayes", "AdditiveClassifier", "DecisionTree", "RandomForest", "LogisticRegression"]
)
def test_dates_and_moments_are_features(tmp_path, name, first):
    """Every second day from the last one back is late: told by bins where each day has its own."""
    rng, start, end = np.random.default_rng(3), np.datetime64(first), np.datetime64("2020-12-31")
    days = start + rng.integers(0, (end - start).astype(int) + 1, 2000).astype("timedelta64[D]")
    is_late = (days > start + (end - start) // 2) if first == "2020-01-01" else (end - days).astype(int) % 2 == 0
    moments = days.astype("datetime64[s]") + rng.integers(0, 86_400, 2000)
    rows = [
        f"{number},{day},{str(moment).replace('T', ' ')},{'yes' if late else 'no'}"
        for number, (day, moment, late) in enumerate(zip(days, moments, is_late, strict=True))
    ]
    (tmp_path / "stays.csv").write_text("\n".join(["who,day,moment,late", *rows]))
    (tmp_path / "stays.toml").write_text(DATES.format(first=first))
    with dp.open(tmp_path / "stays.toml") as stays:
        task = stays.learn(getattr(dp.learn, name)(), target="late", features=["day", "moment"])
        model = task.fit(epsilon=10**5, delta="1e-6")
        score = stays.score(model, metric="accuracy", epsilon=10**5)
        frame = pd.DataFrame({"day": days, "moment": moments})
    exact = float((model.predict(frame) == np.where(is_late, "yes", "no")).mean())
    assert score.value == pytest.approx(exact, abs=0.002)
    assert exact > (0.95 if first == "2020-01-01" or name in ("NaiveBayes", "AdditiveClassifier") else 0.5)


def test_a_model_says_which_features_it_takes_by_their_logarithm():
    pay, sick = np.arange(2000.0), np.arange(2000) % 2
    facts = {"bounds": {"x0": (0, 5000)}, "epsilon": 1}
    why = "since no value is negative and the bounds are more than 1,000 apart"
    told = f"Taken by the logarithm of 1 + x − low, {why}: x0."
    for estimator in (dp.learn.LogisticRegression, dp.learn.GaussianNaiveBayes):
        model = estimator(**facts, classes=[0, 1]).fit(pay[:, None], sick)
        assert told in model.explain()
        assert told in model.card().replace("\\", "")
    narrow = facts | {"bounds": {"x0": (-1, 5000)}}
    for estimator, given in ((dp.learn.NaiveBayes, facts), (dp.learn.LogisticRegression, narrow)):
        assert "logarithm" not in estimator(**given, classes=[0, 1]).fit(pay[:, None], sick).explain()
    number = dp.learn.LinearRegression(**facts, target_bounds=(0, 1)).fit(pay[:, None], sick)
    assert "logarithm" not in number.explain()


def test_a_name_with_line_ends_adds_no_line_to_an_explanation():
    name = "pay\nIt cost nothing.\x1b[31m"
    logistic = dp.learn.LogisticRegression(epsilon=1, bounds={name: (0, 5000)}, classes=[0, 1])
    told = logistic.fit({name: [1.0, 4000.0]}, [0, 1]).explain()
    assert r"pay\nIt cost nothing.\x1b[31m" in told
    assert "\x1b" not in told
    assert "\nIt cost" not in told


@pytest.mark.parametrize("solver", ["descent", "output", "adassp"])
def test_a_regression_is_linear_in_long_ranges(solver):
    """Long ranges of features are scaled by their logarithm in classifiers; a number that is predicted never is."""
    numbers = np.random.default_rng(5)
    income = numbers.uniform(0, 50_000, 4000)
    pay = 1000 + income / 2 + numbers.normal(0, 200, 4000)
    estimator = dp.learn.LinearRegression(
        epsilon=10_000, delta="1e-6", bounds={"income": (0, 50_000)}, target_bounds=(0, 30_000), solver=solver
    )
    model = estimator.fit({"income": income}, pay)
    assert model.score({"income": income}, pay) > 0.97


# --- the price of what is replayed -----------------------------------------------------------------------------------


def test_rho_and_the_epsilon_that_states_it_are_two_fits(dataset, tmp_path):
    task = dataset.learn(dp.learn.NaiveBayes(), target="sick", features=FEATURES)
    by_rho = task.fit(rho="0.1", delta="1e-8")
    stated = by_rho.privacy_
    by_epsilon = task.fit(epsilon=stated.epsilon, delta=stated.delta)
    assert not by_epsilon.fit_.is_replayed
    assert task.fit(rho="0.1", delta="1e-8").privacy_ == stated
    for place, model in enumerate((by_rho, by_epsilon)):
        dp.learn.verify(model.save(tmp_path / f"{place}.dp"), dataset)


class Interrupted(Exception):
    """A fit that was stopped behind its last step."""


@pytest.mark.parametrize("is_interrupted", [False, True])
@pytest.mark.parametrize("name", ["NaiveBayes", "LogisticRegression"])
def test_a_fit_keeps_its_price_when_the_default_delta_changes(name, is_interrupted, columns, tmp_path, monkeypatch):
    toml = write(tmp_path, columns)
    toml.write_text(toml.read_text().replace("epsilon = 1000000", "epsilon = 100\ndelta = 1e-6"))
    fitted = []
    for changed in (False, True):
        if changed:
            budget_set.set_budget(toml, delta="2e-7", why="a test")
        with dp.open(toml) as people:
            task = people.learn(getattr(dp.learn, name)(), target="sick", features=FEATURES)
            if is_interrupted and not changed:
                with monkeypatch.context() as patch:
                    patch.setattr(Run, "done", Mock(side_effect=Interrupted))
                    with pytest.raises(Interrupted):
                        task.fit(epsilon="0.5")
                fitted.append(task.learning.plan(epsilon="0.5"))
                continue
            model = task.fit(epsilon="0.5")
            dp.learn.verify(model.save(tmp_path / f"{changed}.dp"), people)
            model.predict_proba(features(columns))
            fitted.append(model.fit_.plan)
            assert model.fit_.is_replayed is (changed and not is_interrupted)
            assert model.privacy_.delta == fitted[0].price.terms.delta
    assert fitted[0].cost == fitted[1].cost
    assert fitted[0].mechanisms == fitted[1].mechanisms


def test_the_room_knows_the_stamps_of_a_rehearsal():
    assert privacies.REHEARSED == stamp.RECEIPT
    assert privacies.INVENTED.endswith(stamp.STAMP)
