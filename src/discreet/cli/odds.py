"""`discreet odds`: what someone could conclude about you, before anything is spent."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import typer

from discreet import amounts
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.errors import NotPriced, bad, fixed_by
from discreet.operation.reply import envelope
from discreet.privacy import analytic, convert, words
from discreet.privacy.certify import up
from discreet.privacy.cost import Approx, Cost, Gaussian, Pure, Response, Zcdp, to_json
from discreet.privacy.odds import LENIENCE, Belief, Question, Reach, catch_rate, guess, posterior, reach, reaches
from discreet.real import ball
from discreet.relation import Relation, relation
from discreet.terms import Terms, price_text

_CHANCE = Fraction(1, 10**6)
_EVEN = Fraction(1, 2)
_MOST_UNITS = 10**6


@dataclass(frozen=True)
class Findings:
    """All numbers of one reply, rounded to the worse side."""

    cost: Cost
    epsilon: Fraction
    delta: Fraction
    under: Relation
    question: Question
    group: int
    units: int
    prior: Fraction
    chance: Fraction
    loss: Fraction
    every: tuple[Reach, ...]
    belief: Belief
    even_guess: Fraction
    prior_guess: Fraction
    false_alarms: Fraction
    caught: Fraction


def odds(
    eps: Annotated[str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="A promise of ε.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="Its δ; with --sigma or --rho the chance.")] = None,
    sigma: Annotated[str | None, typer.Option(metavar="σ", help="Gaussian noise of σ sensitivities.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="ρ", help="A ρ-zCDP promise.")] = None,
    survey: Annotated[bool, typer.Option("--survey", help="Randomized answers; two fair coins without --eps.")] = False,
    prior: Annotated[str, typer.Option(metavar="P", help="The attacker's belief before.")] = "0.5",
    group: Annotated[str, typer.Option(metavar="K", help="You and K - 1 others, such as a family.")] = "1",
    relation: Annotated[str | None, typer.Option(metavar="NAME", help="add-remove or replace-one.")] = None,
    question: Annotated[str | None, typer.Option(metavar="NAME", help="presence or value.")] = None,
    false_alarms: Annotated[str, typer.Option(metavar="A", help="False accusations accepted.")] = "0.01",
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """What a promise lets someone conclude about you: beliefs, guesses, catches.

    The promise is called strong if the best 50/50 guess is right at most 73.11 times of 100 (as with a pure ε of 1),
    moderate up to 95.26 (ε = 3), weak up to 99.996 (ε = 10): a convention.

    Example: discreet odds --eps 1 --prior 0.4
    """
    require_new(output, yes)
    cost, rare = _promise(eps, delta, sigma, rho, survey)
    under = _relation(relation, survey)
    asked = Question.PRESENCE if under is Relation.ADD_REMOVE else Question.VALUE
    size = amounts.whole(group, "group", 1, _MOST_UNITS, such_as=4)
    found = _findings(cost, rare, under, question or asked, size, prior, false_alarms)
    return Reply(_data(found), lambda: _picture(found), output, replace=yes)


def _promise(
    eps: str | None, delta: str | None, sigma: str | None, rho: str | None, survey: bool
) -> tuple[Cost, Fraction]:
    """The cost that was typed, and the δ that goes with it."""
    given = [name for name, text in (("--eps", eps), ("--sigma", sigma), ("--rho", rho)) if text is not None]
    if len(given) > 1 or (survey and given not in ([], ["--eps"])) or not (given or survey):
        typed = " ".join([*given, *(["--survey"] if survey else [])]) or "none of them"
        raise bad("promise", "must be one of --eps, --sigma, --rho, --survey", typed, "Type, say, --eps 1.")
    small = None if delta is None else _delta(delta)
    if survey:
        if small:
            raise bad("delta", "must be left out with --survey, which is pure", delta, "Leave --delta out.")
        return Response(_two_coins() if eps is None else amounts.epsilon(eps)), Fraction(0)
    if eps is not None:
        epsilon = amounts.epsilon(eps)
        return (Approx(epsilon, small), small) if small else (Pure(epsilon), Fraction(0))
    if small == 0:
        raise bad("delta", "must be above 0 with --sigma or --rho", delta, "Give a number such as 1e-6.")
    return Gaussian(_text(sigma)) if sigma is not None else Zcdp(_text(rho)), small or _CHANCE


def _delta(typed: str) -> Fraction:
    fix = (
        "Give a number such as 1e-7: a δ near one over the number of people lets a person's row be published outright."
    )
    with fixed_by(fix):
        return amounts.delta(typed)


def _findings(
    cost: Cost, rare: Fraction, under: Relation, question: Any, group: int, prior: str, false_alarms: str
) -> Findings:
    own = reach(cost, under, rare, question=question, group=group)
    loss = _stated(own)
    with fixed_by("Give a number such as 0.4."):
        before = amounts.inner_probability(prior, "prior")
    with fixed_by("Give a number such as 0.01."):
        alarms = amounts.inner_probability(false_alarms, "false-alarms")
    epsilon, delta = _price(cost, rare)
    return Findings(
        cost=cost,
        epsilon=epsilon,
        delta=delta,
        under=under,
        question=own.question,
        group=group,
        units=own.steps,
        prior=before,
        chance=own.chance,
        loss=loss,
        every=reaches(cost, under, rare, group=group),
        belief=posterior(loss, before),
        even_guess=own.best_guess,
        prior_guess=guess(cost, before, units=own.steps),
        false_alarms=alarms,
        caught=catch_rate(cost, alarms, units=own.steps),
    )


def _stated(own: Reach) -> Fraction:
    if own.loss is None:
        raise NotPriced(
            f"No odds can be stated for {own.steps} steps at once.",
            "An (ε, δ) promise wears off for groups: δ grows by (e^{kε} − 1)/(e^ε − 1).",
            "Give a smaller --delta or --group, or describe the noise itself by --sigma or --rho.",
        )
    return own.loss


def _price(cost: Cost, chance: Fraction) -> tuple[Fraction, Fraction]:
    """The (ε, δ) to print beside the promise."""
    match cost:
        case Approx(epsilon=epsilon, delta=delta):
            return epsilon, delta
        case Pure(epsilon=epsilon) | Response(epsilon=epsilon):
            return epsilon, Fraction(0)
        case Gaussian(sigma=sigma):
            return analytic.epsilon(sigma, chance), chance
        case Zcdp(rho=rho):
            return convert.epsilon_of_zcdp(rho, chance), chance
        case _:
            raise bad("promise", "must be one of --eps, --sigma, --rho, --survey", cost, "Type, say, --eps 1.")


def _data(found: Findings) -> dict[str, Any]:
    cost = Terms(found.epsilon, found.delta).cost_json(found.under, None)
    numbers = {
        "promise": to_json(found.cost),
        "question": str(found.question),
        "group": found.group,
        "prior": amounts.shown(found.prior),
        "belief": {"low": _down(found.belief.low), "high": _up(found.belief.high)},
        "log_factor": amounts.shown(found.loss),
        "except_chance": amounts.shown(amounts.rounded_up(found.chance, 6)),
        "about": [one.to_json() for one in found.every],
        "guess": _up(found.even_guess),
        "guess_with_prior": _up(found.prior_guess),
        "false_alarms": amounts.shown(found.false_alarms),
        "catch": _up(found.caught),
        "strength": words.strength(found.even_guess),
        "sentences": _sentences(found),
    }
    return envelope(cost=cost, odds=numbers, caveats=_caveats(found))


def _sentences(found: Findings) -> list[str]:
    person = words.person if found.question is Question.PRESENCE else words.person_value
    yourself = "nobody but you" if found.group == 1 else "nobody but each of you"
    seen_by = yourself if isinstance(found.cost, Response) else "whoever holds the data"
    return [
        person(found.even_guess, seen_by=seen_by, others=found.group - 1),
        words.odds_moved("This", found.every, others=found.group - 1),
        words.reviewer(found.caught, found.false_alarms),
    ]


def _caveats(found: Findings) -> list[str]:
    notes = []
    if found.chance:
        notes.append(f"The odds and beliefs hold except with a chance of {words.chance(found.chance)}: {_parts(found)}")
    if found.question is Question.PRESENCE:
        notes.append(f"{_sentences(found)[1]} See --question value.")
    elif found.under is Relation.ADD_REMOVE:
        notes.append("Under add-remove a changed value is two steps, so this is twice the promise.")
    else:
        notes.append(_sentences(found)[1])
    notes.append("Everything else that was published about you adds up with this.")
    return notes


def _parts(found: Findings) -> str:
    """Where the chance comes from, towards the truth and away from it."""
    if not isinstance(found.cost, Approx):
        return "they move further towards the truth with a chance of at most δ, and further away from it more rarely."
    leak, steps = ("δ", "ε") if found.units == 1 else (f"the δ of {found.units} steps", f"{found.units}ε")
    return (
        f"they move further towards the truth with a chance of at most {LENIENCE} times {leak}, and further away from "
        f"it more rarely. At {LENIENCE} times {leak} the bound is {steps} + 0.0101; at δ itself there is none."
    )


def _picture(found: Findings) -> Any:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    for name, line in _lines(found):
        table.add_row(name, line)
    notes = "\n".join(f"· {note}" for note in _caveats(found))
    return Group(table, Padding(_sentences(found)[0], (1, 0)), Padding(notes, (0, 0), style="dim"))


def _lines(found: Findings) -> list[tuple[str, str]]:
    several = f", {words.together(found.group - 1)} at once" if found.group > 1 else ""
    price = price_text({"epsilon": f"{amounts.rounded_up(found.epsilon, 6):f}", "delta": amounts.shown(found.delta)})
    low, high = words.at_least(found.belief.low), words.at_most(found.belief.high)
    alarms = words.accusations(found.false_alarms)
    may = "can be multiplied by" if found.loss > words.LARGEST_FACTOR else "multiplied by"
    informed = f"right at most {words.at_most(found.prior_guess)} times of 100, where the prior alone is right"
    alone = words.at_least(max(found.prior, 1 - found.prior))
    return [
        ("promise", f"{price}, neighbours by {found.under}{several}: {words.strength(found.even_guess)}"),
        ("odds", f"{may} {words.factor(found.loss)}"),
        ("belief", f"from {words.at_most(found.prior)} of 100 to between {low} and {high} of 100"),
        ("best guess", f"right at most {words.at_most(found.even_guess)} times of 100, where a coin is right 50"),
        *([("with prior", f"{informed} {alone}")] if found.prior != _EVEN else []),
        ("catch", f"at most {words.at_most(found.caught)} of 100 members at {alarms} per 100"),
    ]


def _relation(typed: str | None, survey: bool) -> Relation:
    default = Relation.REPLACE_ONE if survey else Relation.ADD_REMOVE
    return default if typed is None else relation(typed)


def _two_coins() -> Fraction:
    """ln 3, rounded up: answer truly on heads, else as a second coin says."""
    return up(lambda: ball(3).log())


def _text(typed: str | None) -> Any:
    return typed


def _up(share: Fraction) -> float:
    return float(amounts.rounded_up(share, 6))


def _down(share: Fraction) -> float:
    return float(-amounts.rounded_up(-share, 6))
