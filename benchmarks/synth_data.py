"""Tables for synthetic data as whole-number codes with public sizes: Adult, hospital stays, German credit, invented.

The rule of coding is public.  A whole number within bounds a … b is coded ⌊(x − a)/w⌋, with w the least whole width
that leaves at most 101 codes; numbers beyond count as the nearer bound.  A category is coded by its place in the
sorted list of the values of the whole public file.  Adult comes coded, with the sizes of its domain file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learn_data import DIABETES_BOUNDS, GERMAN_BOUNDS, Rows
from benchmarks.learn_data import diabetes as diabetes_rows
from benchmarks.learn_data import german as german_rows
from benchmarks.release_data import folder
from discreet.ndarrays import Ints

MOST_CODES = 101
_MOST_INCOME = 500_000
CODES_FILE, TOML_FILE = "codes.csv", "codes.toml"
_INVENTED_SIZES = (4, 12, 3, 2, 20, 5)
_ADULT_ORDERED = frozenset(
    {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"},
)
_STAY_COLUMNS = (
    "race", "gender", "age", "admission_type_id", "discharge_disposition_id", "admission_source_id",
    "time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications", "number_outpatient",
    "number_emergency", "number_inpatient", "diag_1", "number_diagnoses", "A1Cresult", "metformin", "insulin",
    "diabetesMed",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows as codes 0 … size − 1 of each column; ordered columns are numbers.  `units` has the person of each row."""

    name: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    codes: Ints
    units: Ints | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "Coded":
        units = None if self.units is None else self.units[rows]
        return replace(self, codes=self.codes[rows], units=units)

    @property
    def cells(self) -> tuple[int, ...]:
        """The cells of each column with the empty one, which real rows never have and synthetic ones may."""
        return tuple(size + 1 for size in self.sizes)


def adult() -> Coded:
    """48,842 persons and 14 columns, in the order of the original file."""
    import pandas

    home = _home() / "adult"
    domain = json.loads((home / "adult_binned_domain.json").read_text())
    codes = pandas.read_csv(home / "adult_binned.csv")[list(domain)].to_numpy(np.int64)
    names = tuple(name.partition(">")[0].replace("-", "_") for name in domain)
    ordered = tuple(name in _ADULT_ORDERED for name in names)
    return Coded("Adult", names, tuple(domain.values()), ordered, np.ascontiguousarray(codes))


def adult_split() -> tuple[Coded, Coded]:
    """Adult's train and test rows by the original file's own split, 32,561 and 16,281."""
    import pandas

    rows = adult()
    is_train = (pandas.read_csv(_home() / "adult" / "adult.csv.gz")["split"] == "train").to_numpy()
    return rows[is_train], rows[~is_train]


def diabetes() -> Coded:
    """101,766 hospital stays and 20 columns of a stay, with the person of each.

    Decades of age, the chapter of the first diagnosis and the bounds are those that models are learnt from; the last
    column says whether the person came back.
    """
    return _codes_by_rule("diabetes", diabetes_rows(), _STAY_COLUMNS, DIABETES_BOUNDS, "came_back")


def german() -> Coded:
    """1,000 persons and 21 columns, of which the last is the risk."""
    rows = german_rows()
    return _codes_by_rule("German credit", rows, tuple(rows.columns), GERMAN_BOUNDS, "credit_risk")


