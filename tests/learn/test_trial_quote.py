"""Quotes of scores and of rates tell price and ± from public facts, and what is charged is what they say."""

import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.learn.heldout.group_rates import RATES
from discreet.learn.heldout.trial import unit_plural
from discreet.schema import Schema, Unit

from .people import rows_of, write

SIZE = 1200


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    columns = rows_of(3000, 51)
    with dp.open(write(tmp_path_factory.mktemp("quote"), columns)) as people:
        train, test = people.split(test="0.4")
        model = train.learn(dp.learn.NaiveBayes(), target="sick", features=["age", "sex"]).fit(epsilon=2)
        yield people, test, model


@pytest.mark.parametrize("of", ["persons", "population"])
@pytest.mark.parametrize("epsilon", ["0.2", "1"])
@pytest.mark.parametrize("metric", ["accuracy", "auc", "log_loss"])
def test_a_quoted_width_is_about_that_of_the_score(fitted, metric, epsilon, of):
    _, test, model = fitted
    quote = test.quote_score(model, metric=metric, epsilon=epsilon, of=of, at_size=SIZE)
    score = test.score(model, metric=metric, epsilon=epsilon, of=of)
    assert 0.5 < (score.high - score.low) / 2 / quote.moe[metric] < 1.1
    assert quote.cost == score.cost
    assert f"With {SIZE:,} units" in str(quote)


@pytest.mark.parametrize("of", ["persons", "population"])
def test_quoted_widths_of_rates_are_about_those_of_the_groups(fitted, of):
    _, test, model = fitted
    result = test.fairness(model, by="sex", epsilon=1, of=of)
    for group in result.groups:
        quote = test.quote_fairness(model, by="sex", epsilon=1, of=of, at_size=int(group.persons.value))
        assert 0.4 < (group.accuracy.high - group.accuracy.low) / 2 / quote.moe["accuracy"] < 1.1
    assert list(quote.moe) == list(RATES)
    assert quote.cost == result.cost


def test_a_quote_costs_nothing_and_says_what_would_remain(fitted):
    people, test, model = fitted
    entries, left = people.budget.entries, people.table.remaining()
    quote = people.quote_score(model, metric="accuracy", epsilon=3)
    assert (quote.remaining, quote.fits) == (left, True)
    test.quote_fairness(model, by="sex", epsilon=3)
    assert people.budget.entries == entries
    people.score(model, metric="accuracy", epsilon=3, level="0.9")
    assert people.table.remaining() == quote.remaining_after


def test_a_quote_reads_no_row(tmp_path, fitted):
    *_, model = fitted
    toml = write(tmp_path, rows_of(20, 52))
    (tmp_path / "people.csv").unlink()
    with dp.open(toml) as people:
        assert people.quote_score(model, metric="auc", epsilon=1, at_size=500).moe["auc"] > 0
        assert people.quote_fairness(model, by="region", epsilon=1).size is None
        assert not people.table.ledger_path.exists()  # whoever only looks makes no ledger


def test_without_a_public_number_the_width_is_not_known(fitted):
    _, test, model = fitted
    quote = test.quote_score(model, metric="accuracy", epsilon=1)
    assert (quote.size, quote.moe) == (None, {"accuracy": None})
    assert "not public" in str(quote)
    assert "scale 1" in str(quote)  # the noise of counts needs no number of persons
    assert quote.to_json()["moe"] == {"accuracy": None}


def test_a_declared_population_is_the_size(tmp_path, fitted):
    *_, model = fitted
    toml = write(tmp_path, rows_of(20, 53))
    toml.write_text(toml.read_text().replace('name = "people"', 'name = "people"\npopulation = 10000', 1))
    with dp.open(toml) as people:
        _, test = people.split(test="0.2")
        quotes = [part.quote_score(model, metric="accuracy", epsilon=1) for part in (people, test)]
        assert [quote.size for quote in quotes] == [10_000, 2000]
        assert test.quote_fairness(model, by="region", epsilon=1).size == 666
        assert people.quote_score(model, metric="accuracy", epsilon=1, at_size=50).size == 50


def test_the_width_of_an_r_squared_is_not_known_beforehand(fitted):
    people, *_ = fitted
    model = people.learn(dp.learn.LinearRegression(), target="pay", features=["age"]).fit(epsilon=1)
    quote = people.quote_score(model, metric="r2", epsilon=1, at_size=500)
    assert quote.moe == {"r2": None}
    assert "not known beforehand" in str(quote)


def test_a_quote_warns_of_an_r_squared_that_would_have_no_value(fitted):
    """Caught here: an R² that was paid for and not told, without a word before."""
    people, *_ = fitted
    model = people.learn(dp.learn.LinearRegression(), target="pay", features=["age"]).fit(epsilon=1)
    few = str(people.quote_score(model, metric="r2", epsilon="0.1", at_size=50))
    assert "With 50 units R² would have no value" in few
    assert "from about 7,102 units on" in few
    enough = str(people.quote_score(model, metric="r2", epsilon=1, at_size=10_000))
    assert "R² has a value where the standard deviation of pay is at least 0.026" in enough
    assert "from about 717 units on" in str(people.quote_score(model, metric="r2", epsilon=1))
    assert "has a value" not in str(people.quote_score(fitted[2], metric="auc", epsilon=1, at_size=50))


@pytest.mark.parametrize("wrong", [{"at_size": 0}, {"at_size": "many"}, {"of": "x"}, {"metric": "f1"}], ids=str)
def test_quotes_refuse_what_scores_refuse(fitted, wrong):
    people, _, model = fitted
    with pytest.raises(BadValue):
        people.quote_score(model, **({"metric": "accuracy", "epsilon": 1} | wrong))


@pytest.mark.parametrize(
    ("key", "plural"),
    [
        ("person", "persons"),
        ("person_id", "persons"),
        ("Patient_ID", "patients"),
        ("household", "households"),
        ("family", "families"),
        ("address", "addresses"),
        ("id", "units"),
        ("person nr", "units"),
        (None, "rows"),
    ],
)
def test_units_are_called_by_their_key_where_that_is_a_word(key, plural):
    schema = Schema("table", (), None if key is None else Unit(key, 1))
    assert unit_plural(schema) == plural


def test_replayed_scores_and_rates_say_that_they_were_free(fitted):
    _, test, model = fitted
    for ask in (
        lambda: test.score(model, metric="accuracy", epsilon="0.7"),
        lambda: test.fairness(model, by="sex", epsilon="0.7"),
    ):
        first, second = ask(), ask()
        assert "It cost ε = 0.7; receipt" in str(first)
        assert "It was replayed and cost 0 (when first asked, ε = 0.7); receipt" in str(second)
        assert first.receipt == second.receipt
