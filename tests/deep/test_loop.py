"""Loops of one's own over a plan: charged on entry, and one noisy gradient a step, of the right sum alone."""

import copy
import os
import pickle
import threading
import time
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from torch.utils.data import Dataset

from deep.nets import COUNT, CROSS_ENTROPY, SIZE, net, sgd, small_plan, weights
from deep.nets import rows as small_rows
from discreet.deep.accounting.stream import stream_plan
from discreet.deep.clipping.clipped import clipped_sum
from discreet.deep.training.data import rows_of
from discreet.deep.training.draws import samples
from discreet.deep.training.loop import run_of
from discreet.deep.training.noise import LatticeNoise
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.source import SYSTEM


def looped(plan, data, units=None, **options):
    return run_of(plan, data, units, **{"ledger": None, "clip": 0.5, "max_rows": 1, "noise": "exact", **options})


def the_sum(module, step, run, **options):
    return clipped_sum(module, CROSS_ENTROPY, *step.batch, **{"clip": run.clip, **options})


@pytest.mark.parametrize("noise", ["exact", "float"])
def test_a_loop_trains_a_net(noise):
    inputs, targets = small_rows(2000)
    module, plan = net(), small_plan(steps=60, sigma="1", rate="0.1", rows=2000)
    optimizer = sgd(module)
    with plan.run((inputs, targets), clip=1.0, noise=noise) as run:
        assert run.noise_variance == pytest.approx((1 / 200) ** 2, rel=0.01)
        for step in run:
            for name, gradient in step.noisy(the_sum(module, step, run)).items():
                module.get_parameter(name).grad = gradient
            optimizer.step()
    assert float((module(inputs).argmax(1) == targets).float().mean()) > 0.9
    assert run.privacy_.cost == plan.cost
    assert run.noise_variance == pytest.approx((1 / 200) ** 2, rel=0.01)


def test_a_noisy_gradient_is_the_sum_by_name_divided_by_the_expected_batch():
    module, plan = net(), small_plan(steps=1, sigma="1e-9", rate="1", rows=200)
    with looped(plan, small_rows(), clip=10) as run:
        (step,) = run
        total = the_sum(module, step, run)
        gradients = step.noisy(total)
    assert [name for name, _ in module.named_parameters()] == list(gradients)
    for name, gradient in gradients.items():
        assert torch.allclose(gradient, (total[name] / 200).float(), atol=1e-4)
        assert gradient.shape == module.get_parameter(name).shape


def test_a_step_gives_one_noisy_gradient_and_only_while_it_is_the_present_one():
    module = net()
    with looped(small_plan(), small_rows()) as run:
        steps = iter(run)
        first = next(steps)
        first.noisy(the_sum(module, first, run))
        with pytest.raises(BadValue, match="no noisy gradient yet"):
            first.noisy(the_sum(module, first, run))
        second = next(steps)
        third = next(steps)
        with pytest.raises(BadValue, match="must be the present one"):
            second.noisy(the_sum(module, second, run))
    with pytest.raises(BadValue, match="must be the present one"):
        third.noisy(the_sum(module, third, run))


def test_a_sum_of_another_clip_batch_or_making_is_refused_and_the_step_is_left():
    module, other = net(), small_rows()
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        right = the_sum(module, step, run)
        inputs, targets, owners = step.batch
        for wrong in (
            the_sum(module, step, run, clip=0.6),
            clipped_sum(module, CROSS_ENTROPY, *other, clip=run.clip),
            clipped_sum(module, CROSS_ENTROPY, inputs.clone(), targets, owners, clip=run.clip),
            clipped_sum(module, CROSS_ENTROPY, inputs[:2], targets[:2], owners, clip=run.clip),
            dict(right),
            right.flat,
        ):
            with pytest.raises(BadValue, match="sum"):
                step.noisy(wrong)
        assert set(step.noisy(right)) == set(right)


def test_a_net_that_mixes_rows_gets_no_noisy_gradient():
    class Centred(torch.nn.Module):
        def forward(self, rows):
            return rows - rows.mean(0)

    mixing = torch.nn.Sequential(torch.nn.Linear(SIZE, 3), Centred(), torch.nn.Linear(3, 2))

    def centred(outputs, targets):
        return CROSS_ENTROPY(outputs - outputs.mean(0), targets)

    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        for module, loss in ((mixing, CROSS_ENTROPY), (net(), centred)):
            with pytest.raises(BadValue):
                step.noisy(clipped_sum(module, loss, *step.batch, clip=run.clip))
        assert step.noisy(the_sum(net(), step, run))


