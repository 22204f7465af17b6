"""The bench of synthetic data at a small size: distances, twins against brute force, tables; no timing is asserted."""

import dataclasses
import importlib
import itertools
import math

import numpy as np
import pytest
from benchmarks.environment import ROOT
from benchmarks.synth_data import Coded, codes_of
from benchmarks.synth_error import Score
from benchmarks.synth_fit import fit_of, measurement
from benchmarks.synth_growth import Growth
from benchmarks.synth_model import Marginals, Model, rows_of, shares_of
from benchmarks.synth_price import group_epsilon, mu_of, rho_of
from benchmarks.synth_tree import tree_of

from benchmarks import (
    synth,
    synth_aim,
    synth_classify,
    synth_data,
    synth_error,
    synth_growth,
    synth_mst,
    synth_own,
    synth_peers,
    synth_twins,
    synth_two,
)

SIZES = (2, 3, 2, 4)
CLIQUES = [(0, 1), (1, 2), (2, 3)]


def joint_of(codes, sizes):
    """Shares of all cells of all columns."""
    joint = np.zeros(sizes)
    np.add.at(joint, tuple(codes.T), 1)
    return joint / len(codes)


def projection(joint, columns):
    """The marginal of some columns, in increasing order."""
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in columns))


def some_model(seed=3):
    """A model on a chain of cliques with random potentials, and the same as one table of all cells."""
    random = np.random.default_rng(seed)
    tree = tree_of(SIZES, CLIQUES)
    potentials = [random.normal(size=[SIZES[column] for column in clique]) for clique in tree.cliques]
    logs = np.zeros(SIZES)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        logs += potential[tuple(slice(None) if column in clique else None for column in range(len(SIZES)))]
    joint = np.exp(logs)
    return Model(SIZES, tree, shares_of(tree, potentials), 1000.0), joint / joint.sum()


# --- distances and yardsticks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_distances_are_those_of_all_cells(columns):
    random = np.random.default_rng(1)
    real, other = (np.column_stack([random.integers(0, size, rows) for size in SIZES]) for rows in (200, 150))
    subsets = list(itertools.combinations(range(len(SIZES)), columns))
    joints = joint_of(real, SIZES), joint_of(other, SIZES)
    brute = [np.abs(projection(joints[0], each) - projection(joints[1], each)).sum() for each in subsets]
    assert synth_error.mean_error(real, other, SIZES, columns) == pytest.approx(np.mean(brute))


def test_distances_of_large_marginals_are_those_of_small_ones(monkeypatch):
    random = np.random.default_rng(2)
    real, other = random.integers(0, 3, (2, 100, 3))
    dense = synth_error.distance(real, other, (3, 3, 3), (0, 1, 2))
    monkeypatch.setattr(synth_error, "_MOST_DENSE", 1)
    assert synth_error.distance(real, other, (3, 3, 3), (0, 1, 2)) == pytest.approx(dense)


def test_the_largest_distance_is_two():
    zeros, ones = np.zeros((10, 1), dtype=np.int64), np.ones((7, 1), dtype=np.int64)
    assert synth_error.distance(zeros, ones, (2,), (0,)) == 2


def test_shuffled_columns_keep_columns_and_lose_relations():
    rows = synth_data.invented(4000)
    shuffled = synth_error.independent(rows.codes, np.random.default_rng(0))
    assert synth_error.mean_error(rows.codes, shuffled, rows.sizes, 1) == 0
    assert synth_error.mean_error(rows.codes, shuffled, rows.sizes, 2) > 0.2


def test_private_columns_come_close_at_a_large_epsilon():
    """One seed: the noise of 4,000 rows at ε = 10 is below one row in a hundred of any cell."""
    rows, random = synth_data.invented(4000), np.random.default_rng(0)
    errors = [
        synth_error.mean_error(
            rows.codes, synth_error.private_independent(rows.codes, rows.sizes, e, random), rows.sizes, 1
        )
        for e in (0.05, 10.0)
    ]
    assert errors[1] < 0.02 < errors[0]