def pums() -> Coded:
    """1,000 Californians and 6 columns of the census's public sample: a table that no constant was chosen on."""
    import pandas

    frame = pandas.read_csv(_home() / "pums_sample" / "pums_california_1000.csv")
    width = -(-(_MOST_INCOME + 1) // MOST_CODES)
    income = frame["income"].clip(0, _MOST_INCOME) // width
    columns = [frame["age"].clip(0, 100), frame["sex"], frame["educ"] - 1, frame["race"] - 1, income, frame["married"]]
    sizes = (101, 2, 16, 6, MOST_CODES, 2)
    ordered = tuple(size > 6 for size in sizes)
    names = ("age", "sex", "educ", "race", "income", "married")
    return Coded("PUMS sample", names, sizes, ordered, np.column_stack(columns).astype(np.int64))


def invented(rows: int, seed: int = 7, columns: int = 6) -> Coded:
    """Columns of 2 to 20 codes of which neighbours depend on each other, made from the seed."""
    draw = np.random.default_rng(seed)
    sizes = tuple(size for size, _ in zip(cycle(_INVENTED_SIZES), range(columns), strict=False))
    codes = np.empty((rows, len(sizes)), dtype=np.int64)
    hidden = draw.random(rows)
    for column, size in enumerate(sizes):
        hidden = np.clip(hidden + draw.normal(0, 0.12, rows), 0, 1 - 1e-9)
        codes[:, column] = (hidden * size).astype(np.int64)
    names = tuple(f"c{column}" for column in range(len(sizes)))
    return Coded("invented", names, sizes, tuple(size > 5 for size in sizes), codes)


def write_dataset(rows: Coded, home: Path, *, max_rows: int | None = None) -> Path:
    """Writes the codes as a CSV and a TOML that declares them, whose path is returned; the budget is ample.

    Ordered columns are integers within 0 … size − 1, others categories that list their codes.  With `max_rows` the
    units are the persons of the rows, else single rows.
    """
    import pandas

    frame = pandas.DataFrame(dict(zip(rows.names, rows.codes.T, strict=True)))
    unit = ""
    if max_rows is not None:
        if rows.units is None:
            raise ValueError(f"{rows.name} has no persons, so max_rows has nothing to count")
        frame["unit_key"] = rows.units
        unit = f'[unit]\nkey = "unit_key"\nmax_rows = {max_rows}\n'
    frame.to_csv(home / CODES_FILE, index=False)
    columns = "".join(map(_column_toml, rows.names, rows.sizes, rows.ordered))
    head = f'[dataset]\nname = "codes"\nsource = "{CODES_FILE}"\n'
    budget = "[budget]\nepsilon = 1000\ndelta = 1e-3\nmax_delta = 1e-2\n"
    path = home / TOML_FILE
    path.write_text(head + unit + columns + budget)
    return path


def codes_of(frame: Any, rows: Coded) -> Ints:
    """The codes of a frame with the columns of `write_dataset`; an empty cell has the code after the last one."""
    columns = [_column_codes(frame[name], size) for name, size in zip(rows.names, rows.sizes, strict=True)]
    return np.column_stack(columns)


def _column_codes(column: Any, size: int) -> Ints:
    if hasattr(column, "cat"):  # a categorical's own code of an empty cell is −1, which takes the last place
        codes: Ints = np.array([*map(int, column.cat.categories), size])[column.cat.codes]
        return codes
    numbers: Ints = column.astype("Int64").fillna(size).to_numpy(np.int64)
    return numbers


def _column_toml(name: str, size: int, ordered: bool) -> str:
    head = f"[columns.{name}]\n"
    why = 'why_public = "listed in the public file"\n'
    if ordered:
        return f'{head}type = "integer"\nbounds = [0, {size - 1}]\n{why}'
    values = ", ".join(f'"{code}"' for code in range(size))
    return f'{head}type = "category"\nvalues = [{values}]\n{why}'


def _codes_by_rule(
    name: str, rows: Rows, names: tuple[str, ...], bounds: Mapping[str, tuple[int, int]], target: str
) -> Coded:
    columns: list[Ints] = []
    sizes: list[int] = []
    for column in names:
        cells = rows.columns[column]
        if column in bounds:
            low, high = bounds[column]
            width = -(-(high - low + 1) // MOST_CODES)
            columns.append((np.clip(cells.astype(np.int64), low, high) - low) // width)
            sizes.append((high - low) // width + 1)
        else:
            columns.append(np.searchsorted(np.array(rows.values[column]), cells.astype(str)).astype(np.int64))
            sizes.append(len(rows.values[column]))
    columns.append(rows.positive.astype(np.int64))
    ordered = (*(column in bounds for column in names), False)
    return Coded(name, (*names, target), (*sizes, 2), ordered, np.column_stack(columns), rows.units)


def _home() -> Path:
    home = folder()
    if home is None:
        raise FileNotFoundError("DISCREET_DATA names no folder")
    return home
