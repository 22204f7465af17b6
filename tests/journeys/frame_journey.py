"""A data frame to a plot: the journey of somebody in a notebook, run in a folder that holds people.csv."""

import re
from pathlib import Path

import pandas

import discreet as dp

# Public facts first.  No source: the table is handed over.
facts = Path("people.toml")
facts.write_text("""\
[dataset]
name = "people"
[unit]
key = "person_id"
max_rows = 2
[columns.region]
type = "category"
values = ["north", "south", "east"]
[columns.age]
type = "integer"
bounds = [0, 110]
[columns.income]
type = "number"
""")
frame = pandas.read_csv("people.csv")


def refusal(ask):
    """The error that it raises, which says what, why and how else, and nothing about rows."""
    try:
        ask()
    except dp.DiscreetError as error:
        refusal = error
    else:
        raise AssertionError("it was not refused")
    assert all((refusal.what, refusal.why, refusal.fix))
    assert "canary" not in str(refusal)
    return refusal


# A budget is missing; the refusal shows the lines to add.
error = refusal(lambda: dp.open(facts, table=frame).agg(n=dp.count()).quote(epsilon=1))
facts.write_text(facts.read_text() + error.fix.partition(":\n")[2] + "\n")

with dp.open(facts, table=frame) as people:
    assert "canary" not in repr(people)
    assert "epsilon 3 of 3 left" in repr(people)
    question = people.group_by("region").agg(n=dp.count(), age=dp.mean("age"))

    # Neither a price nor an error; then both kinds, for nothing.
    assert "epsilon=1" in refusal(question.quote).fix
    assert question.quote(epsilon=1).to_json()["remaining_after"]["epsilon"] == "2"
    people.group_by("region").agg(n=dp.count()).quote(error={"n": 15})

    answer = question.ask(epsilon=1)
    replayed = people.sql("SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY region").ask(epsilon=1)
    assert replayed.replayed, "SQL and Python are two ways to say one question"
    assert replayed.to_pandas().equals(answer.to_pandas())

    table = answer.to_pandas()
    assert list(table.columns) == ["region", "n", "n_moe", "age", "age_moe"]
    assert list(table["region"]) == ["north", "south", "east"]
    assert all(abs(table["n"] - 200) < 200)
    assert "±" in repr(answer)
    assert "<table" in answer._repr_html_()
    answer.plot().savefig("answer.png")
    assert Path("answer.png").stat().st_size > 1000

# Too dear: the refusal says how much still fits.
with dp.open(facts, table=frame) as people:
    dear = people.where(dp.col("age") >= 65).agg(n=dp.count())
    fits = re.search(r"epsilon at most ([\d.]+)", refusal(lambda: dear.ask(epsilon=7)).fix)
    assert dear.ask(epsilon=fits[1]).cost["epsilon"] == fits[1] == "2"

# A mean needs bounds; the refusal shows the line and where it goes.
with dp.open(facts, table=frame) as people:
    error = refusal(lambda: people.agg(income=dp.mean("income")).quote(epsilon=1))
where, line = re.search(r"Under (\[.+\]) write.*: (bounds = .*)", error.fix).groups()
facts.write_text(facts.read_text().replace(f"{where}\n", f"{where}\n{line}\n"))
with dp.open(facts, table=frame) as people:
    assert people.agg(income=dp.mean("income")).quote(epsilon=1, at_size=500)
print("the end")