def test_a_sum_that_was_written_to_is_refused():
    module = net()
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        scaled = the_sum(module, step, run)
        for part in scaled.values():
            part.mul_(1000)
        right = the_sum(module, step, run)
        swapped = replace(right, flat=right.flat * 1000)
        for wrong in (scaled, swapped):
            with pytest.raises(BadValue, match=r"must be as dp\.deep\.clipped_sum gave it"):
                step.noisy(wrong)
        assert step.noisy(right)


def test_the_rule_and_the_plan_of_a_loop_cannot_be_changed():
    with looped(small_plan(), small_rows()) as run:
        for name in ("clip", "plan"):
            with pytest.raises(AttributeError):
                setattr(run, name, None)


def test_a_loop_cannot_be_copied_and_a_copied_step_is_another_step():
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(BadValue, match="must not be copied"):
                copied(run)
        with pytest.raises(BadValue, match="must not be copied"):
            copy.deepcopy(step)
        with pytest.raises(BadValue, match="must be the present one"):
            copy.copy(step).noisy(the_sum(net(), step, run))


def test_another_process_gets_neither_steps_nor_noise(monkeypatch):
    """A forked process has everything but the number of the process."""
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        total, here = the_sum(net(), step, run), os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: here + 1)
        for action in (lambda: step.noisy(total), lambda: next(iter(run))):
            with pytest.raises(BadValue, match="in the process that entered it"):
                action()
        monkeypatch.undo()
        assert step.noisy(total)


def test_threads_get_one_noisy_gradient_of_a_step(monkeypatch):
    barrier, answers = threading.Barrier(4), []
    slow_draw = LatticeNoise.add

    def slowly(self, total):
        time.sleep(0.05)
        slow_draw(self, total)

    monkeypatch.setattr(LatticeNoise, "add", slowly)
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        total = the_sum(net(), step, run)

        def ask():
            barrier.wait()
            try:
                answers.append(bool(step.noisy(total)))
            except BadValue:
                answers.append(False)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answers) == [False, False, False, True]


def test_a_step_whose_noise_was_interrupted_is_over(monkeypatch):
    module = net()
    with looped(small_plan(), small_rows()) as run:
        step = next(iter(run))
        total = the_sum(module, step, run)
        interrupt(monkeypatch, LatticeNoise, "_next_noise")
        with pytest.raises(KeyboardInterrupt):
            step.noisy(total)
        monkeypatch.undo()
        with pytest.raises(BadValue, match="must be the present one"):
            step.noisy(total)
        step = next(iter(run))
        assert step.number == 2
        assert step.noisy(the_sum(module, step, run))


def interrupt(monkeypatch, owner, name):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)


def test_there_are_as_many_steps_as_were_planned_and_no_more():
    with looped(small_plan(), small_rows()) as run:
        assert [step.number for step in run] == [1, 2, 3, 4, 5, 6]
        with pytest.raises(BadValue, match="at most the 6 of the plan"):
            iter(run)
    left_early = looped(small_plan(), small_rows())
    with left_early as run:
        for step in run:
            if step.number == 2:
                break
        assert next(iter(run)).number == 3
    with pytest.raises(BadValue, match="at most the 6"):
        iter(left_early)


def test_a_loop_is_entered_once_and_before_its_steps():
    run = looped(small_plan(), small_rows())
    with pytest.raises(BadValue, match="must be entered"):
        iter(run)
    with run:
        pass
    with pytest.raises(BadValue, match="entered once"), run:
        pass


