"""The one-run audit: its bound against the exact worst case, and what it shows of sound and broken trainings."""

import copy
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.stats import binom

from deep.nets import CROSS_ENTROPY, net, rows, sgd
from discreet.deep.accounting.plan import plan
from discreet.deep.accounting.stream import stream_plan
from discreet.deep.audit import one_run
from discreet.deep.audit.bound import Guesses, best_of, chance_of, least_epsilon
from discreet.deep.audit.canaries import invented_canaries
from discreet.deep.audit.one_run import audit_of, counts_of, guesses_of
from discreet.deep.audit.scores import Watch
from discreet.deep.training.noise import LatticeNoise
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue

EXAMPLE = (torch.zeros(2, 40), torch.zeros(2, dtype=torch.int64))


# --- the bound -------------------------------------------------------------------------------------------------------


def worst_chance(persons, count, right, epsilon, delta):
    """The largest chance of so many right guesses under (ε, δ), over all mechanisms, by a linear program.

    A mechanism is P[guesses | coins].  Σ_t max(0, P_s(t) − e^ε·P_s'(t)) ≤ δ for all s, s' that differ in one coin.
    """
    coins = list(product((-1, 1), repeat=persons))
    outputs = [t for t in product((-1, 0, 1), repeat=persons) if sum(map(abs, t)) == count]
    place = {s: i for i, s in enumerate(coins)}
    pairs = [(i, place[(*s[:k], -s[k], *s[k + 1 :])]) for i, s in enumerate(coins) for k in range(persons)]
    width, chances = len(outputs), len(coins) * len(outputs)
    limits = lil_matrix((len(pairs) * (width + 1), chances + len(pairs) * width))
    for pair, (first, second) in enumerate(pairs):
        for t in range(width):
            row = pair * width + t
            limits[row, first * width + t], limits[row, second * width + t] = 1, -exp(epsilon)
            limits[row, chances + row] = -1
            limits[len(pairs) * width + pair, chances + row] = 1
    largest = np.r_[np.zeros(len(pairs) * width), np.full(len(pairs), delta)]
    sums = lil_matrix((len(coins), limits.shape[1]))
    for i in range(len(coins)):
        sums[i, i * width : (i + 1) * width] = 1
    gain = np.zeros(limits.shape[1])
    for i, s in enumerate(coins):
        for t, guess in enumerate(outputs):
            gain[i * width + t] = -(sum(x * y > 0 for x, y in zip(s, guess, strict=True)) >= right) / len(coins)
    solved = linprog(gain, A_ub=limits.tocsr(), b_ub=largest, A_eq=sums.tocsr(), b_eq=np.ones(len(coins)))
    return -solved.fun


@pytest.mark.parametrize(("persons", "count"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(1, 2), Fraction(1, 100)), (Fraction(3), Fraction(1, 20))])
def test_the_bound_is_never_below_the_worst_of_all_mechanisms(persons, count, epsilon, delta):
    for right in range(1, count + 1):
        bound = float(chance_of(Guesses(count, right), persons, epsilon, delta))
        worst = worst_chance(persons, count, right, float(epsilon), float(delta))
        assert worst <= bound + 1e-7
        if right == count:  # where it matters it is not far above
            assert bound <= worst + 0.6 * persons * float(delta) / (1 + exp(epsilon))
        if count == 1:
            assert bound == pytest.approx(worst, abs=1e-7)


def test_a_finer_term_of_delta_is_below_the_worst_of_all_mechanisms():
    """Tail + 2mδ·max_i P[v > W ≥ v − i]/i, as it is often written, does not hold for few right guesses."""
    persons, epsilon, delta = 3, 1.0, 0.05
    law = binom(persons, exp(epsilon) / (1 + exp(epsilon)))
    finer = law.sf(0) + 2 * persons * delta * law.pmf(0)
    assert finer < 0.99 < worst_chance(persons, persons, 1, epsilon, delta)


@pytest.mark.parametrize("guesses", [Guesses(1, 1), Guesses(20, 15), Guesses(100, 100), Guesses(500, 300)])
def test_without_delta_the_bound_is_the_tail_of_the_binomial_law(guesses):
    for epsilon in (Fraction(0), Fraction(1), Fraction(7, 2)):
        tail = binom(guesses.count, exp(epsilon) / (1 + exp(epsilon))).sf(guesses.right - 1)
        assert float(chance_of(guesses, 1000, epsilon, Fraction(0))) == pytest.approx(tail, rel=1e-9)


