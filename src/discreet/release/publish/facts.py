"""The public facts of a release as JSON: all that its files, its page and its report say beside the numbers."""

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
    """What release.json holds; nothing in it comes from a row but through the noise."""
    plan, about = release.plan, tidy.keys(release)
    subject, wanted = plan.subject, plan.subject.wanted
    unit, broken = subject.schema.unit, release.violations
    return {
        "format": FORMAT,
        "kind": "release",
        "software": software(),
        "dataset": subject.schema.name,
        "hierarchy": wanted.hierarchy,
        "counts": counts(subject),
        "of": counted_of(subject),
        "groups": wanted.groups,
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
        "epsilon": amounts.shown(plan.terms.epsilon),
        "delta": amounts.shown(plan.terms.delta),
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
    """What is counted, in one word."""
    if subject.wanted.groups is not None:
        return "groups"
    return subject.wanted.count if subject.schema.unit is not None else "rows"


def columns(about: tidy.Keys, runs: int | None) -> dict[str, list[str]]:
    """The columns of its table: places, attributes and numbers, of which one is there only if noise was drawn again."""
    values = [*tidy.VALUES, *([] if runs is None else [tidy.APPROXIMATE])]
    return {"places": list(about.places), "attributes": list(about.labelled), "values": values}


def caveats(plan: "ReleasePlan") -> list[str]:
    """What to know before using the numbers."""
    from discreet.release import quote

    return [_NOISE_ONLY, *quote.caveats(plan)]


def levels(plan: "ReleasePlan", about: tidy.Keys) -> list[dict[str, Any]]:
    """For each level: its places and cells, its share, its noise, the ± of a cell and of a place's total."""
    found = []
    for at, quoted in enumerate(plan.quoted()):
        noise = [
            {"marginal": name, "law": law_name(one.noise), "scale": str(Fraction(tidy.width(one.noise)))}
            for name, one in zip(about.marginals, plan.measurement.mechanisms[at], strict=True)
        ]
        found.append(quoted | {"noise": noise})
    return found


def law_name(law: Any) -> str:
    """Whose noise it is."""
    return next(name for name, kind in LAWS.items() if isinstance(law, kind))


def promise(plan: "ReleasePlan") -> dict[str, Any]:
    """What this release, taken alone, lets the best observer conclude about one unit."""
    cost, under = _cost(plan), plan.subject.schema.relation
    moved = odds.reaches(cost, under, plan.terms.delta)
    right = moved[0].best_guess
    person = words.person if under is Relation.ADD_REMOVE else words.person_value
    told = [
        person(right, seen_by=_SEEN_BY),
        words.odds_moved("This release", moved),
        "Whatever else is released from the same data comes on top.",
    ]
    return {
        "guess": float(amounts.rounded_up(right, 6)),
        "strength": words.strength(right),
        "odds": [one.to_json() for one in moved],
        "sentences": told,
    }


def _cost(plan: "ReleasePlan") -> Cost:
    """One price for all levels: Laplace noise costs ε; many Gaussians are one with 1/σ² = Σ 1/σ_i²."""
    every = [one.cost for level in plan.measurement.mechanisms for one in level]
    sigmas = [cost.sigma for cost in every if isinstance(cost, Gaussian)]
    if len(sigmas) < len(every):
        return Pure(plan.terms.epsilon)
    inverse = root_up(sum((1 / sigma**2 for sigma in sigmas), Fraction(0)))
    return Gaussian(1 / Fraction(amounts.rounded_up(inverse)))


# --- read back -------------------------------------------------------------------------------------------------------


def number(text: str) -> Fraction:
    """A number above 0 as facts hold it: n, n/m or a short decimal; what is too long is refused before it is built.

    >>> number("10/3"), number("0.95")
    (Fraction(10, 3), Fraction(19, 20))
    """
    whole = _FRACTION.fullmatch(text)
    if whole is not None and int(whole[2] or 1):
        return amounts.positive(Fraction(int(whole[1]), int(whole[2] or 1)), "number")
    return amounts.positive(text, "number")


def well_formed(facts: dict[str, Any]) -> bool:
    """Whether facts that were read from a file have all that is told of a release, each of its kind."""
    if facts.get("format") != FORMAT or facts.get("kind") != "release" or not _fits(facts, _KINDS):
        return False
    if not _can_be_written(facts):
        return False
    levels = facts["levels"]
    noises = [noise for one in levels if _fits(one, _LEVEL) for noise in one["noise"]]
    return (
        all(_fits(one, _LEVEL) and one["noise"] for one in levels)
        and all(_fits(noise, _NOISE) and _is_number(noise["scale"]) for noise in noises)
        and all(_fits(one, {"name": str, "labels": list}) and _are_labels(one["labels"]) for one in facts["attributes"])
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
    """Whether every text is one in UTF-8 and every number is finite, in no more lists than facts have."""
    here: list[Any] = [facts]
    for _ in range(_DEEPEST):
        if not all(map(_is_plain, here)):
            return False
        here = [inner for one in here for inner in _inside(one)]
        if not here:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


def _is_plain(value: Any) -> bool:
    """A half of a pair of surrogates is no text, and what is above all floats no number."""
    try:
        if isinstance(value, str):
            value.encode()
        return not isinstance(value, int | float) or isfinite(value)
    except (UnicodeEncodeError, OverflowError):
        return False


_TEXT = (
    "dataset",
    "hierarchy",
    "counts",
    "form",
    "estimates",
    "neighbours",
    "protects",
    "epsilon",
    "delta",
    "method",
    "why",
    "level",
)
_KINDS: dict[str, Any] = {
    **dict.fromkeys((*_TEXT, "software"), str),
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
    """What made the files."""
    try:
        return f"discreet {version('discreet')}"
    except PackageNotFoundError:
        return "discreet"
