"""`discreet odds`: show what someone could conclude about you, before anything is spent."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import typer

from discreet import amounts
from discreet.cli.drawing import fact_list
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import NotPriced, bad, fixed_by
from discreet.operation.reply import envelope
from discreet.privacy import analytic, convert, words
from discreet.privacy.certify import up
from discreet.privacy.cost import Approx, Cost, Gaussian, Pure, Response, Zcdp, to_json
from discreet.privacy.odds import LENIENCE, Belief, Question, Reach, catch_rate, guess, posterior, reach, reaches
from discreet.real import ball
from discreet.relation import Relation
from discreet.relation import relation as parse_relation
from discreet.terms import Terms, price_text

_DELTA = Fraction(1, 10**6)  # of noise described by --sigma or --rho, by default
_EVEN = Fraction(1, 2)
_MOST_UNITS = 10**6


@dataclass(frozen=True)
class Findings:
    """All numbers of one reply, rounded to the worse side."""

    cost: Cost
    terms: Terms  # the (ε, δ) that is shown for the cost
    relation: Relation
    reach: Reach  # of the question that was asked
    every_reach: tuple[Reach, ...]
    loss: Fraction
    group: int
    prior: Fraction
    belief: Belief
    prior_guess: Fraction
    false_alarms: Fraction
    catch_rate: Fraction


def odds(
    eps: Annotated[str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="ε of the promise.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="Its δ; with --sigma or --rho the chance.")] = None,
    sigma: Annotated[str | None, typer.Option(metavar="σ", help="Width of Gaussian noise, in sensitivities.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="ρ", help="ρ of a zCDP promise.")] = None,
    survey: Annotated[bool, typer.Option("--survey", help="Randomize answers; two fair coins without --eps.")] = False,
    prior: Annotated[str, typer.Option(metavar="P", help="The attacker's belief before.")] = "0.5",
    group: Annotated[str, typer.Option(metavar="K", help="Group size, such as a family: you and K - 1 others.")] = "1",
    relation: Annotated[str | None, typer.Option(metavar="NAME", help="add-remove or replace-one.")] = None,
    question: Annotated[str | None, typer.Option(metavar="NAME", help="presence or value.")] = None,
    false_alarms: Annotated[str, typer.Option(metavar="A", help="Share of false accusations accepted.")] = "0.01",
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Show what a promise lets someone conclude about you: beliefs, guesses, catches.

    The promise is called strong if the best 50/50 guess is right at most 73.11 times of 100 (as with a pure ε of 1),
    moderate up to 95.26 (ε = 3), weak up to 99.996 (ε = 10): a convention.

    Example: discreet odds --eps 1 --prior 0.4
    """
    require_new(output, yes)
    cost, chance = _promise(eps, delta, sigma, rho, survey)
    default_relation = Relation.REPLACE_ONE if survey else Relation.ADD_REMOVE
    neighbours = default_relation if relation is None else parse_relation(relation)
    default = Question.PRESENCE if neighbours is Relation.ADD_REMOVE else Question.VALUE
    size = amounts.whole(group, "group", 1, _MOST_UNITS, such_as=4)
    result = _findings(cost, chance, neighbours, question or default, size, prior, false_alarms)
    return Reply(_data(result), lambda: _picture(result), output, replace=yes)


def _promise(
    eps: str | None, delta: str | None, sigma: str | None, rho: str | None, survey: bool
) -> tuple[Cost, Fraction]:
    """The cost that was typed, and the δ that goes with it."""
    flags = [name for name, text in (("--eps", eps), ("--sigma", sigma), ("--rho", rho)) if text is not None]
    if len(flags) > 1 or (survey and flags not in ([], ["--eps"])) or not (flags or survey):
        typed = " ".join([*flags, *(["--survey"] if survey else [])]) or "none of them"
        raise bad("promise", "must be one of --eps, --sigma, --rho, --survey", typed, "Type, say, --eps 1.")
    parsed_delta = None if delta is None else _delta(delta)
    if survey:
        if parsed_delta:
            raise bad("delta", "must be left out with --survey, which is pure", delta, "Leave --delta out.")
        return Response(_two_coins() if eps is None else amounts.epsilon(eps)), Fraction(0)
    if eps is not None:
        epsilon = amounts.epsilon(eps)
        return (Approx(epsilon, parsed_delta), parsed_delta) if parsed_delta else (Pure(epsilon), Fraction(0))
    if parsed_delta == 0:
        raise bad("delta", "must be above 0 with --sigma or --rho", delta, "Give a number such as 1e-6.")
    cost: Any = Zcdp if sigma is None else Gaussian
    return cost(rho if sigma is None else sigma), parsed_delta or _DELTA


def _delta(typed: str) -> Fraction:
    fix = (
        "Give a number such as 1e-7: a δ near one over the number of people lets a person's row be published outright."
    )
    with fixed_by(fix):
        return amounts.delta(typed)


def _findings(
    cost: Cost, delta: Fraction, relation: Relation, question: Any, group: int, prior: str, false_alarms: str
) -> Findings:
    asked = reach(cost, relation, delta, question=question, group=group)
    if asked.loss is None:
        raise NotPriced(
            f"No odds can be stated for {asked.steps} steps at once.",
            "An (ε, δ) promise wears off for groups: δ grows by (e^{kε} − 1)/(e^ε − 1).",
            "Give a smaller --delta or --group, or describe the noise itself by --sigma or --rho.",
        )
    with fixed_by("Give a number such as 0.4."):
        before = amounts.inner_probability(prior, "prior")
    with fixed_by("Give a number such as 0.01."):
        alarms = amounts.inner_probability(false_alarms, "false-alarms")
    return Findings(
        cost=cost,
        terms=_price(cost, delta),
        relation=relation,
        reach=asked,
        every_reach=reaches(cost, relation, delta, group=group),
        loss=asked.loss,
        group=group,
        prior=before,
        belief=posterior(asked.loss, before),
        prior_guess=guess(cost, before, units=asked.steps),
        false_alarms=alarms,
        catch_rate=catch_rate(cost, alarms, units=asked.steps),
    )


