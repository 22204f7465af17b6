"""What was released is stored once; names, clauses, level, planner and class names of another day read it again."""

import contextlib
import dataclasses
import itertools

import pytest

import discreet as dp
from discreet.ask import asking
from discreet.errors import BadValue, NotAnswerable
from discreet.mechanism import additive
from discreet.query import canonical, plan, tags
from discreet.query.joint import Joint, Measured
from people_toml import TOWN, people_toml

TOML = people_toml("epsilon = 100\ndelta = 1e-6", columns=TOWN, max_rows=5)
QUESTIONS = (
    "SELECT region, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY region",
    "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    "SELECT MEDIAN(age) AS middle, MODE(region) AS often, STDDEV(age) AS s FROM people",
    "SELECT COUNT(DISTINCT person) AS n, MAX(age) AS most FROM people WHERE age > 20",
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "people.toml").write_text(TOML)
    rows = [f"{n // 3},{('north', 'south')[n % 2]},{n % 90},town {n % 2}" for n in range(900)]
    (tmp_path / "people.csv").write_text("\n".join(["person,region,age,town", *rows]) + "\n")
    with dp.open(tmp_path / "people.toml") as dataset:
        yield dataset


def handed(answer):
    return dataclasses.replace(answer, replayed=False, remaining=None)


@contextlib.contextmanager
def renamed(kinds):
    """All these classes under other names; how many there are."""
    before = {kind: (kind.__name__, kind.__qualname__) for kind in kinds}
    try:
        for number, kind in enumerate(before):
            kind.__name__ = kind.__qualname__ = f"Renamed{number}"
        yield len(before)
    finally:
        for kind, (name, qualified) in before.items():
            kind.__name__, kind.__qualname__ = name, qualified


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_replay_is_the_same_answer(people, text):
    first = people.sql(text).ask(epsilon=2)
    replayed = people.sql(text).ask(epsilon=2)
    assert (first.replayed, replayed.replayed) == (False, True)
    assert handed(replayed) == handed(first)
    assert replayed.explain() == first.explain()


def test_other_names_clauses_and_levels_are_answered_from_what_was_released(people):
    first = people.sql(QUESTIONS[0]).ask(epsilon=2)
    spent = people.budget.spent.epsilon
    text = "SELECT region AS place, COUNT(*) AS visits, AVG(age) AS a FROM people GROUP BY region ORDER BY 2 LIMIT 1"
    other = people.sql(text).ask(epsilon=2, level="0.5")
    assert other.replayed
    assert people.budget.spent.epsilon == spent
    assert other.column("visits").value[0] == min(first.column("n").value)
    assert other.column("visits").moe[0] < first.column("n").moe[0]


def test_thirty_renamed_classes_and_another_split_change_no_key_and_no_replay(people, monkeypatch):
    first = [people.sql(text).ask(epsilon=2) for text in QUESTIONS]
    keys = [entry["key"] for entry in people.table.ledger.entries() if entry["kind"] == "charge"]
    real = plan.laplace_shares

    def lopsided(needs):
        shares = real(needs)
        doubled = {part: share * (2 if place == 0 else 1) for place, (part, share) in enumerate(shares.items())}
        return {part: share / sum(doubled.values()) for part, share in doubled.items()}

    monkeypatch.setattr(plan, "laplace_shares", lopsided)
    split = people.sql(QUESTIONS[0]).plan(epsilon=2)
    assert [measured.epsilon for measured in split.measured] != [
        str(part["epsilon"]) for part in first[0].plan["parts"]
    ]
    with renamed(canonical.NODES | tags.PARTS | tags.RECIPES | tags.LAWS) as count:
        replayed = [people.sql(text).ask(epsilon=2) for text in QUESTIONS]
    assert count >= 30
    assert all(answer.replayed for answer in replayed)
    assert [handed(answer) for answer in replayed] == [handed(answer) for answer in first]
    assert [entry["key"] for entry in people.table.ledger.entries() if entry["kind"] == "charge"] == keys


def test_a_plan_with_a_swapped_mechanism_is_refused_before_the_charge(people, monkeypatch):
    """With row cap 5 a count moves by 5; noise for 1 must not pass because the plan says so itself."""
    asked = people.sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM people")
    planned = asked.plan(epsilon=1)
    narrow = dp.Sensitivity(1, 1, 1, 1)
    for place in range(len(planned.measured)):
        swapped = list(planned.measured)
        swapped[place] = Measured(swapped[place].part, narrow, additive.laplace(narrow, 1), swapped[place].epsilon)
        with pytest.raises(BadValue, match="must cover the sensitivity"):
            ask_by(monkeypatch, asked, dataclasses.replace(planned, joint=Joint(tuple(swapped))))
    for fewer in itertools.combinations(planned.measured, 1):
        with pytest.raises(BadValue, match="must cover the sensitivity"):
            ask_by(monkeypatch, asked, dataclasses.replace(planned, joint=Joint(fewer)))
    assert people.budget.charges == 0


def test_a_draft_with_swapped_bounds_does_not_loosen_the_gate(people, monkeypatch):
    asked = people.sql("SELECT COUNT(*) AS n FROM people")
    planned = asked.plan(epsilon=1)
    narrow = dp.Sensitivity(1, 1, 1, 1)
    needs = tuple(dataclasses.replace(need, sensitivity=narrow) for need in planned.draft.needs)
    forged = plan.plan_of(dataclasses.replace(planned.draft, needs=needs), planned.terms)
    with pytest.raises(BadValue, match="must cover the sensitivity"):
        ask_by(monkeypatch, asked, forged)
    assert people.budget.charges == 0


def ask_by(monkeypatch, asked, plan_given):
    """Ask the question as if the planner had given that plan."""
    monkeypatch.setattr(asking, "plan_of", lambda draft, terms: plan_given)
    return asked.ask(epsilon=1)


def test_a_plan_is_always_of_the_tables_own_facts(people, tmp_path):
    """A question takes no plan and no draft from outside, so that no other facts, caps or path can reach the gate."""
    asked = people.sql("SELECT COUNT(*) AS n FROM people")
    assert {field.name for field in dataclasses.fields(asked)} == {"table", "form", "options"}
    assert asked.draft.schema is people.table.schema
    assert asked.draft.path == ()


def test_equal_python_constants_of_two_types_are_two_questions(people):
    people.where(dp.col("age") == 1).agg(n=dp.count()).quote(epsilon=1)
    with pytest.raises(NotAnswerable):
        people.where(dp.col("age") == True).agg(n=dp.count()).quote(epsilon=1)  # noqa: E712


def test_explain_of_a_receipt_says_which_version_drew_it_also_under_other_metadata(people, tmp_path):
    answer = people.sql(QUESTIONS[0]).ask(epsilon=2)
    entry = people.table.ledger.entries()[1]
    recalled = asking.stored_answer(
        people.table, people.table.ledger.stored(entry["key"]), answer.receipt, analyst=None
    )
    assert recalled.plan["version"]
    assert recalled.explain() == answer.explain()
    toml = tmp_path / "people.toml"
    toml.write_text(toml.read_text().replace("[0, 110]", "[0, 120]"))
    with dp.open(toml) as changed:
        later = asking.stored_answer(
            changed.table, people.table.ledger.stored(entry["key"]), answer.receipt, analyst=None
        )
    assert (later.explain(), later.question) == (answer.explain(), answer.question)
