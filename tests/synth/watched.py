"""A build on tables in memory with one history of released numbers, and what each step counts, in plain Python."""

from fractions import Fraction

import numpy as np

from discreet.engine.arrays import view_of_arrays
from discreet.learn.price import price_of
from discreet.ledger.unbooked import Unbooked
from discreet.run import Run
from discreet.schema import Column, Schema, Unit
from discreet.synth.build import measure
from discreet.synth.measuring import Measuring
from discreet.synth.model.synthesis import groups_for, singles_of
from discreet.synth.plan import plan_of
from discreet.synth.subject import subject_of
from discreet.terms import Terms
from learn.watched import Watch

COLUMNS = (
    Column("town", "category", values=("n", "s")),
    Column("age", "integer", bounds=(0, 3)),
    Column("ill", "integer", values=(0, 1)),
)
EMPTY = None


def plan(relation="add-remove", max_rows=1, *, epsilon=200, delta="1e-3", **options):
    """The plan of a synthesis of three tiny columns."""
    schema = Schema("tiny", COLUMNS, Unit("who", max_rows), relation=relation)
    price = price_of(Terms.parse(epsilon, delta))
    return plan_of(subject_of(schema), price, **options)


def arrays(persons):
    """Rows of persons as columns; a row is (town, age, ill) with None for an empty cell."""
    rows = [(number, *row) for number, person in enumerate(persons) for row in person]
    columns = zip(*rows, strict=True) if rows else [(), (), (), ()]
    who, town, age, ill = (list(column) for column in columns)
    return {
        "who": np.array(who, dtype=np.int64),
        "town": np.array([cell or "" for cell in town], dtype=str),
        "age": np.array([np.nan if cell is None else cell for cell in age], dtype=float),
        "ill": np.array([np.nan if cell is None else cell for cell in ill], dtype=float),
    }


def steps_of(plan, persons, history=None):
    """What each step computed, and the parts that were released."""
    view, gate = view_of_arrays(plan.subject.schema, arrays(persons)), Watch(history)
    parts = measure(Measuring(Run(Unbooked(), lambda: view, gate=gate), plan))
    return gate.steps, parts


# --- the same counts in plain Python ---------------------------------------------------------------------------------


def codes(plan, person):
    """The fine code of every feature in each of a person's rows."""
    kept = []
    for town, age, ill in person:
        code = [2 if town is None else "ns".index(town), 4 if age is None else age, 2 if ill is None else int(ill)]
        kept.append((*code, len(person) - 1) if plan.subject.is_shared else tuple(code))
    return kept


def counted(plan, persons, groups, clique, weight):
    """The counts of one clique: each person adds its weight, which its rows share."""
    sizes = [int(max(group)) + 1 for group in groups]
    counts = np.zeros([sizes[feature] for feature in clique], dtype=object)
    for person in persons:
        for row in codes(plan, person):
            counts[tuple(groups[feature][row[feature]] for feature in clique)] += weight // len(person)
    return counts.ravel()


def twin(plan, persons, parts):
    """What the steps that released these parts must have computed, by name and, of tables, by part."""
    exact = {}
    for part in parts:
        facts = part.tally
        if facts["name"] == "scores":
            exact["scores"] = scores(plan, persons, parts[0], facts)
            continue
        cliques = zip(facts["cliques"], facts["weights"], strict=True)
        exact[facts["name"]] = np.concatenate(
            [counted(plan, persons, facts["groups"], clique, weight) for clique, weight in cliques]
        )
    return exact


def scores(plan, persons, first, facts):
    """Σ|count − expected| of every pair, expected from what the first step released."""
    singles, unit = singles_of(plan, [first]), facts["steps"]
    groups = groups_for(plan, singles)
    assert [group.tolist() for group in groups] == facts["groups"]
    shares = singles.coarse_shares(groups)
    distances = []
    for pair in facts["pairs"]:
        expected = np.rint(singles.total * unit * np.outer(*(shares[feature] for feature in pair))).ravel()
        own = counted(plan, persons, facts["groups"], pair, unit)
        distances.append(sum(abs(int(a) - int(b)) for a, b in zip(own, expected, strict=True)))
    return np.array(distances, dtype=object)


def norms(change):
    """l1, l2² and linf of a change, exactly."""
    steps = [abs(int(step)) for step in change]
    return Fraction(sum(steps)), Fraction(sum(step**2 for step in steps)), Fraction(max(steps, default=0))
