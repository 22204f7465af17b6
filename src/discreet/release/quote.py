"""Quote a release: its cost and the ± of every level, from public facts; nothing is spent or read."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.query import explain
from discreet.release.caps import counted_of
from discreet.release.plan import ReleasePlan
from discreet.shares import Share, parts_in_words, words
from discreet.table import Table

_HEADINGS = ("level", "places", "cells", "share", "ε", "± cell", "± total")


@dataclass(frozen=True)
class ReleaseQuote:
    """The price of a release and the ± of each level; printing it shows the table that `release plan` shows."""

    dataset: str
    title: str
    protects: str
    cost: dict[str, str]
    level: Fraction
    levels: tuple[dict[str, Any], ...]
    method: str
    why: str
    known: dict[str, Any]  # what was given as public: total, leaf_totals, zeros
    known_words: tuple[str, ...]
    remaining: dict[str, str]
    remaining_after: dict[str, str]
    caveats: tuple[str, ...]
    of: str | None = None  # what a cap leaves to be counted
    shares: tuple[Share, ...] = ()  # of the levels

    def to_json(self) -> dict[str, Any]:
        """The object that `release plan --json` prints."""
        return {
            "ok": True,
            "format": 1,
            "dataset": self.dataset,
            "title": self.title,
            "protects": self.protects,
            "of": self.of,
            "cost": self.cost,
            "remaining": self.remaining,
            "remaining_after": self.remaining_after,
            "fits": self.fits,
            "receipt": None,
            "level": float(self.level),
            "levels": list(self.levels),
            "method": self.method,
            "why": self.why,
            "known": self.known,
            "caveats": list(self.caveats),
        }

    @property
    def fits(self) -> bool:
        """Whether the remaining ε is enough."""
        return Fraction(self.cost["epsilon"]) <= Fraction(self.remaining["epsilon"])

    def lines(self) -> list[str]:
        """The quote as lines of text."""
        lowest = self.levels[-1]
        cost, remaining, after = self.cost, self.remaining["epsilon"], self.remaining_after["epsilon"]
        return [
            f"{self.dataset}: {self.title}",
            f"Protects {self.protects}, neighbours by {cost['neighbours']}.",
            *([] if self.of is None else [f"Counts are {self.of}."]),
            "",
            *_aligned_lines([_HEADINGS, *map(_level_row, self.levels, parts_in_words(self.shares))]),
            "",
            f"± holds {amounts.text_of(100 * self.level)} times of 100 for each number by itself.",
            f"{lowest['level']}: for numbers below {10 * lowest['moe']:,} the ± is more than 10 % of the number.",
            words(self.shares),
            *self.known_words,
            self.why,
            f"Cost: epsilon {cost['epsilon']}, delta {cost['delta']}; nothing is spent yet.",
            f"Left now: epsilon {remaining}; after it {after}."
            if self.fits
            else f"It does not fit: epsilon {remaining} is left.",
            *(f"· {caveat}" for caveat in self.caveats),
        ]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def quote_of(table: Table, plan: ReleasePlan, *, title: str, analyst: str | None = None) -> ReleaseQuote:
    """The quote of a plan."""
    table.require_analyst(analyst)
    after = table.remaining_after(plan.measurement.cost, plan.terms, analyst=analyst)
    return ReleaseQuote(
        table.schema.name,
        title,
        plan.subject.protects,
        cost(plan),
        plan.terms.level,
        tuple(plan.level_rows()),
        plan.method,
        plan.why,
        known_numbers(plan),
        tuple(plan.known.words(plan.subject.tree)),
        table.remaining(analyst),
        after,
        tuple(caveats(plan)),
        counted_of(plan.subject),
        plan.level_shares,
    )


def known_numbers(plan: ReleasePlan) -> dict[str, Any]:
    """The public total, and how many leaf totals and zeros were given."""
    known = plan.known
    leaves = None if known.leaf_totals is None else len(known.leaf_totals)
    zeros = 0 if known.allowed is None else int((~known.allowed).sum())
    return {"total": known.total, "leaf_totals": leaves, "zeros": zeros}


def cost(plan: ReleasePlan) -> dict[str, Any]:
    """What is charged, as replies state it."""
    schema = plan.subject.schema
    return plan.terms.cost_json(schema.relation, explain.unit(schema))


def caveats(plan: ReleasePlan) -> list[str]:
    """Sentences that a reader of the tables must know; they follow from public facts."""
    spec, schema = plan.subject.spec, plan.subject.schema
    who, max_rows = explain.unit(schema), schema.max_rows
    lowest = plan.subject.tree.levels[-1]
    named = zip(spec.by, plan.subject.labels, strict=False)
    listed = " or ".join([lowest, *(name for name, labels in named if None not in labels)])
    sentences = [f"Rows whose {listed} is empty or not listed in the metadata are left out; ± does not cover that."]
    if max_rows > 1 and schema.unit is not None:
        rows = f"At most {max_rows} rows of one {who} can count; of more, a fixed choice of them does."
        once = f" A {who} with rows in several cells counts in one of them, a fixed choice."
        counted = spec.groups is None and spec.count == "units"
        sentences.append(rows + (once if counted or spec.groups == who else ""))
    if spec.groups is not None:
        sentences.append(f"Groups of more than {plan.subject.cells} count as {plan.subject.cells}.")
        if spec.groups != who:
            several = f"A {spec.groups} with rows in several places counts in each of them"
            sentences.append(f"{several}; rows without a {spec.groups} are left out.")
    sentences += plan.known.caveats()
    sentences.append(
        "Fitted numbers (n) are whole, not negative and add up: small ones lean upward, large ones a little downward, "
        "and the ± is not theirs but that of the estimates, which do not lean."
    )
    return sentences


# --- words -----------------------------------------------------------------------------------------------------------


def _level_row(level: dict[str, Any], part: str) -> tuple[str, ...]:
    share = part + (" locked" if level["locked"] else "")
    numbers = (f"{level[name]:,}" for name in ("places", "cells"))
    return (level["level"], *numbers, share, level["epsilon"], f"{level['moe']:,}", f"{level['total_moe']:,}")


def _aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines with columns of one width, the first to the left."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(row[1:], wide[1:], strict=True))])
        for row in rows
    ]
