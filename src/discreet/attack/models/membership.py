"""Membership inference: was a person among the rows that a model learnt from?

The attacker calls a row a member if its score is above a threshold that few rows of others reach: true positives at 1 %
false ones.  The score is the loss alone, or the likelihood ratio against shadow models (LiRA), which asks how the loss
on this row differs between models with it and without it.  On an (ε, δ) model every score has TPR ≤ e^ε·FPR + δ.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import caught
from discreet.attack.given import numbers
from discreet.attack.interval import mean_interval, share_interval
from discreet.attack.models import beside, shadows
from discreet.attack.models.grown_ups import adults
from discreet.attack.models.lira import caught_share, likelihood_ratios
from discreet.attack.models.trials import vector
from discreet.attack.result import Result
from discreet.errors import bad_private
from discreet.ndarrays import Bools, Floats
from discreet.noise.public import generator

FALSE_ALARMS = 0.01
_NETS, _ROWS = 72, 1200
_FAR = 1e-12  # how near to 0 or 1 a chance may come
_MEASURE = f"share of members that are caught at {FALSE_ALARMS:.0%} false alarms"
_LEAST, LEAST_OTHERS = 20, 100  # members; others, of whom one may be above the threshold
_EACH_END = 0.0125  # of two intervals that hold together


def membership(chances: Any, members: Any, *, shadow_chances: Any = None, shadow_members: Any = None) -> Result:
    """How many of the rows a model learnt from are caught, at 1 % false alarms.

    chances          the model's chance for each row's own class
    members          whether the model learnt from the row: 0 or 1
    shadow_chances   the same for shadow models that you trained: a line a model; without it, the loss alone is used
    shadow_members   which rows each shadow learnt from: a line a model

    >>> membership([0.9] * 20 + [0.5] * 100, [1] * 20 + [0] * 100).raw
    1.0
    """
    own = logits(vector(chances, "chances"))
    is_member = _truths(vector(members, "members", len(own)), "members")
    if is_member.sum() < _LEAST or (~is_member).sum() < LEAST_OTHERS:
        rule = f"must be 1 for {_LEAST} rows or more, and 0 for {LEAST_OTHERS} or more"
        raise bad_private("members", rule, "Give more rows, or the attack's rate says nothing.")
    if shadow_chances is None:
        return _result_of(own, is_member, "the loss alone")
    phi = logits(numbers(shadow_chances, "shadow_chances", dimensions=2))
    with_row = _truths(numbers(shadow_members, "shadow_members", dimensions=2), "shadow_members")
    if phi.shape != with_row.shape or phi.shape[1] != len(own):
        fix = "Give a line for each shadow model and a number for each row."
        raise bad_private("shadow_chances", "must be of the rows that chances are of", fix)
    if min(with_row.sum(0).min(), (~with_row).sum(0).min()) < 2:
        fix = "Train each shadow on a random half of the rows."
        raise bad_private("shadow_members", "must have each row in two shadows and out of two", fix)
    return _result_of(likelihood_ratios(own, phi, with_row), is_member, f"LiRA with {len(phi)} shadow models")


def logits(chances: Floats) -> Floats:
    """φ = ln(p/(1 − p)), refused outside 0 … 1."""
    if (chances < 0).any() or (chances > 1).any():
        raise bad_private("chances", "must lie between 0 and 1", "Give the chance of each row's own class.")
    inside = np.clip(chances, _FAR, 1 - _FAR)
    result: Floats = np.log(inside) - np.log1p(-inside)
    return result


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """72 nets on random halves of 1,200 adults; each is attacked by the 70 that are neither it nor its complement."""
    rows, signs, is_real = adults(_ROWS, generator(seed))
    members = shadows.members_of(_NETS, _ROWS, generator(seed))
    nets = shadows.Nets(rows, signs, members)
    margins = {"raw": nets.margins(shadows.trained_plainly(nets, generator(seed)))}
    for epsilon in epsilons:
        margins[epsilon] = nets.margins(shadows.trained_privately(nets, generator(seed), epsilon))
    by_ratio = {key: _caught_by_net(scores_of_all(of_nets, members), members) for key, of_nets in margins.items()}
    by_loss = {key: _caught_by_net(of_nets, members) for key, of_nets in margins.items()}
    delta = float(shadows.DELTA)
    return Result(
        name="membership",
        metric="members caught",
        measure=f"{_MEASURE}, by LiRA with {_NETS - 2} shadow models",
        raw=float(by_ratio["raw"].mean()),
        private={epsilon: float(by_ratio[epsilon].mean()) for epsilon in epsilons},
        baseline=FALSE_ALARMS,
        ceiling={epsilon: caught(float(epsilon), delta, false_alarms=FALSE_ALARMS) for epsilon in epsilons},
        units=f"one row, by add-remove; δ = {shadows.DELTA}",
        trials=_NETS,
        intervals={key: mean_interval(shares, least=0, greatest=1) for key, shares in by_ratio.items()},
        notes=(
            f"{_NETS} nets, each on a random half of {_ROWS:,} {'adults of 1994' if is_real else 'invented people'}; "
            "each net in turn is attacked, and the threshold is one for all.",
            f"The loss alone, without shadow models, catches {by_loss['raw'].mean():.1%} without noise.",
        ),
        details={
            "by_loss_alone": _means(by_loss),
            "accuracy": {key: float((of_nets[~members] > 0).mean()) for key, of_nets in margins.items()},
            "accuracy_on_members": {key: float((of_nets[members] > 0).mean()) for key, of_nets in margins.items()},
            "real_rows": is_real,
        },
    )


def on_file(path: Path, seed: int) -> Result:
    """The loss of a model's file on `members.csv` and `others.csv` that lie beside it."""
    pair = beside.beside(path)
    predictor = beside.model_in(path)
    inside = logits(beside.class_chances(predictor, pair.members, least=_LEAST))
    outside = logits(beside.class_chances(predictor, pair.others, least=LEAST_OTHERS))
    is_member = np.arange(len(inside) + len(outside)) < len(inside)
    promise = predictor.privacy
    epsilon = amounts.text_of(promise.epsilon)
    loss = _result_of(np.append(inside, outside), is_member, "the loss alone")
    greatest = false_alarms_of(outside)[1]
    ceiling = caught(float(promise.epsilon), float(promise.delta), false_alarms=greatest)
    return replace(
        loss,
        raw=None,
        private={epsilon: loss.raw or 0.0},
        ceiling={epsilon: ceiling},
        intervals={epsilon: loss.intervals["raw"]},
        units=f"one unit of the model's promise: {promise.unit}, {promise.relation}",
    )


