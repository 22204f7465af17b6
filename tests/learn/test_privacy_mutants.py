"""Fits on neighbouring tables with one history: every step stays within its noise, and every planted bug is found."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import discreet as dp
from discreet.bounded import RowLimit
from discreet.engine import arrays as array_engine
from discreet.engine import passes
from discreet.engine.secret import Secret
from discreet.errors import BadValue
from discreet.kernel import encode, risk
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import Design
from discreet.learn.counts import additive, tables
from discreet.learn.counts.additive import AdditiveLearner
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.fit import fit_arrays
from discreet.learn.input import arrays
from discreet.learn.input.arrays import ArrayFacts
from discreet.learn.price import parse_price
from discreet.learn.risk import descent, linear
from discreet.learn.risk.centre import CENTRE_SHARE, centre_public
from discreet.learn.risk.descent import DescentPlan
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject
from kernel.test_risk import clipped_without_intercept
from learn import people
from learn.watched import faults, reached, watched

LEARNERS = {
    "naive bayes": NaiveBayesLearner(),
    "additive": AdditiveLearner(),
    "logistic": LinearLearner("logistic"),
    "hinge": LinearLearner("hinge", passes=3),
    "class weights": LinearLearner("logistic", passes=3, class_weight=((0, 2.0), (1, 8.0))),
    "huber": LinearLearner("huber", passes=3),
    "softmax": LinearLearner("logistic", passes=3),
    "additive of three": AdditiveLearner(),
    "long rows": LinearLearner("logistic", passes=3, rows=10**7),
    "moments": LinearLearner("huber", rows=10**9),
}
OF_THREE = ("softmax", "additive of three")  # classes; the third has no row, so the rows are those of two
COLOURS = ["red", "green", "blue"]


@pytest.fixture(autouse=True)
def one_key(monkeypatch):
    """Both tables of a pair are hashed under one key, as a ledger's are."""
    monkeypatch.setattr(array_engine, "new_secret", lambda: Secret(bytes(32)))


def facts_of(learner, relation, max_rows=1, classes=(0, 1)):
    target = {"target_bounds": (0, 9)} if learner.options().get("loss") == "huber" else {"classes": list(classes)}
    bounds, values = {"a": (0, 9), "b": (0, 5000)}, {"c": COLOURS}
    return ArrayFacts(bounds=bounds, values=values, relation=relation, max_rows=max_rows, **target)


def classes_of(name):
    return (0, 1, 2) if name in OF_THREE else (0, 1)


def table(rows, with_units):
    """Rows of a, b, the place of c, the target and the unit, as X, y and units."""
    a, b, c, y, unit = (np.array(column) for column in zip(*rows, strict=True))
    X = {"a": a.astype(float), "b": b.astype(float), "c": np.array([*COLOURS, "none"])[c.astype(int)]}
    return X, y.astype(int), unit.astype(int) if with_units else None


BASE = [(1, 10, 0, 0, 0), (9, 4000, 1, 1, 1), (5, 0, 2, 1, 2), (np.nan, 70, 3, 0, 3), (4, 5000, 0, 1, 4)]
FAR = [(9, 5000, 2, 0), (0, 0, 0, 1), (9, 0, 1, 1), (0, 5000, 3, 0)]


def pairs(relation, each=1):
    """One unit more or less, or another one in its place; at the ends of the ranges, with `each` rows."""

    def rows_of(row, unit):
        return [(*row, unit)] * each

    with_units = each > 1
    ends = [rows_of(row, 9) for row in FAR]
    if relation == "add-remove":
        changed = [(BASE, BASE[1:]), (BASE, BASE[:1] + BASE[2:]), *((BASE, [*BASE, *end]) for end in ends)]
    else:
        changed = [([*BASE, *end], [*BASE, *other]) for end in ends for other in ends if end != other]
        changed += [(BASE, [*rows_of(FAR[0], 0), *BASE[1:]])]
    return [(table(before, with_units), table(after, with_units)) for before, after in changed]


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_step_of_a_fit_stays_within_its_noise(name, relation):
    learner, classes = LEARNERS[name], classes_of(name)
    assert faults(learner, facts_of(learner, relation, 1, classes), pairs(relation)) == []
    assert faults(learner, facts_of(learner, relation, 3, classes), pairs(relation, each=3)) == []


def test_the_noise_of_a_fit_is_not_wider_than_it_must_be():
    for name in ("naive bayes", "logistic"):
        assert reached(LEARNERS[name], facts_of(LEARNERS[name], "add-remove"), pairs("add-remove")) > 0.9


