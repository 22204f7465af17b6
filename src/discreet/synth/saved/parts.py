"""Whether released parts are those of a plan: their tables, shares and noise, and sizes before anything is computed.

    singles     every column by its fine cells                        alone, or before the others
    scores      one number for each pair                              where noise left them any meaning
    columns     every column once more
    pairs       tables of pairs by groups                             where any was worth it

A file that says otherwise is refused here, so that what reads parts may trust their shapes.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from discreet.envelope import Part
from discreet.kernel.contract import MOST_NUMBERS, kernel_of
from discreet.learn.saved.rebuild import Unlike, fraction_from_text
from discreet.ndarrays import Ints
from discreet.query.tags import TAGS
from discreet.synth.measured.noisy import groups_of
from discreet.synth.model.junction import tree_cells
from discreet.synth.model.synthesis import groups_for, required_pairs, singles_of
from discreet.synth.plan import KERNEL, SCORES, SynthPlan, score_sensitivity, weights

NAMES = (
    ("singles",),
    ("singles", "columns"),
    ("singles", "scores", "columns"),
    ("singles", "scores", "columns", "pairs"),
)
MOST_CELLS = 2**27  # of a tree that is fitted again
_TABLE = {"name", "share", "groups", "cliques", "weights"}
_SCORES = {"name", "share", "groups", "pairs", "steps"}


def require_parts(plan: SynthPlan, parts: Sequence[Part]) -> None:
    """Refuses, as ValueError, parts that no build of that plan releases."""
    names = tuple(part.tally["name"] for part in parts)
    if names not in NAMES or (len(names) == 1) is plan.with_pairs:
        raise Unlike("the steps are others")
    by_name = dict(zip(names, parts, strict=True))
    for part in parts:
        if set(part.tally) != (_SCORES if part.tally["name"] == "scores" else _TABLE) or part.values.ndim != 1:
            raise Unlike("a part has other facts")
    shares = {name: fraction_from_text(part.tally["share"]) for name, part in by_name.items()}
    if sum(shares.values()) != 1 or min(shares.values()) <= 0 or shares["singles"] != plan.singles_share:
        raise Unlike("the shares do not add up to the price")
    for name in ("singles", "columns"):
        if name in by_name:
            _require_columns(plan, by_name[name], shares[name])
    if "scores" in by_name:
        _require_scores(plan, by_name["scores"], shares["scores"])
    if "pairs" in by_name:
        _require_pairs(plan, by_name["pairs"], shares["pairs"])
        if by_name["pairs"].tally["groups"] != by_name["scores"].tally["groups"]:
            raise Unlike("pairs are counted by other groups than their scores")
    _require_room(plan, by_name)


def most_number_bytes(plan: SynthPlan) -> int:
    """How many bytes the released numbers take at most: three tables of one pass each, and the scores."""
    return 8 * (3 * MOST_NUMBERS + len(plan.pairs)) + 1


def units_of(plan: SynthPlan, parts: Sequence[Part]) -> int:
    """How many units are drawn: as the plan or the released numbers say."""
    if plan.rows is not None:
        return plan.rows
    tables = [part for part in parts if part.tally["name"] in ("singles", "columns")]
    return max(1, round(singles_of(plan, tables).total))


def _require_columns(plan: SynthPlan, part: Part, share: Fraction) -> None:
    public, stated = plan.singles_public(), part.tally
    facts = {name: [array.tolist() for array in public[name]] for name in ("groups", "cliques")}
    if any(stated[name] != fact for name, fact in facts.items()) or stated["weights"] != public["weights"].tolist():
        raise Unlike("columns are counted by other cells")
    _require_tables(plan, part, public, share)


def _require_pairs(plan: SynthPlan, part: Part, share: Fraction) -> None:
    stated = part.tally
    groups = _groups(plan, stated["groups"])
    sizes = [int(group.max()) + 1 for group in groups]
    pairs = [tuple(clique) for clique in stated["cliques"]]
    if not pairs or len(set(pairs)) < len(pairs) or not set(plan.pairs).issuperset(pairs):
        raise Unlike("the pairs are others")
    shapes = [(sizes[left], sizes[right]) for left, right in pairs]
    if sum(map(prod, shapes)) != part.values.size:
        raise Unlike("there are more cells than numbers")
    steps = weights(plan, shapes).tolist()
    if stated["weights"] != steps:
        raise Unlike("the pairs are counted in other steps")
    _require_tables(plan, part, plan.subject.public(groups, pairs, steps), share)


def _require_tables(plan: SynthPlan, part: Part, public: dict[str, Any], share: Fraction) -> None:
    sizes = [int(group.max()) + 1 for group in public["groups"]]
    cells = sum(prod(sizes[feature] for feature in clique) for clique in public["cliques"])
    if cells != part.values.size or part.law != TAGS.plain(plan.mechanism(public, share).noise):
        raise Unlike("a table has another size or other noise")


def _require_scores(plan: SynthPlan, part: Part, share: Fraction) -> None:
    stated, step = part.tally, plan.subject.steps
    groups = _groups(plan, stated["groups"])
    if share != SCORES or stated["steps"] != step or stated["pairs"] != [list(pair) for pair in plan.pairs]:
        raise Unlike("the scores are of other pairs")
    public = plan.subject.public(groups, plan.pairs[:1], [step])
    moved = kernel_of(KERNEL).sensitivity(public, plan.subject.limit).l1
    mechanism = plan.price.mechanism(score_sensitivity(moved, len(plan.pairs), plan.subject), SCORES)
    if part.values.size != len(plan.pairs) or part.law != TAGS.plain(mechanism.noise):
        raise Unlike("the scores have other noise")


def _groups(plan: SynthPlan, stated: Any) -> list[Ints]:
    """For each feature the group of each cell; each group has a cell, and cells of one group one profile."""
    sizes, profiles = plan.subject.sizes, plan.subject.profiles
    if len(stated) != len(sizes):
        raise Unlike("there are groups of other features")
    groups = []
    for group, size, profile in zip(stated, sizes, profiles, strict=True):
        if len(group) != size or not all(type(place) is int and 0 <= place < size for place in group):
            raise Unlike("cells have no group")
        own = np.array(group, dtype=np.int64)
        kinds = np.unique(np.stack([own, profile]), axis=1).shape[1]
        if len(np.unique(own)) != int(own.max()) + 1 or kinds != int(own.max()) + 1:
            raise Unlike("a group is possible in part")
        groups.append(own)
    return groups


def _require_room(plan: SynthPlan, by_name: dict[str, Part]) -> None:
    """Refuses a graph whose tree would be larger than the plan's, or than what is computed without trust."""
    chosen = by_name.get("pairs", by_name.get("scores"))
    tables = [by_name[name] for name in ("singles", "columns") if name in by_name]
    groups = groups_for(plan, singles_of(plan, tables)) if chosen is None else groups_of(chosen)
    sizes = [int(group.max()) + 1 for group in groups]
    required, first = required_pairs(plan), plan.subject.first
    pairs = [(int(left), int(right)) for left, right in by_name["pairs"].tally["cliques"]] if "pairs" in by_name else []
    least = tree_cells(sizes, required, first)
    if tree_cells(sizes, [*required, *pairs], first) > min(max(plan.max_cells, least), MOST_CELLS):
        raise Unlike("the tree would have too many cells")