def test_a_lower_bound_is_refuted_at_its_own_value_and_not_a_step_above():
    delta, alpha = Fraction(1, 10**5), Fraction(1, 20)
    for guesses in (Guesses(100, 90), Guesses(500, 330), Guesses(500, 500), Guesses(50, 40)):
        least = least_epsilon(guesses, 1000, delta, alpha)
        assert (
            chance_of(guesses, 1000, least, delta) <= alpha < chance_of(guesses, 1000, least + Fraction(1, 1000), delta)
        )
        assert least > least_epsilon(Guesses(guesses.count, guesses.right - 5), 1000, delta, alpha)
    assert least_epsilon(Guesses(100, 50), 1000, delta, alpha) == 0
    assert least_epsilon(Guesses(100, 100), 10**6, Fraction(1, 100), alpha) == 0  # δ may explain everything


def test_several_tries_share_the_error():
    tries = [Guesses(50, 48), Guesses(100, 60)]
    best, least = best_of(tries, 1000, Fraction(1, 10**5), Fraction(1, 20))
    assert best == tries[0]
    assert least == least_epsilon(tries[0], 1000, Fraction(1, 10**5), Fraction(1, 40))


def test_true_claims_are_rarely_refuted():
    """Randomized response of ε = 1 about 200 persons; N = 400, error 5 %; 52 alarms or more have odds below 10⁻⁶."""
    generator, alarms, honest = np.random.default_rng(5), 0, Fraction(1)
    for _ in range(400):
        right = int(generator.binomial(200, exp(1) / (1 + exp(1))))
        alarms += chance_of(Guesses(200, right), 200, honest, Fraction(1, 10**5)) <= Fraction(1, 20)
    assert alarms < 52
    assert binom(400, 0.05).sf(51) < 1e-6


# --- trainings -------------------------------------------------------------------------------------------------------


