"""Gradients of a risk equal their slow twin to the last step, and no unit moves them further than is stated."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.bounded import RowLimit, Sensitivity
from discreet.engine.chunks import Place
from discreet.engine.held import HeldChunks
from discreet.errors import BadValue
from discreet.kernel import encode, risk
from discreet.kernel.contract import kernel_of
from discreet.kernel.encode import Design, Encoding, Feature, exact_sum
from discreet.kernel.rows import UnitRows
from discreet.relation import Relation
from discreet.schema import Column
from kernel import risk_twin
from kernel.risk_twin import UNIT, WEIGHT, chunk_of, extreme_units, invented_rows

NUMBER, LONG = {"low": 0, "high": 9}, {"low": 0, "high": 5000, "scale": "log", "missing": 0.25}
CATEGORY, BINS, LISTED = {"size": 3}, {"edges": [0, 1.5, 4, 10]}, {"values": [5, 0, 2]}
TABLE, BIN_TABLE = {"size": 3, "table": [0.5, -2.25, 8]}, BINS | {"table": [-1, 0.1, 2]}
FEATURES = {
    "numbers": [NUMBER, LONG],
    "categories": [CATEGORY, {"size": 4}],
    "bins": [BINS, {"edges": [-1, 3, 11]}],
    "tables": [TABLE, BIN_TABLE],
    "listed": [LISTED, {"values": [1]}],
    "all": [NUMBER, CATEGORY, BINS, TABLE, LISTED, LONG],
}
TARGETS = {
    "logistic": {"size": 2},
    "hinge": {"values": [0, 3]},
    "softmax": {"size": 3},
    "huber": {"low": 0, "high": 9},
    "total": {"edges": [0, 3, 9]},
}
NORMS = {"tables": 3, "all": 3}


def case(loss, kind, *, is_centred, rows, **more):
    """Parameters with weights that make slopes of every size, and a norm that about half of the rows pass."""
    public = {"loss": loss, "features": FEATURES[kind], "target": TARGETS[loss], "rows": rows} | more
    public["norm"] = Fraction(NORMS.get(kind, Fraction(5, 4)))
    numbers, width = np.random.default_rng(len(loss) + len(kind)), Encoding.parse(public).width
    lines = 3 if loss == "softmax" else 1
    public["weights"] = np.rint(numbers.normal(size=lines * width) * 2 * WEIGHT).astype(np.int64)
    if is_centred:
        public["centre"] = np.rint(numbers.uniform(-1, 1, width) * UNIT).astype(np.int64)
    return public


CASES = {
    f"{loss} {kind} {'centred' if is_centred else 'plain'} {rows}": case(loss, kind, is_centred=is_centred, rows=rows)
    for loss in risk.LOSSES
    for kind in FEATURES
    for is_centred in (False, True)
    for rows in (1, 3)
}
MORE = {
    "class weights": case("logistic", "all", is_centred=True, rows=3, class_weight=[0.3, 1]),
    "class weights of three": case("softmax", "all", is_centred=True, rows=3, class_weight=[0.3, 1, 0.01]),
    "slope": case("softmax", "all", is_centred=True, rows=1, slope=Fraction(1, 3)),
    "steep": case("huber", "numbers", is_centred=True, rows=3, slope=4),
    "offset": case("logistic", "categories", is_centred=False, rows=1, intercept=0, offset=np.array([WEIGHT // 3])),
    "offsets": case("softmax", "bins", is_centred=False, rows=3, intercept=0, offset=np.array([1, -WEIGHT, 7])),
    "intercept": case("logistic", "numbers", is_centred=False, rows=1, intercept=1.7),
    "huber of a table": case("huber", "listed", is_centred=False, rows=1) | {"target": BIN_TABLE},
}
ALL = CASES | MORE
OF_THREE_ROWS = [name for name, public in ALL.items() if public["rows"] == 3 or name in MORE]  # some units have one


def computed(units, public):
    return kernel_of("risk")(chunk_of(units, public), public)


@pytest.mark.parametrize("name", ALL)
def test_a_gradient_of_a_risk_equals_its_slow_twin(name):
    public = ALL[name]
    for seed, wild in enumerate((0.0, 0.1, 0.5)):
        units = invented_rows(public, seed, 14, wild=wild)
        gradient = computed(units, public)
        assert gradient.dtype == np.int64
        assert gradient.tolist() == risk_twin.risk(units, public)


@pytest.mark.parametrize("name", OF_THREE_ROWS)
def test_a_unit_adds_the_same_to_a_risk_wherever_it_lies(name):
    public = ALL[name]
    units = invented_rows(public, 7, 61)
    whole = computed(units, public)
    assert (computed(units[::-1], public) == whole).all()
    for sizes in ([1] * 61, [60, 1], [1, 60], [7, 8, 9, 16, 17, 4]):
        ends = np.cumsum(sizes)
        parts = [computed(units[end - size : end], public) for size, end in zip(sizes, ends, strict=True)]
        assert (np.sum(parts, axis=0) == whole).all()


def test_a_chunk_that_is_held_gives_what_a_new_one_gives():
    """Whatever was asked of it before: other features of the same columns, another target, another loss."""
    columns = {"a": np.array([0.0, 4.0, 9.0, np.nan]), "b": np.array([3.0, 0.0, 1.0, 2.0])}
    features = [[NUMBER], [BINS], [BIN_TABLE], [LISTED], [LONG]]
    targets = [("logistic", {"edges": [0, 1, 3]}), ("logistic", {"values": [3, 0]}), ("huber", NUMBER), ("huber", LONG)]
    targets += [("softmax", {"values": [0, 1, 2]}), ("softmax", {"values": [2, 1, 0]}), ("total", NUMBER)]
    held = UnitRows(columns, np.arange(4), 4)
    for own in features:
        for loss, target in targets:
            for norm, intercept in ((4, 1), (Fraction(1, 2), 1), (4, 0)):
                public = {"loss": loss, "features": own, "target": target, "norm": norm, "intercept": intercept}
                width = Encoding.parse(public).width * (3 if loss == "softmax" else 1)
                public["weights"] = np.arange(width, dtype=np.int64) * WEIGHT
                new = kernel_of("risk")(UnitRows(columns, np.arange(4), 4), public)
                assert (kernel_of("risk")(held, public) == new).all()


# --- norms -----------------------------------------------------------------------------------------------------------


def norms(change, relation):
    change = [int(x) for x in change]
    squares = sum(x * x for x in change)
    return Sensitivity(sum(x != 0 for x in change), sum(map(abs, change)), squares, max(map(abs, change)), relation)


def moves(public):
    """What single units add, those at the ends and ordinary ones: by the test above a sum is the sum of these."""
    units = [*extreme_units(public, 1, 6), *invented_rows(public, 1, 12)]
    return np.unique([computed([unit], public) for unit in units], axis=0)


def worst(public):
    """For each relation whether the stated norms cover every neighbour tried, and the share of l2² that was reached."""
    own = moves(public)
    longest = own[np.argsort((own.astype(np.float64) ** 2).sum(axis=1))[-25:]]
    changes = {Relation.ADD_REMOVE: own, Relation.REPLACE_ONE: np.concatenate(own - longest[:, None])}
    return {relation: _covered(public, relation, change) for relation, change in changes.items()}


def _covered(public, relation, changes):
    """The changes that are largest by any norm, compared exactly."""
    stated = kernel_of("risk").sensitivity(public, RowLimit(4, relation))
    sizes = np.abs(changes.astype(np.float64))
    by_norm = [(sizes**2).sum(axis=1), sizes.sum(axis=1), sizes.max(axis=1), (sizes > 0).sum(axis=1)]
    places = {int(place) for norm in by_norm for place in np.argsort(norm)[-3:]}
    largest = [norms(changes[place], relation) for place in places]
    return all(map(stated.covers, largest)), max(change.l2_squared for change in largest) / stated.l2_squared


@pytest.mark.parametrize("name", OF_THREE_ROWS)
def test_no_unit_moves_a_risk_further_than_it_says(name):
    public = ALL[name]
    steeper = public | {"weights": public["weights"] * 64}  # slopes at their ends
    gentle, steep = worst(public), worst(steeper)
    for relation in Relation:
        assert gentle[relation][0]
        assert steep[relation][0]
        reached = max(gentle[relation][1], steep[relation][1])
        if "class_weight" not in public:  # units that replace each other seldom point the opposite way
            assert reached > (Fraction(9, 10) if relation is Relation.ADD_REMOVE else Fraction(1, 5))


def test_units_that_replace_each_other_nearly_reach_twice_the_norm():
    public = case("huber", "numbers", is_centred=False, rows=3) | {"weights": np.zeros(3, dtype=np.int64)}
    lowest, highest = (computed([[[9.0, 5000.0, answer]]], public) for answer in (0.0, 9.0))
    change = norms(lowest - highest, Relation.REPLACE_ONE)
    stated = kernel_of("risk").sensitivity(public, RowLimit(4, Relation.REPLACE_ONE))
    assert stated.covers(change)
    assert change.l2_squared > Fraction(999, 1000) * stated.l2_squared


def test_the_norms_of_a_risk_by_the_formula():
    public = case("logistic", "numbers", is_centred=False, rows=3) | {"norm": 2}
    length = 2**10 * 2 * 2**16
    stated = kernel_of("risk").sensitivity(public, RowLimit(9))
    assert (stated.l0, stated.l2_squared, stated.linf) == (3, length**2, 2**16 * 1025)
    assert 0 <= float(stated.l1) - math.sqrt(3) * length < 3
    twice = kernel_of("risk").sensitivity(public, RowLimit(9, Relation.REPLACE_ONE))
    assert (twice.l2_squared, twice.l1, twice.linf) == (4 * length**2, 2 * stated.l1, 2 * stated.linf)
    for rows in (1, 2, 5):  # however many rows a unit has, it has one weight
        assert kernel_of("risk").sensitivity(public, RowLimit(rows)).l2_squared == length**2


def unclipped(cls, chunk, encoding, columns, _real=Design.of.__func__):
    design = _real(cls, chunk, encoding, columns)
    return cls(design.encoding, design.crossed, design.numbers, np.ones(chunk.size), design.share)


def clipped_without_intercept(cls, chunk, encoding, columns, _real=Design.of.__func__):
    """The norm of a row without its first column."""
    design = _real(cls, chunk, encoding, columns)
    bare = Encoding(encoding.features, 0, encoding.centre[1:], encoding.norm, encoding.rows)
    return cls(encoding, design.crossed, design.numbers, _real(cls, chunk, bare, columns).clipping, design.share)


def clipped_before_the_centre(cls, chunk, encoding, columns, _real=Design.of.__func__):
    design = _real(cls, chunk, encoding, columns)
    bare = Encoding(encoding.features, encoding.intercept, 0 * encoding.centre, encoding.norm, encoding.rows)
    return cls(encoding, design.crossed, design.numbers, _real(cls, chunk, bare, columns).clipping, design.share)


MUTANTS = {
    "no clipping": (Design, "of", classmethod(unclipped)),
    "intercept outside the norm": (Design, "of", classmethod(clipped_without_intercept)),
    "clipped before it is centred": (Design, "of", classmethod(clipped_before_the_centre)),
    "every row weighs 1": (encode, "_shares", lambda chunk, rows: np.ones(chunk.size)),
    "every row counts": (encode, "_shares", lambda chunk, rows: np.full(chunk.size, 1 / rows)),
    "slopes are not clipped": (risk, "_clipped", lambda slopes, steepest: [slope * 2**16 for slope in slopes]),
    "steps rounded away from 0": (risk, "_cut", lambda steps: np.nan_to_num(np.sign(steps) * np.ceil(np.abs(steps)))),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_risk_that_forgets_part_of_its_bound_is_caught(monkeypatch, mutant):
    monkeypatch.setattr(*MUTANTS[mutant])
    verdicts = []
    for name in ("huber all centred 3", "logistic numbers plain 3", "softmax categories centred 1"):
        public = ALL[name] | {"weights": ALL[name]["weights"] * 64}
        verdicts.append(all(is_covered for is_covered, _ in worst(public).values()))
    assert not all(verdicts)


# --- exact numbers ---------------------------------------------------------------------------------------------------


def test_whole_numbers_are_added_up_exactly_beyond_what_a_double_holds(monkeypatch):
    """An odd sum above 2⁵³: doubles alone would round it, and what is lost would depend on the order."""
    monkeypatch.setattr(encode, "EXACT_ROWS", 2**10)
    numbers = np.full(2**12, 2.0**43 - 1)
    assert exact_sum(numbers) == 2**12 * (2**43 - 1)
    assert exact_sum(np.append(numbers, -1.0)) == 2**12 * (2**43 - 1) - 1
    assert int(np.append(numbers, -1.0).sum()) != 2**12 * (2**43 - 1) - 1


def test_the_furthest_row_times_the_longest_chunk_stays_exact():
    """Factors within 2¹⁸ and numbers within 2¹³ steps, 2²⁰ of them at a time."""
    assert 4 * risk.SLOPE * 8 * UNIT * encode.EXACT_ROWS < 2**53
    assert 4 * risk.SLOPE * 2**25 < 2**53  # factors alone, in the longest chunk that `passes` allows


def test_numbers_in_long_scales_are_steps_of_the_logarithm():
    feature = Feature.parse(LONG)
    cells = np.array([0.0, 1.0, 70.0, 4999.0, 5000.0, 1e300, -5.0, np.nan, np.inf])
    right = [round(math.log1p(min(max(c, 0), 5000)) / math.log1p(5000) * UNIT) for c in cells.tolist()[:7]]
    assert feature.numbers(cells).tolist() == [*right, UNIT // 4, UNIT]


# --- held chunks -----------------------------------------------------------------------------------------------------


def test_held_chunks_are_those_of_their_key_and_fit_their_room():
    rows = [UnitRows({"a": np.full(4, float(n))}, np.arange(4), 4) for n in range(3)]  # 64 bytes each
    reads = []

    def read(place):
        for number in range(place.row, 3):
            reads.append(number)
            yield rows[number], Place(number + 1) if number < 2 else None

    for room, later in ((10_000, []), (150, [2]), (100, [1, 2]), (0, [0, 1, 2])):
        held = HeldChunks(room)
        assert list(held.chunks("rows", read)) == rows
        for _ in range(2):
            reads.clear()
            assert list(held.chunks("rows", read)) == rows
            assert reads == later
    held = HeldChunks(150)
    assert list(held.chunks("others", lambda place: iter([(rows[1], None)]))) == rows[1:2]
    assert list(held.chunks("rows", read)) == rows
    part = held.chunks("part", read)
    next(part)
    part.close()  # a pass that was given up is gone on with behind the chunks that it held
    assert list(held.chunks("part", read)) == rows


# --- refusals --------------------------------------------------------------------------------------------------------

GOOD = {
    "loss": "logistic",
    "features": [NUMBER],
    "target": {"size": 2},
    "norm": 2,
    "weights": np.zeros(2, dtype=np.int64),
}
X, Y, PAIR = (
    Column("x", "number", bounds=(0, 1)),
    Column("y", "number", bounds=(0, 1)),
    Column("z", "category", values=("a", "b")),
)
LEAST = np.array([0, -(2**63)])
REFUSED = [
    ({"loss": "squared"}, [X, PAIR], "must be one of"),
    ({"target": NUMBER}, [X, Y], "a class otherwise"),
    ({"target": {"size": 3}}, [X, PAIR], "two classes"),
    ({"loss": "huber"}, [X, PAIR], "must be a number for huber"),
    ({"class_weight": [2, 1]}, [X, PAIR], "at most 1"),
    ({"class_weight": [0, 1]}, [X, PAIR], "above 0"),
    ({"class_weight": [math.nan, 1]}, [X, PAIR], "above 0"),
    ({"class_weight": [1]}, [X, PAIR], "2 numbers"),
    ({"slope": 2}, [X, PAIR], "at most what the loss reaches"),
    ({"slope": "0.001"}, [X, PAIR], "at least 1/256"),
    ({"weights": np.zeros(2)}, [X, PAIR], "int64"),
    ({"weights": np.zeros(3, dtype=np.int64)}, [X, PAIR], "2 whole numbers"),
    ({"weights": LEAST}, [X, PAIR], "within ± 1024"),
    ({"weights": np.array([0, 2**31])}, [X, PAIR], "within ± 1024"),
    ({"offset": LEAST[1:]}, [X, PAIR], "offset"),
    ({"offset": [0.5]}, [X, PAIR], "offset"),
    ({"centre": LEAST}, [X, PAIR], "within ± 8"),
    ({"centre": np.zeros(2)}, [X, PAIR], "int64"),
    ({"intercept": -1}, [X, PAIR], "within 0 and 32"),
    ({"intercept": math.inf}, [X, PAIR], "finite"),
    ({"norm": 200}, [X, PAIR], "at most 128"),
    ({"norm": "0.001"}, [X, PAIR], "a 128th"),
    ({"rows": 0}, [X, PAIR], "rows"),
    ({"rows": 5000}, [X, PAIR], "rows"),
    ({"intercept": 20, "norm": 40}, [X, PAIR], "no number by more"),
    ({"bias": 1}, [X, PAIR], "known parameters"),
    ({"features": []}, [X, PAIR], "a list of 1"),
    ({"features": [{"low": 0}]}, [X, PAIR], "bounds"),
    ({"features": [{"low": 1, "high": 1}]}, [X, PAIR], "low < high"),
    ({"features": [{"low": -1e308, "high": 1e308}]}, [X, PAIR], "1e"),
    ({"features": [NUMBER | {"missing": 2}]}, [X, PAIR], "missing"),
    ({"features": [NUMBER | {"scale": "root"}]}, [X, PAIR], "even"),
    ({"features": [NUMBER | {"size": 2}]}, [X, PAIR], "one of size"),
    ({"features": [NUMBER | {"table": [1]}]}, [X, PAIR], "cells to stand for"),
    ({"features": [{"size": 2, "table": [1, 9]}]}, [PAIR, PAIR], "within ± 8"),
    ({"features": [{"edges": [0, 0]}]}, [X, PAIR], "growing"),
    ({"features": [{"edges": [0, math.nan]}]}, [X, PAIR], "finite"),
    ({"features": [{"values": [1, 1]}]}, [X, PAIR], "different"),
    ({"features": [{"size": 2}], "weights": np.zeros(3, dtype=np.int64)}, [X, PAIR], "2 public values"),
    ({}, [PAIR, PAIR], "hold numbers"),
    ({}, [X], "features and the target"),
    ({}, [X, X, PAIR], "one for each feature"),
]


@pytest.mark.parametrize(("changed", "columns", "said"), REFUSED)
def test_parameters_without_meaning_are_refused(changed, columns, said):
    kernel_of("risk").require(GOOD, [X, PAIR])
    with pytest.raises(BadValue, match=said):
        kernel_of("risk").require(GOOD | changed, columns)


def test_parsed_parameters_are_remembered_by_their_numbers_and_types():
    public = {"features": [{"low": 0, "high": 1}], "centre": np.array([0, 7]), "norm": 2, "rows": 1}
    encoding = Encoding.parse(public)
    assert Encoding.parse(dict(public)) is encoding
    public["centre"][1] = 9
    assert encoding.centre.tolist() == [0, 7]
    assert Encoding.parse(public).centre.tolist() == [0, 9]
    with pytest.raises(BadValue, match="centre"):
        Encoding.parse(public | {"centre": [0, 9]})
    with pytest.raises(BadValue, match="centre"):
        Encoding.parse(public | {"centre": np.array([0, 9], dtype=np.int32)})