def test_what_is_bought_at_one_price_is_known():
    """δ = 10⁻⁹: the μ of the notes; ρ below the Gaussian's own ε, δ and above the bound of Bun & Steinke."""
    assert [mu_of(epsilon) for epsilon in (0.1, 1.0, 10.0)] == pytest.approx([0.0199, 0.1820, 1.538], rel=0.005)
    for epsilon in (0.1, 1.0, 10.0):
        log = math.log(1e9)
        simple = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2  # ε = ρ + 2·√(ρ·ln(1/δ))
        assert simple < rho_of(epsilon) < mu_of(epsilon) ** 2 / 2


# --- codes -----------------------------------------------------------------------------------------------------------


def test_empty_cells_have_a_code_of_their_own():
    import pandas

    rows = Coded("some", ("kind", "age"), (3, 10), (False, True), np.zeros((1, 2), dtype=np.int64))
    frame = pandas.DataFrame(
        {
            "kind": pandas.Categorical.from_codes([2, -1, 0], categories=["0", "2", "1"]),
            "age": pandas.array([4, 0, None], dtype="Int64"),
        }
    )
    assert codes_of(frame, rows).tolist() == [[1, 4], [3, 0], [0, 10]]
    assert rows.cells == (4, 11)


def test_our_own_tables_have_the_codes_of_the_metadata():
    """Seven columns at ε = 10: whatever the noise, all codes are within the metadata, and all builds are charged."""
    rows = synth_data.invented(3000, columns=7)
    assert rows.sizes == (4, 12, 3, 2, 20, 5, 4)
    tables = list(synth_own.own_tables(rows, (10.0,), 2, (synth_own.QUICK, synth_own.INDEPENDENT)))
    assert [(table.method, table.draw) for table in tables] == [
        (method, draw) for method in (synth_own.QUICK, synth_own.INDEPENDENT) for draw in (0, 1)
    ]
    for table in tables:
        assert (table.codes >= 0).all()
        assert (table.codes < rows.cells).all()
        assert table.seconds > 0
    assert not np.array_equal(tables[0].codes, tables[1].codes)


# --- twins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [(0,), (3,), (1, 2), (0, 3), (0, 2), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)], ids=str)
def test_marginals_of_a_model_are_those_of_its_joint_law(columns):
    model, joint = some_model()
    assert np.allclose(Marginals(model)(columns), projection(joint, columns))


def test_drawn_rows_are_near_the_model():
    """Rounded shares: of 1,000 rows every cell of a clique is off by few rows, whatever the seed."""
    model, joint = some_model()
    codes = rows_of(model, 1000, np.random.default_rng(5))
    assert codes.shape == (1000, len(SIZES))
    assert np.abs(projection(joint_of(codes, SIZES) - joint, (0, 1))).max() < 0.01
    assert np.abs(joint_of(codes, SIZES) - joint).sum() < 0.15


def test_a_fit_of_exact_marginals_is_the_maximum_entropy_law():
    """On a chain it is p(x₀x₁)·p(x₂|x₁)·p(x₃|x₂), which the table's own marginals give."""
    random = np.random.default_rng(7)
    joint = random.dirichlet(np.ones(math.prod(SIZES))).reshape(SIZES)
    pairs = {clique: projection(joint, clique) for clique in CLIQUES}
    fit = fit_of(
        SIZES, {clique: measurement(clique, 1000 * pairs[clique], 1.0) for clique in CLIQUES}, steps=3000, tolerance=0
    )
    chain = (
        pairs[0, 1][:, :, None, None]
        * (pairs[1, 2] / projection(joint, (1,))[:, None])[None, :, :, None]
        * (pairs[2, 3] / projection(joint, (2,))[:, None])[None, None, :, :]
    )
    assert fit.loss < 1e-3
    assert np.allclose(Marginals(fit.model)((0, 1, 2, 3)), chain, atol=1e-4)


def test_the_workload_weighs_marginals_by_what_they_share():
    """All triples of four columns: a pair lies in two of them whole, and shares one column with the other two."""
    weights = synth_aim.workload_weights((2, 2, 2, 2), synth_aim.Limits())
    assert weights[0, 1] == 2 * 2 + 2 * 1
    assert weights[0, 1, 2] == 3 + 3 * 2
    assert weights[0,] == 3
    assert len(weights) == 4 + 6 + 4


