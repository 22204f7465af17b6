"""Join a table without names to a register with names, by zip code, birth date and sex (Sweeney 2000).

    unique share     e^(−(k − 1)/c)     k people in a zip code, c = 79.5·365.25·2 ≈ 58,000 birth dates and sexes

at equally likely dates: .87 for 8,000 people, as Sweeney estimated for the United States (Golle 2006: .63).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from discreet import amounts
from discreet.attack.ceiling import chance_of
from discreet.attack.given import cells_of, column_of
from discreet.attack.interval import share_interval
from discreet.attack.invented import invented_dataset
from discreet.attack.linking.keys import NOBODY, blank_rows, columns_of, shared_keys, unique_matches, unique_share
from discreet.attack.result import RAW, Result
from discreet.errors import bad
from discreet.ndarrays import Bools
from discreet.noise.public import Generator, generator
from discreet.plot.attack import Chart, Line

ON = ("zip", "birth", "sex")
PER_ZIP, ZIPS, SAMPLE, REGISTERED = 8_000, 10, 0.2, 0.7
DAYS = 29_037  # of birth, in 79.5 years
_FIRST = date(1920, 1, 1)
_DIAGNOSES = {"flu": 0.3, "asthma": 0.2, "diabetes": 0.15, "injury": 0.15, "cancer": 0.1, "stroke": 0.06, "HIV": 0.04}
_SIZES = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
_MOST_CLAIMS = "The attacker claims a name and a diagnosis for each published row that matches one person alone."
_BOUND = (
    "Bounds this attack's claims only: e^ε times how often they are right of people who are not in the table; not a "
    "ceiling for any attacker. Who says flu of as many people, chosen blindly, is right more often."
)
_TOML = """
[unit]
key = "person"
max_rows = 1
[columns.zip]
type = "category"
values = {zips}
[columns.birth]
type = "date"
bounds = [{first}, {last}]
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.diagnosis]
type = "category"
values = {diagnoses}
[budget]
epsilon = {epsilon}
delta = 1e-6
"""
Columns = dict[str, list[Any]]


def linkage(
    published: Any, register: Any, on: Sequence[str] = ON, *, person: str = "person", epsilon: Any = None
) -> Result:
    """How many published rows are rightly named by joining both tables on these columns.

    `person` is a column of both that the attacker is not shown: whose row it is.  A row is named where both tables have
    exactly one row with its values: 34.0 is 34, midnight is its day, and a row with a blank among them is never named.

    >>> hospital = {"person": [7, 8], "zip": ["A", "B"], "sex": ["f", "m"]}
    >>> linkage(hospital, {"person": [8, 9, 7], "zip": ["B", "C", "A"], "sex": ["m", "f", "f"]}, ["zip", "sex"]).raw
    1.0
    """
    listed = [] if isinstance(on, str) else cells_of(on) or []
    if not listed:
        raise bad("on", "must be a list of column names", on, 'Name what both tables have: ["zip", "sex"].')
    on = listed
    rows, names = (
        columns_of(table, [*on, person], what) for table, what in ((published, "published"), (register, "register"))
    )
    keys, places = shared_keys([rows, names], on), shared_keys([rows, names], [person])
    blank = [blank_rows(table, on) for table in (rows, names)]
    named = ((matches := unique_matches(*keys)) != NOBODY) & ~blank[0]
    right = named & (places[0] == places[1][matches]) & ~blank_rows(rows, [person])
    hits = {column_of(epsilon): int(right.sum())}
    details: dict[str, Any] = {
        "matched": float(named.mean()),
        "precision": _precision(right, named),
        "unique": unique_share(keys[0], left_out=blank[0]),
        "blank": {"published": int(blank[0].sum()), "register": int(blank[1].sum())},
    }
    notes = tuple(
        f"{count:,} of {len(missing):,} rows of {what} have a blank in these columns: they match nobody."
        for (what, count), missing in zip(details["blank"].items(), blank, strict=True)
        if count
    )
    measure = f"share of published rows that are rightly named by joining on {', '.join(map(str, on))}"
    return replace(_result(hits, len(right), measure, details=details, notes=notes), of_real_data=True)


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """80,000 invented people, one in five a patient: the patients' rows without names, or a synthetic table of them."""
    chance = generator(seed)
    people = _population(PER_ZIP, ZIPS, chance)
    is_patient = chance.random(PER_ZIP * ZIPS) < SAMPLE
    patients = _rows(people, is_patient)
    hits = {RAW: int((_right_claims(patients, people) & is_patient).sum())}
    without = {}
    for epsilon in epsilons:
        claimed = _right_claims(_synthetic(patients, epsilon), people)
        hits[epsilon] = int((claimed & is_patient).sum())
        outside = int((claimed & ~is_patient).sum())  # as likely as for a patient whose row had not been there
        without[epsilon] = share_interval(outside, int((~is_patient).sum()))[1]
    total = int(is_patient.sum())
    blind = blind_share(people, is_patient)
    ceiling = {
        name: chance_of(float(amounts.epsilon(name)), float(amounts.DELTA_CEILING), without=rate)
        for name, rate in without.items()
    }
    measure = f"share of {total:,} patients whose name and diagnosis are told rightly, by {', '.join(ON)}"
    details = {"by_size": _by_size(chance), "outside": without}
    return _result(hits, total, measure, baseline=blind, ceiling=ceiling, details=details, notes=(_MOST_CLAIMS, _BOUND))


