"""Two tables of the same persons, such as patients and their visits, beside one flat table at equal ε.

    two tables        persons and their rows, built together
    flat, of units    rows with the persons' columns repeated, as whole units of at most as many rows: by the same
                      engine, which then knows nothing of persons without rows
    flat, of rows     the same as single rows without units: k rows of a person are kept, with k the cap, and each row
                      is protected by Gaussian noise of μ/k, so that k rows have the μ of (ε, δ)
    independent       two tables whose columns are drawn one by one

Distances are Σ |p − q|, not halved, against all true rows: those beyond the cap count in the truth.  Marginals of rows
weigh every row the same.  Diabetes has persons and hospital stays, and nobody without one; of the invented patients a
third has no visit, and the old come more often and for other reasons.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from math import fsum
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import cpu
from benchmarks.synth_data import Coded, codes_of, diabetes
from benchmarks.synth_data import _column_toml as column_toml
from benchmarks.synth_error import distance, mean_error
from benchmarks.synth_own import SECOND_LEDGER
from benchmarks.synth_price import DELTA, group_epsilon
from discreet.ndarrays import Ints

EPSILONS, DRAWS = (0.1, 1.0, 10.0), 3
TWO, FLAT, ROWS, INDEPENDENT = "two tables", "flat, of units", "flat, of rows", "independent"
METHODS = (TWO, FLAT, ROWS, INDEPENDENT)
PERSON_COLUMNS = ("race", "gender", "age")
_KEY = "person_key"
_STEP = Fraction(1, 10**9)  # that an equal ε differs by
_STEPS = count(1)


@dataclass(frozen=True, eq=False)
class Clinic:
    """Persons, one row each, and their rows, each with its person's place; `max_rows` is the public cap."""

    name: str
    persons: Coded
    rows: Coded
    max_rows: int

    @property
    def owners(self) -> Ints:
        """The person of each row."""
        if self.rows.units is None:
            raise ValueError("rows have persons")
        return self.rows.units

    @property
    def flat(self) -> Coded:
        """Rows with their persons' columns before them."""
        return flat_of(self, self.persons.codes, self.rows.codes, self.owners)

    @property
    def numbers(self) -> Ints:
        """How many rows each person has, at most the cap."""
        return np.minimum(np.bincount(self.owners, minlength=len(self.persons)), self.max_rows)


@dataclass(frozen=True)
class TwoScore:
    """Distances of one build; `numbers` is of rows per person, None where rows have no persons."""

    clinic: str
    method: str
    epsilon: float
    draw: int
    numbers: float | None
    columns: float  # of rows, one by one
    crossed: float  # a column of persons and one of rows, by row
    pairs: float  # two columns of rows
    persons: float | None  # columns of persons, by person
    seconds: float


def flat_of(clinic: Clinic, persons: Ints, rows: Ints, owners: Ints) -> Coded:
    """One table of rows, with the columns of persons first."""
    first, second = clinic.persons, clinic.rows
    return Coded(
        clinic.name,
        (*first.names, *second.names),
        (*first.sizes, *second.sizes),
        (*first.ordered, *second.ordered),
        np.column_stack([persons[owners], rows]),
        owners,
    )


def capped(clinic: Clinic, seed: int = 1) -> Coded:
    """Flat rows, of each person as many as the cap allows, chosen at random."""
    order = np.random.default_rng(seed).permutation(len(clinic.rows))
    order = order[np.argsort(clinic.owners[order], kind="stable")]
    owners = clinic.owners[order]
    is_first = np.append(True, owners[1:] != owners[:-1]) if len(owners) else np.zeros(0, dtype=np.bool_)
    firsts = np.flatnonzero(is_first)
    place = np.arange(len(owners)) - firsts[np.cumsum(is_first) - 1]
    return clinic.flat[np.sort(order[place < clinic.max_rows])]


# --- tables ----------------------------------------------------------------------------------------------------------


def hospital(max_rows: int = 6) -> Clinic:
    """Persons with race, gender and decade of age at their first stay, and 18 columns of their stays."""
    stays = diabetes()
    _, first, owners = np.unique(stays.units, return_index=True, return_inverse=True)
    own = [stays.names.index(name) for name in PERSON_COLUMNS]
    rest = [place for place in range(len(stays.names)) if place not in own]
    return Clinic(
        "diabetes", replace(_chosen(stays, own), codes=stays.codes[first][:, own], units=None),
        replace(_chosen(stays, rest), units=owners.astype(np.int64)), max_rows,
    )  # fmt: skip


