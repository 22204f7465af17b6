"""Membership by the loss and by shadow models."""

import csv

import numpy as np
import pytest
import torch

from discreet import learn
from discreet.attack.models import membership as of_nets
from discreet.attack.models import shadows
from discreet.attack.models.grown_ups import adults
from discreet.attack.models.lira import caught_share, likelihood_ratios
from discreet.attack.models.membership import example, false_alarms_of, logits, membership, on_file
from discreet.attack.words import beats_guessing
from discreet.errors import BadValue
from discreet.noise.public import generator


def small_nets(rows=40, nets=4):
    chance = generator(3)
    given = np.column_stack([chance.normal(size=(rows, 5)), np.ones(rows)])
    return shadows.Nets(given, np.where(chance.random(rows) < 0.5, 1.0, -1.0), shadows.members_of(nets, rows, chance))


def gradients_by_torch(nets, weights, clip):
    """The slow twin: each row of each net is differentiated alone and shortened."""
    sums = np.zeros_like(weights)
    for net in range(nets.count):
        for row in np.flatnonzero(nets.members[net]):
            parameters = torch.tensor(weights[net], requires_grad=True)
            first = nets.rows.shape[1] * shadows._HIDDEN
            hidden = torch.tanh(parameters[:first].reshape(shadows._HIDDEN, -1) @ torch.tensor(nets.rows[row]))
            score = nets.signs[row] * (hidden @ parameters[first:-1] + parameters[-1])
            torch.nn.functional.softplus(-score).backward()
            gradient = parameters.grad.numpy()
            sums[net] += gradient * min(1, clip / np.linalg.norm(gradient))
    return sums


@pytest.mark.parametrize("clip", [0.5, 1000.0])
def test_sums_of_clipped_gradients_are_those_of_single_rows(clip):
    nets = small_nets()
    weights = generator(4).normal(size=(nets.count, nets.width))
    slow = gradients_by_torch(nets, weights, clip * (1 - 2**-10))
    assert shadows.gradients(nets, weights, clip) == pytest.approx(slow, abs=1e-8)


def test_one_row_moves_a_clipped_sum_by_less_than_the_clip():
    nets = small_nets()
    other = shadows.Nets(nets.rows, nets.signs, nets.members ^ (np.arange(40) == 7))
    weights = 10 * generator(4).normal(size=(nets.count, nets.width))
    moved = shadows.gradients(nets, weights, 1.0) - shadows.gradients(other, weights, 1.0)
    assert (np.linalg.norm(moved, axis=1) < 1).all()
    assert (np.linalg.norm(moved, axis=1) > 0).all()


def test_members_come_in_pairs_of_complements():
    members = shadows.members_of(72, 50, generator(1))
    assert (members[0::2] ^ members[1::2]).all()
    assert (members.sum(0) == 36).all()


def test_a_likelihood_ratio_is_that_of_two_normal_laws():
    shadow = np.array([[1.0], [3.0], [-1.0], [-2.0]])
    members = np.array([[True], [True], [False], [False]])
    ratio = likelihood_ratios(np.array([2.0]), shadow, members)[0]
    a, b = 2**0.5 + 1e-3, 0.5**0.5 + 1e-3
    assert ratio == pytest.approx(-np.log(a) + np.log(b) + (3.5 / b) ** 2 / 2)


def test_the_share_caught_is_that_above_the_threshold():
    scores = np.append(np.arange(100.0), [98.5, 99.5, 0.5, 0.5])
    members = np.arange(104) >= 100
    assert caught_share(scores, members, 0.01) == (0.5, 98.0)


def test_fewer_shadows_catch_members_too_and_no_private_ones(monkeypatch):
    """24 nets, about 14,400 members: the ceiling of 2.7 % is 13 standard errors above what is seen."""
    monkeypatch.setattr(of_nets, "_NETS", 24)
    result = example(("1",), 7)
    assert result.raw >= 0.05
    assert result.private["1"] < result.ceiling["1"]
    assert result.ceiling["1"] == pytest.approx(0.01 * np.e + 1e-6)


@pytest.mark.long
def test_shadow_models_catch_ten_in_a_hundred_and_a_private_net_hides_them():
    """72 nets, about 43,000 members; at ε = 1 the ceiling is more than 10 standard errors above what is seen."""
    result = example(("1",), 7)
    assert result.raw >= 0.10
    assert result.details["by_loss_alone"]["raw"] < 0.03
    assert result.private["1"] < result.ceiling["1"]


def test_without_the_survey_people_are_invented(monkeypatch):
    monkeypatch.setenv("DISCREET_DATA", "/nowhere")
    rows, signs, is_real = adults(500, generator(1))
    assert not is_real
    assert rows.shape == (500, 85 + 15 + 99 + 42 + 16 + 6 + 1 + 1)
    assert 0.1 < (signs > 0).mean() < 0.9


