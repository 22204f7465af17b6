"""A secret line in a small language model."""

import math

import numpy as np
import pytest
import torch

from discreet.attack.models import line_net
from discreet.attack.models.canary import canary, example, exposure, median_ceiling, rank, training_of
from discreet.attack.models.lines import LETTERS, codes, invented_lines, secret_codes, secret_line
from discreet.errors import BadValue
from discreet.noise.public import generator


def test_the_codes_of_all_secrets_are_those_of_their_lines():
    table = secret_codes()
    for secret in (0, 1, 42, 907, 9999):
        assert table[secret].tolist() == codes([secret_line(secret)])[0, : table.shape[1]].tolist()


def test_a_line_s_loss_is_the_sum_over_its_characters_and_its_end():
    net = line_net.line_net(generator(1))
    line = codes(["anna sees"])
    with torch.no_grad():
        chances = net(torch.from_numpy(line)).softmax(2)[0].numpy()
    letters = "anna sees\n"
    slow = -sum(math.log(chances[place, LETTERS.index(letter)]) for place, letter in enumerate(letters))
    assert line_net.losses_of(net, line)[0] == pytest.approx(slow, abs=1e-4)


def test_the_longest_run_counts_characters_that_follow_by_themselves():
    net = line_net.train_plainly(codes(["my pin is 1234"] * 32), generator(1))
    assert line_net.longest_run(net, codes(["my pin is 1234"])[0]) == 14
    assert line_net.longest_run(net, codes(["xxxxxxxxxxxxxx"])[0]) == 0


def test_ranks_begin_at_1_and_equal_losses_count_against_the_attacker():
    assert rank(np.array([1.0, 1.0, 0.5]), 0) == 3
    assert exposure(np.arange(1024.0), 0) == 10
    assert canary(np.arange(1024.0).tolist(), 1023).raw == 0


def test_a_uniform_rank_has_an_exposure_of_1_bit_in_the_median():
    chance = generator(3)
    exposures = [exposure(chance.random(1000), 0) for _ in range(2001)]
    assert np.median(exposures) == pytest.approx(1, abs=0.25)  # five standard errors are 0.17


def test_the_ceiling_of_the_median_is_half_the_chance_of_a_rank():
    """P[rank ≤ r] ≤ e^{4ε}·r/|R| is ½ at the ceiling."""
    bits = median_ceiling(0.5, 0.0, group=4, secrets=10_000)
    assert math.exp(2) * 2**-bits == pytest.approx(0.5)
    assert median_ceiling(10, 1e-6, group=4, secrets=10_000) == math.log2(10_000)


def test_four_copies_are_recited_and_none_is_not():
    """Chance alone gives 12 bits or more once in 4,096."""
    told = training_of(line_net.train_plainly, 4, 7, lines=400)
    assert told.exposure >= 12
    assert told.recited >= 10
    assert training_of(line_net.train_plainly, 0, 7, lines=100).recited < 10


def test_a_private_training_learns_the_language_and_says_what_it_cost(monkeypatch):
    monkeypatch.setattr(line_net, "_PRIVATE_STEPS", 6)
    """Six steps of Adam; noise alone leaves the loss where it was."""
    table = codes(invented_lines(300, generator(1)))
    net = line_net.train_privately(table, "8", "1e-6", generator(2))
    start = line_net.line_net(generator(2))
    assert line_net.losses_of(net, table).mean() < 0.98 * line_net.losses_of(start, table).mean()


@pytest.mark.long
def test_the_median_of_five_trainings_is_12_bits_and_at_epsilon_1_it_stays_below_the_ceiling():
    """At ε = 1 two of three exposures above 6.8 bits have a chance of 3·(2⁻⁶·⁸)² ≈ 2·10⁻⁴ for a model that ignores
    the secret; above 12 bits, of 2·10⁻⁷."""
    result = example(("1",), 7)
    assert result.raw >= 12
    assert result.private["1"] < 12
    assert result.details["longest_run"]["raw"] >= 12


@pytest.mark.parametrize(("losses", "secret"), [([], 0), ([1.0], 1), ([1.0, 2.0], -1), (["a"], 0), ([1.0, 2.0], "0")])
def test_what_is_no_list_with_a_secret_is_refused(losses, secret):
    with pytest.raises(BadValue):
        canary(losses, secret)


def test_so_few_trainings_have_no_95_percent_interval_and_the_result_says_so(monkeypatch):
    """Five trainings and three: exposures 0 to 4, in order."""
    from discreet.attack.models import canary as module

    exposures = iter([4.0, 0.0, 1.0, 2.0, 3.0, *[0.0] * 3, 2.0, 0.5, 1.0])
    monkeypatch.setattr(module, "training_of", lambda *_, **__: module.Training(next(exposures), 1, 1.0))
    told = example(("1",), 7).to_json()
    assert told["trials"] == told["details"]["trainings"]["1"] == 3
    assert told["details"]["trainings"]["raw"] == 5
    assert told["intervals"] == {"raw": [0, 4], "1": [0.5, 2]}
    assert "least to the most" in told["intervals_are"]
    assert any("no 95 % intervals" in note for note in told["notes"])
