"""Every room tells through `shares` how its budget is divided: columns of a question, levels of a release, steps."""

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
from discreet import shares
from discreet.errors import BadValue, BudgetExceeded
from discreet.privacy.cost import Pure, Together
from discreet.query.explain import to_json
from discreet.query.explain import words as explained
from discreet.query.shared import column_shares
from discreet.release.measure import gaussian
from discreet.request import Request
from discreet.terms import Terms
from release import census
from rooms import toy
from rooms.run_driver import TOML, filled

TOWNS = '[columns.town]\ntype = "text"\n'  # planned by, never read


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.toml").write_text(TOML)
    filled(tmp_path, lambda n: "s" if n % 3 == 0 else "n")
    with dp.open(tmp_path / "people.toml") as dataset:
        yield dataset


@pytest.fixture
def with_towns(tmp_path):
    (tmp_path / "towns.toml").write_text(TOML + TOWNS)
    with dp.open(tmp_path / "towns.toml") as dataset:
        yield dataset


# --- questions -------------------------------------------------------------------------------------------------------

ASKED = {
    "COUNT(*) AS n": ["n"],
    "COUNT(*) AS n, SUM(age) AS s": ["n", "s"],
    "AVG(age) AS m, COUNT(age) AS n": ["what m and n have in common", "m"],
    "MEDIAN(age) AS q, COUNT(*) AS n": ["q", "n"],
    "AVG(age) AS m, VAR_SAMP(age) AS v, MEDIAN(age) AS q": ["q", "what m and v have in common", "v"],
}


@pytest.mark.parametrize("sql", ASKED)
@pytest.mark.parametrize("delta", ["0", "1e-7"])
@pytest.mark.parametrize("groups", ["", "region", "town"])
def test_columns_share_the_epsilon_of_a_question_exactly(with_towns, sql, groups, delta):
    if groups == "town" and delta == "0":
        return  # private groups need a delta
    by = f" GROUP BY {groups}" if groups else ""
    plan = with_towns.sql(f"SELECT {sql} FROM people{by}").plan(epsilon="0.7", delta=delta)
    told = column_shares(plan)
    assert sum(share.part for share in told) == 1
    assert sum(share.epsilon for share in told) == Fraction("0.7")
    assert ("the choice of groups" in {share.name for share in told}) == (groups == "town")


@pytest.mark.parametrize("sql", ASKED)
def test_shares_of_a_question_have_the_names_of_its_columns(people, sql):
    plan = people.sql(f"SELECT {sql} FROM people").plan(epsilon=1, delta=0)
    assert [share.name for share in column_shares(plan)] == ASKED[sql]


def test_gaussian_noise_is_one_share_of_all_its_columns(people):
    columns = ", ".join(f"SUM(CASE WHEN age > {n} THEN 1 ELSE 0 END) AS n{n}" for n in range(40))
    plan = people.sql(f"SELECT region, {columns} FROM people GROUP BY region").plan(epsilon=1, delta="1e-6")
    (share,) = column_shares(plan)
    assert plan.terms.delta == Fraction(1, 10**6)
    assert share.name.startswith("the noise of n0, n1")
    assert (share.part, share.epsilon) == (1, 1)


def test_explain_tells_shares_in_words_and_json_by_the_one_function(people):
    plan = people.sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM people").plan(epsilon=1, delta=0)
    told = column_shares(plan)
    assert shares.words(told) == "Shares: n and s take 1/2 of ε each."
    assert shares.words(told) in explained(plan)
    assert to_json(plan)["shares"] == shares.to_json(told)


def test_one_column_shares_with_nobody_and_no_sentence_says_so(people):
    plan = people.sql("SELECT COUNT(*) AS n FROM people").plan(epsilon=1)
    assert not any(line.startswith("Shares") for line in explained(plan))
    assert to_json(plan)["shares"] == [{"name": "n", "share": 1.0, "locked": False, "epsilon": "1"}]


# --- releases --------------------------------------------------------------------------------------------------------


@pytest.fixture
def releasing(tmp_path):
    with dp.open(census.written(tmp_path, rows=[census.one(n, n) for n in range(20)])) as people:
        yield people.release()


def test_levels_share_a_release_exactly_and_tell_it_by_the_one_function(releasing):
    given = {"epsilon": "0.7", "share": {"ward": "0.3"}}
    level_shares, quote = releasing.plan(**given).level_shares, releasing.quote(**given)
    assert sum(share.part for share in level_shares) == 1
    assert sum(share.epsilon for share in level_shares) == Fraction("0.7")
    assert [share.locked for share in level_shares] == [False, False, True]
    assert shares.words(level_shares) == "Shares: country and region take 35 % of ε each, ward takes 30 % (locked)."
    assert shares.words(level_shares) in quote.lines()
    same = ("share", "locked", "epsilon")
    for told, level in zip(shares.to_json(level_shares), quote.levels, strict=True):
        assert told["name"] == level["level"]
        assert {name: told[name] for name in same} == {name: level[name] for name in same}


def test_levels_share_the_precision_of_gaussian_noise(releasing):
    plan = releasing.plan(epsilon=1)
    noise = gaussian(plan.subject.design, 1, "1e-6", [[share] for share in plan.shares])
    normal = replace(plan, measurement=noise, terms=replace(plan.terms, delta=Fraction(1, 10**6)))
    assert shares.words(normal.level_shares) == "Shares: country, region and ward take 1/3 of 1/σ² each."
    assert sum(share.epsilon for share in normal.level_shares) > 1


# --- runs ------------------------------------------------------------------------------------------------------------


def divided(table, terms, parts):
    """A room of counting steps that take what is declared for each of them; its run, and the counts of every step."""
    told = shares.shares_of(parts, terms)
    memo = {"text": "counts", "words": [shares.words(told)], "shares": shares.to_json(told)}
    request = Request({"counts": list(parts)}, terms, memo=memo)
    run = table.run(request, Together(tuple(Pure(share.epsilon) for share in told)))
    tally = toy.tally_of(table, "region")
    return run, [toy.noisy_counts(run, share.name, tally, share.epsilon) for share in told]


def test_steps_take_what_a_run_declares_and_the_ledger_keeps_it_in_words_and_json(people):
    terms = people.table.terms(2, 0)
    run, counts = divided(people.table, terms, {"structure": "0.3", "fit": "0.7"})
    assert [len(column) for column in counts] == [2, 2]
    memo = next(entry["memo"] for entry in people.table.ledger.entries() if entry["kind"] == "purse")
    assert memo["words"] == ["Shares: structure takes 30 % of ε, fit takes 70 %."]
    assert memo["shares"] == [
        {"name": "structure", "share": 0.3, "locked": False, "epsilon": "0.6", "delta": "0"},
        {"name": "fit", "share": 0.7, "locked": False, "epsilon": "1.4", "delta": "0"},
    ]
    with pytest.raises(BudgetExceeded):
        toy.noisy_counts(run, "more", toy.tally_of(people.table, "region"), Fraction(1, 10**6))
    run.abandon("done with it")
    assert people.budget.spent.epsilon == 2


@pytest.mark.parametrize("name", ["epsilon", "delta", "schema", "analyst", "snapshot", "attempt"])
def test_facts_of_a_request_hide_none_that_every_key_has(name):
    with pytest.raises(BadValue, match="facts"):
        Request({"counts": 1, name: "other"}, Terms(Fraction(1)))