def test_own_chances_can_be_scored_against_own_shadows():
    chance = generator(5)
    members = shadows.members_of(30, 400, chance)
    hardness = chance.normal(size=400) * 3
    phi = hardness + 2 * members + 0.3 * chance.normal(size=members.shape)
    chances = 1 / (1 + np.exp(-phi))
    result = membership(chances[0], members[0], shadow_chances=chances[2:], shadow_members=members[2:])
    assert result.raw > 0.9
    assert membership(chances[0], members[0]).raw < 0.5
    assert result.of_real_data


def written(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("a", "b", "y"), *rows])


@pytest.fixture
def model(tmp_path):
    chance = generator(2)
    rows = [(int(chance.integers(50)), int(chance.integers(50)), "yn"[int(chance.integers(2))]) for _ in range(400)]
    written(tmp_path / "members.csv", rows[:200])
    written(tmp_path / "others.csv", rows[200:])
    table = {"a": [row[0] for row in rows[:200]], "b": [row[1] for row in rows[:200]]}
    forest = learn.NaiveBayes(epsilon=1, bounds={"a": (0, 49), "b": (0, 49)}, classes=["n", "y"])
    forest.fit(table, [row[2] for row in rows[:200]]).save(tmp_path / "model.dp")
    return tmp_path / "model.dp"


def test_a_file_of_a_model_is_tried_on_the_rows_beside_it(model):
    result = on_file(model, 7)
    assert result.raw is None
    assert 0 <= result.private["1"] <= 0.2
    assert result.ceiling["1"] == pytest.approx(np.e * false_alarms_of(np.arange(200.0))[1], rel=0.01)
    assert result.of_real_data
    assert result.trials == 200


def test_a_file_of_a_model_without_rows_beside_it_is_refused_with_what_is_needed(model):
    (model.parent / "others.csv").unlink()
    with pytest.raises(BadValue, match=r"members\.csv.*others\.csv.*before the fit.*fit to members\.csv alone"):
        on_file(model, 7)


def test_rows_without_the_target_or_too_few_are_refused(model):
    written(model.parent / "others.csv", [(1, 2, "y")])
    with pytest.raises(BadValue, match="100 rows or more"):
        on_file(model, 7)
    (model.parent / "others.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadValue, match="column 'y'"):
        on_file(model, 7)


@pytest.mark.parametrize(
    ("chances", "members"),
    [
        ([0.5, 1.5], [0, 1]),
        ([0.5], [1]),
        ([0.5] * 40, [2] * 40),
        (["x"], [1]),
        ([0.5] * 40, [1] * 39),
        ([0.5] * 119, [1] * 20 + [0] * 99),
    ],
)
def test_what_are_no_chances_of_members_and_others_is_refused(chances, members):
    with pytest.raises(BadValue):
        membership(chances, members)


def test_shadows_of_other_rows_are_refused():
    own = [0.5] * 240, [0, 1] * 120
    with pytest.raises(BadValue, match="shadow_chances"):
        membership(*own, shadow_chances=[[0.5] * 239] * 4, shadow_members=[[0] * 239] * 4)
    with pytest.raises(BadValue, match="shadow_members"):
        membership(*own, shadow_chances=[[0.5] * 240] * 4, shadow_members=[[0] * 240] * 4)


@pytest.mark.parametrize(
    ("members", "others", "is_rounded"), [(1000, 100, False), (1000, 250, False), (300, 120, True)]
)
def test_where_nothing_is_to_be_found_guessing_is_seldom_beaten(members, others, is_rounded):
    """2,000 runs of one law for members and others, by a public seed; at most 2.5 % of them may claim."""
    chance, claims = generator(11), 0
    is_member = np.arange(members + others) < members
    for _ in range(2000):
        chances = chance.random(members + others)
        result = membership(np.round(chances, 2) if is_rounded else chances, is_member)
        claims += beats_guessing(result, "raw")
        assert result.intervals["raw"][0] <= result.raw <= result.intervals["raw"][1]
    assert claims <= 0.025 * 2000


def test_false_alarms_have_the_law_of_an_order_statistic():
    """P[score > t] of uniform scores is 1 − t: 4,000 runs by a public seed lie below the ends in 1.25 % each."""
    chance = generator(12)
    least, greatest = false_alarms_of(np.arange(150.0))
    rates = 1 - np.sort(chance.random((4000, 150)), axis=1)[:, -2]
    assert rates.mean() == pytest.approx(2 / 151, abs=0.0008)
    assert (rates < least).mean() == pytest.approx(0.0125, abs=0.008)
    assert (rates > greatest).mean() == pytest.approx(0.0125, abs=0.008)


def test_what_is_to_be_found_is_found_among_few_others():
    result = membership([0.9] * 50 + np.linspace(0.1, 0.5, 100).tolist(), [1] * 50 + [0] * 100)
    assert beats_guessing(result, "raw")
    assert result.baseline == 2 / 101
    assert "all but 1 of 100 others" in result.measure


def test_a_certain_chance_stays_finite():
    assert np.isfinite(logits(np.array([0.0, 1.0]))).all()
