"""The result of auditing something of the user's own: a lower bound beside the claim, and what it does not say."""

from dataclasses import dataclass
from typing import Any

from discreet.audit.bounds import Odds
from discreet.audit.report import Row, rounded_down, verdict
from discreet.audit.trial import Finding


@dataclass(frozen=True)
class Audited:
    """One claim, tried: it costs at least ε = `lower` at its δ, but for one audit of a million.

    `event` is the set of outputs that told the pair apart best, `runs` were drawn on each side, half of them to choose
    the event.
    """

    name: str
    claim: Odds
    lower: float
    refuted: bool
    event: str
    runs: int
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in words that promise no more than was shown."""
        leak = f" at δ = {float(self.claim.delta):g}" if self.claim.delta else ""
        counted, least = f"{self.runs - self.runs // 2:,} counted runs on each side", f"{rounded_down(self.lower):g}"
        if self.refuted:
            shown = f"{counted}: {self.event}"
            text = f"The claim {self.claim} is refuted: the cost is at least ε = {least}{leak}, by {shown}."
        else:
            text = (
                f"The claim {self.claim} is not refuted: {counted} found nothing above ε = {least}{leak}. "
                "Another pair, another event or more runs might."
            )
        return " ".join((text, *self.notes))

    @property
    def row(self) -> Row:
        """The row of a table of claims."""
        return Row(self.name, str(self.claim), self.lower, self.runs, self.event, verdict(self.refuted))

    def to_json(self) -> dict[str, Any]:
        """One object for programs."""
        return self.row.to_json() | {"sentence": self.sentence}


def result_of(name: str, claim: Odds, findings: list[Finding], runs: int, notes: tuple[str, ...] = ()) -> Audited:
    """The finding that came nearest to the claim, or furthest above it."""
    worst = max(findings, key=lambda finding: finding.excess)
    return Audited(name, claim, max(0.0, worst.bound), worst.is_refuted, str(worst.event), runs, notes)
