"""What the facts of a release state, held against what its metadata and its noise make of them.

    about     its cells are those that the metadata have for what is counted
    sums      places, columns, rules, and what is public, in words
    price     (ε, δ) of all levels, ε and the share of each, from the scales of their noise

Sentences in which a release is explained are not compared.
"""

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.answer.column import plain
from discreet.bounded import Sensitivity
from discreet.errors import DiscreetError
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.privacy import calibrate
from discreet.privacy import price as prices
from discreet.privacy.cost import Gaussian, Together
from discreet.release.caps import counted_of
from discreet.release.check import Violations
from discreet.release.known import Known
from discreet.release.publish.facts import columns, counts, number
from discreet.release.publish.tidy import Keys
from discreet.release.subject import ReleaseSpec, Subject, subject
from discreet.schema import Schema

_WIDER = Fraction(1, 10**8)  # by how much of itself rounded noise may be wider than its price asks for
_NEAR = Fraction(1, 20_000) + Fraction(1, 10**8)  # a share is told in four digits


def strangers(facts: dict[str, Any], schema: Schema, about: Keys | None) -> Iterator[str]:
    """How the facts differ from the metadata they should be about."""
    unit = None if schema.unit is None else schema.unit.key
    for name, here in (("dataset", schema.name), ("unit", unit), ("neighbours", str(schema.relation))):
        if facts[name] != here:
            yield f"{name} is not that of the metadata."
    if about is None:
        yield "its attributes or its hierarchy do not fit the metadata."
        return
    levels = [(one["level"], one["places"], one["cells"]) for one in facts["levels"]]
    sizes = np.diff(about.tree.first).tolist()
    if levels != list(zip(about.tree.levels, sizes, [size * facts["cells"] for size in sizes], strict=True)):
        yield "its levels are not those of the tree in the metadata."


def meant(facts: dict[str, Any], schema: Schema, about: Keys) -> Subject | None:
    """What the metadata have for the release that the facts speak of; None if there is none, or it has other cells."""
    if facts["counts"] == "groups":
        wanted = ReleaseSpec(facts["hierarchy"], groups=facts["groups"], largest=facts["cells"], form=about.form)
    else:
        wanted = ReleaseSpec(facts["hierarchy"], about.attributes, facts["counts"], marginals=about.views[:-1])
    try:
        found = subject(wanted, schema)
    except (DiscreetError, ValueError):
        return None
    labels = tuple(tuple(map(plain, each)) for each in found.labels)
    views = tuple(one.names for one in found.design.marginals)
    same = (found.attributes, labels, views, found.design.form) == (
        about.attributes,
        about.labels,
        about.views,
        about.form,
    )
    return found if same else None


def misstated(facts: dict[str, Any], about: Keys, what: Subject, known: Known) -> Iterator[str]:
    """Facts that are not what the metadata and the public numbers make of them."""
    right = {
        "counts": counts(what),
        "groups": what.wanted.groups,
        "places": len(about.tree),
        "columns": columns(about, facts["resimulated"]),
        "protects": what.protects,
        "known": known.words(about.tree),
        "violations": asdict(Violations()),
    }
    if "of" in facts:  # releases of an earlier version do not say it
        right["of"] = counted_of(what)
    yield from (f"{name} is not what it should be." for name, value in right.items() if facts.get(name) != value)


# --- the price -------------------------------------------------------------------------------------------------------


def noises(facts: dict[str, Any], about: Keys) -> list[tuple[str, Fraction]] | None:
    """The law and the scale of each level, the same for all its marginals and the law for all levels; else None."""
    found = []
    for level in facts["levels"]:
        if tuple(noise["marginal"] for noise in level["noise"]) != about.marginals:
            return None
        found.append({(noise["law"], number(noise["scale"])) for noise in level["noise"]})
    if any(len(each) > 1 for each in found) or len({law for each in found for law, _ in each}) > 1:
        return None
    return [next(iter(each)) for each in found]


def mispriced(facts: dict[str, Any], about: Keys, moves: Sensitivity, laws: list[tuple[str, Fraction]]) -> list[str]:
    """Whether the price, that of each level and their shares are those of the noise, for numbers that move so far."""
    try:
        levels = [[_mechanism(law, scale, moves)] * len(about.views) for law, scale in laws]
        small = amounts.delta(facts["delta"], ceiling=Fraction(1, 2))
        right = _is_price(facts["epsilon"], small, [one for level in levels for one in level])
        right = right and facts["delta"] == amounts.shown(small)
        own = [prices.epsilon(Together(tuple(one.cost for one in level)), small).value for level in levels]
    except (DiscreetError, ValueError, ArithmeticError):
        return ["its price is not that of the noise."]
    said = [one["epsilon"] for one in facts["levels"]]
    parts = [1 / scale if law == "Laplace" else 1 / scale**2 for law, scale in laws]
    problems = {
        "its price is not that of the noise.": right,
        "the epsilon of a level is not that of its noise.": said
        == [amounts.shown(amounts.rounded_up(one, 4)) for one in own],
        "the share of a level is not that of its noise.": _are_shares([one["share"] for one in facts["levels"]], parts),
    }
    return [problem for problem, holds in problems.items() if not holds]


def _mechanism(law: str, scale: Fraction, moves: Sensitivity) -> Additive:
    return additive.laplace(moves, moves.l1 / scale) if law == "Laplace" else additive.gaussian(moves, scale)


def _is_price(said: str, small: Fraction, every: list[Additive]) -> bool:
    """ε of Laplace noise is Σ l1/scale, without a δ; Gaussian noise costs no more than (ε, δ), and its σ, all together
    √(1/Σ l2²/σ_i²), is the least that does."""
    cost = Together(tuple(one.cost for one in every))
    sigmas = [one.cost.sigma for one in every if isinstance(one.cost, Gaussian)]  # for each unit of l2
    if not sigmas:
        return small == 0 and amounts.shown(prices.epsilon(cost, 0).value) == said
    price = amounts.epsilon(said)
    if amounts.shown(price) != said:
        return False
    least = calibrate.gaussian_sigma(price, small) * (1 + _WIDER)
    near = sum((1 / sigma**2 for sigma in sigmas), Fraction(0))
    return near * least**2 >= 1 and prices.delta(cost, price).value <= small


def _are_shares(said: list[float], parts: list[Fraction]) -> bool:
    """Whether the shares are the parts of all parts, in four digits."""
    whole = sum(parts, Fraction(0))
    near = all(abs(Fraction(one) - part / whole) <= _NEAR for one, part in zip(said, parts, strict=True))
    return near and all(round(one, 4) == one for one in said)
