"""A check in plain sentences: of 100 units, how many would have to lie in another cell."""

from typing import TYPE_CHECKING

from discreet.learn.heldout.interval import outward
from discreet.synth.check.estimates import ACCURACY, MAJORITY, UNITS, Statistic

if TYPE_CHECKING:
    from discreet.synth.check.result import Check

_WHAT = {
    "cells": "by the cells of one column",
    "columns": "by groups of cells of one column",
    "pairs": "by groups of cells of two columns together",
    "triples": "by groups of cells of three columns together",
}
_EACH = {"each column": "column", "each pair": "pair"}
_HIDDEN = 1.0  # a ± of that much says nothing


def check_words(check: "Check") -> list[str]:
    """A sentence for each kind of statistic."""
    sentences = [_units(check)]
    for name, what in _WHAT.items():
        sentences += [_mean(check, own, what) for own in check.all_of(name)]
    for name, noun in _EACH.items():
        sentences += _furthest(check, check.all_of(name), noun)
    return [*sentences, *_correlations(check), *_target(check)]


def _units(check: "Check") -> str:
    units = check.find(UNITS)
    if units is None:
        return f"How many {check.noun} were compared is not known."
    if not units.value or units.high <= 0 or units.moe >= units.value:
        return f"How many {check.noun} were compared is hidden by the noise."
    low, high = outward(units.low, units.high, 0)
    return f"About {units.value:,.0f} {check.noun} were compared ({low} to {high})."


def _mean(check: "Check", own: Statistic, what: str) -> str:
    tables = "table" if own.tables == 1 else "tables"
    if own.moe >= _HIDDEN or own.value is None:
        return f"How far shares lie apart {what}, on average over {own.tables:,} {tables}, is hidden by the noise."
    low, high = outward(50 * own.low, 50 * own.high, 1)
    return (
        f"Of 100 {check.noun} about {50 * own.value:.1f} ({low} to {high}) would have to be in another cell for the "
        f"synthetic shares to be right {what}: Σ|p − q| is {own.value:.3f} ± {_above(own.moe)} on average over "
        f"{own.tables:,} {tables}."
    )


def _above(moe: float) -> str:
    """A ± in three decimals, never narrower."""
    return outward(0.0, moe, 3)[1]


def _furthest(check: "Check", each: tuple[Statistic, ...], noun: str) -> list[str]:
    if not each:
        return []
    worst = max(each, key=lambda own: own.value or 0.0)
    named = " and ".join(worst.columns)
    distance = f"Σ|p − q| is {worst.value:.3f} ± {_above(worst.moe)}."
    if len(each) == 1:
        return [f"For the {noun} {named} {distance}"]
    looks_worse = f"Of {len(each):,} noisy numbers the largest looks worse than it is."
    return [f"The {noun} that looks furthest off is {named}: {distance} {looks_worse}"]


def _correlations(check: "Check") -> list[str]:
    gap = check.find("correlation")
    if gap is None:
        return []
    if gap.moe >= _HIDDEN or gap.value is None:
        return ["How far correlations of numeric columns lie apart is hidden by the noise."]
    by, gap_text = "by the synthetic means and spreads", f"{gap.value:.3f} ± {_above(gap.moe)}"
    sentence = f"Correlations of {gap.tables:,} pairs of numeric columns, {by}, differ by {gap_text} on average."
    if gap.tables == 1:
        sentence = f"The correlation of the two numeric columns, {by}, differs by {gap_text}."
    each = check.all_of("each correlation")
    if not each:
        return [sentence]
    worst = max(each, key=lambda own: abs((own.value or 0.0) - (own.synthetic or 0.0)))
    named = " and ".join(worst.columns)
    whose = "It is" if len(each) == 1 else f"The one that looks furthest off is of {named}:"
    compared = f"{worst.value:.2f} ± {_above(worst.moe)} against {worst.synthetic:.2f} in the synthetic rows"
    return [sentence, f"{whose} {compared}."]


def _target(check: "Check") -> list[str]:
    accuracy, majority, area = check.find(ACCURACY), check.find(MAJORITY), check.find("auc")
    if accuracy is None:
        return []
    target = ", ".join(accuracy.columns)
    if accuracy.value is None:
        return [f"How often a model of the synthetic rows is right about {target} is hidden by the noise."]
    low, high = outward(100 * accuracy.low, 100 * accuracy.high, 1)
    sentences = [
        f"Learnt from the synthetic rows alone, a plain logistic model is right about {target} for "
        f"{100 * accuracy.value:.1f} of 100 real {check.noun} ({low} to {high})."
    ]
    if majority is not None and majority.value is not None:
        low, high = outward(100 * majority.low, 100 * majority.high, 1)
        sentences.append(
            f"To say {check.most_common} of everybody would be right for {100 * majority.value:.1f} of 100 ({low} to "
            f"{high})."
        )
    if area is not None and area.value is not None:
        low, high = outward(area.low, area.high, 3)
        sentences.append(f"Its area under the ROC curve is {area.value:.3f} ({low} to {high}) on real {check.noun}.")
    elif area is not None:
        sentences.append("Its area under the ROC curve is hidden by the noise.")
    return sentences
