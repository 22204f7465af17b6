"""The shares of a question's ε that its columns take.

A part may serve several columns, and Gaussian noise is one mechanism on all its parts: either has one share, so that
the shares add up to ε exactly.
"""

from fractions import Fraction

from discreet.query.parts import Part, Present
from discreet.query.plan import Plan
from discreet.query.recipe import parts
from discreet.shares import Share, name_list


def column_shares(plan: Plan) -> tuple[Share, ...]:
    """What is taken for each column, for several columns at once, and for the choice of groups."""
    total, columns = plan.terms.epsilon, _columns(plan)
    epsilons: dict[str, Fraction] = {}
    for measured in plan.measured:
        if measured.epsilon is not None:
            name = _name(measured.part, columns)
            epsilons[name] = epsilons.get(name, Fraction(0)) + measured.epsilon
    normal = dict.fromkeys(
        column for measured in plan.measured if measured.epsilon is None for column in columns[measured.part]
    )
    if normal:
        name = name_list(list(normal)) if len(normal) == 1 else f"the noise of {name_list(list(normal))}"
        remainder = total - sum(epsilons.values(), Fraction(0))
        epsilons[name] = epsilons.get(name, Fraction(0)) + remainder
    return tuple(Share(name, epsilon / total, epsilon) for name, epsilon in epsilons.items())


def _columns(plan: Plan) -> dict[Part, list[str]]:
    """The columns that each part serves."""
    serves: dict[Part, list[str]] = {}
    for output, recipe in zip(plan.draft.question.outputs, plan.draft.recipes, strict=True):
        for part in dict.fromkeys(parts(recipe)):
            serves.setdefault(part, []).append(output.name)
    return serves


def _name(part: Part, columns: dict[Part, list[str]]) -> str:
    if isinstance(part, Present):
        return "the choice of groups"
    served = columns[part]
    return served[0] if len(served) == 1 else f"what {name_list(served)} have in common"
