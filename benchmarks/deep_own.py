"""Steps in our environment: plain PyTorch's, and ours as a Trainer takes them, sampling and noise included.

NET ROUNDS COUNT    milliseconds of each kind of step
NET KIND memory     bytes that a few steps take
"""

import sys

from torch import nn

from benchmarks.deep_nets import WARM, Clock, net_of, orders_of, plain_steps, sgd, tell
from discreet import deep

# unrolled: plain steps of the net that ours trains; ordered: plain steps with pictures in the quickest order of memory
FORMS = ("plain", "ordered", "unrolled", "float", "exact")


def seconds(name: str, form: str, count: int) -> float:
    """CPU seconds of a step.  Every person is sampled, so that each step has the same batch as a plain one."""
    net, inputs, targets = net_of(name)
    if form == "plain":
        return plain_steps(net, inputs, targets, count)
    if form == "ordered":
        return plain_steps(net, orders_of(inputs)[-1], targets, count)
    net = deep.replaced(net)
    if form == "unrolled":
        return plain_steps(net, inputs, targets, count)
    optimizer, loss = sgd(net), nn.CrossEntropyLoss(reduction="none")
    plan = deep.plan(rows=len(targets), rate=1, steps=WARM + count, sigma=10, delta="1e-5")
    clock = Clock.on(optimizer)
    trainer = deep.Trainer(net, loss, optimizer, plan=plan, clip=0.1, average=None, noise=form)
    trainer.fit((inputs, targets))
    return clock.of_last(count)


if __name__ == "__main__":
    tell(seconds, FORMS, sys.argv[1:])