def _price(cost: Cost, delta: Fraction) -> Terms:
    """The (ε, δ) to print beside the promise."""
    match cost:
        case Pure(epsilon=epsilon) | Response(epsilon=epsilon):
            return Terms(epsilon)
        case Approx(epsilon=epsilon):
            return Terms(epsilon, cost.delta)
        case Gaussian(sigma=sigma):
            return Terms(analytic.epsilon(sigma, delta), delta)
        case Zcdp(rho=rho):
            return Terms(convert.epsilon_of_zcdp(rho, delta), delta)
        case _:
            raise bad("promise", "must be one of --eps, --sigma, --rho, --survey", cost, "Type, say, --eps 1.")


def _data(result: Findings) -> dict[str, Any]:
    cost = result.terms.cost_json(result.relation, None)
    numbers = {
        "promise": to_json(result.cost),
        "question": str(result.reach.question),
        "group": result.group,
        "prior": amounts.text_of(result.prior),
        "belief": {"low": _down(result.belief.low), "high": _up(result.belief.high)},
        "log_factor": amounts.text_of(result.loss),
        "except_chance": amounts.text_up(result.reach.chance, 6),
        "about": [reach.to_json() for reach in result.every_reach],
        "guess": _up(result.reach.best_guess),
        "guess_with_prior": _up(result.prior_guess),
        "false_alarms": amounts.text_of(result.false_alarms),
        "catch": _up(result.catch_rate),
        "strength": words.strength(result.reach.best_guess),
        "sentences": _sentences(result),
    }
    return envelope(cost=cost, odds=numbers, caveats=_caveats(result))


def _sentences(result: Findings) -> list[str]:
    person = words.person if result.reach.question is Question.PRESENCE else words.person_value
    yourself = "nobody but you" if result.group == 1 else "nobody but each of you"
    seen_by = yourself if isinstance(result.cost, Response) else "whoever holds the data"
    return [
        person(result.reach.best_guess, seen_by=seen_by, others=result.group - 1),
        words.odds_moved("This", result.every_reach, others=result.group - 1),
        words.reviewer(result.catch_rate, result.false_alarms),
    ]


def _caveats(result: Findings) -> list[str]:
    notes = []
    if result.reach.chance:
        chance = words.chance(result.reach.chance)
        notes.append(f"The odds and beliefs hold except with a chance of {chance}: {_parts(result)}")
    if result.reach.question is Question.PRESENCE:
        notes.append(f"{_sentences(result)[1]} See --question value.")
    elif result.relation is Relation.ADD_REMOVE:
        notes.append("Under add-remove a changed value is two steps, so this is twice the promise.")
    else:
        notes.append(_sentences(result)[1])
    notes.append("Everything else that was published about you adds up with this.")
    return notes


def _parts(result: Findings) -> str:
    """Where the chance comes from, towards the truth and away from it."""
    if not isinstance(result.cost, Approx):
        return "they move further towards the truth with a chance of at most δ, and further away from it more rarely."
    count = result.reach.steps
    leak, steps = ("δ", "ε") if count == 1 else (f"the δ of {count} steps", f"{count}ε")
    return (
        f"they move further towards the truth with a chance of at most {LENIENCE} times {leak}, and further away from "
        f"it more rarely. At {LENIENCE} times {leak} the bound is {steps} + 0.0101; at δ itself there is none."
    )


def _picture(result: Findings) -> Any:
    from rich.console import Group
    from rich.padding import Padding

    notes = "\n".join(f"· {note}" for note in _caveats(result))
    return Group(fact_list(_facts(result)), Padding(_sentences(result)[0], (1, 0)), Padding(notes, (0, 0), style="dim"))


def _facts(result: Findings) -> list[tuple[str, str]]:
    several = f", {words.together(result.group - 1)} at once" if result.group > 1 else ""
    epsilon, delta = f"{amounts.rounded_up(result.terms.epsilon, 6):f}", amounts.text_of(result.terms.delta)
    price = price_text({"epsilon": epsilon, "delta": delta})
    even = result.reach.best_guess
    low, high = words.at_least(result.belief.low), words.at_most(result.belief.high)
    alarms = words.accusations(result.false_alarms)
    may = "can be multiplied by" if result.loss > words.LARGEST_FACTOR else "multiplied by"
    informed = f"right at most {words.at_most(result.prior_guess)} times of 100, where the prior alone is right"
    alone = words.at_least(max(result.prior, 1 - result.prior))
    return [
        ("promise", f"{price}, neighbours by {result.relation}{several}: {words.strength(even)}"),
        ("odds", f"{may} {words.factor(result.loss)}"),
        ("belief", f"from {words.at_most(result.prior)} of 100 to between {low} and {high} of 100"),
        ("best guess", f"right at most {words.at_most(even)} times of 100, where a coin is right 50"),
        *([("with prior", f"{informed} {alone}")] if result.prior != _EVEN else []),
        ("catch", f"at most {words.at_most(result.catch_rate)} of 100 members at {alarms} per 100"),
    ]


def _two_coins() -> Fraction:
    """ln 3, rounded up: answer truly on heads, else as a second coin says."""
    return up(lambda: ball(3).log())


def _up(share: Fraction) -> float:
    return float(amounts.rounded_up(share, 6))


def _down(share: Fraction) -> float:
    return float(-amounts.rounded_up(-share, 6))
