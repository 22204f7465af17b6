"""Optimizers, schedules and averages: which are accepted, and Adam without the noise in its second moment."""

import math
import warnings

import pytest
import torch

from discreet.deep.training.adam import Adam
from discreet.deep.training.optimizer import Average, Rates, factors_of, require_decay, require_optimizer
from discreet.errors import BadValue


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


KINDS = [
    lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    lambda parameters: torch.optim.SGD([{"params": [p], "lr": 0.1} for p in parameters]),
    lambda parameters: torch.optim.Adam(parameters, amsgrad=True),
    lambda parameters: torch.optim.AdamW(parameters),
    lambda parameters: torch.optim.NAdam(parameters),
    lambda parameters: torch.optim.Adagrad(parameters),
    lambda parameters: torch.optim.RMSprop(parameters, centered=True),
    lambda parameters: torch.optim.Rprop(parameters),
    lambda parameters: torch.optim.Adafactor(parameters),
    lambda parameters: Adam(parameters),
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimizer_of_exactly_the_trainable_parameters_is_accepted_and_left_as_it_is(kind):
    module = net()
    before = [parameter.clone() for parameter in module.parameters()]
    optimizer = kind(list(module.parameters()))
    states = len(optimizer.state)
    require_optimizer(optimizer, module)
    assert all(torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True))
    assert len(optimizer.state) == states
    assert all(parameter.grad is None for parameter in module.parameters())


def test_frozen_parameters_belong_to_no_optimizer():
    module = net()
    module[0].weight.requires_grad_(False)
    with pytest.raises(BadValue, match=r"no parameters but the module's trainable ones.*0\.weight"):
        require_optimizer(torch.optim.SGD(module.parameters(), lr=1), module)
    require_optimizer(torch.optim.SGD([p for p in module.parameters() if p.requires_grad], lr=1), module)


def test_parameters_that_are_missing_foreign_or_double_are_refused():
    module, other = net(), net()
    with pytest.raises(BadValue, match="all trainable parameters"):
        require_optimizer(torch.optim.SGD(module[0].parameters(), lr=1), module)
    with pytest.raises(BadValue, match="something else"):
        require_optimizer(torch.optim.SGD([*module.parameters(), *other.parameters()], lr=1), module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        double = torch.optim.SGD([*module.parameters(), next(module.parameters())], lr=1)
    with pytest.raises(BadValue, match="each parameter once"):
        require_optimizer(double, module)
    with pytest.raises(BadValue, match="must be an optimizer of torch"):
        require_optimizer(module.parameters(), module)


def test_optimizers_that_call_a_closure_or_want_sparse_gradients_are_refused():
    module = net()
    for kind in (torch.optim.LBFGS, torch.optim.SparseAdam):
        with pytest.raises(BadValue, match="without a closure"):
            require_optimizer(kind(list(module.parameters())), module)


def test_adam_without_noise_is_the_adam_of_torch():
    ours, theirs = net(), net()
    optimizers = Adam(ours.parameters(), lr=0.01), torch.optim.Adam(theirs.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(3)
    for _ in range(5):
        gradients = [torch.randn(p.shape, generator=generator) for p in ours.parameters()]
        for module, optimizer in zip((ours, theirs), optimizers, strict=True):
            for parameter, gradient in zip(module.parameters(), gradients, strict=True):
                parameter.grad = gradient.clone()
            optimizer.step()
    for our, their in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(our, their, atol=1e-6)


def test_adam_subtracts_the_variance_of_the_noise_once_and_stays_above_the_floor():
    """Without correction v̂ would be g² + Φ; N = 20,000 numbers over 400 steps, right to 5 %."""
    size, signal, deviation = 20_000, 0.02, 0.1
    parameter = torch.nn.Parameter(torch.zeros(size, dtype=torch.float64))
    optimizer = Adam([parameter], lr=1.0, betas=(0.0, 0.999), floor=1e-4)
    optimizer.noise_variance = deviation**2
    generator = torch.Generator().manual_seed(5)
    square = torch.zeros(size, dtype=torch.float64)
    for _ in range(400):
        gradient = signal + deviation * torch.randn(size, generator=generator, dtype=torch.float64)
        square = 0.999 * square + 0.001 * gradient**2
        parameter.grad, before = gradient, parameter.detach().clone()
        optimizer.step()
    moved = (before - parameter.detach()) / gradient
    expected = 1 / torch.sqrt((square / (1 - 0.999**400) - deviation**2).clamp(min=1e-4 * deviation**2))
    assert torch.allclose(moved, expected, rtol=1e-4)
    assert float((square / (1 - 0.999**400)).mean() - deviation**2) == pytest.approx(signal**2, rel=0.05)
    assert optimizer.noise_variance == deviation**2


def test_adam_refuses_numbers_that_are_none_and_closures():
    parameters = list(net().parameters())
    for wrong in ({"lr": -1.0}, {"floor": math.nan}, {"betas": (0.9, 1.0)}):
        with pytest.raises(BadValue):
            Adam(parameters, **wrong)
    with pytest.raises(BadValue, match="closure"):
        Adam(parameters).step(lambda: 1.0)


def test_a_schedule_is_public_and_gives_the_factor_of_each_step():
    assert factors_of(None, 5) is None
    assert factors_of(lambda progress: 2 * progress, 4) == (0.0, 0.5, 1.0, 1.5)
    optimizer = torch.optim.SGD(net().parameters(), lr=0.5)
    rates = Rates(optimizer, (1.0, 0.5))
    rates.set(1)
    assert optimizer.param_groups[0]["lr"] == 0.25
    rates.restore()
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_schedules_of_torch_and_those_that_give_no_numbers_are_refused():
    optimizer = torch.optim.SGD(net().parameters(), lr=1)
    for wrong in (torch.optim.lr_scheduler.StepLR(optimizer, 3), "linear", lambda progress: -1, lambda _: math.nan):
        with pytest.raises(BadValue, match="schedule"):
            factors_of(wrong, 4)


def test_an_average_has_no_bias_towards_its_zeros():
    parameter = torch.nn.Parameter(torch.full((3,), 7.0))
    average = Average([parameter], 0.99)
    for _ in range(3):
        average.add([parameter])
    assert torch.allclose(next(average.means()), parameter.detach())
    with torch.no_grad():
        parameter.fill_(0.0)
    average.add([parameter])
    weights = [0.99**3, 0.99**2, 0.99, 1.0]
    assert float(next(average.means())[0]) == pytest.approx(7 * sum(weights[:3]) / sum(weights), rel=1e-5)


@pytest.mark.parametrize(("given", "decay"), [(None, 0.0), (0, 0.0), (0.99, 0.99)])
def test_the_decay_of_an_average_lies_below_one(given, decay):
    assert require_decay(given) == decay
    for wrong in (1, -0.1, True, "0.9", math.nan):
        with pytest.raises(BadValue, match="average"):
            require_decay(wrong)
