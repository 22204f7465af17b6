"""Claims of output and objective perturbation on tables of at most three rows."""

from collections.abc import Iterator
from fractions import Fraction

from discreet.audit.claim import Claim
from discreet.audit.minimised import SPEC
from discreet.audit.trial import Pair
from discreet.bounded import RowLimit
from discreet.learn.price import Price, parse_price
from discreet.learn.risk.line_loss import line_loss
from discreet.learn.risk.objective import ObjectivePerturbation, objective_perturbation
from discreet.learn.risk.output import OutputPerturbation, output_perturbation
from discreet.relation import Relation
from discreet.terms import Terms

RIDGE, STRAIGHT = Fraction(4), Fraction(64)  # with the second, weights are short and every slope of a hinge is 1
PURE, NORMAL = parse_price(1), Price(Terms.parse("1", "0.12"), Fraction(1))
SMALL_DELTA = parse_price(1, "0.01")
_SOLVED = 200  # runs of a mechanism that solves a risk in each
_ENTERED: tuple[Pair, ...] = (
    ((), ((0, 1),)),
    (((1, 1), (0, 0)), ((1, 1), (0, 0), (-1, 1))),
    (((-1, 0), (-1, 0)), ((-1, 0), (-1, 0), (1, 1))),
)
_REPLACED: tuple[Pair, ...] = (
    (((0, 1),), ((0, 0),)),
    (((1, 1), (1, 1)), ((1, 1), (1, 0))),
    (((-1, 0), (0, 1)), ((-1, 0), (1, 1))),
)
_ENTERED_AT_0: tuple[Pair, ...] = (((), ((0, 1),)), (((0, 1),), ((0, 1), (0, 0))), (((0, 0),) * 2, ((0, 0),) * 3))
_REPLACED_AT_0: tuple[Pair, ...] = ((((0, 1),), ((0, 0),)), (((0, 1), (0, 1)), ((0, 1), (0, 0))))
_PAIRS = {Relation.ADD_REMOVE: (_ENTERED, _ENTERED_AT_0), Relation.REPLACE_ONE: (_REPLACED, _REPLACED_AT_0)}


def family() -> Iterator[Claim]:
    """All claims of this module."""
    yield Claim("output-pure", output_perturbation, output(PURE), _ENTERED)
    for relation, (pairs, world) in _PAIRS.items():
        ending = "" if relation is Relation.ADD_REMOVE else "-replace-one"
        yield Claim(f"output-gaussian{ending}", output_perturbation, output(NORMAL, relation), pairs)
        straight = objective(SMALL_DELTA, relation, "hinge", STRAIGHT)
        yield Claim(f"objective-gaussian{ending}", objective_perturbation, straight, pairs, world, _SOLVED)
    curved = objective(SMALL_DELTA)
    yield Claim("objective-curved", objective_perturbation, curved, _ENTERED, _ENTERED_AT_0, _SOLVED)
    yield Claim("objective-pure", objective_perturbation, objective(PURE), _ENTERED, (), _SOLVED)


def output(price: Price, relation: Relation = Relation.ADD_REMOVE) -> OutputPerturbation:
    """The minimum of a hinge risk, whose slope is 1 up to the margin, with noise."""
    return output_perturbation(SPEC, line_loss("hinge"), RIDGE, RowLimit(1, relation), price)


def objective(
    price: Price, relation: Relation = Relation.ADD_REMOVE, loss: str = "logistic", ridge: Fraction = RIDGE
) -> ObjectivePerturbation:
    """The minimum of a tilted risk."""
    return objective_perturbation(SPEC, line_loss(loss), ridge, RowLimit(1, relation), price)