def wide_net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(40, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def trainer_of(module=None, *, sigma="1.5", steps=8, rate="1", **options):
    module = module or wide_net()
    own = plan(rows=200, rate=rate, steps=steps, sigma=sigma, delta="1e-5")
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    return Trainer(module, CROSS_ENTROPY, optimizer, plan=own, clip=1, **options)


def test_an_audit_of_a_sound_training_shows_something_and_refutes_nothing():
    """Full batches with μ = √8/1.5: a bound above the claim of ε = 9 has odds far below 10⁻⁶."""
    audit = trainer_of().audit(400, example=EXAMPLE)
    assert audit.canaries == 400
    assert 0 <= audit.epsilon_lower < audit.epsilon_claimed
    assert audit.guesses in counts_of(400)
    assert audit.correct > 0.55 * audit.guesses
    assert not audit.is_refuted


@pytest.mark.parametrize("form", ["exact", "float"])
def test_an_audit_of_a_training_without_noise_refutes_its_claim(form, monkeypatch):
    for noise in ("LatticeNoise", "FloatNoise"):
        monkeypatch.setattr(f"discreet.deep.training.noise.{noise}.add", lambda self, total: None)
    audit = trainer_of(sigma="6", noise=form).audit(400, example=EXAMPLE)
    assert audit.epsilon_lower > 2 > audit.epsilon_claimed
    assert audit.is_refuted
    assert audit.words().endswith("The claim is refuted.")


def test_whole_persons_are_in_or_out_with_all_their_rows():
    audit = trainer_of(sigma="0.05", steps=4, max_rows=3).audit(120, example=EXAMPLE)
    assert audit.canaries == 120
    assert audit.correct > 0.9 * audit.guesses
    persons = invented_canaries(wide_net(), EXAMPLE, 10, 3)
    inputs, targets = persons.rows_of(np.arange(10) == 4)
    assert torch.equal(inputs, persons.inputs[12:15])
    assert targets.tolist() == persons.targets[12:15].tolist()
    assert persons.units_of(np.arange(10) == 4).tolist() == [4, 4, 4]


def test_the_last_net_alone_shows_no_more_than_every_step():
    audit = trainer_of(sigma="0.05", steps=30).audit(200, example=EXAMPLE, score="losses")
    assert audit.score == "losses"
    assert audit.epsilon_lower < audit.epsilon_claimed


def test_an_audit_leaves_the_trainer_as_it_was_and_charges_nothing(tmp_path):
    trainer = trainer_of(ledger=tmp_path / "none.ledger", checkpoint=tmp_path / "none")
    before = copy.deepcopy(trainer.module.state_dict())
    mode = trainer.module.training
    trainer.audit(20, example=EXAMPLE)
    assert all(torch.equal(before[name], tensor) for name, tensor in trainer.module.state_dict().items())
    assert trainer.module.training is mode
    assert not trainer.optimizer.state
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(trainer, "privacy_")


def test_after_a_fit_no_example_is_needed():
    module = net()
    own = plan(rows=60, rate="0.5", steps=3, sigma="2", delta="1e-5")
    trainer = Trainer(module, CROSS_ENTROPY, sgd(module), plan=own, clip=1)
    with pytest.raises(BadValue, match="Call fit first"):
        trainer.audit(20)
    trainer.fit(rows())
    assert trainer.audit(20).canaries == 20


class ByName(torch.nn.Module):
    """A net of two named inputs."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(40, 4)

    def forward(self, *, ahead, aside):
        return self.inner(ahead + aside)


def test_inputs_may_be_named_and_examples_arrays():
    zeros = np.zeros((2, 40))
    audit = trainer_of(ByName(), steps=2).audit(20, example=({"ahead": zeros, "aside": zeros}, np.zeros(2, dtype=int)))
    assert audit.canaries == 20


def test_a_training_of_a_stream_is_audited_too():
    module = wide_net()
    own = stream_plan(rows=200, batch_size=50, epochs=2, sigma="2", delta="1e-5")
    trainer = Trainer(module, CROSS_ENTROPY, torch.optim.SGD(module.parameters(), lr=0.05), plan=own, clip=1)
    audit = trainer.audit(100, example=EXAMPLE)
    assert audit.epsilon_lower < audit.epsilon_claimed == own.epsilon


def test_a_result_says_at_least_and_never_that_all_is_well():
    nothing = one_run.OneRun(1000, 50, 25, Fraction(0), Fraction("2.93"), Fraction("1e-5"), Fraction("0.95"), "losses")
    some = one_run.OneRun(1000, 50, 45, Fraction("1.2"), Fraction("2.93"), Fraction("1e-5"), Fraction("0.95"), "losses")
    assert "found nothing above ε = 0" in nothing.words()
    assert "at least ε = 1.2 at δ = 1e-5, with confidence 95 %" in some.words()
    for audit in (nothing, some):
        assert "does not estimate it" in audit.words()
        assert not {"safe", "estimated", "proves"} & set(audit.words().split())
    assert some.to_json()["epsilon_lower"] == "1.2"


def test_guesses_are_the_highest_and_the_lowest_scores():
    scores, coins = np.arange(10.0), np.arange(10) >= 5
    assert guesses_of(scores, coins, 4) == Guesses(4, 4)
    assert guesses_of(-scores, coins, 4) == Guesses(4, 0)
    assert guesses_of(scores, np.ones(10, bool), 10) == Guesses(10, 5)


def test_scores_find_the_persons_among_louder_others():
    """Without noise the gradients of 100 persons are told apart although 50 of them lie on top of each other."""
    trainer = trainer_of(sigma="0.001", steps=1)
    persons = invented_canaries(trainer.module, EXAMPLE, 100, 1)
    coins = np.arange(100) % 2 == 0
    watch = Watch(trainer.course(), persons)
    trainer.optimizer.register_step_pre_hook(watch)
    trainer.fit(persons.rows_of(coins))
    assert guesses_of(watch.scores()[0], coins, 100).right >= 98


@pytest.mark.parametrize(
    ("inputs", "targets", "module"),
    [
        (torch.zeros(1, 7, dtype=torch.int64), torch.zeros(1, dtype=torch.int64), "words"),
        (torch.zeros(1, 40), torch.zeros(1, 4), "numbers"),
    ],
)
def test_canaries_have_values_that_the_net_takes(inputs, targets, module):
    embedded = [torch.nn.Embedding(9, 5), torch.nn.Flatten(), torch.nn.Linear(35, 3)]
    module = torch.nn.Sequential(*embedded) if module == "words" else wide_net()
    persons = invented_canaries(module, (inputs, targets), 50, 2)
    assert persons.inputs.shape == (100, *inputs.shape[1:])
    assert persons.targets.dtype == targets.dtype
    if inputs.dtype is torch.int64:
        assert set(persons.inputs.unique().tolist()) == set(range(9))
        assert set(persons.targets.tolist()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"canaries": 3}, "canaries"),
        ({"example": None}, "example"),
        ({"example": (np.zeros(3), 1)}, "example"),
        ({"score": "loss"}, "score"),
        ({"confidence": "1"}, "confidence"),
        ({"canaries": 10, "confidence": "0.9999999"}, "canaries"),
    ],
)
def test_audits_that_would_show_nothing_are_refused(options, name):
    with pytest.raises(BadValue, match=f"^{name}"):
        audit_of(trainer_of(), **{"example": EXAMPLE, **options})


def test_the_noise_of_an_audit_is_that_of_a_fit(monkeypatch):
    """Every step of the twin's training goes through the trainer's own noise."""
    calls, add = [], LatticeNoise.add
    monkeypatch.setattr(LatticeNoise, "add", lambda self, total: (calls.append(1), add(self, total))[1])
    trainer_of(steps=5).audit(20, example=EXAMPLE)
    assert len(calls) == 5