def scores_of_all(margins: Floats, members: Bools) -> Floats:
    """The likelihood ratios of all rows under each net, against all nets but it and its complement.

    The complement is left out because the count of shadows with a row would tell whether the net has it.
    """
    scores = np.empty_like(margins)
    pairs = np.arange(len(margins)) // 2
    for net in range(len(margins)):
        others = pairs != pairs[net]
        scores[net] = likelihood_ratios(margins[net], margins[others], members[others])
    return scores


def _caught_by_net(scores: Floats, members: Bools) -> Floats:
    """The share of its members that is caught, for each net, at one threshold for all."""
    _, threshold = caught_share(scores.ravel(), members.ravel(), FALSE_ALARMS)
    shares: Floats = ((scores > threshold) & members).sum(1) / members.sum(1)
    return shares


def _means(by_net: Mapping[str, Floats]) -> dict[str, float]:
    return {key: float(shares.mean()) for key, shares in by_net.items()}


def _result_of(scores: Floats, members: Bools, score: str) -> Result:
    share, _ = caught_share(scores, members, FALSE_ALARMS)
    rows, others = int(members.sum()), int((~members).sum())
    passing = int(FALSE_ALARMS * others)
    least, greatest = false_alarms_of(scores[~members])
    blind = (passing + 1) / (others + 1)
    low, high = share_interval(round(share * rows), rows, each_side=_EACH_END)
    return Result(
        name="membership", metric="members caught", raw=share, private={}, baseline=blind, ceiling={},
        measure=f"share of members that are caught above the scores of all but {passing:,} of {others:,} others, "
        f"by {score}",
        units="one row", trials=rows, of_real_data=True, without="by this model",
        intervals={"raw": (max(0.0, low - (greatest - blind)), min(1.0, high + (blind - least)))},
        notes=(
            f"False alarms at this threshold: {least:.2%} to {greatest:.2%} (97.5 %). The intervals of what is caught "
            "are longer by what that may be away from blind guessing.",
            "Attacks by shadow models catch far more than the loss alone.",
        ),
        details={"false_alarms": [least, greatest], "others": others},
    )  # fmt: skip


def false_alarms_of(others: Floats) -> tuple[float, float]:
    """The 97.5 % interval of q = P[score > t] for one more of the others, where t is the (k + 1)-th largest of n.

    q has the law Beta(k + 1, n − k) with the mean (k + 1)/(n + 1), k = ⌊n/100⌋, and is less where scores are equal.
    With the share p of members above t and q each in its interval of 97.5 %, p − q lies between the differences of
    their ends with probability 95 %: so a score that says nothing seems to beat guessing in at most 2.5 % of runs.
    """
    from scipy.stats import beta

    passing = int(FALSE_ALARMS * len(others))
    threshold = np.sort(others)[len(others) - 1 - passing]
    law = beta(passing + 1, len(others) - passing)
    least = float(law.ppf(_EACH_END)) if (others == threshold).sum() == 1 else 0.0
    return least, float(law.isf(_EACH_END))


def _truths(values: Floats, name: str) -> Bools:
    if not set(np.unique(values).tolist()) <= {0.0, 1.0}:
        raise bad_private(name, "must be 0 or 1", "Give 1 for a row that the model learnt from.")
    truths: Bools = values == 1
    return truths
