"""Slips in a call are refused before the charge, with what would work; and what is stated is not rounded off."""

import re
from datetime import date
from fractions import Fraction

import pytest

import discreet as dp
from discreet import amounts
from discreet.errors import BadValue
from discreet.learn.heldout.interval import outward, upward
from discreet.learn.heldout.trial import unit_plural
from discreet.learn.input.arrays import ArrayFacts, subject_of_arrays
from discreet.learn.price import parse_price
from discreet.learn.risk.linear import LinearLearner
from discreet.schema import Column, Schema, Unit

from .people import rows_of, write


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    """A dataset, its held-out persons, a classifier and a regression."""
    folder = tmp_path_factory.mktemp("slips")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        with dp.open(write(folder, rows_of(300, 1))) as people:
            train, held_out = people.split(test="0.2")
            bayes = train.learn(dp.learn.NaiveBayes(), target="sick").fit(epsilon=5)
            line = train.learn(dp.learn.LinearRegression(), target="pay", features="age").fit(epsilon=5)
            yield people, held_out, bayes, line


def refusal(people, call):
    """The refusal of a call, which is charged nothing."""
    before = people.table.remaining()
    with pytest.raises(BadValue) as refused:
        call()
    assert people.table.remaining() == before
    return str(refused.value)


@pytest.mark.parametrize(
    ("test", "fix"),
    [
        (20, "Give it as a share: 0.2 holds out 20 of 100."),
        ("12.5", "Give it as a share: 0.125 holds out 12.5 of 100."),
        (100, "Give a share such as 0.2."),
        (0, "Give a share such as 0.2."),
        ("a fifth", "Give a share such as 0.2."),
    ],
)
def test_a_percentage_is_refused_with_its_share(fits, test, fix):
    assert refusal(fits[0], lambda: fits[0].split(test=test)).endswith(fix)


def test_a_text_is_one_feature(fits):
    people, held_out, _, line = fits
    assert line.feature_names_in_.tolist() == ["age"]
    for part in (people, held_out):
        single, listed = (
            part.learn(dp.learn.NaiveBayes(), target="sick", features=names) for names in ("region", ["region"])
        )
        assert single.learning.subject == listed.learning.subject
        assert (
            "did you mean 'age'"
            in refusal(
                people, lambda part=part: part.learn(dp.learn.NaiveBayes(), target="sick", features="agee")
            ).casefold()
        )
        assert "names of columns" in refusal(
            people, lambda part=part: part.learn(dp.learn.NaiveBayes(), target="sick", features=5)
        )


def test_names_with_commas_are_refused_with_a_list(fits):
    learn = lambda: fits[0].learn(dp.learn.NaiveBayes(), target="sick", features="age,sex")  # noqa: E731
    assert refusal(fits[0], learn).endswith('Give a list: ["age", "sex"].')


def test_an_auc_of_three_classes_needs_the_class(fits):
    people, held_out, _, _ = fits
    regions = people.learn(dp.learn.NaiveBayes(), target="region", features="age").fit(epsilon=1)
    said = refusal(people, lambda: held_out.score(regions, metric="auc", epsilon=1))
    assert said.startswith("positive must be given for a model of 3 classes.")
    assert "--positive" in said


def model_of_arrays(facts):
    return dp.learn.NaiveBayes(epsilon=1, classes=["no", "yes"], **facts)


def test_a_model_of_another_table_is_refused_by_its_feature(fits):
    people, held_out, _, _ = fits
    model = model_of_arrays({"bounds": {"passengers": (0, 9)}}).fit({"passengers": [1, 2]}, ["no", "yes"])
    said = refusal(people, lambda: held_out.score(model, metric="accuracy", epsilon=1, target="sick"))
    assert "lacks the model's feature 'passengers'" in said
    model = model_of_arrays({"values": {"sex": [0, 1]}}).fit({"sex": [0, 1]}, ["no", "yes"])
    said = refusal(people, lambda: held_out.score(model, metric="accuracy", epsilon=1, target="sick"))
    assert "In the table it is a category of texts, in the model whole numbers with public values." in said


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"age": (90, 18)}, "bounds of 'age' must have the upper end above the lower"),
        ({"age": (float("nan"), 18)}, "bounds of 'age' must"),
        ({"age": (date(2020, 1, 1), date(2021, 1, 1))}, "arrays have no dates"),
        ({"age": (0, 9), "height": (0, 9)}, "the features are age, and the target is y"),
    ],
)
def test_bounds_of_arrays_are_refused_by_the_names_of_the_caller(bounds, said):
    with pytest.raises(BadValue, match=re.escape(said)):
        model_of_arrays({"bounds": bounds}).fit({"age": [20, 30]}, ["no", "yes"])


@pytest.mark.parametrize(
    ("key", "plural"),
    [("person_id", "persons"), ("userId", "users"), ("userID", "users"), ("userid", "units"), ("family", "families")],
)
def test_several_units_are_called_by_the_word_of_the_key(key, plural):
    assert unit_plural(Schema("t", (Column("age", "integer", bounds=(0, 9)),), Unit(key, 1))) == plural