def test_a_loop_is_charged_when_it_is_entered_also_if_it_is_left_early(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rules = Rules(budget(40, "1e-3", ceiling=Fraction(1, 100)))
    with Ledger.create(tmp_path / "ledger", Opening("people", "person", "add-remove", rules)) as ledger:
        run = looped(small_plan(), small_rows(), list(range(COUNT)), ledger=ledger, max_rows=3)
        assert ledger.standing().charges == 0
        with run:
            assert ledger.standing().spent.epsilon == small_plan().epsilon
            assert run.privacy_.receipt == f"{ledger.entry_of(run.privacy_.receipt)['n']}-" + run.privacy_.receipt[2:]
            next(iter(run))
        assert [entry["kind"] for entry in ledger.entries()] == ["open", "purse", "end"]
        with pytest.raises(BadValue, match="units"), looped(small_plan(), small_rows(), ledger=ledger):
            pass


def test_a_persons_rows_come_with_their_owners():
    units = [row // 6 for row in range(COUNT)]
    with looped(small_plan(rate="1"), small_rows(), units, max_rows=4) as run:
        step = next(iter(run))
        inputs, _, owners = step.batch
        assert len(inputs) == 40
        assert owners.bincount().tolist() == [4] * 10
        total = the_sum(net(), step, run)
        assert float(total.flat.norm()) <= 0.5 * 10


@pytest.mark.parametrize("noise", ["exact", "float"])
def test_a_loop_over_no_rows_gives_noise(noise):
    with looped(small_plan(), (torch.zeros(0, SIZE), torch.zeros(0, dtype=torch.int64)), noise=noise) as run:
        gradients = [step.noisy(the_sum(net(), step, run)) for step in run]
    assert len(gradients) == 6
    assert all(float(part.abs().sum()) > 0 for gradient in gradients for part in gradient.values())


def test_wrong_options_are_refused_before_anything_is_charged():
    with pytest.raises(BadValue, match="units must be given"):
        looped(small_plan(), small_rows(), max_rows=2)
    with pytest.raises(BadValue, match="no scores"):
        looped(small_plan(steps=4, sigma="1", rate="0.1", rows=2000, scores=4), small_rows())
    with pytest.raises(BadValue, match="noise must be"):
        looped(small_plan(), small_rows(), noise="none")


# --- streams ---------------------------------------------------------------------------------------------------------

STREAM = stream_plan(rows=COUNT, batch_size=15, epochs=2, sigma="1", delta="1e-5")


def test_in_a_stream_each_person_takes_part_once_an_epoch_at_an_equal_distance():
    persons = rows_of(small_rows()).persons
    taken = [indices.tolist() for indices, _ in samples(STREAM, persons, 1, STREAM.steps, SYSTEM)]
    assert len(taken) == 8
    assert taken[:4] == taken[4:]
    assert sorted(row for indices in taken[:4] for row in indices) == list(range(COUNT))


def test_steps_of_a_stream_cannot_be_left_out():
    module = net()
    with STREAM.run(small_rows(), clip=0.5) as run:
        steps = iter(run)
        first = next(steps)
        first.noisy(the_sum(module, first, run))
        second = next(steps)
        for _ in range(3):
            with pytest.raises(BadValue, match="must not be left out"):
                next(iter(run))
        second.noisy(the_sum(module, second, run))  # a refusal has thrown nothing away
        third = next(iter(run))
        rest = [step.batch[0] for step in (first, second, third)]
        third.noisy(the_sum(module, third, run))
        rest.append(next(iter(run)).batch[0])
    assert sum(map(len, rest)) == COUNT
    assert third.number == 3


@pytest.mark.parametrize("fault", [OSError, KeyboardInterrupt])
def test_a_stream_ends_where_its_rows_cannot_be_read(fault):
    """N = 60 persons in four slots: the second is of nobody, and so read without a fault, once in 10⁷."""

    class Disk(Dataset):
        inputs, targets = small_rows()
        is_broken = False

        def __len__(self):
            return COUNT

        def __getitem__(self, index):
            if self.is_broken:
                raise fault
            return self.inputs[index], self.targets[index]

    module, disk = net(), Disk()
    with STREAM.run(disk, clip=0.5) as run:
        step = next(iter(run))
        step.noisy(the_sum(module, step, run))
        disk.is_broken = True
        with pytest.raises(fault):
            next(iter(run))
        disk.is_broken = False
        for action in (lambda: next(iter(run)), lambda: step.noisy(the_sum(module, step, run))):
            with pytest.raises(BadValue, match="broke off"):
                action()


def test_a_stream_ends_where_its_noise_was_interrupted(monkeypatch):
    module = net()
    with STREAM.run(small_rows(), clip=0.5) as run:
        step = next(iter(run))
        total = the_sum(module, step, run)
        interrupt(monkeypatch, RoundedGaussian, "draw")
        with pytest.raises(KeyboardInterrupt):
            step.noisy(total)
        monkeypatch.undo()
        for action in (lambda: step.noisy(total), lambda: next(iter(run))):
            with pytest.raises(BadValue, match="broke off"):
                action()


def test_a_stream_trains_in_one_block_without_a_checkpoint(tmp_path):
    inputs, targets = small_rows(4000)
    plan = stream_plan(rows=4000, batch_size=200, epochs=4, sigma="0.5", delta="1e-5")
    module = net()
    teacher = Trainer(module, CROSS_ENTROPY, sgd(module), plan=plan, clip=1.0)
    teacher.fit((inputs, targets))
    assert float((module(inputs).argmax(1) == targets).float().mean()) > 0.85
    assert teacher.privacy_.cost == plan.cost
    assert "correlated" in teacher.card()
    for options in ({"checkpoint": tmp_path / "net"}, {"noise": "float"}, {"patience": 1}):
        with pytest.raises(BadValue):
            Trainer(module, CROSS_ENTROPY, sgd(module), plan=plan, **options)
    before = weights(module)
    Trainer(module, CROSS_ENTROPY, sgd(module), plan=plan, clip=1.0).fit((inputs[:0], targets[:0]))
    assert torch.isfinite(weights(module)).all()
    assert not torch.equal(before, weights(module))
