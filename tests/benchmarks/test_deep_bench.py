"""The bench of deep learning at a small size: its tables, features and first weights; no timing is asserted."""

import pytest

torch = pytest.importorskip("torch")

from benchmarks.deep_data import Trial  # noqa: E402
from benchmarks.deep_nets import CASES, TINY  # noqa: E402

from benchmarks import deep, deep_mnist, deep_own, deep_steps, deep_wavelets  # noqa: E402


@pytest.mark.parametrize("form", deep_own.FORMS)
def test_every_kind_of_step_is_measured(form):
    assert deep_own.seconds(TINY, form, 1) > 0


def test_steps_are_told_beside_every_mode_of_the_peer_that_runs():
    own = {"plain": 2.0, "ordered": 1.0, "unrolled": 4.0, "float": 3.0, "exact": 5.0}
    memory = {form: {"peak": 2 * deep_steps.MEBIBYTE, "growth": 10} for form in ("plain", "float", "exact")}
    measured = [deep_steps.Net(name, own, {"plain": 1.0, "hooks": 2.0, "ghost": 1.6}, memory=memory) for name in CASES]
    rows = {row[0]: row for row in deep_steps.table(measured).rows}
    assert rows["MLP"][2:] == ("2.0", "1.50", "≤ 1.6", "yes", "0.50", "2.50", "2.00", "–", "–", "1.60", "yes")
    assert rows["CNN"][3:6] == ("1.50", "≤ 1.15", "no")
    assert rows["LSTM"][3] == "0.75"
    assert deep_steps.memory_table(measured).rows[0][1:] == ("2", "2", "2", "1.00", "yes", "1.00")


def test_trials_are_told_with_their_mean_and_aim():
    trials = [Trial(1.0, seed, 0.97 + seed / 100, 2.0, 3.0) for seed in range(3)]
    row = deep._accuracy_row("digits", 1.0, trials, 0.973)
    assert row == ("digits", "1", "0.9800", "≥ 0.973", "yes", "0.9700 0.9800 0.9900", "2", "3", "yes")


def test_scattering_is_shift_tolerant_and_sees_no_constant():
    flat = deep_wavelets.scattering(torch.ones(1, 1, 28, 28))
    assert flat.shape == (1, deep_wavelets.CHANNELS, deep_wavelets.PLACES**2)
    assert torch.allclose(flat[:, 0], torch.ones(49), atol=1e-5)
    assert float(flat[:, 1:].abs().max()) < 1e-5
    pair = torch.zeros(2, 1, 28, 28)
    pair[0, 0, 13:15, 8:20], pair[1, 0, 13:15, 9:21] = 1, 1
    here, shifted = deep_wavelets.scattering(pair).flatten(1)
    assert (here - shifted).norm() < 0.5 * (pair[0] - pair[1]).norm() / pair[0].norm() * here.norm()


def test_first_weights_are_public_and_differ_by_seed_in_one_layer_alone():
    first, second = (dict(deep_mnist.network(seed).named_parameters()) for seed in (0, 1))
    assert {name for name in first if not torch.equal(first[name], second[name])} == {"3.weight", "3.bias"}
    assert torch.allclose(first["0.weight"].flatten(1).norm(dim=1), torch.ones(16))
