"""How many databases could have led to the published tables, after each of them: `worlds`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.attack.consistent.counting import counted_worlds
from discreet.attack.consistent.fitting import Estimate, estimated_worlds, fits
from discreet.attack.consistent.published import Published, Rule, Universe, published_table, universe
from discreet.attack.consistent.solver import enumerated_worlds
from discreet.attack.result import Result
from discreet.attack.words import counted, powers
from discreet.errors import bad
from discreet.noise.public import generator
from discreet.plot.attack import Chart, Line

MOST_LISTED = 5_000  # so few are listed and not only counted
_SHOWN = 3
METRIC = "worlds left"


@dataclass(frozen=True)
class Step:
    """What is left once a table is published: `count` worlds, or more than `more_than`, where `count` is None.

    `estimate` then says about how many.  `worlds` lists them where they are few, each as its persons in order.
    """

    table: str
    count: int | None
    more_than: int | None = None
    estimate: Estimate | None = None
    has_truth: bool | None = None
    worlds: tuple[tuple[Mapping[str, Any], ...], ...] = ()

    @property
    def height(self) -> float:
        """The number to draw: the count, the estimate, or the bound that it exceeds."""
        if self.count is not None:
            return float(self.count)
        return self.estimate.worlds if self.estimate is not None else float((self.more_than or 0) + 1)

    @property
    def text(self) -> str:
        """The number in words."""
        if self.count is not None:
            return f"{self.count:,}"
        if self.estimate is not None:
            return f"about {powers(self.estimate.worlds)}"
        return f"more than {self.more_than:,}"

    def to_json(self) -> dict[str, Any]:
        """The step for programs, with a few of its worlds."""
        guessed = self.estimate
        return {
            "table": self.table,
            "worlds": self.count,
            "more_than": self.more_than,
            "estimate": None if guessed is None else [guessed.worlds, guessed.low, guessed.high],
            "has_truth": self.has_truth,
            "some": [[dict(person) for person in world] for world in self.worlds[:_SHOWN]],
        }


@dataclass(frozen=True)
class Worlds(Result):
    """A result with the worlds after each table that was published without noise, or given by the caller."""

    steps: tuple[Step, ...] = ()


def worlds(
    tables: Iterable[Mapping[str, Any]],
    people: Mapping[str, Any],
    rules: Iterable[Rule] = (),
    cap: int = 100_000,
) -> Worlds:
    """How many databases (multisets of persons) fit the tables, after each one; `.steps` has a line for each table.

    `people` says who could be there: {"count": 5, "columns": {"age": range(111), "sex": ["man", "woman"]}}, and may
    hold the true rows under "truth".  A table is {"where": {"sex": "man"}, "count": 2, "mean": "34.0"}, with `median`,
    `sum`, `of` (the column of numbers) and `name`; any number may be an interval (low, high), as noise leaves it.
    A text is rounded as printed.  A rule is what nobody is, {"age": range(15), "status": "married"}, or a function of a
    person that says whether they are possible.  Counts are exact up to `cap`, and beyond it where they can be counted
    without listing.  Garfinkel, Abowd & Martindale (2018).

    >>> people = {"count": 3, "columns": {"age": range(111)}}
    >>> result = worlds([{"mean": "30.0"}, {"median": 27}, {"sum": 90, "count": 3}], people)
    >>> [step.count for step in result.steps]
    [721, 28, 28]
    """
    steps, who, given = steps_of(tables, people, rules, cap=cap)
    last = steps[-1]
    return Worlds(
        "worlds",
        METRIC,
        f"databases of {counted(who.persons, 'person')} that fit {counted(given, 'table')}",
        raw=last.height,
        private={},
        baseline=float(who.worlds),
        ceiling={},
        units=f"all {counted(who.persons, 'person')} together",
        trials=1,
        better="lower",
        of_real_data=True,
        chart=staircase({"tables as given": steps}, who),
        notes=(remark(last),),
        details={"steps": [step.to_json() for step in steps]},
        steps=steps,
    )


def remark(last: Step) -> str:
    """What the last number means: one world is a reconstruction, several are a staircase towards one."""
    if last.count == 0:
        return "No database fits: the tables, or intervals of noise, contradict each other."
    if last.count == 1:
        return "One world is left, so the tables give every row away: a reconstruction."
    return f"A staircase, not a reconstruction: {last.text} worlds are left, and the tables do not say which is true."


def staircase(columns: Mapping[str, Sequence[Step]], who: Universe) -> Chart:
    """Worlds after each table on a logarithmic axis, a line for each column."""
    longest = max(columns.values(), key=len)
    marks = ("nothing", *(step.table for step in longest))
    lines = tuple(
        Line(name, tuple(map(float, range(len(steps) + 1))), (float(who.worlds), *(max(s.height, 0.5) for s in steps)))
        for name, steps in columns.items()
    )
    return Chart("tables published so far", "worlds left", lines, log_y=True, marks=marks)


def steps_of(
    tables: Iterable[Mapping[str, Any]],
    people: Mapping[str, Any],
    rules: Iterable[Rule] = (),
    *,
    cap: int = 100_000,
    seed: int = 7,
) -> tuple[tuple[Step, ...], Universe, int]:
    """A step for each table, the universe, and how many tables there are."""
    if not isinstance(cap, int) or isinstance(cap, bool) or not 1 <= cap <= 10_000_000:
        raise bad("cap", "must be a whole number from 1 to 10,000,000", cap, "Leave it at 100,000.")
    for name, listed in (("tables", tables), ("rules", rules)):
        if not isinstance(listed, Iterable):
            raise bad(name, "must be a list", type(listed).__name__, "Give a list, be it of one alone.")
    who = universe(people, tuple(rules))
    all_tables = tuple(published_table(table, place, who) for place, table in enumerate(tables, 1))
    if not all_tables:
        raise bad("tables", "must hold a published table", "none", 'Add one: {"count": 5, "mean": "30.4"}.')
    counter = _Counter(who, cap, seed)
    return tuple(counter.step(all_tables[: place + 1]) for place in range(len(all_tables))), who, len(all_tables)


class _Counter:
    """Counts step by step, each with what the earlier ones left: a list that is only filtered from then on."""

    def __init__(self, who: Universe, cap: int, seed: int) -> None:
        self.who, self.cap, self.numbers = who, cap, generator(seed)
        self.listed: tuple[tuple[int, ...], ...] | None = None
        self.counts_exactly = True  # until the states of the dynamic program are too many

    def step(self, tables: Sequence[Published]) -> Step:
        """Filter the list; else count by the dynamic program; else estimate by sampling; else enumerate by CP-SAT."""
        table, count, estimate = tables[-1], None, None
        if self.listed is not None:
            self.listed = tuple(world for world in self.listed if fits(world, table))
            return self._with(tables, len(self.listed), None)
        if self.counts_exactly:
            count = counted_worlds(self.who, tables)
            self.counts_exactly = count is not None
        if count is None:
            estimate = estimated_worlds(self.who, tables, self.numbers)
        if (count is not None and count <= min(MOST_LISTED, self.cap)) or (count is None and estimate is None):
            enumerated = enumerated_worlds(self.who, tables, self.cap)
            if enumerated.complete:
                count = enumerated.count
                if count <= MOST_LISTED:
                    self.listed = enumerated.worlds(count)
            else:
                return self._with(tables, None, None, at_least=enumerated.count)
        return self._with(tables, count, estimate)

    def _with(
        self, tables: Sequence[Published], count: int | None, estimate: Estimate | None, at_least: int | None = None
    ) -> Step:
        who, more_than = self.who, None
        if count is None:
            seen = at_least - 1 if at_least is not None else int(estimate.low) if estimate is not None else 0
            more_than = min(self.cap, max(seen, 0))
        has_truth = None if who.truth is None else all(fits(who.truth, table) for table in tables)
        listed = tuple(tuple(who.person(kind) for kind in world) for world in self.listed or ())
        return Step(tables[-1].name, count, more_than, estimate, has_truth, listed)
