"""An invented hospital: its table of visits and the metadata of it, for a first try of everything."""

import csv
import io
from pathlib import Path

import numpy as np

from discreet import amounts, durable
from discreet.demo import visits
from discreet.errors import CannotWrite
from discreet.noise.public import generator

TABLE, METADATA = "visits.csv", "visits.toml"

TOML = """\
# Public facts about a private table: nothing in this file was read off its rows.
# The table is invented, a visit a row; every patient in it, and every visit, is drawn at random.

[dataset]
format = 1
name = "visits"
source = "visits.csv"
neighbours = "add-remove"              # protects whether a patient is in the table at all

[unit]
key = "patient_id"                     # all visits of one patient are protected together
max_rows = 10                          # the register keeps the last 10 of each, so that no visit is left out

[columns.region]
type = "category"
values = ["north", "east", "south", "west", "centre"]
why_public = "the map of the health service"

[columns.ward]
type = "category"
values = [
  "emergency", "medicine", "surgery", "cardiology", "oncology", "maternity", "paediatrics", "psychiatry",
  "intensive care",
]
why_public = "the sign at the entrance"

[columns.diagnosis]                    # no public list: which codes occur is itself private, so that
type = "category"                      # groups by it cost some δ and rare ones are left out

[columns.age]
type = "integer"                       # full years on the day of admission
bounds = [0, 110]
bins = [0, 18, 30, 45, 65, 80, 110]
why_public = "nobody in the country is older; the bins are those of the yearly report"

[columns.sex]
type = "category"
values = ["female", "male", "other"]
fixed_per_unit = true                  # the same on all rows of a patient: groups by it share no patient
why_public = "the admission form"

[columns.smoker]
type = "boolean"                       # some never answered
null = "key"                           # and are a group of their own

[columns.length_of_stay]
type = "integer"                       # nights
bounds = [0, 60]
why_public = "longer stays move to another house by law"

[columns.cost]
type = "number"                        # EUR, whole
bounds = [0, 20000]
step = 1
why_public = "the most that the tariff pays for a visit"

[columns.systolic]
type = "number"                        # mmHg; not measured at every visit
bounds = [60, 260]
step = 0.1
why_public = "the range of the instrument"

[columns.admitted]
type = "date"
bounds = [2023-01-01, 2024-12-31]
why_public = "the two years this table is about"

[budget]
epsilon = 3                            # for all questions of all analysts together, for ever
delta = 1e-7

[budget.analysts]                      # what each may spend of it
ana = 1
ben = 1
"""


def hospital(patients: int = 30_000, seed: int = 1) -> visits.Table:
    """The columns of the table, a row a visit, in the order of admission: the same for the same seed.

    >>> {column: len(cells) > 500 for column, cells in hospital(patients=200, seed=7).items()}["cost"]
    True
    """
    chance = generator(amounts.count(seed, "seed", 0, 2**63 - 1))
    people = visits.patients(amounts.count(patients, "patients", 1, 10**7), chance)
    who = np.repeat(np.arange(len(people["visits"])), people["visits"])
    admitted = visits.admission_days(len(who), chance)
    age = visits.ages(people["born"][who], admitted)
    ward = visits.wards(age, people["sex"][who], chance)
    nights = visits.nights(ward, age, chance)
    table = {
        "patient_id": people["patient_id"][who],
        "region": visits.regions(people["region"][who], chance),
        "ward": np.array(visits.WARDS, dtype=object)[ward],
        "diagnosis": visits.diagnoses(ward, chance),
        "age": age,
        "sex": people["sex"][who],
        "smoker": people["smoker"][who],
        "length_of_stay": nights,
        "cost": visits.costs(ward, nights, chance),
        "systolic": visits.systolic(age, people["smoker"][who], chance),
        "admitted": admitted,
    }
    order = np.lexsort((table["patient_id"], admitted))
    return {column: cells[order] for column, cells in table.items()}


def write(folder: str | Path, *, patients: int = 30_000, seed: int = 1) -> Path:
    """Writes visits.csv and visits.toml into the folder and returns the path of the latter.

    A file of that name with other content is never replaced; it is refused before anything is written.
    """
    place = Path(folder)
    contents = {place / TABLE: as_csv(hospital(patients, seed)), place / METADATA: TOML.encode()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        missing = [path for path, content in contents.items() if not _is_written(path, content)]
        for path in missing:
            durable.replace(path, contents[path])
    except OSError:
        fix = "Give a folder you may write to, with some 20 MB free."
        raise CannotWrite("The demo table was not written.", f"The folder is {str(place)!r}.", fix) from None
    return place / METADATA


def as_csv(table: visits.Table) -> bytes:
    """The table as CSV: UTF-8, an empty cell for what is missing, dates as 2024-12-31.

    >>> as_csv(hospital(patients=2, seed=7)).split(b"\\n")[0]
    b'patient_id,region,ward,diagnosis,age,sex,smoker,length_of_stay,cost,systolic,admitted'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(_cells(column) for column in table.values()), strict=True))
    return text.getvalue().encode()


def _cells(column: visits.Cells) -> list[object]:
    match column.dtype.kind:
        case "M":
            return list(np.datetime_as_string(column).tolist())
        case "f":
            return [None if cell != cell else cell for cell in column.tolist()]
        case _:
            return list(column.tolist())


def _is_written(path: Path, content: bytes) -> bool:
    """Whether the file exists with this content; another content is refused."""
    if not path.exists():
        return False
    if path.stat().st_size == len(content) and path.read_bytes() == content:
        return True
    what, why = f"There is another {path.name} already.", f"It lies in {str(path.parent)!r} and is not replaced."
    raise CannotWrite(what, why, "Give another folder, or move that file away.")