def test_a_class_in_place_of_an_estimator_is_refused_with_a_call_of_it(fits):
    said = refusal(fits[0], lambda: fits[0].learn(dp.learn.NaiveBayes, target="sick"))
    assert said.endswith("Write NaiveBayes().")


@pytest.mark.parametrize("verb", ["score", "quote_score"])
def test_a_metric_of_another_kind_is_refused_with_those_of_the_model(fits, verb):
    people, held_out, bayes, line = fits
    score = getattr(held_out, verb)
    for metric in ("auc", "accuracy", "log_loss"):
        said = refusal(people, lambda metric=metric: score(line, metric=metric, epsilon=1))
        assert said == f"metric must be r2 for a model that predicts a number. You gave {metric!r}. Name r2."
    said = refusal(people, lambda: score(bayes, metric="r2", epsilon=1))
    assert "must be accuracy, auc or log_loss for a model that predicts classes" in said


def test_rates_of_a_regression_are_refused_with_its_metric(fits):
    people, held_out, _, line = fits
    said = refusal(people, lambda: held_out.fairness(line, by="sex", epsilon=1))
    assert said.startswith("The model predicts a number.")
    assert said.endswith("Score it by r2.")


@pytest.mark.parametrize(
    ("verb", "slip", "said"),
    [
        ("score", {"metric": "auc", "bin": 8}, "score has no option bin."),
        ("score", {"metric": "auc", "at_size": 8}, "score has no option at_size."),
        ("quote_score", {"metric": "auc", "size": 8}, "quote_score has no option size."),
        ("fairness", {"by": "sex", "bins": 8}, "fairness has no option bins."),
        ("quote_fairness", {"by": "sex", "progres": None}, "quote_fairness has no option progres."),
    ],
)
def test_a_wrong_option_is_refused_with_the_options_there_are(fits, verb, slip, said):
    people, held_out, bayes, _ = fits
    for part in (people, held_out):
        told = refusal(people, lambda part=part: getattr(part, verb)(bayes, epsilon=1, **slip))
        assert told.startswith(f"{said} Its options are ")
        assert "target, positive, max_rows, level, of, analyst" in told
    assert "Did you mean bins?" in refusal(people, lambda: held_out.score(bayes, metric="auc", epsilon=1, bin=8))


def test_a_part_is_not_divided_by_an_option(fits):
    people, held_out, bayes, _ = fits
    said = refusal(people, lambda: held_out.score(bayes, metric="auc", epsilon=1, where=held_out.where))
    assert said.startswith("where is given by the held-out units.")


@pytest.mark.parametrize("norm", ["1", "1.002", "1.01", "1.37", "2.005", "3.3333"])
def test_the_least_ridge_that_is_named_is_accepted(norm):
    facts = ArrayFacts(bounds=(0, 1), classes=[0, 1])
    subject, _ = subject_of_arrays({"x": [0.0, 1.0]}, [0, 1], None, facts)
    with pytest.raises(BadValue, match="alpha must be at least") as refused:
        LinearLearner(solver="objective", norm=norm, alpha="1e-9").plan(subject, parse_price(1000))
    (least,) = re.findall(r"at least (\S+) for", str(refused.value))
    assert LinearLearner(solver="objective", norm=norm, alpha=least).plan(subject, parse_price(1000))


def test_a_rho_that_is_too_small_is_quoted_as_typed():
    subject, _ = subject_of_arrays({"x": [0.0]}, [0], None, ArrayFacts(bounds=(0, 1), classes=[0, 1]))
    with pytest.raises(BadValue, match="rho must be larger") as refused:
        LinearLearner().plan(subject, parse_price(None, "1e-8", rho="3e-16"))
    assert "You gave 3e-16." in str(refused.value)


@pytest.mark.parametrize("number", [0.0, 0.1, 0.29, 1 / 3, 0.94, 0.99999, 1.0, 1570.4])
@pytest.mark.parametrize("places", [0, 1, 4])
def test_ends_of_intervals_are_rounded_outward(number, places):
    low, high = (float(end.replace(",", "")) for end in outward(number, number, places))
    assert low <= number + 1e-9
    assert high >= number - 1e-9
    assert high - low <= 10**-places + 1e-9
    width = Fraction(upward(number, 3).replace(",", ""))
    assert amounts.float_up(width) >= number * (1 - 1e-8)
    assert width <= Fraction(number) * Fraction(101, 100) or not number


def test_a_fit_reports_its_steps_and_a_score_itself(fits):
    people, held_out, bayes, _ = fits
    told = []

    def watch(step, share):
        told.append((step, share))

    people.learn(dp.learn.RandomForest(trees=2, depth=1), target="sick").fit(epsilon=5, progress=watch)
    assert ("fitting: leaves", 0.0) in told
    told.clear()
    people.learn(dp.learn.DecisionTree(), target="sick").fit(epsilon=5, progress=watch)
    assert [step for step, _ in told][-1] == "fitting: leaves"
    held_out.score(bayes, metric="accuracy", epsilon=1, progress=watch)
    assert told[-1] == ("scoring", 0.0)