def test_all_of_the_price_is_used_and_nothing_beyond():
    """The shares of every learner add up to 1, up to the widening by 2⁻⁴⁰ and twelve digits."""
    price = parse_price(2, "1e-3")
    for name in ("additive", "logistic", "huber", "long rows", "moments"):
        learner = LEARNERS[name]
        plan, steps, _ = watched(learner, table(BASE, False), facts_of(learner, "add-remove"), price)
        costs = [cost for step in steps for cost in getattr(step.mechanism.cost, "costs", (step.mechanism.cost,))]
        used = sum(1 / cost.sigma**2 for cost in costs) * plan.cost.sigma**2
        assert 1 - 1e-9 < used <= 1


# --- planted bugs ----------------------------------------------------------------------------------------------------

ADD, REPLACE = "add-remove", "replace-one"
REAL_SUBJECT, REAL_SUM, REAL_CENTRE = arrays.subject_of_arrays, Steps.sum, descent.centre_of


def bounds_of_the_rows(columns, y, units, facts):
    own = {name: (float(np.nanmin(columns[name])), float(np.nanmax(columns[name])) + 1) for name in ("a", "b")}
    return REAL_SUBJECT(columns, y, units, replace(facts, bounds=own))


def values_of_the_rows(columns, y, units, facts):
    own = {"c": sorted(set(columns["c"].tolist()))}
    return REAL_SUBJECT(columns, y, units, replace(facts, values=own))


def by_the_number_of_rows(columns, price, steps):
    return replace(REAL_CENTRE(columns, price, steps), rows=float(steps.view.rows(["x0"]).compute().size))


def centred_by_the_rows(columns, price, steps):
    centre = REAL_CENTRE(columns, price, steps)
    centre.steps[1] = int(np.nanmean(steps.view.rows(["x0"]).compute().columns["x0"]) * 100)
    return centre


def passes_at_the_whole_price(self, name, kernel, public, share, **named):
    return REAL_SUM(self, name, kernel, public, share / (1 - CENTRE_SHARE) if "pass" in name else share, **named)


def moments_at_the_whole_price(self, name, kernel, public, share, **named):
    return REAL_SUM(self, name, kernel, public, Fraction(1) if name == "moments" else share, **named)


def moments_about_the_rows(self, steps, centre, _real=DescentPlan._solve):
    centre.steps[1] += steps.view.rows(["x0"]).compute().size * 100
    return _real(self, steps, centre)


def moments_by_their_rows(self, steps, centre, _real=DescentPlan._solve):
    return _real(self, steps, centre) | {"norm": np.array([steps.view.rows(["x0"]).compute().size])}


def reading_the_rows(self, steps, _real=DescentPlan.fit):
    return _real(self, steps) | {"rows": np.array([steps.view.rows(["x0"]).compute().size])}


def whole_price_each(tallies, price, share, _real=tables._noise):
    return _real(tallies, price, share * len(tallies))


def unclipped(slopes, steepest):
    return [slope * risk.SLOPE for slope in slopes]


def weighing_double(loss, slope, codes):
    return np.where(codes >= 0, 2 * slope, np.nan)


def weighing_as_typed(loss, slope, codes):
    return np.where(codes >= 0, slope * np.array([2.0, 8.0])[codes], np.nan)


def weights_as_typed(learner, subject):
    return tuple(weight for _, weight in learner.class_weight)


def each_slope_steep(slopes, steepest):
    """Every slope on its bound: the norm of all is √3 times as long."""
    return [np.where(np.isnan(slope), np.nan, float(steepest)) for slope in slopes]


