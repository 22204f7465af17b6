"""Did you dodge your tax?  Two fair coins answer for everybody, and the share still comes out.

P[yes | dodged] = ¾,   P[yes | did not] = ¼,   estimate = 2·(share of yes) − ½,   ε = ln 3        Warner (1965)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from discreet.bounded import scalar
from discreet.demo.people import traits
from discreet.mechanism.additive import laplace
from discreet.mechanism.response import ShareEstimate, two_coins
from discreet.noise.public import Generator
from discreet.noise.source import SYSTEM
from discreet.privacy.odds import loss_bound, response_posterior
from discreet.relation import Relation

PEOPLE = 10_000
PRIOR = Fraction(2, 100)
LEVEL = Fraction(95, 100)


@dataclass(frozen=True)
class TaxSurvey:
    """What was asked, what came out, and what one answer gives away."""

    people: int
    epsilon: Fraction
    exact: float  # the share among those asked: shown only because they are invented
    said_yes: int
    before: float  # ± at 95 %, stated before: the worst over all shares
    estimate: ShareEstimate
    central: float  # ± at 95 % of a trusted curator's count at the same ε, with Laplace noise
    prior: Fraction
    after_yes: Fraction  # belief that someone who said yes dodged
    after_no: Fraction


def tax_survey(chance: Generator) -> TaxSurvey:
    """The survey run once, each person's coins thrown for real."""
    mechanism = two_coins()
    dodged = traits(PEOPLE, PRIOR, chance)
    reports = mechanism(dodged, SYSTEM)
    epsilon = loss_bound(mechanism.cost, 0)  # ln 3, rounded up
    yes, no = mechanism.said_yes(1), mechanism.said_yes(0)
    return TaxSurvey(
        people=PEOPLE,
        epsilon=epsilon,
        exact=float(dodged.mean()),
        said_yes=int(reports.sum()),
        before=NormalDist().inv_cdf(float((1 + LEVEL) / 2)) * math.sqrt(mechanism.variance(0.5, PEOPLE)),
        estimate=mechanism.share(reports, LEVEL),
        central=laplace(scalar(1, Relation.REPLACE_ONE), epsilon).radius(LEVEL) / PEOPLE,
        prior=PRIOR,
        after_yes=response_posterior(PRIOR, yes, no),
        after_no=response_posterior(PRIOR, 1 - yes, 1 - no),
    )
