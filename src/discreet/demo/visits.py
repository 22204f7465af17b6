"""The columns of an invented hospital, each drawn from those it depends on, with a seedable public generator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.public import Generator

Cells = NDArray[Any]
Table = dict[str, Cells]

REGIONS = ("north", "east", "south", "west", "centre")
_REGION_SHARES = (0.28, 0.12, 0.19, 0.11, 0.30)
WARDS = (
    "emergency",
    "medicine",
    "surgery",
    "cardiology",
    "oncology",
    "maternity",
    "paediatrics",
    "psychiatry",
    "intensive care",
)
_WARD_COST = (220, 700, 2100, 1600, 1900, 1300, 500, 450, 3200)  # EUR before the first night
_WARD_NIGHT = (150, 260, 420, 480, 520, 380, 300, 240, 1150)  # EUR a night
_WARD_NIGHTS = (0.4, 3.5, 4.2, 4.0, 6.5, 2.6, 2.2, 12.0, 6.0)  # nights on average
_DIAGNOSES = (  # ICD-10 codes by ward, the frequent first; the last ones are rare
    ("S06", "R07", "T14", "R10", "S52", "T78", "W57"),
    ("J18", "E11", "N39", "J44", "A41", "K52", "E84"),
    ("K35", "K40", "M16", "M17", "K80", "S72", "Q79"),
    ("I10", "I20", "I21", "I48", "I50", "I42"),
    ("C34", "C50", "C18", "C20", "C92", "C74"),
    ("O80", "O82", "O14", "O72"),
    ("J21", "J45", "A09", "J06", "E70"),
    ("F32", "F10", "F20", "F41", "F84"),
    ("J96", "R57", "A39", "B50"),
)
_RARER = 0.42  # how often a code occurs beside the one before it
FIRST, LAST = np.datetime64("2023-01-01"), np.datetime64("2024-12-31")
MOST_VISITS, MOST_NIGHTS, MOST_COST = 10, 60, 20_000
OLDEST = 110


def patients(number: int, chance: Generator) -> Table:
    """Facts that stay with a patient; the older the more visits, of which the register keeps the last ten."""
    years = 100 * chance.beta(1.3, 1.5, number)
    born = LAST - (years * 365.25).astype("timedelta64[D]")
    often = chance.gamma(1.1, 0.8, number) * (1.4 + years / 20)
    smokes = chance.random(number) < np.where(years < 16, 0.0, 0.24)
    smoker = np.where(smokes, "true", "false").astype(object)
    smoker[chance.random(number) < 0.06] = None
    sexes = np.array(("female", "male", "other"), dtype=object)
    codes = chance.permutation(number) + 100_001
    return {
        "patient_id": codes,
        "born": born,
        "visits": np.minimum(1 + chance.poisson(often), MOST_VISITS),
        "sex": sexes[chance.choice(3, number, p=(0.515, 0.479, 0.006))],
        "smoker": smoker,
        "region": chance.choice(len(REGIONS), number, p=_REGION_SHARES),
    }


def admission_days(number: int, chance: Generator) -> Cells:
    """Days of admission, more in winter and fewer at weekends."""
    days = np.arange(FIRST, LAST + 1)
    place = np.arange(len(days))
    weekend = (days.astype(np.int64) + 3) % 7 >= 5  # 1970-01-01 was a Thursday
    weight = (1 + 0.18 * np.cos(2 * np.pi * place / 365.25)) * np.where(weekend, 0.72, 1.0)
    return days[chance.choice(len(days), number, p=weight / weight.sum())]


def ages(born: Cells, day: Cells) -> Cells:
    """Full years at admission; 0 for a birth drawn after it."""
    days = (day - born).astype(np.int64)
    full: Cells = np.clip(days // 365.25, 0, OLDEST)
    return full.astype(np.int64)


def wards(age: Cells, sex: Cells, chance: Generator) -> Cells:
    """Children in paediatrics, mothers in maternity, the heart and cancer with age."""
    child, old = age < 16, age / 100
    mother = (sex == "female") & (age >= 17) & (age <= 44)
    ones = np.ones(len(age))
    weights = np.stack(
        (
            5 * ones,
            np.where(child, 0, 1.5 + 5 * old),
            np.where(child, 0.8, 2.6),
            np.where(child, 0, 7 * old**2),
            np.where(child, 0.15, 0.2 + 3 * old),
            np.where(mother, 4.5, 0),
            np.where(child, 9, 0),
            np.where(child, 0.2, 1.3),
            0.25 + 1.2 * old,
        )
    )
    steps = np.cumsum(weights, axis=0)
    chosen: Cells = (chance.random(len(age)) * steps[-1] >= steps).sum(axis=0)
    return chosen


def diagnoses(ward: Cells, chance: Generator) -> Cells:
    """ICD-10 codes that the ward treats, a few of them rare."""
    diagnosis = np.empty(len(ward), dtype=object)
    for number, codes in enumerate(_DIAGNOSES):
        visits = np.flatnonzero(ward == number)
        weight = _RARER ** np.arange(len(codes), dtype=float)
        weight[-1] /= 15
        codes_drawn = chance.choice(len(codes), len(visits), p=weight / weight.sum())
        diagnosis[visits] = np.array(codes, dtype=object)[codes_drawn]
    return diagnosis


def regions(home: Cells, chance: Generator) -> Cells:
    """Where the patient lived that day: mostly at home, for some have moved."""
    moved = chance.random(len(home)) < 0.03
    region = np.where(moved, chance.integers(0, len(REGIONS), len(home)), home)
    return np.array(REGIONS, dtype=object)[region]


def nights(ward: Cells, age: Cells, chance: Generator) -> Cells:
    """Nights in the ward, more with age."""
    usual = np.array(_WARD_NIGHTS)[ward] * (0.7 + 0.007 * age)
    stay: Cells = np.floor(chance.gamma(1.4, 1.0, len(ward)) * usual / 1.4 + 0.5)
    return np.minimum(stay, MOST_NIGHTS).astype(np.int64)


def costs(ward: Cells, nights: Cells, chance: Generator) -> Cells:
    """Whole EUR: the ward's rate and nights, skewed, cut at the most that is paid."""
    usual = np.array(_WARD_COST)[ward] + np.array(_WARD_NIGHT)[ward] * nights
    cost: Cells = np.round(np.minimum(usual * chance.lognormal(-0.06, 0.35, len(ward)), MOST_COST))
    return cost


def systolic(age: Cells, smoker: Cells, chance: Generator) -> Cells:
    """Blood pressure in mmHg, rising with age and smoking; not measured (NaN) at every eighth visit or so."""
    usual = 102 + 0.48 * age + np.where(smoker == "true", 4.5, 0.0)
    pressure = np.round(np.clip(usual + chance.normal(0, 13, len(age)), 60, 260), 1)
    pressure[chance.random(len(age)) < 0.12] = np.nan
    return pressure
