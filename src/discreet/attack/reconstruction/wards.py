"""Invented people in 1,000 wards, counted ward by ward through the gate.

Everybody is in one ward, so counts of all wards cost what the count of one does, and each ward is a trial of its own.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.attack.invented import invented_dataset
from discreet.dataset import Dataset
from discreet.errors import BudgetExceeded
from discreet.ndarrays import Floats

WARDS = 1_000
_NAMES = tuple(f"ward {number:04}" for number in range(WARDS))
_TOML = """
[unit]
key = "person"
max_rows = 1
[columns.ward]
type = "category"
values = {wards}
fixed_per_unit = true
{others}
[budget]
epsilon = {epsilon}
"""


def ward_dataset(
    sizes: Sequence[int], epsilon: str, *, columns: Mapping[str, Sequence[Any]] | None = None, toml: str = ""
) -> AbstractContextManager[Dataset]:
    """The dataset of so many people in each ward, on a budget of ε; `toml` declares the other columns."""
    wards = [name for name, size in zip(_NAMES, sizes, strict=True) for _ in range(size)]
    people: dict[str, Sequence[Any]] = {"person": list(range(len(wards))), "ward": wards, **(columns or {})}
    return invented_dataset(_TOML.format(wards=list(_NAMES), others=toml, epsilon=epsilon), people)


def question(where: str = "") -> str:
    """How many people each ward has, of those whom the condition admits."""
    return f"SELECT ward, COUNT(*) AS people FROM invented{where and f' WHERE {where}'} GROUP BY ward"


def answered_counts(wards: Dataset, text: str, epsilon: str | Fraction) -> Floats:
    """The answered count of each ward."""
    by_ward = {row["ward"]: row["people"] for row in wards.sql(text).ask(epsilon=epsilon).rows}
    return np.array([by_ward[name] for name in _NAMES], dtype=np.float64)


def refusal_beyond(wards: Dataset, text: str) -> str:
    """What the ledger says to a question when its budget is spent."""
    try:
        wards.sql(text).ask(epsilon="0.001")
    except BudgetExceeded as refused:
        return str(refused)
    raise AssertionError("a question beyond the budget was answered")
