"""The card of a model: what it is, what it promises and in which words, what was public, and what it is not for."""

from collections.abc import Iterable
from typing import Any

from discreet import amounts
from discreet.errors import NotPriced, bad
from discreet.inert import markdown
from discreet.learn.fit import Fit
from discreet.learn.learners import model_name
from discreet.learn.privacy import INVENTED_WORDS, Privacy
from discreet.learn.risk.linear import solver_words
from discreet.privacy import odds, words
from discreet.privacy.cost import Approx, Cost, Pure
from discreet.relation import Relation
from discreet.terms import price_text

FORMATS = ("markdown", "json")
_LISTED = 20  # public values of a column that are shown at most


def card(fit: Fit, format: str = "markdown") -> Any:
    """The card as Markdown, or as an object for programs."""
    if format not in FORMATS:
        raise bad("format", f"must be one of {', '.join(FORMATS)}", format, "Write: format='json'")
    facts = card_json(fit)
    return facts if format == "json" else _markdown(facts)


def card_json(fit: Fit) -> dict[str, Any]:
    """All of the card as JSON."""
    subject, privacy = fit.plan.subject, fit.privacy
    return {
        **({"rehearsal": True} if privacy.is_invented else {}),
        "model": model_name(fit.facts.learner, fit.facts.options),
        "title": fit.facts.title,
        "options": dict(fit.facts.options),
        "solver": solver_words(fit.facts, fit.plan, fit.released),
        "scaling": list(fit.scale_words),
        "target": subject.target.name,
        "features": [feature.name for feature in subject.features],
        "privacy": privacy.to_json(),
        "words": _promise_words(privacy),
        "counted": subject.words(),
        "not_for": _not_for(fit),
    }


def _promise_words(privacy: Privacy) -> list[str]:
    """What the promise lets someone conclude about one unit."""
    try:
        reaches = odds.reaches(privacy.cost, privacy.relation, privacy.delta)
    except NotPriced:
        reaches = odds.reaches(_stated_cost(privacy), privacy.relation, privacy.delta)
    person = words.person if privacy.relation is Relation.ADD_REMOVE else words.person_value
    return [
        person(reaches[0].best_guess, seen_by="whoever holds the data"),
        words.odds_moved("This model", reaches),
        "Whatever else is released from the same data comes on top.",
    ]


def _stated_cost(privacy: Privacy) -> Cost:
    return Approx(privacy.epsilon, privacy.delta) if privacy.delta else Pure(privacy.epsilon)


def _not_for(fit: Fit) -> list[str]:
    """Uses that the promise does not carry."""
    unit = fit.privacy.unit
    uses = [
        f"To tell whether a {unit} was in the data, or what its rows said: the promise is that it cannot be told well.",
        "To decide about one person by a prediction alone: it tells of people with the same features.",
        "To predict the rows that it was fitted on and publish these predictions beside them: rows that you hand over "
        "are not protected.",
        "As a proof of accuracy or fairness: neither is promised, and measuring them on private rows is charged apart.",
    ]
    if fit.is_given:
        uses.append("As a promise about features that were made from the data beforehand: only the fit is covered.")
    if not fit.privacy.is_charged:
        uses.append("Where a budget must hold: this fit was charged nowhere, so somebody has to add it up by hand.")
    return uses


# --- Markdown --------------------------------------------------------------------------------------------------------


def _markdown(facts: dict[str, Any]) -> str:
    privacy = facts["privacy"]
    target, unit = markdown(facts["target"]), markdown(privacy["unit"])
    count = len(facts["features"])
    price = f"differentially private with {price_text(privacy)} for each {unit}"
    return "\n".join(
        [
            *([f"**{INVENTED_WORDS}**", ""] if facts.get("rehearsal") else []),
            f"# {markdown(facts['title'])} for {target}",
            "",
            f"A model of {target} from {count} feature{'s' * (count > 1)}, {price}.",
            "",
            *_section("What it promises", [*facts["words"], facts["counted"]]),
            *_section("How it was made", _made_lines(facts)),
            *_section("What was taken as public", _public_lines(privacy["public"]["columns"])),
            *_section("What it must not be used for", facts["not_for"]),
        ]
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {markdown(line)}" for line in lines), ""]


def _made_lines(facts: dict[str, Any]) -> list[str]:
    privacy = facts["privacy"]
    options = ", ".join(f"{name} = {value}" for name, value in facts["options"].items() if value is not None)
    return [
        f"Method: {facts['title']}{f' ({options})' if options else ''}.",
        *([facts["solver"]] if facts["solver"] else []),
        *facts["scaling"],
        f"Price: {price_text(privacy)}, neighbours by {privacy['neighbours']}, protecting each {privacy['unit']}.",
        *(f"Measured: {mechanism}." for mechanism in privacy["mechanisms"]),
        f"Arithmetic: {privacy['arithmetic']}.",
        f"The promise covers {privacy['covers']}.",
        f"Receipt: {privacy['receipt']}.",
    ]


def _public_lines(columns: dict[str, Any]) -> list[str]:
    return [f"{name}: {_fact(fact)}" for name, fact in columns.items()]


def _fact(fact: dict[str, Any]) -> str:
    if "bounds" in fact:
        low, high = (amounts.exact_text(amounts.decimal(end, "bounds")) for end in fact["bounds"])
        return f"between {low} and {high}"
    values = [str(value) for value in fact["values"]]
    more = f" … and {len(values) - _LISTED:,} more" if len(values) > _LISTED else ""
    return f"one of {', '.join(values[:_LISTED])}{more}"
