"""The public facts of a release as JSON: what its files, page and report say beside the numbers."""

import re
from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BadValue
from discreet.mechanism.additive import root_up
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import odds, words
from discreet.privacy.cost import Cost, Gaussian, Pure
from discreet.relation import Relation
from discreet.release.caps import counted_of
from discreet.release.publish import tidy

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan
    from discreet.release.release import Release
    from discreet.release.subject import Subject

FORMAT = 1
LAWS: dict[str, Any] = {"Laplace": DiscreteLaplace, "Gaussian": RoundedGaussian}
_NOISE_ONLY = "± counts the noise of privacy only, not what was wrong or missing in the data."
_SEEN_BY = "whoever holds the data"
_DEEPEST = 12  # lists and objects in each other; facts have five
_FRACTION = re.compile(r"([0-9]{1,422})(?:/([0-9]{1,422}))?")  # the digits that a number of `exact` can have


def facts(release: "Release") -> dict[str, Any]:
    """The content of release.json; everything in it is public or has noise."""
    plan, about = release.plan, tidy.keys(release)
    subject, spec = plan.subject, plan.subject.spec
    unit, broken = subject.schema.unit, release.violations
    return {
        "format": FORMAT,
        "kind": "release",
        "software": software(),
        "dataset": subject.schema.name,
        "hierarchy": spec.hierarchy,
        "counts": counts(subject),
        "of": counted_of(subject),
        "groups": spec.groups,
        "places": len(about.tree),
        "cells": subject.cells,
        "levels": levels(plan, about),
        "attributes": [
            {"name": name, "labels": list(labels)} for name, labels in zip(about.attributes, about.labels, strict=True)
        ],
        "form": str(about.form),
        "estimates": plan.margins.unbiased.way,
        "marginals": [list(view) for view in about.views],
        "resimulated": None if release.approximate is None else release.approximate.runs,
        "columns": columns(about, None if release.approximate is None else release.approximate.runs),
        "unit": None if unit is None else unit.key,
        "neighbours": str(subject.schema.relation),
        "protects": subject.protects,
        "epsilon": amounts.text_of(plan.terms.epsilon),
        "delta": amounts.text_of(plan.terms.delta),
        "promise": promise(plan),
        "method": plan.method,
        "why": plan.why,
        "level": str(plan.terms.level),
        "total": plan.known.total,
        "leaf_totals": None if plan.known.leaf_totals is None else plan.known.leaf_totals.tolist(),
        "zeros": [dict(line) for line in plan.known.zeros],
        "known": plan.known.words(subject.tree),
        "violations": asdict(broken),
        "receipt": release.receipt,
        "caveats": caveats(plan),
        "doubts": release.doubts,
    }


def counts(subject: "Subject") -> str:
    """What is counted: groups, units or rows."""
    if subject.spec.groups is not None:
        return "groups"
    return subject.spec.count if subject.schema.unit is not None else "rows"


def columns(about: tidy.Keys, runs: int | None) -> dict[str, list[str]]:
    """The columns of table.parquet: places, attributes and numbers; the approximate ± only if it was simulated."""
    values = [*tidy.VALUES, *([] if runs is None else [tidy.APPROXIMATE])]
    return {"places": list(about.place_columns), "attributes": list(about.label_columns), "values": values}


def caveats(plan: "ReleasePlan") -> list[str]:
    """Sentences to read before using the numbers."""
    from discreet.release import quote

    return [_NOISE_ONLY, *quote.caveats(plan)]


def levels(plan: "ReleasePlan", about: tidy.Keys) -> list[dict[str, Any]]:
    """For each level: its places and cells, its share, its noise, the ± of a cell and of a place's total."""
    rows = []
    for tree_level, level_row in enumerate(plan.level_rows()):
        noise = [
            {"marginal": name, "law": _law(mechanism.noise), "scale": str(Fraction(tidy.width(mechanism.noise)))}
            for name, mechanism in zip(about.marginals, plan.measurement.mechanisms[tree_level], strict=True)
        ]
        rows.append(level_row | {"noise": noise})
    return rows


def _law(law: Any) -> str:
    """The name of a noise law."""
    return next(name for name, kind in LAWS.items() if isinstance(law, kind))


def promise(plan: "ReleasePlan") -> dict[str, Any]:
    """What the best observer can conclude about one unit from this release alone."""
    cost, relation = _cost(plan), plan.subject.schema.relation
    reaches = odds.reaches(cost, relation, plan.terms.delta)
    right = reaches[0].best_guess
    person = words.person if relation is Relation.ADD_REMOVE else words.person_value
    sentences = [
        person(right, seen_by=_SEEN_BY),
        words.odds_moved("This release", reaches),
        "Whatever else is released from the same data comes on top.",
    ]
    return {
        "guess": float(amounts.rounded_up(right, 6)),
        "strength": words.strength(right),
        "odds": [reach.to_json() for reach in reaches],
        "sentences": sentences,
    }


