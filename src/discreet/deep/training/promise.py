"""What a trained net promises: the amounts of its plan, what was taken as public, and what is not covered."""

from collections.abc import Mapping
from typing import Any

from discreet.deep.training.course import Course
from discreet.deep.training.draws import AnyPlan, mechanisms_of
from discreet.deep.training.noise import EXACT
from discreet.learn.privacy import GIVEN, Privacy
from discreet.relation import Relation

_SHOWN = 10  # factors of a schedule that are listed, beside the last
EXACT_WORDS = (
    "exact noise on a public lattice, and norms and sums that are rounded within a margin of 2⁻¹⁰ of the clip, for "
    "samples of up to tens of thousands of persons (the proof of clipping says how many); that a person's rows can "
    "change the last digits of other persons' gradients is covered in real arithmetic only; draws inside a net, as "
    "dropout's, are pseudo-random, by a secret state"
)
FLOAT_WORDS = "real arithmetic: the noise is floating point, and so are the sums that it is added to"
CHOSEN = "options that were chosen by looking at the data, such as a clip or a rate that won a search, are not covered"


def privacy_of(
    plan: AnyPlan, public: Mapping[str, Any], *, noise: str, max_rows: int, unit: str, receipt: str, covers: str = GIVEN
) -> Privacy:
    """The promise of a training that was charged; `public` lists what was taken as public beside the plan."""
    facts = {"rows": plan.rows, "batch": str(plan.divisor), "steps": plan.steps, **public, "chosen": CHOSEN}
    words = EXACT_WORDS if noise == EXACT else FLOAT_WORDS
    return Privacy(
        plan.epsilon, plan.delta, Relation.ADD_REMOVE, unit, max_rows, plan.cost, mechanisms_of(plan), words, facts,
        covers, receipt,
    )  # fmt: skip


def public_facts(course: Course) -> dict[str, Any]:
    """What a training takes as public, as JSON."""
    facts = course.to_json()
    names = ("clip", "loss", "optimizer", "average")
    schedule, shown = course.factors, _SHOWN
    if schedule is not None:
        schedule = tuple(schedule[len(schedule) * place // shown] for place in range(shown)) + schedule[-1:]
    return {
        **{name: facts[name] for name in names},
        "schedule": None if schedule is None else list(schedule),
        "initial weights": "those that the module had before",
    }
