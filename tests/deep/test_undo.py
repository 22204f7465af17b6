"""Nothing of a block that is not stored is seen, and what a training moved is put back as it was."""

import copy
from unittest.mock import patch

import pytest
import torch

from deep.nets import CROSS_ENTROPY, net, rows, sgd, small_plan, weights
from discreet.deep.training import progress
from discreet.deep.training.block import Block
from discreet.deep.training.course import Course
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.undo import Undo, modes_of


def trainer(module, **options):
    optimizer = options.pop("optimizer", None) or sgd(module)
    return Trainer(module, CROSS_ENTROPY, optimizer, **{"plan": small_plan(), "clip": 0.5, **options})


def memory(course: Course):
    return [state["momentum_buffer"] for state in course.optimizer.state.values()]


def test_what_is_put_back_is_not_changed_by_the_next_training():
    module = net()
    course = trainer(module, optimizer=sgd(module)).course()
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    course.optimizer.step()
    undo, before = Undo(course), copy.deepcopy(memory(course))
    for _ in range(2):
        for parameter in module.parameters():
            parameter.grad = torch.ones_like(parameter)
        course.optimizer.step()
        undo()
        assert all(torch.equal(own, was) for own, was in zip(memory(course), before, strict=True))


def test_layers_get_their_own_modes_back():
    module = net()
    module[1].eval()
    modes = modes_of(module)
    teacher = trainer(module)
    undo = Undo(teacher.course())
    module.eval()
    undo()
    assert modes_of(module) == modes
    with pytest.raises(Exception, match="class or an id"):
        trainer(module).fit((rows()[0], rows()[1] + 5))
    assert modes_of(module) == modes


def test_progress_sees_weights_and_memory_from_before_the_fit_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    module = net()
    teacher, before, seen = trainer(module), weights(net()), []

    def told(text, share):
        is_bare = all(parameter.grad is None for parameter in module.parameters())
        seen.append(torch.equal(weights(module), before) and not teacher.optimizer.state and is_bare)
        with torch.no_grad():
            module[0].weight.fill_(float("nan"))

    teacher.progress = told
    teacher.fit(rows())
    assert len(seen) == small_plan().steps
    assert all(seen)
    assert torch.isfinite(weights(module)).all()
    assert not torch.equal(weights(module), before)


def test_an_interrupt_from_progress_leaves_no_weights_of_the_block(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    module, drawn = net(), []

    def told(text, share):
        drawn.append(weights(module))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer(module, progress=told).fit(rows())
    assert torch.equal(drawn[0], weights(net()))
    assert torch.equal(weights(module), drawn[0])


def test_each_training_of_a_tuning_begins_with_the_memory_that_its_candidate_had():
    from discreet.deep import tuned
    from discreet.deep.accounting.run_count import RunCount

    module, began = net(), []
    candidate = trainer(module, plan=small_plan(scores=1))
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    candidate.optimizer.step()
    before, real = copy.deepcopy(memory(candidate.course())), Block.__call__

    def noted(self, exact, source):
        began.append(copy.deepcopy(memory(self.course)))
        return real(self, exact, source)

    with patch.object(RunCount, "draw", lambda self, source: 3), patch.object(Block, "__call__", noted):
        tuned([candidate], rows())
    for held in (*began, memory(candidate.course())):
        assert all(torch.equal(own, was) for own, was in zip(held, before, strict=True))
    assert len(began) == 3
