"""The curator at work on an invented hospital: a table, its public facts, three questions, one ledger.

Everything is the real thing but the patients: questions go through the gate and are charged, and asking them again
gives the stored answers for nothing.
"""

import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.answer import Answer
from discreet.dataset import open_dataset
from discreet.demo import hospital
from discreet.errors import IntegrityError

FOLDER = "discreet-demo"
_MOST_FOLDERS = 100
_INVENTED = "The demo's patients are invented, and every folder has the same ones."
CAVEATS = (
    "The patients are invented; the noise, the prices and the ledger are real.",
    "No patient has more than 10 visits in it, so the cap of 10 rows leaves none out.",
    "Asked again, a question gives the same answer and costs nothing.",
)


@dataclass(frozen=True)
class Asked:
    """One question of the demo, its ε, and its answer."""

    title: str
    sql: str
    epsilon: str
    answer: Answer


@dataclass(frozen=True)
class CuratorDemo:
    """The metadata of the table, and the questions asked."""

    toml: Path
    asked: tuple[Asked, ...]

    @property
    def next_steps(self) -> tuple[str, ...]:
        """Three commands to try."""
        run, name = command(), self.toml
        return (
            f'{run} quote {name} "SELECT sex, AVG(age) AS age FROM visits GROUP BY sex" --eps 0.5 --at-size 9000',
            f'{run} ask {name} "SELECT region, COUNT(*) AS n FROM visits GROUP BY region" --error n=200',
            f"{run} explain {name} last",
        )


def command() -> str:
    """How a shell here calls this program: by its name where that is found, else by its path."""
    beside = Path(sys.executable).with_name("discreet")
    return "discreet" if shutil.which("discreet") is not None or not beside.exists() else _from_here(beside)


def activation() -> str | None:
    """The shell command after which `discreet` is found by its name; None where it is found already."""
    script = Path(sys.executable).with_name("activate")
    return None if command() == "discreet" or not script.exists() else f". {_from_here(script)}"


def _from_here(path: Path) -> str:
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


QUESTIONS = (
    (
        "How many visits does each ward have?",
        "SELECT ward, COUNT(*) AS visits, AVG(length_of_stay) AS nights FROM visits GROUP BY ward",
        "0.5",
    ),
    (
        "How many patients, and what does a visit cost in the middle?",
        "SELECT sex, COUNT(DISTINCT patient_id) AS patients, MEDIAN(cost) AS cost FROM visits GROUP BY sex",
        "0.5",
    ),
    (
        "Which diagnoses are frequent?  (their list is not public)",
        "SELECT diagnosis, COUNT(*) AS visits FROM visits GROUP BY diagnosis ORDER BY visits DESC LIMIT 5",
        "0.5",
    ),
)


def run_demo(folder: Path | None, seed: int, progress: Callable[[str, float], None] | None = None) -> CuratorDemo:
    """Write the table and ask the questions; in `folder`, or in the first folder that never had another ledger."""
    places = (
        [folder] if folder is not None else [Path(FOLDER), *(Path(f"{FOLDER}-{n}") for n in range(2, _MOST_FOLDERS))]
    )
    for place in places[:-1]:
        try:
            return _run_in(place, seed, progress)
        except IntegrityError:  # the folder was deleted with its ledger, whose charges still count
            continue
    return _run_in(places[-1], seed, progress)


def to_json(demo: CuratorDemo) -> dict[str, Any]:
    """Everything shown, for programs."""
    questions = [
        {"title": asked.title, "sql": asked.sql, "answer": asked.answer.to_json() | {"plan": asked.answer.plan}}
        for asked in demo.asked
    ]
    return {"metadata": str(demo.toml), "asked": questions, "next": list(demo.next_steps)}


def _run_in(folder: Path, seed: int, progress: Callable[[str, float], None] | None) -> CuratorDemo:
    toml = hospital.write(folder, seed=seed)
    with open_dataset(toml, second_ledger=_INVENTED) as visits:
        asked = tuple(
            Asked(title, sql, epsilon, visits.sql(sql).ask(epsilon=epsilon, progress=progress))
            for title, sql, epsilon in QUESTIONS
        )
    return CuratorDemo(toml, asked)