def test_aim_spends_what_it_has():
    """Each measurement and each choice costs; measured are all columns, and joined weights tell how often."""
    rows = synth_data.invented(500, columns=4)
    state, _ = synth_aim._run(rows.codes, rows.sizes, 0.5, np.random.default_rng(0), synth_aim.Limits())
    assert state.spent == pytest.approx(0.5)
    measured = sum(float(each.weights.flat[0]) / 2 for each in state.measurements.values())
    assert 0.85 * 0.5 < measured < 0.5
    assert {(column,) for column in range(4)} <= set(state.measurements)


@pytest.mark.parametrize("method", sorted(synth_twins.TWINS))
def test_twins_find_a_relation_at_a_large_epsilon(method):
    """Without much noise they come closer than columns without relation do; 2,000 rows, one seed."""
    rows = synth_data.invented(2000, columns=4)
    (own,) = synth_twins.twin_scores((0,), (20.0,), rows, (method,))
    shuffled = synth_error.independent(rows.codes, np.random.default_rng(0))
    assert own.two_way < 0.6 * synth_error.mean_error(rows.codes, shuffled, rows.sizes, 2)


def test_mst_keeps_rare_values_apart_and_gives_them_back():
    support = synth_mst.Support(np.array([0, 3]), np.array([1, 2]))
    assert support.size == 3
    assert support.merged(np.array([0, 1, 2, 3])).tolist() == [0, 2, 2, 1]
    drawn = support.drawn(np.array([0, 1, 2, 2, 2, 2]), np.random.default_rng(0))
    assert drawn[:2].tolist() == [0, 3]
    assert set(drawn[2:]) <= {1, 2}


# --- classifiers, growth, tables --------------------------------------------------------------------------------------


def test_a_classifier_learns_from_synthetic_rows_what_it_learns_from_real_ones():
    rows = synth_data.invented(3000, columns=4)
    train, test = rows[:2000], rows[2000:]
    empty = train.codes.copy()
    empty[:50, 3], empty[50:100, 0] = train.sizes[3], train.sizes[0]
    for codes in (train.codes, empty):
        assert min(synth_classify.areas(codes, test, "c3").values()) > 0.8
    assert synth_classify.areas(train.codes[train.codes[:, 3] == 0], test, "c3") == dict.fromkeys(
        synth_classify.CLASSIFIERS, 0.5
    )


def test_growth_is_measured_part_by_part():
    growth = synth_growth.growth_of_columns(5, 2000)
    assert (growth.rows, growth.columns) == (2000, 5)
    assert min(growth.counting, growth.choosing, growth.fitting, growth.drawing) >= 0
    assert 2**24 < growth.worker_memory < 2**33
    shown = synth.growth_table([growth, Growth(10, 2, 1, 1, 2, 3, 4, 5, 2**20, 2**21)])
    assert [len(row) for row in shown.rows] == [len(shown.columns)] * 2
    assert shown.rows[1][-2:] == ("1", "2")


def scores_of(table, method, means, spread=0.001, seconds=0.5):
    """Two draws at each ε."""
    return [
        Score(table, method, epsilon, draw, 0.1, 0.2, mean + (spread if draw else -spread), seconds)
        for epsilon, mean in zip(synth.EPSILONS, means, strict=True)
        for draw in (0, 1)
    ]


def test_adult_is_judged_by_its_aims():
    rows = Coded("Adult", ("a", "b"), (2, 2), (False, False), np.zeros((10, 2), dtype=np.int64))
    ours = scores_of("Adult", synth_own.OURS, (0.34, 0.17, 0.12))
    quick = scores_of("Adult", synth_own.QUICK, (0.34, 0.17, 0.12), seconds=2)
    bootstrap = [Score("Adult", "bootstrap", None, 0, 0.01, 0.02, 0.07)]
    shown = synth.errors_table(rows, [*ours, *quick, *bootstrap])
    assert [len(row) for row in shown.rows] == [len(shown.columns)] * 3
    assert [row[5] for row in shown.rows] == ["yes, no, yes", "yes, yes, yes", ""]
    assert [row[-1] for row in shown.rows] == ["≤ 60 s: yes", "≤ 1 s: no", ""]