HALF_A_SLOPE = (risk.Loss, "steepest_squared", property(lambda self: risk.SLOPE**2 // 4))
WITHOUT_INTERCEPT = (Design, "of", classmethod(clipped_without_intercept))
EVERY_ROW = (encode, "_shares", lambda chunk, rows: np.ones(chunk.size))
OWN_BOUNDS = (arrays, "subject_of_arrays", bounds_of_the_rows)
MUTANTS = {
    "bounds are read from the rows": ("naive bayes", ADD, 1, [OWN_BOUNDS]),
    "bounds of descent are read from the rows": ("logistic", ADD, 1, [OWN_BOUNDS]),
    "values are read from the rows": ("naive bayes", ADD, 1, [(arrays, "subject_of_arrays", values_of_the_rows)]),
    "the intercept lies outside the norm": ("logistic", ADD, 1, [WITHOUT_INTERCEPT]),
    "the rate follows the number of rows": ("logistic", ADD, 1, [(descent, "centre_of", by_the_number_of_rows)]),
    "the centre is the mean of the rows": ("logistic", ADD, 1, [(descent, "centre_of", centred_by_the_rows)]),
    "rows count in place of persons": ("logistic", ADD, 3, [EVERY_ROW]),
    "the centre is not paid for": ("logistic", ADD, 1, [(Steps, "sum", passes_at_the_whole_price)]),
    "each table takes the whole price": ("naive bayes", ADD, 1, [(tables, "_noise", whole_price_each)]),
    "a class weighs 2": ("logistic", ADD, 1, [(risk, "_weighted", weighing_double), (risk, "_clipped", unclipped)]),
    "class weights above 1": (
        "class weights", ADD, 1, [(risk, "_weighted", weighing_as_typed), (risk, "_clipped", unclipped)],
    ),
    "moments are not left what the centre took": ("moments", ADD, 1, [(Steps, "sum", moments_at_the_whole_price)]),
    "moments are taken about the rows": ("moments", ADD, 1, [(DescentPlan, "_solve", moments_about_the_rows)]),
    "the norm of a model is that of the rows": ("moments", ADD, 1, [(DescentPlan, "_solve", moments_by_their_rows)]),
    "the result reads the rows": ("logistic", ADD, 1, [(DescentPlan, "fit", reading_the_rows)]),
    "slopes of several classes are not clipped together": ("softmax", ADD, 1, [(risk, "_clipped", each_slope_steep)]),
    "the bound of several slopes is half that of one": ("softmax", ADD, 1, [HALF_A_SLOPE]),
    "rows of several classes count in place of persons": ("softmax", ADD, 3, [EVERY_ROW]),
    "the intercept lies outside the norm of several classes": ("softmax", ADD, 1, [WITHOUT_INTERCEPT]),
    "rows of an additive model of three count in place of persons": ("additive of three", ADD, 3, [EVERY_ROW]),
    "the bound of an additive model of three is half that of one slope": (
        "additive of three", ADD, 1, [HALF_A_SLOPE],
    ),
    "another relation in the plan": (
        "logistic", REPLACE, 1, [(Subject, "limit", property(lambda self: RowLimit(self.schema.max_rows)))],
    ),
    "another relation in the plan and the view": (
        "logistic", REPLACE, 1,
        [
            (Subject, "limit", property(lambda self: RowLimit(self.schema.max_rows))),
            (passes, "row_limit", lambda schema: RowLimit(schema.max_rows)),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_of_a_learner_is_found(monkeypatch, mutant):
    name, relation, each, patches = MUTANTS[mutant]
    for patch in patches:
        monkeypatch.setattr(*patch)
    learner = LEARNERS[name]
    assert faults(learner, facts_of(learner, relation, each, classes_of(name)), pairs(relation, each)) != []


def test_a_centre_share_that_is_read_twice_is_found(monkeypatch):
    """The stage takes a tenth, and the passes leave a twentieth for it."""

    def tenth(self, name, kernel, public, share, **named):
        return REAL_SUM(self, name, kernel, public, 2 * share if name == "centre" else share, **named)

    monkeypatch.setattr(Steps, "sum", tenth)
    learner = LEARNERS["logistic"]
    assert faults(learner, facts_of(learner, ADD), pairs(ADD)) == ["more than the price"]


def test_stages_of_an_additive_model_that_take_more_than_the_price_are_found(monkeypatch):
    monkeypatch.setattr(additive, "SHARES", tuple(share * 11 / 10 for share in additive.SHARES))
    learner = LEARNERS["additive"]
    assert "more than the price" in faults(learner, facts_of(learner, ADD), pairs(ADD)[:1])


def test_noise_planned_from_what_it_is_compared_with_hides_a_narrow_view(monkeypatch):
    """A view that derives its bound for the wrong relation is refused, unless the plan asks the view for it."""
    learner, facts = LEARNERS["logistic"], facts_of(LEARNERS["logistic"], REPLACE)
    monkeypatch.setattr(passes, "row_limit", lambda schema: RowLimit(schema.max_rows))
    honest = faults(learner, facts, pairs(REPLACE)[:2])
    assert "the gate refuses" in honest
    assert "moved beyond the noise" not in honest

    def comparing_with_itself(self, name, kernel, public, share, **named):
        exact = self.view.sum(kernel, self._subject.columns, public)
        return self.measure(name, self._price.mechanism(exact.sensitivity, share), exact)

    monkeypatch.setattr(Steps, "sum", comparing_with_itself)
    hidden = faults(learner, facts, pairs(REPLACE))
    assert "the gate refuses" not in hidden
    assert "moved beyond the noise" in hidden


# --- refusals before the charge --------------------------------------------------------------------------------------

REFUSED = [
    (partial(LinearLearner, class_weight=((2, 1.0),)), 1, "class_weight"),
    (partial(LinearLearner, class_weight=((0, 0.0), (1, 1.0))), 1, "class_weight"),
    (partial(LinearLearner, class_weight=((0, -1.0),)), 1, "class_weight"),
    (partial(LinearLearner, class_weight=((0, float("nan")),)), 1, "class_weight"),
    (partial(LinearLearner, "huber", class_weight=((0, 1.0),)), 1, "class_weight"),
    (partial(LinearLearner, passes=0), 1, "passes"),
    (partial(LinearLearner, norm="0.02"), 1, "norm"),
    (partial(LinearLearner, norm="500"), 1, "norm"),
    (LinearLearner, 5000, "rows"),
    (AdditiveLearner, 5000, "rows"),
]


@pytest.mark.parametrize(("learner", "max_rows", "said"), REFUSED)
def test_what_a_pass_would_refuse_is_refused_by_the_plan(learner, max_rows, said):
    X, y, units = table(BASE, True)
    facts = facts_of(learner(), ADD, max_rows)
    subject, _ = REAL_SUBJECT(arrays.columns_of(X), y, units, facts)
    with pytest.raises(BadValue, match=said):
        learner().plan(subject, parse_price(1, "1e-6"))


@pytest.mark.parametrize(
    ("typed", "scaled"),
    [(((0, 2.0), (1, 8.0)), (0.25, 1.0)), (((1, 4.0),), (0.25, 1.0)), (((1, 0.5), (0, 0.25)), (0.5, 1.0))],
)
def test_no_class_weighs_more_than_1_in_a_plan(typed, scaled):
    X, y, units = table(BASE, True)
    subject, _ = REAL_SUBJECT(arrays.columns_of(X), y, units, facts_of(LinearLearner(), ADD))
    assert LinearLearner(class_weight=typed).plan(subject, parse_price(1, "1e-6")).class_weight == scaled


def test_class_weights_that_are_not_scaled_are_refused_by_the_plan(monkeypatch):
    monkeypatch.setattr(linear, "_weights", weights_as_typed)
    X, y, units = table(BASE, True)
    subject, _ = REAL_SUBJECT(arrays.columns_of(X), y, units, facts_of(LinearLearner(), ADD))
    for typed in (((0, 2.0), (1, 1.0)), ((0, 1.0),)):
        with pytest.raises(BadValue, match="class_weight"):
            LinearLearner(class_weight=typed).plan(subject, parse_price(1, "1e-6"))


def test_more_than_256_features_leave_room_for_the_number_of_rows():
    """√K times a step of 2²⁶ would pass 2³⁰ steps, which no chunk may add up to for each unit."""
    X, y = {f"x{place}": np.array([0.0, 1.0, 1.0]) for place in range(300)}, np.array([0, 1, 1])
    subject, view = REAL_SUBJECT(X, y, None, ArrayFacts(bounds=(0, 1), classes=[0, 1]))
    plan = LinearLearner(passes=1).plan(subject, parse_price(1, "1e-6"))
    public = centre_public(plan.columns)
    assert kernel_of("risk").sensitivity(public, subject.limit).linf <= 2**30
    sums = view.sum("risk", subject.columns, public).compute()
    assert sums[0] == 3 * 15 * 2**26


def test_arrays_are_charged_to_a_ledger_of_the_same_unit_alone(tmp_path):
    """A price for each row is no price for each person, and one for persons none for rows: one row less of a person
    changes that person's part, and so moves sums twice as far as adding or removing does."""
    X, y, _ = table(BASE, False)
    facts = facts_of(LEARNERS["naive bayes"], ADD)
    path = people.write(tmp_path, people.rows_of(20, 1))
    with dp.open(path) as persons:
        subject, view = REAL_SUBJECT(X, y, None, facts)
        with pytest.raises(BadValue, match="those of the ledger"):
            fit_arrays(LEARNERS["naive bayes"], subject, parse_price(1), view, persons)
        assert persons.budget.charges == 0
        subject, view = REAL_SUBJECT(X, y, np.arange(len(y)), facts)
        fit_arrays(LEARNERS["naive bayes"], subject, parse_price(1), view, persons)
        assert persons.budget.charges == 1
