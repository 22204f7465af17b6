"""Enumerate the worlds that tables leave, by CP-SAT (OR-tools): each multiset once, as its sorted classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor
from typing import Any

import numpy as np

from discreet.attack.consistent.classes import Classes, classes_of
from discreet.attack.consistent.published import Published, Universe
from discreet.attack.packages import require

SECONDS = 60.0


@dataclass(frozen=True, eq=False)
class Enumerated:
    """The worlds in terms of classes; `complete` if there are no others."""

    classes: Classes
    chosen: tuple[tuple[int, ...], ...]
    complete: bool

    @property
    def count(self) -> int:
        """How many worlds these are."""
        return sum(map(self.classes.worlds_of, self.chosen))

    def worlds(self, limit: int) -> tuple[tuple[int, ...], ...]:
        """At most so many of them, each as sorted kinds."""
        every = (world for chosen in self.chosen for world in self.classes.expand(chosen))
        return tuple(islice(every, limit))


def enumerated_worlds(who: Universe, tables: Sequence[Published], cap: int, seconds: float = SECONDS) -> Enumerated:
    """All worlds that fit every table, or some where there are more than `cap`.

    A slot for each person holds a class, and slots are sorted, so every multiset is one assignment.  All other
    variables are functions of the slots, so nothing is met twice.
    """
    require("ortools")
    from ortools.sat.python import cp_model

    classes = classes_of(tables, len(who.kinds))
    model, count = _Model(cp_model.CpModel(), classes, who.persons), 0
    for place, table in enumerate(tables):
        model.require(place, table)
    slots = model.linked_slots()

    class Collector(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, unused-ignore]
        """Keeps every solution, and stops beyond the cap."""

        def __init__(self) -> None:
            super().__init__()
            self.chosen: list[tuple[int, ...]] = []

        def on_solution_callback(self) -> None:
            nonlocal count
            self.chosen.append(tuple(self.value(slot) for slot in slots))
            count += classes.worlds_of(self.chosen[-1])
            if count > cap:
                self.stop_search()

    solver, collector = cp_model.CpSolver(), Collector()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1  # enumeration needs one
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model.model, collector)
    complete = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE) and count <= cap
    return Enumerated(classes, tuple(sorted(collector.chosen)), complete)


class _Model:
    """The slots and, for each, what the tables see of its class; one table constraint links them at the end."""

    def __init__(self, model: Any, classes: Classes, persons: int) -> None:
        self.model, self.classes = model, classes
        self.slots = [model.new_int_var(0, len(classes.kinds) - 1, "") for _ in range(persons)]
        self.columns: list[list[int]] = []
        self.seen: list[list[Any]] = []

    def of_slots(self, column: Any) -> list[Any]:
        """For each slot a variable that will be the column's entry of its class."""
        entries = [int(entry) for entry in column]
        self.columns.append(entries)
        self.seen.append([self.model.new_int_var(min(entries), max(entries), "") for _ in self.slots])
        return self.seen[-1]

    def linked_slots(self) -> list[Any]:
        """The slots, sorted, each with the entries of its class."""
        rows = list(zip(range(len(self.classes.kinds)), *self.columns, strict=True))
        for place, slot in enumerate(self.slots):
            self.model.add_allowed_assignments([slot, *(seen[place] for seen in self.seen)], rows)
        for first, second in zip(self.slots, self.slots[1:], strict=False):
            self.model.add(first <= second)
        return self.slots

    def require(self, place: int, table: Published) -> None:
        """The numbers of one table."""
        members, values = self.classes.members[:, place], self.classes.values[:, place]
        count = sum(self.of_slots(members))
        if table.count is not None:
            self.between(count, table.count)
        if table.total is not None or table.mean is not None:
            total = sum(self.of_slots(values))
            if table.total is not None:
                self.between(total, table.total)
            if table.mean is not None:
                low, high = table.mean
                self.model.add(total * low.denominator >= low.numerator * count)
                self.model.add(total * high.denominator <= high.numerator * count)
        if table.has_middle and (table.fixed_count is None or table.fixed_count % 2 == 0):
            self.require_middle(table, members, values, count)
        elif table.median is not None:  # of an odd number, the middle is what at most half of them are beyond
            low, high = table.median
            for beyond in (members & (values < ceil(low)), members & (values > floor(high))):
                self.model.add(2 * sum(self.of_slots(beyond)) <= count + 2 * table.ranks)

    def require_middle(self, table: Published, members: Any, values: Any, count: Any) -> None:
        """a ≤ b are the values at the ranks ⌈c/2⌉ and ⌊c/2⌋ + 1 of c members, and their mean lies between the ends.

        a has rank r iff at most r − 1 members are less than a and at least r are at most a.
        """
        assert table.median is not None
        least, beyond = int(table.values.min()), int(table.values.max()) + 1
        ranked = self.of_slots(np.where(members, values, beyond))
        lower, upper = (self.model.new_int_var(least, beyond - 1, "") for _ in range(2))
        for middle, more in ((lower, 0), (upper, 1)):
            rank = (table.fixed_count or 0) // 2 + more  # of an even number
            if table.fixed_count is None:
                rank = self.model.new_int_var(1, len(self.slots), "")
                self.model.add(2 * rank >= count + more)
                self.model.add(2 * rank <= count + more + 1)
            self.model.add(sum(self.below(value, middle) for value in ranked) <= rank - 1)
            self.model.add(sum(self.below(value, middle + 1) for value in ranked) >= rank)
        self.between(lower + upper, (2 * table.median[0], 2 * table.median[1]))

    def below(self, value: Any, end: Any) -> Any:
        """A truth value: whether value < end."""
        truth = self.model.new_bool_var("")
        self.model.add(value < end).only_enforce_if(truth)
        self.model.add(value >= end).only_enforce_if(truth.Not())
        return truth

    def between(self, expression: Any, ends: Any) -> None:
        """The whole number lies between the ends; impossible where no whole number does."""
        low, high = ceil(ends[0]), floor(ends[1])
        if low > high:
            self.model.add_bool_or([])
        else:
            self.model.add(expression >= low)
            self.model.add(expression <= high)
