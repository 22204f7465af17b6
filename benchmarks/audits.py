"""How surely the audit catches planted bugs, how often it alarms on sound mechanisms, and what both take."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, islice

from benchmarks.report import Aim, Report, Table, verdict
from discreet.audit.callables import mechanism
from discreet.audit.claim import audit_draws
from discreet.audit.claims import claims
from discreet.audit.mutants import Drawn, audit_bug, mutants
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM

REPEATS, AUDITS, RUNS = 100, 300, 2_000
SLOW = 0.15  # CPU seconds of one audit: those above are repeated FEW times
FEW = 10
CAUGHT, FALSE = Aim(at_least=0.99), Aim(at_most=0)


@dataclass(frozen=True)
class Counted:
    """Of so many audits so many ended in "refuted"."""

    name: str
    refuted: int
    audits: int
    seconds: float  # of one

    @property
    def share(self) -> float:
        return self.refuted / self.audits


def report() -> Report:
    """Planted bugs one by one, sound claims in turns, and a function of one's own, right and wrong."""
    bugs, (sound, alarms), own = caught_bugs(), sound_audits(), own_functions()
    worst = min(bug.share for bug in bugs)
    rows = [
        (
            f"planted bugs, {len(bugs)} with draws, {len(mutants()) - len(bugs)} by exact law",
            f"{sum(bug.share >= 0.99 for bug in bugs)} drawn ones in ≥ 99 %; least {worst:.2f}",
            f"{sum(bug.seconds * bug.audits for bug in bugs):.0f} s",
            verdict(CAUGHT, worst),
        ),
        (sound.name, f"{sound.refuted} of {sound.audits}", f"{sound.seconds * sound.audits:.0f} s", _none(sound)),
    ]
    for counted, aim in zip(own, (FALSE, CAUGHT), strict=True):
        met = verdict(aim, counted.refuted if aim is FALSE else counted.share)
        refuted = f"{counted.refuted} of {counted.audits}"
        rows.append((counted.name, refuted, f"{counted.seconds * counted.audits:.0f} s", met))
    meaning = (
        f"How many audits ended in “refuted”; aims: {CAUGHT.text()} of those of a bug, none of those of a true claim."
    )
    table = Table("Audits", meaning, ("audited", "refuted", "CPU", "met"), tuple(rows))
    figures = {"bugs": {bug.name: [bug.refuted, bug.audits] for bug in bugs}, "alarms": list(alarms)}
    return Report((table,), figures, tuple(f"{bug.name}: {bug.share:.2f}" for bug in bugs if bug.share < 0.99))


def caught_bugs() -> list[Counted]:
    """Each drawn bug audited again and again; those with an exact law are refuted each time, or never."""
    missed = [bug.name for bug in mutants() if not isinstance(bug, Drawn) and not audit_bug(bug).is_refuted]
    assert not missed, missed
    return [
        _repeated(bug.name, lambda bug=bug: audit_bug(bug).is_refuted) for bug in mutants() if isinstance(bug, Drawn)
    ]  # type: ignore[misc]


def sound_audits() -> tuple[Counted, tuple[str, ...]]:
    """AUDITS audits of the registered claims in turns, by draws."""
    began = time.process_time()
    rows = [audit_draws(claim, runs=RUNS) for claim in islice(cycle(claims()), AUDITS)]
    alarms = tuple(row.name for row in rows if row.is_refuted)
    seconds = (time.process_time() - began) / AUDITS
    return Counted(f"sound claims in turns, {RUNS:,} runs a side", len(alarms), AUDITS, seconds), alarms


def own_functions() -> tuple[Counted, Counted]:
    """A right count at ε = 1 and one with half the noise, through dp.audit.mechanism."""

    def counts(scale: Fraction) -> Callable[[], bool]:
        def audit() -> bool:
            noise = iter(DiscreteLaplace(scale).draw(2 * RUNS, SYSTEM).tolist())
            return mechanism(lambda rows: len(rows) + next(noise), ([], ["Ada"]), 1, runs=RUNS).refuted

        return audit

    right = _repeated("a function that is right", counts(Fraction(1)), AUDITS)
    return right, _repeated("a function with half the noise", counts(Fraction(1, 2)))


def _repeated(name: str, is_refuted: Callable[[], bool], audits: int = REPEATS) -> Counted:
    began = time.process_time()
    refuted = int(is_refuted())
    first = time.process_time() - began
    audits = audits if first < SLOW else FEW
    refuted += sum(is_refuted() for _ in range(audits - 1))
    return Counted(name, refuted, audits, (time.process_time() - began) / audits)


def _none(counted: Counted) -> str:
    return verdict(FALSE, counted.refuted)