def _chosen(table: Coded, places: Sequence[int]) -> Coded:
    return replace(
        table,
        names=tuple(table.names[place] for place in places),
        sizes=tuple(table.sizes[place] for place in places),
        ordered=tuple(table.ordered[place] for place in places),
        codes=table.codes[:, list(places)],
    )


def invented(persons: int = 20_000, seed: int = 5, max_rows: int = 8) -> Clinic:
    """Patients of whom the old and the ill come often, and for other reasons than the others."""
    draw = np.random.default_rng(seed)
    age, sex, region = draw.integers(0, 9, persons), draw.integers(0, 2, persons), draw.integers(0, 6, persons)
    ill = (draw.random(persons) < 0.05 + 0.05 * age).astype(np.int64)
    numbers = np.minimum(draw.poisson(np.where(ill == 1, 2.5, 0.5) + 0.1 * age), max_rows)
    owners = np.repeat(np.arange(persons), numbers)
    often = numbers[owners] > 3
    reason = np.where(ill[owners] == 1, draw.choice(5, len(owners), p=[0.5, 0.2, 0.1, 0.1, 0.1]),
                      draw.choice(5, len(owners), p=[0.05, 0.15, 0.2, 0.3, 0.3]))  # fmt: skip
    ward = np.where(often, draw.integers(0, 2, len(owners)), (reason + draw.integers(0, 2, len(owners))) % 8)
    cost = np.clip(draw.gamma(2.0, 3.0 + 2 * reason + 4 * often), 0, 49).astype(np.int64)
    nights = np.clip(cost // 7 + draw.integers(0, 3, len(owners)), 0, 9)
    urgent = (draw.random(len(owners)) < np.where(often, 0.6, 0.2)).astype(np.int64)
    own = Coded("invented", ("age", "sex", "region", "ill"), (9, 2, 6, 2), (True, False, False, False),
                np.column_stack([age, sex, region, ill]))  # fmt: skip
    names, ordered = ("reason", "ward", "cost", "nights", "urgent"), (False, False, True, True, False)
    codes = np.column_stack([reason, ward, cost, nights, urgent])
    rows = Coded("invented", names, (5, 8, 50, 10, 2), ordered, codes, owners)
    return Clinic("invented", own, rows, max_rows)


# --- builds ----------------------------------------------------------------------------------------------------------


def write(clinic: Clinic, home: Path) -> dict[str, Path]:
    """The metadata of persons, of their rows, and of flat rows with units and without."""
    flat, own = clinic.flat, frozenset(clinic.persons.names)
    return {
        "persons": _write(home, "persons", clinic.persons, np.arange(len(clinic.persons)), 1),
        "rows": _write(home, "stays", clinic.rows, clinic.owners, clinic.max_rows),
        FLAT: _write(home, "flat", flat, clinic.owners, clinic.max_rows, own),
        ROWS: _write(home, "single", capped(clinic), None, 1),
    }


def _write(
    home: Path, name: str, table: Coded, units: Ints | None, max_rows: int, fixed: frozenset[str] = frozenset()
) -> Path:
    import pandas

    frame, unit = pandas.DataFrame(dict(zip(table.names, table.codes.T, strict=True))), ""
    if units is not None:
        frame[_KEY] = units
        unit = f'[unit]\nkey = "{_KEY}"\nmax_rows = {max_rows}\n'
    frame.to_csv(home / f"{name}.csv", index=False)
    columns = "".join(
        column_toml(*facts) + ("fixed_per_unit = true\n" if facts[0] in fixed else "")
        for facts in zip(table.names, table.sizes, table.ordered, strict=True)
    )
    head = f'[dataset]\nname = "{name}"\nsource = "{name}.csv"\n'
    place = home / f"{name}.toml"
    place.write_text(f"{head}{unit}{columns}[budget]\nepsilon = 1000\ndelta = 1e-3\nmax_delta = 1e-2\n")
    return place


@contextmanager
def opened(clinic: Clinic) -> Iterator[dict[str, Any]]:
    """All four datasets, prepared, with ledgers and a folder of their own."""
    from discreet.dataset import open_dataset

    with tempfile.TemporaryDirectory(prefix="synth-") as name, mock.patch.dict(os.environ, XDG_STATE_HOME=name):
        datasets = {
            kind: open_dataset(toml, second_ledger=SECOND_LEDGER) for kind, toml in write(clinic, Path(name)).items()
        }
        try:
            yield datasets
        finally:
            for dataset in datasets.values():
                dataset.close()


def build(
    clinic: Clinic, datasets: dict[str, Any], method: str, epsilon: float
) -> tuple[Ints | None, Ints, Ints, Ints]:
    """Persons' codes where there are any, the codes of rows with those of their persons, and the owners of rows."""
    price = {"epsilon": Fraction(str(epsilon)) + _STEP * next(_STEPS), "delta": Fraction(str(DELTA))}
    if method in (TWO, INDEPENDENT):
        options = {"method": "independent"} if method == INDEPENDENT else {}
        table = datasets["persons"].synthesize(children={"stays": datasets["rows"]}, **options).build(**price)
        units, rows = table.to_pandas(), table.children["stays"].to_pandas()
        places = np.searchsorted(units[_KEY].to_numpy(), rows[_KEY].to_numpy())
        persons = codes_of(units, clinic.persons)
        return persons, persons[places], codes_of(rows, clinic.rows), places
    if method == ROWS:
        price["epsilon"] = Fraction(group_epsilon(float(price["epsilon"]), clinic.max_rows))
    frame = datasets[method].synthesize().build(**price).to_pandas()
    codes, own = codes_of(frame, clinic.flat), len(clinic.persons.names)
    owners = frame[_KEY].to_numpy() if method == FLAT else np.arange(len(frame))
    return None, codes[:, :own], codes[:, own:], owners


def score(clinic: Clinic, method: str, epsilon: float, draw: int, built: Any, seconds: float) -> TwoScore:
    """How far a build is from the truth."""
    persons, owners_codes, rows, owners = built
    truth, own = clinic.flat, len(clinic.persons.names)
    other = np.column_stack([owners_codes, rows])
    sizes, columns = truth.cells, range(own, len(truth.names))
    crossed = [distance(truth.codes, other, sizes, (left, right)) for left in range(own) for right in columns]
    numbers = None
    if method != ROWS:
        counts = np.bincount(owners, minlength=0 if persons is None else len(persons))
        shares = [np.bincount(held, minlength=clinic.max_rows + 1) / len(held)
                  for held in (clinic.numbers, counts if persons is not None else counts[counts > 0])]  # fmt: skip
        numbers = float(np.abs(shares[0] - shares[1]).sum())
    return TwoScore(
        clinic.name, method, epsilon, draw, numbers,
        mean_error(clinic.rows.codes, rows, clinic.rows.cells, 1), fsum(crossed) / len(crossed),
        mean_error(clinic.rows.codes, rows, clinic.rows.cells, 2),
        None if persons is None else mean_error(clinic.persons.codes, persons, clinic.persons.cells, 1), seconds,
    )  # fmt: skip


def scores(
    clinic: Clinic, epsilons: Sequence[float] = EPSILONS, draws: int = DRAWS, methods: Sequence[str] = METHODS
) -> list[TwoScore]:
    """Every method at every ε, so often; seconds are CPU time of all processes on prepared tables."""
    told, clock = list[TwoScore](), cpu.Family()
    with opened(clinic) as datasets:
        for method in methods:
            build(clinic, datasets, method, 1.0)
            for epsilon in epsilons:
                for draw in range(draws):
                    started = clock()
                    built = build(clinic, datasets, method, epsilon)
                    own = score(clinic, method, epsilon, draw, built, clock() - started)
                    print(f"  {own}", file=sys.stderr, flush=True)
                    told.append(own)
    return told


def means(told: Sequence[TwoScore]) -> list[TwoScore]:
    """One line for each table, ε and method: the means over draws, whose number stands in `draw`."""
    groups = dict[tuple[str, float, str], list[TwoScore]]()
    for own in told:
        groups.setdefault((own.clinic, own.epsilon, own.method), []).append(own)
    return [
        TwoScore(
            name, method, epsilon, len(group), *(_mean([getattr(own, field) for own in group]) for field in _FIELDS)
        )
        for (name, epsilon, method), group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1]))
    ]


_FIELDS = ("numbers", "columns", "crossed", "pairs", "persons", "seconds")


def _mean(values: Sequence[float | None]) -> Any:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def lines(told: Sequence[TwoScore]) -> list[str]:
    """The means as a Markdown table."""
    head = ["table", "ε", "method", "rows per person", "columns of rows", "person × row", "row × row", "persons", "s"]
    text = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for own in means(told):
        cells = [own.clinic, f"{own.epsilon:g}", own.method]
        cells += ["—" if getattr(own, name) is None else f"{getattr(own, name):.3f}" for name in _FIELDS]
        text.append("| " + " | ".join(cells) + " |")
    return text


def main() -> None:
    """Print the figures; real data where `DISCREET_DATA` says they are."""
    clinics = [invented()] + ([hospital()] if os.environ.get("DISCREET_DATA") else [])
    print("\n".join(lines([own for clinic in clinics for own in scores(clinic)])))


if __name__ == "__main__":
    main()