def on_file(path: Path, seed: int) -> Result:
    """A synthetic table against the private one beside it: see `attack.linking.own`."""
    from discreet.attack.linking.own import linked_file

    return linked_file(path, seed)


def _population(per_zip: int, zips: int, chance: Generator) -> Columns:
    """People with a zip code, a birth date, a sex, and the diagnosis that each has or would have."""
    size = per_zip * zips
    names, shares = list(_DIAGNOSES), list(_DIAGNOSES.values())
    days = [(_FIRST + timedelta(day)).isoformat() for day in range(DAYS)]
    return {
        "person": list(range(size)),
        "zip": [code for code in _zips(zips) for _ in range(per_zip)],
        "birth": [days[day] for day in chance.integers(0, DAYS, size=size)],
        "sex": [("f", "m")[coin] for coin in chance.integers(0, 2, size=size)],
        "diagnosis": [names[place] for place in chance.choice(len(names), size=size, p=shares)],
    }


def _zips(count: int) -> list[str]:
    return [f"{19_100 + number}" for number in range(count)]


def _rows(table: Columns, kept: Bools) -> Columns:
    places = np.flatnonzero(kept).tolist()
    return {name: [column[place] for place in places] for name, column in table.items()}


def _right_claims(published: Columns, people: Columns) -> Bools:
    """For each person, whether some published row is claimed for them with the diagnosis that they have."""
    keys = shared_keys([published, people], ON)
    matches = unique_matches(*keys)
    claimed = np.zeros(keys[1].size, dtype=bool)
    for row, place in enumerate(matches.tolist()):
        if place != NOBODY and published["diagnosis"][row] == people["diagnosis"][place]:
            claimed[place] = True
    return claimed


def _synthetic(patients: Columns, epsilon: str) -> Columns:
    """The rows of a synthetic table of the patients, built through the gate at ε and δ = 10⁻⁶."""
    last = _FIRST + timedelta(DAYS - 1)
    facts = {"zips": _zips(ZIPS), "first": _FIRST, "last": last, "diagnoses": list(_DIAGNOSES)}
    with invented_dataset(_TOML.format(**facts, epsilon=epsilon), patients) as dataset:
        rows = dataset.synthesize().build(epsilon=epsilon).to_arrow()
    return {name: [str(cell)[:10] for cell in rows.column(name).to_pylist()] for name in (*ON, "diagnosis")}


def blind_share(people: Columns, is_patient: Bools) -> float:
    """The expected share of patients who are told rightly by as many rows from public facts alone, r in each zip code.

        E = mean over patients of [nobody else has their key]·r·q·(1 − q)^(r − 1)·P(their diagnosis)      q = 1/58,074

    A row is claimed where it alone has a key of one person alone.
    """
    keys = shared_keys([people], ON)[0]
    is_single = (np.bincount(keys)[keys] == 1) & is_patient
    rows, chance = -(-int(is_patient.sum()) // ZIPS), 1 / (2 * DAYS)
    shares = np.array([_DIAGNOSES[name] for name in people["diagnosis"]])
    claimed = rows * chance * (1 - chance) ** (rows - 1)
    return float(claimed * shares[is_single].sum() / is_patient.sum())


def _by_size(chance: Generator) -> dict[str, dict[str, float]]:
    """By people in a zip code: who is unique, and whom a register of seven in ten people names, and how rightly."""
    table = {}
    for per_zip in _SIZES:
        people = _population(per_zip, max(1, 32_000 // per_zip), chance)
        keys = shared_keys([people], ON)[0]
        patients = np.flatnonzero(chance.random(keys.size) < SAMPLE)
        register = np.flatnonzero(chance.random(keys.size) < REGISTERED)
        matches = unique_matches(keys[patients], keys[register])
        named = matches != NOBODY
        right = named & (register[matches] == patients)
        table[str(per_zip)] = {
            "unique": unique_share(keys),
            "law": math.exp(-(per_zip - 1) / (2 * DAYS)),
            "matched": float(named.mean()),
            "precision": _precision(right, named),
        }
    return table


def _precision(right: Bools, named: Bools) -> float:
    return float(right.sum() / max(1, named.sum()))


def _result(
    hits: Mapping[str, int],
    total: int,
    measure: str,
    *,
    details: Mapping[str, Any],
    baseline: float | None = None,
    ceiling: Mapping[str, float] | None = None,
    notes: tuple[str, ...] = (),
) -> Result:
    return Result(
        name="linkage",
        metric="people named",
        measure=measure,
        raw=None if RAW not in hits else hits[RAW] / total,
        private={name: count / total for name, count in hits.items() if name != RAW},
        baseline=baseline,
        ceiling=ceiling or {},
        units="one person, who is in the table or not",
        bounds_any_attacker=False,
        trials=total,
        intervals={name: share_interval(count, total) for name, count in hits.items()},
        chart=_chart(details["by_size"]) if "by_size" in details else None,
        notes=notes,
        details=details,
    )


def _chart(by_size: Mapping[str, Mapping[str, float]]) -> Chart:
    names = {
        "unique": "unique by zip, birth date and sex",
        "matched": "matched in a register of 70 %",
        "precision": "of these, rightly",
    }
    sizes = tuple(map(float, by_size))
    lines = tuple(Line(words, sizes, tuple(row[key] for row in by_size.values())) for key, words in names.items())
    return Chart("people in a zip code", "share", lines, log_x=True)
