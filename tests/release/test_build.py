"""The gate path of a release: one charge, free replay, and leaves of the real engine that a row-by-row count finds."""

import contextlib
import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import envelope
from discreet.engine import Engine
from discreet.errors import BadValue, BudgetExceeded, EngineFailed, IntegrityError, NotAnswerable
from discreet.relation import Relation
from discreet.release import build, stored
from discreet.release.measure import Form, count_sensitivity, laplace, shares
from discreet.release.subject import ReleaseSpec, subject
from discreet.release.tree import tree_sums
from release import census

ROWS = [census.one(n, n // 3, census.WARDS[n // 3 % 5], "fm"[n % 2]) for n in range(300)]


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens the census in a folder of its own; all are closed at the end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    releases = []

    def make(**facts):
        folder = tmp_path / f"census{len(releases)}"
        folder.mkdir()
        releases.append(dp.open(census.written(folder, **facts)))
        return releases[-1]

    yield make
    for release in releases:
        release.close()


def charges(people):
    return [entry for entry in people.table.ledger.entries() if entry["kind"] == "charge"]


def leaves(people, *releases):
    """The exact leaf tables of releases, straight from the engine: for tests alone."""
    with contextlib.closing(people.table.view()) as view:
        return [release.subject.leaf_table(view.tally(release.subject.tally).compute()) for release in releases]


# --- one charge -------------------------------------------------------------------------------------------------------


def test_a_release_is_one_charge_of_exactly_what_was_quoted(opened):
    people = opened(rows=ROWS)
    release = people.release(by="sex")
    quote = release.quote(epsilon="0.7", share={"ward": "0.5"})
    built = release.build(epsilon="0.7", share={"ward": "0.5"})
    (charge,) = charges(people)
    assert (charge["epsilon"], charge["state"]) == ("7/10", "COMMITTED")
    assert people.budget.spent.epsilon == Fraction("0.7")
    assert built.remaining == quote.remaining_after
    assert built.receipt == f"{charge['n']}-{charge['hash'][:12]}"
    assert built.violations.count == 0
    assert built.noisy.shape == built.fitted.shape == (8, 2)


def test_a_release_built_again_is_free_and_identical_whatever_the_fit(opened):
    people = opened(rows=ROWS)
    first = people.release(by="sex").build(epsilon=1)
    assert not first.replayed
    for rebuilt in (
        people.release("geo", by=["SEX"]).build(epsilon="1.0"),
        people.release(by="sex").build(epsilon=1, method="topdown"),
        people.release(by="sex").build(epsilon=1, total=300, level="0.99"),
    ):
        assert rebuilt.replayed
        assert rebuilt.receipt == first.receipt
        assert np.array_equal(rebuilt.noisy, first.noisy)
        assert rebuilt.violations.count == 0
    assert rebuilt.fitted[0].sum() == 300
    assert len(charges(people)) == 1


def test_another_measurement_is_another_charge(opened):
    people = opened(rows=ROWS, epsilon=9)
    releases = [
        people.release(by="sex").build(epsilon=1),
        people.release().build(epsilon=1),
        people.release(by="sex", count="rows").build(epsilon=1),
        people.release(by="sex").build(epsilon=1, share={"ward": "0.5"}),
        people.release(by="sex").build(epsilon=1, sharing="least"),
        people.release(groups="household", largest=4).build(epsilon=1),
        people.release(groups="household", largest=5).build(epsilon=1),
    ]
    assert not any(release.replayed for release in releases)
    assert len({release.receipt for release in releases}) == len(charges(people)) == 7


def test_another_analyst_pays_anew_and_gets_another_draw(opened):
    people = opened(rows=ROWS, more="[budget.analysts]\nana = 2\nben = 2")
    ana = people.release().build(epsilon="0.1", analyst="ana")
    ben = people.release().build(epsilon="0.1", analyst="ben")
    assert not ben.replayed
    assert not np.array_equal(ana.noisy, ben.noisy)  # eight draws of scale 30: equal once in 10¹³
    assert [charge["analyst"] for charge in charges(people)] == ["ana", "ben"]
    assert people.budget.spent.epsilon == Fraction("0.2")


def test_the_curator_may_share_it_among_analysts(opened):
    people = opened(rows=ROWS, more="share_answers = true\n[budget.analysts]\nana = 2\nben = 2")
    ana = people.release().build(epsilon=1, analyst="ana")
    ben = people.release().build(epsilon=1, analyst="ben")
    assert ben.replayed
    assert np.array_equal(ana.noisy, ben.noisy)
    assert len(charges(people)) == 1


def test_another_table_is_another_charge(opened):
    people = opened(rows=ROWS)
    people.release().build(epsilon=1)
    census.put(people.table.toml.parent, [*ROWS, census.one(9999, 1)])
    assert not people.release().build(epsilon=1).replayed
    assert people.budget.spent.epsilon == 2


# --- what goes wrong --------------------------------------------------------------------------------------------------


def unread(self, *_, **__):
    raise AssertionError("rows were read")


def test_refused_charge_leaves_data_untouched(opened, monkeypatch):
    people = opened(rows=ROWS)
    people.release().build(epsilon="2.5")
    monkeypatch.setattr(Engine, "run", unread)
    with pytest.raises(BudgetExceeded):
        people.release().build(epsilon=1)
    assert people.budget.spent.epsilon == Fraction("2.5")
    assert len(charges(people)) == 1


@pytest.mark.parametrize("error", [ValueError("zanzibarite"), MemoryError()], ids=["bug", "memory"])
def test_failure_keeps_the_charge_and_the_next_try_is_free(opened, monkeypatch, error):
    people = opened(rows=ROWS)

    def broken(self, *_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run", broken)
        with pytest.raises(EngineFailed) as caught:
            people.release().build(epsilon=1)
    assert "zanzibarite" not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
    assert people.budget.spent.epsilon == 1
    rebuilt = people.release().build(epsilon=1)
    assert not rebuilt.replayed
    assert people.budget.spent.epsilon == 1


def test_fit_that_fails_keeps_what_was_measured(opened, monkeypatch):
    people = opened(rows=ROWS)

    def broken(*_, **__):
        raise BadValue("The fit", "failed.", "Try another.")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.release.fit.choice.table_of", broken)
        with pytest.raises(BadValue, match="Try another"):
            people.release().build(epsilon=1)
    assert people.release().build(epsilon=1).replayed
    assert people.budget.spent.epsilon == 1


@pytest.mark.parametrize(("method", "package"), [("auto", "numba"), ("rounded", "ortools")])
def test_method_whose_package_is_missing_is_refused_before_the_charge(opened, monkeypatch, method, package):
    people = opened(rows=ROWS)
    monkeypatch.setattr(build, "find_spec", lambda name: None if name == package else name)
    with pytest.raises(BadValue, match=rf"needs the package {package}.*discreet\[release\]"):
        people.release().build(epsilon=1, method=method)
    assert people.budget is None


def test_release_too_large_to_store_is_refused_before_the_charge(opened, monkeypatch):
    people = opened(rows=ROWS)
    monkeypatch.setattr(build, "LONGEST_ANSWER", 8 * 2 * 15)
    people.release().quote(epsilon=1)
    with pytest.raises(NotAnswerable, match=r"16 numbers would be measured, and at most 15"):
        people.release(by="sex").build(epsilon=1)
    assert people.budget is None


def test_stored_bytes_come_back_as_numbers_and_other_bytes_are_refused(opened):
    plan = opened(rows=ROWS).release(by="sex").plan(epsilon=1)
    shape = len(plan.subject.tree), plan.measurement.columns[-1].stop
    numbers = np.arange(np.prod(shape), dtype=np.int64).reshape(shape) - 2**61
    read_back, kept = stored.read_stored(stored.to_bytes(plan, numbers), plan)
    assert np.array_equal(kept, numbers)
    assert (read_back.measurement.mechanisms, read_back.shares) == (plan.measurement.mechanisms, plan.shares)
    for other in (b'{"dataset": "people"}', b"", envelope.HEAD, envelope.FAILED):
        with pytest.raises(IntegrityError, match="no release"):
            stored.read_stored(other, plan)


def test_a_subject_that_says_less_than_the_table_does_not_loosen_the_gate(opened):
    people = opened(rows=ROWS, max_rows=3)
    plan = people.release(count="rows").plan(epsilon=1)
    one_row = count_sensitivity(1, Relation.ADD_REMOVE)
    less = dataclasses.replace(plan.subject.design, leaf_sensitivity=one_row, level_sensitivity=one_row)
    narrow = laplace(less, Fraction(1), [[share] for share in plan.shares])
    forged = dataclasses.replace(plan, subject=dataclasses.replace(plan.subject, design=less), measurement=narrow)
    with pytest.raises(BadValue, match="must cover the sensitivity"):
        build.build(people.table, forged)
    bare = dataclasses.replace(plan.subject, leaf_table=lambda columns: plan.subject.leaf_table(columns) * 10**6)
    release = build.build(people.table, dataclasses.replace(plan, subject=bare))
    assert abs(release.noisy).max() < 10**5


def test_a_release_replays_with_the_noise_it_was_drawn_under_whatever_today_plans(opened, monkeypatch):
    people = opened(rows=ROWS)
    first = people.release(by="sex").build(epsilon=1)
    monkeypatch.setattr("discreet.release.plan.shares", lambda tree, _, locked: shares(tree, 0.5, locked))
    assert people.release(by="sex").plan(epsilon=1).shares != first.plan.shares
    rebuilt = people.release(by="sex").build(epsilon=1)
    assert rebuilt.replayed
    assert np.array_equal(rebuilt.noisy, first.noisy)
    assert np.array_equal(rebuilt.radius, first.radius)
    assert rebuilt.plan.measurement.mechanisms == first.plan.measurement.mechanisms


def test_the_ledger_keeps_no_word_of_the_fit_and_no_exact_number(opened):
    people = opened(rows=ROWS)
    people.release(by="sex").build(epsilon=1, total=300)
    memo = charges(people)[0]["memo"]
    assert memo["text"] == "release of units over geo by sex"
    assert memo["words"][0] == "Protected: each person, counted once; neighbours by add-remove."
    assert "Measured: 5 × ward by sex, 2 numbers each. Laplace noise of scale 3." in memo["words"]
    assert "300" not in json.dumps(memo["words"])


# --- the leaves -------------------------------------------------------------------------------------------------------


def test_at_a_price_without_noise_every_place_is_exact(opened):
    """At ε = 30,000 and more for a level, noise other than 0 has a chance below e^-10000."""
    people = opened(rows=ROWS, epsilon=10**6)
    for release, exact in (
        (people.release(by=("sex", "age")), census.counted(ROWS, by=("sex", "age"))),
        (
            people.release(groups="household", largest=3),
            census.sized(ROWS, unit="person", cap=1, group="household", largest=3),
        ),
    ):
        built = release.build(epsilon=2 * 10**5)
        every = tree_sums(release.subject.tree, exact)
        assert np.array_equal(built.estimate, every)
        assert np.array_equal(built.fitted, every)


@pytest.mark.parametrize("cap", [1, 3])
def test_leaves_are_those_of_a_row_by_row_count_where_persons_are_protected(opened, cap):
    people = opened(max_rows=cap)
    facts = {"unit": "person", "cap": cap}
    wanted = [
        (people.release(), census.counted, facts | {"units": True}),
        (people.release(by="sex"), census.counted, facts | {"units": True, "by": ("sex",)}),
        (people.release(by=("age", "sex")), census.counted, facts | {"units": True, "by": ("age", "sex")}),
        (people.release(count="rows", by=("sex", "age")), census.counted, facts | {"by": ("sex", "age")}),
        (people.release(groups="household", largest=3), census.sized, facts | {"group": "household", "largest": 3}),
        (people.release(groups="household", largest=1), census.sized, facts | {"group": "household", "largest": 1}),
        (people.release(groups="household", largest=40), census.sized, facts | {"group": "household", "largest": 40}),
    ]
    for seed in range(4):
        rows = census.drawn(seed, cap=cap)
        census.put(people.table.toml.parent, rows)
        tables = leaves(people, *(release for release, _, _ in wanted))
        for exact, (release, twin, given) in zip(tables, wanted, strict=True):
            assert np.array_equal(exact, twin(rows, **given)), (seed, release.spec)


def test_leaves_are_those_of_a_row_by_row_count_where_groups_are_protected(opened):
    homes = opened(key="household", max_rows=4)
    largest = (2, 4, 9)
    releases = [homes.release(groups="household", largest=size) for size in largest]
    for seed in range(4):
        rows = census.drawn(seed, cap=4, of="household")
        census.put(homes.table.toml.parent, rows)
        *sized, counted = leaves(homes, *releases, homes.release(by="sex"))
        for exact, size in zip(sized, largest, strict=True):
            assert np.array_equal(exact, census.sized(rows, unit="household", cap=4, group="household", largest=size))
        assert np.array_equal(counted, census.counted(rows, by=("sex",), unit="household", cap=4, units=True))


def test_leaves_are_those_of_a_row_by_row_count_where_rows_are_protected(opened):
    people = opened(key=None)
    for seed in range(3):
        rows = census.drawn(seed, cap=3)
        census.put(people.table.toml.parent, rows)
        (exact,) = leaves(people, people.release(by="sex"))
        assert np.array_equal(exact, census.counted(rows, by=("sex",)))


def test_nobody_counts_twice_and_everybody_with_a_known_place_counts_once(opened):
    people = opened(max_rows=4)
    rows = [census.one(n, 0, census.WARDS[place], "fm"[place % 2]) for n in range(400) for place in range(n % 4 + 1)]
    census.put(people.table.toml.parent, rows)
    plain, by_sex = leaves(people, people.release(), people.release(by="sex"))
    assert plain.sum() == by_sex.sum() == 400
    assert (
        np.count_nonzero(plain) == 4
    )  # the choice differs between units: one place stays empty with a chance of (3/4)¹⁰⁰


def test_a_unit_in_two_places_is_one_of_size_of_the_rows_in_the_one_that_counts(opened):
    homes = opened(key="household", max_rows=6)
    census.put(homes.table.toml.parent, [census.one(n, "h", "n1" if n < 2 else "s1") for n in range(6)])
    (exact,) = leaves(homes, homes.release(groups="household", largest=6))
    assert exact.tolist() in ([[0, 1, 0, 0, 0, 0], *[[0] * 6] * 4], [*[[0] * 6] * 3, [0, 0, 0, 1, 0, 0], [0] * 6])


# --- neighbours -------------------------------------------------------------------------------------------------------


def norms(change):
    size = np.abs(change)
    return int(np.count_nonzero(change)), int(size.sum()), int((size * size).sum()), int(size.max(initial=0))


def claimed(sensitivity):
    return sensitivity.l0, sensitivity.l1, sensitivity.l2_squared, sensitivity.linf


def tables(of):
    """A table and what becomes of it when one unit, named u, is not there, is another or has many rows."""
    where = [("n1", "f"), ("n2", "m"), ("s1", "f")]
    others = [
        census.one(*((f"p{n}", f"h{n % 3}") if of == "person" else (f"p{n}", f"g{n}")), *where[n % 3]) for n in range(6)
    ]

    def unit(*rows):
        return [census.one("u" if of == "person" else f"q{n}", home if of == "person" else "u", *place)
                for n, (home, place) in enumerate(rows)]  # fmt: skip

    return {
        "absent": others,
        "alike": others + unit(*[("h0", where[0])] * 3),
        "apart": others + unit(("h0", where[0]), ("h1", where[1]), ("h2", where[2])),
        "new": others + unit(*[("h9", where[2])] * 3),
        "joined": others + unit(("h1", where[1])),
        "mixed": others + unit(("h0", where[0]), ("h0", where[1]), ("h1", where[0])),
        "unknown": others + unit(("h0", ("atlantis", "f")), ("", where[0]), ("h1", ("n2", "?"))),
    }


def wanted(of):
    if of == "household":
        return [
            ReleaseSpec(groups="household", largest=2),
            ReleaseSpec(groups="household", largest=5),
            ReleaseSpec(by=("sex",)),
        ]
    return [
        ReleaseSpec(),
        ReleaseSpec(by=("sex",)),
        ReleaseSpec(count="rows", by=("sex",)),
        ReleaseSpec(groups="household", largest=5),
        ReleaseSpec(groups="household", largest=2),
        ReleaseSpec(groups="household", largest=5, form=Form.PLAIN),
    ]


TIGHT = {  # neighbours that reach the claim: counts of units, of rows, sizes
    ("person", Relation.ADD_REMOVE): [(1, 1, 1, 1), (3, 3, 9, 3)],
    ("person", Relation.REPLACE_ONE): [(2, 2, 2, 1), (6, 6, 18, 3)],
    ("household", Relation.ADD_REMOVE): [(1, 1, 1, 1)],
    ("household", Relation.REPLACE_ONE): [(2, 2, 2, 1)],
}


@pytest.mark.parametrize("of", ["person", "household"])
def test_one_unit_moves_the_leaves_no_further_than_the_design_says(opened, of):
    people = opened(key=of, max_rows=3)
    schemas = {relation: opened(key=of, max_rows=3, neighbours=str(relation)).table.schema for relation in Relation}
    releases = [_of(people, spec) for spec in wanted(of)]
    leaf_tables = {}
    for name, rows in tables(of).items():
        census.put(people.table.toml.parent, rows)
        leaf_tables[name] = leaves(people, *releases)
    reached = {relation: set() for relation in Relation}
    for relation, schema in schemas.items():
        designs = [subject(spec, schema).design for spec in wanted(of)]
        pairs = [("absent", name) for name in leaf_tables] if relation is Relation.ADD_REMOVE else [
            (left, other) for left in leaf_tables for other in leaf_tables if "absent" not in (left, other)
        ]  # fmt: skip
        for first, other in pairs:
            for before, after, design in zip(leaf_tables[first], leaf_tables[other], designs, strict=True):
                moves, bound = norms(after - before), claimed(design.leaf_sensitivity)
                assert all(x <= y for x, y in zip(moves, bound, strict=True)), (first, other, design.form, moves, bound)
                assert design.leaf_sensitivity.relation is relation
                _note(reached[relation], moves, bound)
        for bound in TIGHT[of, relation]:
            assert bound[1] in {l1 for l1, _ in reached[relation]}, (bound, reached[relation])


def _of(people, spec):
    return people.release(by=spec.by, count=spec.count, groups=spec.groups, largest=spec.largest)


def _note(reached, moves, bound):
    """Which l1 norms were reached in full."""
    if moves[1] == bound[1]:
        reached.add((moves[1], bound))


def test_a_wrong_claim_would_be_seen(opened):
    """A unit with three rows in one household's place moves counts of rows by three: a claim of two is refuted."""
    people = opened(max_rows=3)
    specs = []
    for rows in (tables("person")["absent"], tables("person")["alike"]):
        census.put(people.table.toml.parent, rows)
        specs.append(leaves(people, people.release(count="rows"))[0])
    assert norms(specs[1] - specs[0])[1] == 3 > 2