def test_other_tables_are_judged_beside_the_best_private_columns():
    rows = Coded("German credit", ("a", "b"), (2, 2), (False, False), np.zeros((10, 2), dtype=np.int64))
    scores = [
        *scores_of(rows.name, synth_own.OURS, (1.4, 0.5, 0.3)),
        *scores_of(rows.name, synth_own.INDEPENDENT, (1.4, 0.45, 0.4)),
        *scores_of(rows.name, synth.PLAIN, (1.5, 0.6, 0.4)),
        *scores_of(rows.name, synth.PLAIN_EMPTY, (1.6, 0.6, 0.4)),
    ]
    ours, independent, *_ = synth.errors_table(rows, scores).rows
    assert ours[5] == "even, above, below"
    assert independent[4:6] == ("", "")


def test_classifiers_are_judged_at_the_middle_epsilon():
    figures = [
        {"rows": "ours", "epsilon": e, "classifier": "logistic", "areas": [a]}
        for e, a in zip(synth.EPSILONS, (0.8, 0.895, 0.9), strict=True)
    ]
    figures.append({"rows": "real rows", "epsilon": None, "classifier": "logistic", "areas": [0.91]})
    shown = synth.learnt_table(figures)
    assert [row[-1] for row in shown.rows] == ["yes", ""]
    assert [len(row) for row in shown.rows] == [len(shown.columns)] * 2


def test_a_peer_that_cannot_be_set_up_is_told_of(monkeypatch):
    def missing(peer):
        raise synth_peers.PeerUnavailable(f"{peer} could not be set up: no network")

    monkeypatch.setattr(synth_peers, "python_of", missing)
    tables, notes = synth_peers.peer_tables(synth_data.invented(50), (1.0,))
    assert tables == []
    assert notes == [f"Not measured: {peer} could not be set up: no network." for peer in synth_peers.PEERS]


def test_parts_that_are_not_there_are_told_of():
    for name in synth.PARTS:
        if importlib.util.find_spec(f"benchmarks.{name}") is not None:
            part = importlib.import_module(f"benchmarks.{name}")
            assert callable(getattr(part, synth.PARTS[name]))
            assert callable(part.tables)
    assert synth._part_report("synth_of_nothing").notes == ("Not measured: benchmarks.synth_of_nothing is not there.",)


def test_two_tables_are_shown_beside_each_other(monkeypatch):
    told = [
        synth_two.TwoScore("invented", method, 1.0, draw, None if method == "flat" else 0.1, 0.1, 0.2, 0.3, None, 0.5)
        for method in ("flat", "two tables")
        for draw in (0, 1)
    ]
    monkeypatch.setattr(synth_two, "scores", lambda _clinic: told)
    monkeypatch.setattr(synth, "folder", lambda: None)
    report = synth.two_report()
    (shown,) = report.tables
    assert [len(row) for row in shown.rows] == [len(shown.columns)] * 2
    assert len(report.figures["two tables"]) == len(told)


@pytest.mark.parametrize("rows", [6, 8])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_rows_of_one_person_have_the_price_of_a_person_together(epsilon, rows):
    """Noise of μ/k for a row is noise of μ for k rows."""
    assert mu_of(group_epsilon(epsilon, rows)) * rows == pytest.approx(mu_of(epsilon), rel=1e-6)


def test_flat_rows_of_a_person_are_capped():
    clinic = synth_two.invented(400)
    clinic = dataclasses.replace(clinic, max_rows=2)
    own = synth_two.capped(clinic)
    numbers = np.bincount(clinic.owners, minlength=400)
    assert np.bincount(own.units, minlength=400).tolist() == np.minimum(numbers, 2).tolist()
    assert {tuple(row) for row in own.codes.tolist()} <= {tuple(row) for row in clinic.flat.codes.tolist()}


def test_captions_tell_the_size_of_the_model_of_a_peer():
    source = (ROOT / "benchmarks" / "peers" / "smartnoise_synth" / "synth.py").read_text()
    assert f"MODEL_MIB = {synth.SMARTNOISE_MIB}\n" in source
