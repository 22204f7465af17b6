"""The self-audit as a list of jobs: claims tested by draws and by exact law, and planted bugs that must be caught."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from discreet import amounts
from discreet.audit.claim import audit_draws, audit_exactly
from discreet.audit.claims import claims
from discreet.audit.mutants import audit_bug, mutants
from discreet.audit.report import Row
from discreet.audit.trial import LEAST_RUNS, RUNS
from discreet.errors import Refuted, bad
from discreet.fix import Fix

MOST_RUNS = 10**7


@dataclass(frozen=True)
class Job:
    """One row to compute; `wrong` says what a planted bug does wrong and is empty for a claim."""

    name: str
    row: Callable[[], Row]
    wrong: str = ""


@dataclass(frozen=True)
class Outcome:
    """All rows: of claims, and of planted bugs."""

    claims: tuple[Row, ...]
    planted: tuple[Row, ...]

    def problem(self) -> Refuted | None:
        """The error if a claim is refuted or a planted bug is not, else None."""
        broken = [row.name for row in self.claims if row.is_refuted]
        missed = [row.name for row in self.planted if not row.is_refuted]
        if broken:
            why = f"A lower bound lies above the claim of {', '.join(dict.fromkeys(broken))}."
            return Refuted(
                "A claim is refuted.", why, "Do not use these mechanisms until their noise or price is fixed."
            )
        if missed:
            why = f"The audit let {', '.join(missed)} pass."
            return Refuted("A planted bug was not caught.", why, "Do not trust this audit until it catches them.")
        return None


def claim_jobs(names: Sequence[str] = (), runs: int = RUNS) -> list[Job]:
    """The claims of these names (or beginnings of names), or all: by draws, and exactly where a law is known."""
    size = amounts.count(runs, "runs", LEAST_RUNS, MOST_RUNS)
    jobs = []
    for claim in claims():
        if _is_named(claim.name, names):
            jobs.append(Job(claim.name, partial(audit_draws, claim, runs=size)))
            jobs += [Job(claim.name, partial(audit_exactly, claim))] if claim.world else []
    return jobs


def mutant_jobs(names: Sequence[str] = ()) -> list[Job]:
    """The planted bugs of these names, or all."""
    return [Job(bug.name, partial(audit_bug, bug), bug.wrong) for bug in mutants() if _is_named(bug.name, names)]


def checked_names(names: Sequence[str]) -> Sequence[str]:
    """The names, if each is one of a claim or of a planted bug, or a beginning of one."""
    existing = _names()
    for name in names:
        if not any(_is_named(entry, [name]) for entry in existing):
            similar = get_close_matches(name, existing, 3, 0.4)
            fix = f"Did you mean {', '.join(similar)}?" if similar else Fix("See the names:", "audit", {"list": True})
            raise bad("NAME", "must be a claim or a planted bug", name, fix)
    return names


def _names() -> list[str]:
    return [entry.name for entry in (*claims(), *mutants())]


def _is_named(name: str, names: Sequence[str]) -> bool:
    """Whether one of the names is this one, or is nobody's and the beginning of this one."""
    if not names or name in names:
        return True
    beginnings = tuple(set(names).difference(_names(), [""]))
    return name.startswith(beginnings)
