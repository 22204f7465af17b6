"""Count cliques of two tables: those of persons' columns among all units, all others among units with rows.

Who has no row of the second table is in no table of its columns.  So a unit moves each count by no more than the kernel
says, whether it comes or goes with all of its data or with its rows of the second table alone: the promises of both
ledgers hold with the noise of one.  Proof page: docs/proofs/synth/children.md.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.bounded import Bounded, side_by_side
from discreet.engine.protocol import View
from discreet.kernel.contract import kernel_of
from discreet.ndarrays import Ints
from discreet.query.nodes import Col
from discreet.synth.subject import Subject

PROOF = "synth/children.md"


def counted_of_both(view: View, subject: Subject, kernel: str, public: dict[str, Any]) -> Bounded[Ints]:
    """What the kernel counts, each clique among the units that count in it."""
    if subject.absence is None:
        raise ValueError("of one table the kernel counts all units")
    cliques = [[int(feature) for feature in clique] for clique in public["cliques"]]
    is_of_rows = [subject.is_of_rows(clique) for clique in cliques]
    conditions = {False: subject.where, True: Col(subject.absence.presence)}
    places = {own: [place for place, of in enumerate(is_of_rows) if of is own] for own in (False, True)}
    counted = {
        str(own): view.sum(kernel, subject.column_names, _of_cliques(public, chosen), where=conditions[own])
        for own, chosen in places.items()
        if chosen
    }
    sizes = [int(np.max(group)) + 1 for group in public["groups"]]
    lengths = [int(np.prod([sizes[feature] for feature in clique])) for clique in cliques]

    def in_order(exact: dict[str, Ints]) -> Ints:
        numbers = {own: np.split(exact[own], np.cumsum(_lengths(lengths, places[own == "True"]))[:-1]) for own in exact}
        parts = {own: iter(pieces) for own, pieces in numbers.items()}
        return np.concatenate([next(parts[str(own)]) for own in is_of_rows])

    whole = kernel_of(kernel).sensitivity(public, subject.limit)
    return side_by_side(counted).then(in_order, whole, proof=PROOF)


def _of_cliques(public: dict[str, Any], places: Sequence[int]) -> dict[str, Any]:
    """The same parameters for some of the cliques."""
    chosen = [public["cliques"][place] for place in places]
    return public | {"cliques": chosen, "weights": np.asarray(public["weights"])[list(places)]}


def _lengths(lengths: Sequence[int], places: Sequence[int]) -> list[int]:
    return [lengths[place] for place in places]
