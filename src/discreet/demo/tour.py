"""All figures of the tour, for the terminal, for JSON and for the picture."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.demo import shares
from discreet.demo.eyes import EPSILON, BlueEyes, blue_eyes
from discreet.demo.shares import Errors, ManyCounts, many_counts, share_errors
from discreet.demo.survey import TaxSurvey, tax_survey
from discreet.noise.public import generator

CAVEATS = (
    "The people are invented: exact values may be shown. A real table's never are.",
    "A seed makes the people again; noise is the system's own and takes no seed.",
    "± holds 95 times of 100 for privacy noise; the survey's for who was asked too.",
)


@dataclass(frozen=True)
class Tour:
    """Three questions of a first lecture, answered."""

    seed: int
    eyes: BlueEyes
    survey: TaxSurvey
    errors: tuple[Errors, ...]
    many: tuple[ManyCounts, ...]


def tour(seed: int) -> Tour:
    """The figures; the seed makes the tables, nothing makes the noise."""
    chance = generator(amounts.count(seed, "seed", 0, 2**63 - 1))
    return Tour(seed, blue_eyes(chance), tax_survey(chance), share_errors(chance), many_counts())


def to_json(figures: Tour) -> dict[str, Any]:
    """Everything shown, under plain names; ε and δ as decimal text."""
    plain: dict[str, Any] = _plain(asdict(figures))
    plain["eyes"]["epsilon"] = amounts.text_of(EPSILON)
    survey = figures.survey
    plain["survey"] |= {"prior": float(survey.prior), "after_yes": float(survey.after_yes)}
    plain["survey"]["after_no"] = float(survey.after_no)
    plain["errors"] = {
        "epsilon": amounts.text_of(shares.EPSILON),
        "delta": amounts.text_of(shares.DELTA),
        "repeats": shares.REPEATS,
        "curves": plain["errors"],
    }
    return plain


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple() | list():
            return [_plain(part) for part in value]
        case Fraction():
            return amounts.text_of(value)
        case _:
            return value
