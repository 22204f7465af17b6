"""The card of a trained net: what it is, what it promises and in which words, what was public, what it is not for."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from torch import nn

from discreet.errors import NotPriced, bad
from discreet.inert import markdown
from discreet.learn.privacy import GIVEN, INVENTED_WORDS, Privacy
from discreet.privacy import odds, words
from discreet.privacy.cost import Approx
from discreet.terms import price_text

FORMATS = ("markdown", "json")


def card(module: nn.Module, privacy: Privacy, format: str = "markdown") -> Any:
    """The card as Markdown, or as an object for programs."""
    if format not in FORMATS:
        raise bad("format", f"must be one of {', '.join(FORMATS)}", format, "Write: format='json'")
    facts = card_json(module, privacy)
    return facts if format == "json" else _markdown(facts)


def card_json(module: nn.Module, privacy: Privacy) -> dict[str, Any]:
    """All of the card as JSON."""
    trained = sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    frozen = sum(parameter.numel() for parameter in module.parameters() if not parameter.requires_grad)
    return {
        **({"rehearsal": True} if privacy.is_invented else {}),
        "module": type(module).__name__,
        "layers": [f"{name}: {type(layer).__name__}({layer.extra_repr()})" for name, layer in _leaves(module)],
        "trained": trained,
        "frozen": frozen,
        "privacy": privacy.to_json(),
        "words": _promise_words(privacy),
        "not_for": _not_for(privacy, frozen > 0),
    }


def _leaves(module: nn.Module) -> Iterable[tuple[str, nn.Module]]:
    return ((name or "net", layer) for name, layer in module.named_modules() if not any(layer.children()))


def _promise_words(privacy: Privacy) -> list[str]:
    """What the promise lets someone conclude about one person."""
    try:
        reaches = odds.reaches(privacy.cost, privacy.relation, privacy.delta)
    except NotPriced:
        reaches = odds.reaches(Approx(privacy.epsilon, privacy.delta), privacy.relation, privacy.delta)
    return [
        words.person(reaches[0].best_guess, seen_by="whoever holds the data"),
        words.odds_moved("This net", reaches),
        "Whatever else is released from the same data comes on top.",
    ]


def _not_for(privacy: Privacy, has_frozen: bool) -> list[str]:
    """Uses that the promise does not carry."""
    unit = privacy.unit
    uses = [
        f"To tell whether any one {unit} was in the data, or what its rows said: the promise is that it cannot be "
        "told well.",
        "To decide about one person by an output alone: it tells of people who look alike.",
        "As a proof of accuracy or fairness: neither is promised, and measuring them on private rows is charged apart.",
        f"As a promise about how it was chosen: {privacy.public['chosen']}.",
    ]
    if has_frozen:
        uses.append("As a promise about frozen parameters: whatever they were trained on before is not covered.")
    if privacy.covers == GIVEN:
        uses.append("As a promise about features that were made from the data beforehand: only the fit is covered.")
    if not privacy.is_charged:
        uses.append("Where a budget must hold: this fit was charged nowhere, so somebody has to add it up by hand.")
    return uses


# --- Markdown --------------------------------------------------------------------------------------------------------


def _markdown(facts: dict[str, Any]) -> str:
    privacy = facts["privacy"]
    price = f"differentially private with {price_text(privacy)} for each {markdown(privacy['unit'])}"
    return "\n".join(
        [
            *([f"**{INVENTED_WORDS}**", ""] if facts.get("rehearsal") else []),
            f"# {markdown(facts['module'])}",
            "",
            f"A net of {facts['trained']:,} trained and {facts['frozen']:,} frozen numbers, {price}.",
            "",
            *_section("What it promises", facts["words"]),
            *_section("How it was trained", _made_lines(privacy)),
            *_section("Its layers", facts["layers"]),
            *_section("What was taken as public", _public_lines(privacy["public"])),
            *_section("What it must not be used for", facts["not_for"]),
        ]
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {markdown(line)}" for line in lines), ""]


def _made_lines(privacy: dict[str, Any]) -> list[str]:
    rows = privacy["max_rows"]
    return [
        f"Price: {price_text(privacy)}, neighbours by {privacy['neighbours']}, protecting each {privacy['unit']}.",
        f"Each {privacy['unit']} brings at most {rows} row{'s' * (rows > 1)} to a step, clipped as one.",
        clip_words(privacy["public"]["clip"]),
        *(f"Measured: {mechanism}." for mechanism in privacy["mechanisms"]),
        f"It holds for {privacy['arithmetic']}.",
        f"The promise covers {privacy['covers']}.",
        f"Receipt: {privacy['receipt']}.",
    ]


def clip_words(clip: dict[str, Any]) -> str:
    """How gradients were shortened, in a sentence."""
    if clip["rule"] == "flat":
        return f"A gradient longer than {clip['norm']:g} is shortened to just below it."
    return f"Every gradient is divided by its length plus {clip['stability']:g}, and multiplied by {clip['norm']:g}."


def require_public(public: Mapping[str, Any]) -> None:
    """Refuses public facts of which no card can be written, as KeyError, TypeError, ValueError or AttributeError."""
    _public_lines(public)
    clip_words(public["clip"])
    if not isinstance(public["chosen"], str):
        raise TypeError


def _public_lines(public: Mapping[str, Any]) -> list[str]:
    optimizer = public["optimizer"]
    rates = sorted({str(group["lr"]) for group in optimizer["groups"] if "lr" in group})
    return [
        f"rows: {public['rows']:,}",
        f"expected batch: {float(Fraction(public['batch'])):,g}",
        f"steps: {public['steps']:,}",
        f"optimizer: {optimizer['type']}, learning rate {', '.join(rates) or 'of its own'}",
        f"schedule of the learning rate: {_schedule_words(public['schedule'])}",
        f"average of the weights: decay {public['average']:g}",
        f"loss: {public['loss']}",
        f"initial weights: {public['initial weights']}",
    ]


def _schedule_words(schedule: list[float] | None) -> str:
    if schedule is None:
        return "constant"
    return f"times {', '.join(f'{factor:g}' for factor in schedule)} from the first step to the last"
