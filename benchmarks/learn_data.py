"""Tables that models are learnt from, each with the public facts that every system is told: Adult, German credit,
hospital stays of persons with diabetes, a linear table and an invented one.

Real ones are read from the folder `DISCREET_DATA`.  Lists of values are those of the whole public files, test rows
included, and bounds are typed here with the whole files in view; every method is given the same,
but DP-EBM, which takes no lists of values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.release_data import folder
from discreet.ndarrays import Floats, Ints

ADULT_BOUNDS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
    "hours_per_week": (1, 99),
}
GERMAN_BOUNDS = {
    "duration_months": (1, 72),
    "credit_amount": (0, 20_000),
    "installment_rate": (1, 4),
    "residence_since": (1, 4),
    "age": (18, 90),
    "existing_credits": (1, 4),
    "dependents": (1, 2),
}
DIABETES_BOUNDS = {
    "age": (0, 9),
    "time_in_hospital": (1, 14),
    "num_lab_procedures": (0, 140),
    "num_procedures": (0, 6),
    "num_medications": (0, 100),
    "number_outpatient": (0, 50),
    "number_emergency": (0, 100),
    "number_inpatient": (0, 30),
    "number_diagnoses": (1, 16),
}
_LONG = 1000  # a longer range of numbers is scaled by its logarithm
_CHAPTERS = (
    139,
    239,
    279,
    289,
    319,
    389,
    459,
    519,
    579,
    629,
    679,
    709,
    739,
    759,
    779,
    799,
    999,
)  # of ICD-9, last codes


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns and a target by row, and what is public of them; `units` has the person of each row."""

    name: str
    columns: Mapping[str, NDArray[Any]]
    target: NDArray[Any]
    bounds: Mapping[str, tuple[float, float]]
    values: Mapping[str, tuple[str, ...]]
    classes: tuple[Any, ...]
    units: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.target)

    def __getitem__(self, rows: NDArray[Any]) -> "Rows":
        columns = {name: column[rows] for name, column in self.columns.items()}
        units = None if self.units is None else self.units[rows]
        return replace(self, columns=columns, target=self.target[rows], units=units)

    @property
    def facts(self) -> dict[str, Any]:
        """As estimators take them."""
        return {"bounds": dict(self.bounds), "values": dict(self.values), "classes": list(self.classes)}

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are of the last class."""
        return np.asarray(self.target == self.classes[-1])

    def codes(self) -> Floats:
        """A number for each cell: numbers scaled to 0 … 1 as in `matrix`, the places of values."""
        columns = [
            self._scaled(name, column) if name in self.bounds else _places(column, self.values[name]).astype(np.float64)
            for name, column in self.columns.items()
        ]
        return np.column_stack(columns)

    def matrix(self) -> Floats:
        """Numbers scaled to 0 … 1 by their bounds, values as one column each: what other systems are given."""
        return np.column_stack([self._scaled(name, column) for name, column in self.columns.items()])

    def _scaled(self, name: str, column: NDArray[Any]) -> Floats:
        if name in self.values:
            return np.eye(len(self.values[name]))[_places(column, self.values[name])]
        low, high = self.bounds[name]
        numbers = np.clip(column.astype(np.float64), low, high)
        if low >= 0 and high - low > _LONG:
            low, high, numbers = np.log1p(low), np.log1p(high), np.log1p(numbers)
        scaled: Floats = (numbers - low) / (high - low)
        return scaled


def _places(column: NDArray[Any], values: tuple[str, ...]) -> Ints:
    """The place of each value, all of which are listed."""
    order = np.argsort(values)
    codes: Ints = order[np.searchsorted(np.array(values)[order], column.astype(str))]
    return codes


def adult() -> tuple[Rows, Rows]:
    """Adult by the file's own split: income above 50,000 from 12 columns, without the survey weight and the text form
    of `education_num`."""
    table = _read("adult/adult.csv.gz")
    left_out = ("fnlwgt", "education", "income", "split")
    rows = _rows("Adult", table, left_out, ADULT_BOUNDS, table["income"].to_numpy(object), ("<=50K", ">50K"))
    is_train = (table["split"] == "train").to_numpy()
    return rows[is_train], rows[~is_train]


def german() -> Rows:
    """German credit: the bad risks among 1,000 from all 20 columns."""
    table = _read("german_credit/german_credit.csv")
    risk = table["credit_risk"].to_numpy(np.int64)
    return _rows("German credit", table, ("credit_risk",), GERMAN_BOUNDS, risk, (1, 2))


def diabetes() -> Rows:
    """Hospital stays: whether a person came back, from 25 columns of a stay.

    Left out: ids, weight (almost always missing) and all drugs but metformin and insulin.  Diagnoses are mapped to the
    chapters of ICD-9 with diabetes apart, brackets of age to decades.
    """
    table = _read("diabetes_hospital/diabetic_data.csv.gz", keep_default_na=False, low_memory=False)
    names = list(table.columns)
    drugs = names[names.index("metformin") : names.index("metformin-pioglitazone") + 1]
    left_out = {"encounter_id", "patient_nbr", "readmitted", "weight", *drugs} - {"metformin", "insulin"}
    table["age"] = [int(bracket[1:].partition("-")[0]) // 10 for bracket in table["age"]]
    for name in ("diag_1", "diag_2", "diag_3"):
        table[name] = [_chapter(str(code)) for code in table[name]]
    came_back = np.where(table["readmitted"].to_numpy() == "NO", "no", "yes").astype(object)
    rows = _rows("diabetes by person", table, tuple(left_out), DIABETES_BOUNDS, came_back, ("no", "yes"))
    return replace(rows, units=table["patient_nbr"].to_numpy(np.int64))


def invented(rows: int, seed: int = 7) -> Rows:
    """Four columns that tell something of a class, made from the seed."""
    draw = np.random.default_rng(seed)
    low, amount = draw.integers(0, 40, rows), np.floor(draw.exponential(300, rows))
    kind, region = draw.integers(0, 3, rows), draw.integers(0, 5, rows)
    line = (low - 20) / 8 + np.log1p(amount) / 2 - 2.5 + (kind == 1) - (region == 4)
    target = np.where(draw.random(rows) < 1 / (1 + np.exp(-line)), "yes", "no").astype(object)
    kinds, regions = ("first", "second", "third"), tuple(f"region {place}" for place in range(5))
    columns = {
        "low": low,
        "amount": amount,
        "kind": np.array(kinds, dtype=object)[kind],
        "region": np.array(regions, dtype=object)[region],
    }
    bounds = {"low": (0, 39), "amount": (0, 5000)}
    return Rows("invented", columns, target, bounds, {"kind": kinds, "region": regions}, ("no", "yes"))


def random_split(rows: Rows, seed: int, test: float = 0.2) -> tuple[Rows, Rows]:
    """Train and test rows, cut by a public seed; whole persons where rows belong to persons."""
    draw = np.random.default_rng(seed)
    if rows.units is None:
        is_test = np.zeros(len(rows), dtype=np.bool_)
        is_test[draw.permutation(len(rows))[: round(test * len(rows))]] = True
    else:
        persons = np.unique(rows.units)
        is_test = np.isin(rows.units, draw.permutation(persons)[: round(test * len(persons))])
    return rows[~is_test], rows[is_test]


def _rows(
    name: str,
    table: Any,
    left_out: tuple[str, ...],
    bounds: Mapping[str, tuple[int, int]],
    target: NDArray[Any],
    classes: tuple[Any, ...],
) -> Rows:
    columns: dict[str, NDArray[Any]] = {}
    values: dict[str, tuple[str, ...]] = {}
    for column in table.columns:
        if column in left_out:
            continue
        if column in bounds:
            columns[column] = table[column].to_numpy(np.float64)
        else:
            columns[column] = table[column].astype(str).to_numpy(object)
            values[column] = tuple(sorted(set(columns[column])))
    return Rows(name, columns, target, bounds, values, classes)


def _read(name: str, **options: Any) -> Any:
    import pandas

    home = folder()
    if home is None:
        raise FileNotFoundError("DISCREET_DATA names no folder")
    return pandas.read_csv(home / name, **options)


def _chapter(code: str) -> str:
    """The chapter of an ICD-9 code; diabetes, external causes, other reasons and missing codes are their own."""
    if code == "?" or code[0] in "EV":
        return code[0]
    number = int(float(code))
    if number == 250:
        return "diabetes"
    return f"to {next(last for last in _CHAPTERS if number <= last)}"
