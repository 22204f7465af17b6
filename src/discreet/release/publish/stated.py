"""Compare the facts that a release states with what its metadata and its noise imply.

    cells     they are those that the metadata give for what is counted
    facts     places, columns, rules, and the sentences on public facts
    price     (ε, δ) of all levels, ε and the share of each, from the scales of their noise

Sentences that only explain are not compared.
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


def wrong_metadata(facts: dict[str, Any], schema: Schema, about: Keys | None) -> Iterator[str]:
    """Sentences on facts that differ from the metadata."""
    unit = None if schema.unit is None else schema.unit.key
    for name, expected in (("dataset", schema.name), ("unit", unit), ("neighbours", str(schema.relation))):
        if facts[name] != expected:
            yield f"{name} is not that of the metadata."
    if about is None:
        yield "its attributes or its hierarchy do not fit the metadata."
        return
    levels = [(level["level"], level["places"], level["cells"]) for level in facts["levels"]]
    sizes = np.diff(about.tree.first).tolist()
    if levels != list(zip(about.tree.levels, sizes, [size * facts["cells"] for size in sizes], strict=True)):
        yield "its levels are not those of the tree in the metadata."


def subject_of(facts: dict[str, Any], schema: Schema, about: Keys) -> Subject | None:
    """The subject that the metadata give for these facts; None if there is none or its cells differ."""
    if facts["counts"] == "groups":
        spec = ReleaseSpec(facts["hierarchy"], groups=facts["groups"], largest=facts["cells"], form=about.form)
    else:
        spec = ReleaseSpec(facts["hierarchy"], about.attributes, facts["counts"], marginals=about.views[:-1])
    try:
        result = subject(spec, schema)
    except (DiscreetError, ValueError):
        return None
    labels = tuple(tuple(map(plain, each)) for each in result.labels)
    views = tuple(marginal.names for marginal in result.design.marginals)
    same = (result.attributes, labels, views, result.design.form) == (
        about.attributes,
        about.labels,
        about.views,
        about.form,
    )
    return result if same else None


def wrong_facts(facts: dict[str, Any], about: Keys, about_subject: Subject, known: Known) -> Iterator[str]:
    """Sentences on facts that contradict the metadata or the public numbers."""
    right = {
        "counts": counts(about_subject),
        "groups": about_subject.spec.groups,
        "places": len(about.tree),
        "columns": columns(about, facts["resimulated"]),
        "protects": about_subject.protects,
        "known": known.words(about.tree),
        "violations": asdict(Violations()),
    }
    if "of" in facts:  # releases of an earlier version do not say it
        right["of"] = counted_of(about_subject)
    yield from (f"{name} is not what it should be." for name, value in right.items() if facts.get(name) != value)


# --- the price -------------------------------------------------------------------------------------------------------


def noises(facts: dict[str, Any], about: Keys) -> list[tuple[str, Fraction]] | None:
    """The law and the scale of each level; None unless a level has one scale and all levels one law."""
    laws = []
    for level in facts["levels"]:
        if tuple(noise["marginal"] for noise in level["noise"]) != about.marginals:
            return None
        laws.append({(noise["law"], number(noise["scale"])) for noise in level["noise"]})
    if any(len(each) > 1 for each in laws) or len({law for each in laws for law, _ in each}) > 1:
        return None
    return [next(iter(each)) for each in laws]


def wrong_prices(facts: dict[str, Any], about: Keys, moves: Sensitivity, laws: list[tuple[str, Fraction]]) -> list[str]:
    """Sentences on prices and shares that are not those of the noise, for numbers of this sensitivity."""
    try:
        levels = [[_mechanism(law, scale, moves)] * len(about.views) for law, scale in laws]
        delta = amounts.delta(facts["delta"], ceiling=Fraction(1, 2))
        right = _is_price(facts["epsilon"], delta, [mechanism for level in levels for mechanism in level])
        right = right and facts["delta"] == amounts.text_of(delta)
        epsilons = [
            prices.epsilon(Together(tuple(mechanism.cost for mechanism in level)), delta).value for level in levels
        ]
    except (DiscreetError, ValueError, ArithmeticError):
        return ["its price is not that of the noise."]
    stated = [level["epsilon"] for level in facts["levels"]]
    parts = [1 / scale if law == "Laplace" else 1 / scale**2 for law, scale in laws]
    problems = {
        "its price is not that of the noise.": right,
        "the epsilon of a level is not that of its noise.": stated
        == [amounts.text_up(epsilon) for epsilon in epsilons],
        "the share of a level is not that of its noise.": _are_shares(
            [level["share"] for level in facts["levels"]], parts
        ),
    }
    return [problem for problem, holds in problems.items() if not holds]


def _mechanism(law: str, scale: Fraction, moves: Sensitivity) -> Additive:
    return additive.laplace(moves, moves.l1 / scale) if law == "Laplace" else additive.gaussian(moves, scale)


def _is_price(stated: str, delta: Fraction, mechanisms: list[Additive]) -> bool:
    """ε of Laplace noise is Σ l1/scale, without a δ; Gaussian noise costs no more than (ε, δ), and its σ, all together
    √(1/Σ l2²/σ_i²), is the least that does."""
    cost = Together(tuple(mechanism.cost for mechanism in mechanisms))
    sigmas = [
        mechanism.cost.sigma for mechanism in mechanisms if isinstance(mechanism.cost, Gaussian)
    ]  # for each unit of l2
    if not sigmas:
        return delta == 0 and amounts.text_of(prices.epsilon(cost, 0).value) == stated
    epsilon = amounts.epsilon(stated)
    if amounts.text_of(epsilon) != stated:
        return False
    smallest = calibrate.gaussian_sigma(epsilon, delta) * (1 + _WIDER)
    precision = sum((1 / sigma**2 for sigma in sigmas), Fraction(0))
    return precision * smallest**2 >= 1 and prices.delta(cost, epsilon).value <= delta


def _are_shares(stated: list[float], parts: list[Fraction]) -> bool:
    """Whether each share is its part of the sum of all parts, in four digits."""
    whole = sum(parts, Fraction(0))
    are_near = all(abs(Fraction(share) - part / whole) <= _NEAR for share, part in zip(stated, parts, strict=True))
    return are_near and all(round(share, 4) == share for share in stated)