def _cost(plan: "ReleasePlan") -> Cost:
    """The cost of all levels as one: Laplace noise costs ε; many Gaussians are one with 1/σ² = Σ 1/σ_i²."""
    costs = [mechanism.cost for level in plan.measurement.mechanisms for mechanism in level]
    sigmas = [cost.sigma for cost in costs if isinstance(cost, Gaussian)]
    if len(sigmas) < len(costs):
        return Pure(plan.terms.epsilon)
    inverse = root_up(sum((1 / sigma**2 for sigma in sigmas), Fraction(0)))
    return Gaussian(1 / Fraction(amounts.rounded_up(inverse)))


# --- read back -------------------------------------------------------------------------------------------------------


def number(text: str) -> Fraction:
    """The number above 0 that a text of the facts spells: n, n/m or a short decimal; longer texts are refused.

    >>> number("10/3"), number("0.95")
    (Fraction(10, 3), Fraction(19, 20))
    """
    match = _FRACTION.fullmatch(text)
    if match is not None and int(match[2] or 1):
        return amounts.positive(Fraction(int(match[1]), int(match[2] or 1)), "number")
    return amounts.positive(text, "number")


def well_formed(facts: dict[str, Any]) -> bool:
    """Whether facts read from a file have every entry of a release, each of the right type."""
    if facts.get("format") != FORMAT or facts.get("kind") != "release" or not _fits(facts, _KINDS):
        return False
    if not _can_be_written(facts):
        return False
    levels = facts["levels"]
    noises = [noise for level in levels if _fits(level, _LEVEL) for noise in level["noise"]]
    return (
        all(_fits(level, _LEVEL) and level["noise"] for level in levels)
        and all(_fits(noise, _NOISE) and _is_number(noise["scale"]) for noise in noises)
        and all(
            _fits(attribute, {"name": str, "labels": list}) and _are_labels(attribute["labels"])
            for attribute in facts["attributes"]
        )
        and all(isinstance(view, list) and all(isinstance(name, str) for name in view) for view in facts["marginals"])
        and all(noise["law"] in LAWS for noise in noises)
        and all(isinstance(count, int) for count in facts["violations"].values())
        and _fits(facts["promise"], {"strength": str, "sentences": list})
        and all(isinstance(line, str) for line in _sentences(facts))
        and isinstance(facts.get("of"), str | None)  # which releases of an earlier version do not say
        and _is_number(facts["level"])
    )


def _sentences(facts: dict[str, Any]) -> list[Any]:
    return [*facts["promise"]["sentences"], *facts["known"], *facts["caveats"], *facts["doubts"]]


def _fits(value: Any, kinds: dict[str, Any]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name, ...), kind) for name, kind in kinds.items())


def _are_labels(labels: list[Any]) -> bool:
    return bool(labels) and all(isinstance(label, str | int | float | None) for label in labels)


def _is_number(text: str) -> bool:
    try:
        return number(text) > 0
    except BadValue:
        return False


def _can_be_written(facts: dict[str, Any]) -> bool:
    """Whether every text can be encoded, every number is finite, and the nesting is not too deep."""
    values: list[Any] = [facts]
    for _ in range(_DEEPEST):
        if not all(map(_is_plain, values)):
            return False
        values = [inner for value in values for inner in _inside(value)]
        if not values:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _is_plain(value: Any) -> bool:
    """Whether a text is valid Unicode (no lone surrogates) and a number is a finite float."""
    try:
        if isinstance(value, str):
            value.encode()
        return not isinstance(value, int | float) or isfinite(value)
    except (UnicodeEncodeError, OverflowError):
        return False


_TEXT = "dataset hierarchy counts form estimates neighbours protects epsilon delta method why level software"
_KINDS: dict[str, Any] = {
    **dict.fromkeys(_TEXT.split(), str),
    **dict.fromkeys(("groups", "unit", "receipt"), str | None),
    **dict.fromkeys(("levels", "attributes", "marginals", "zeros", "known", "caveats", "doubts"), list),
    **dict.fromkeys(("places", "cells"), int),
    **dict.fromkeys(("promise", "violations"), dict),
    **dict.fromkeys(("total", "resimulated"), int | None),
    "leaf_totals": list | None,
}
_LEVEL: dict[str, Any] = {
    **dict.fromkeys(("places", "cells", "moe", "total_moe"), int),
    **{"level": str, "epsilon": str, "share": int | float, "noise": list},
}
_NOISE = dict.fromkeys(("marginal", "law", "scale"), str)


def software() -> str:
    """The name and version of this package."""
    try:
        return f"discreet {version('discreet')}"
    except PackageNotFoundError:
        return "discreet"
