"""Pictures of a promise, each with its words and its table: two worlds, beliefs after an answer, an odometer."""

from collections.abc import Sequence
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.lecture.picture import Draggable, Picture
from discreet.lecture.two_worlds import HEADER, SHOWN, belief, two_worlds
from discreet.privacy.odds import response_posterior

_PRIORS = tuple(place / 200 for place in range(1, 200))
_TABLED = (0.02, 0.1, 0.4, 0.5, 0.9)
_MOST_CHARGES = 60


def two_worlds_picture(epsilon: Any, delta: Any = 0) -> Picture:
    """The law of a noisy count without you and with you, and the band between them."""
    worlds = two_worlds(epsilon, delta)
    title, caption = "Two worlds, one promise", f"{worlds.noise[0].upper()}{worlds.noise[1:]}. {worlds.sentence}"
    alt = f"Two laws of a published count, one step apart, inside a band. {caption}"

    def draw() -> Any:
        from discreet.plot.worlds import Steps, worlds_picture

        steps = Steps(SHOWN, worlds.without, worlds.present, *worlds.band)
        return worlds_picture(steps, title=title, caption=caption)

    start = Draggable(worlds.epsilon, worlds.delta)
    return Picture(title, caption, alt, HEADER, worlds.rows(), draw, worlds.rows(98, 103), draggable=start)


def posterior_picture(epsilons: Sequence[Any] = ("0.1", "1", "3")) -> Picture:
    """Where any answer of an ε-DP mechanism can move a belief, for one to three ε."""
    if not 1 <= len(epsilons) <= 3:
        raise bad("epsilon", "must be one to three of them", len(epsilons), "Give, for example, 0.1, 1 and 3.")
    losses = [amounts.epsilon(value) for value in epsilons]
    names = [f"ε = {amounts.text_of(loss)}" for loss in losses]
    low, high = belief(0.4, losses[0])
    coins = response_posterior("0.02", "3/4", "1/4")
    caption = (
        f"At {names[0]} a belief of 40 % ends between {100 * low:.2f} and {100 * high:.2f} %, "
        "whatever one answer without δ was. "
        f"Two fair coins have ε = ln 3: after a yes a belief of 2 % is {100 * float(coins):.2f} %."
    )
    rows = tuple(
        (
            f"{100 * prior:g} %",
            *(f"{100 * a:.2f} … {100 * b:.2f} %" for a, b in (belief(prior, loss) for loss in losses)),
        )
        for prior in _TABLED
    )
    title = "What an answer can do to a belief"

    def draw() -> Any:
        from discreet.plot.worlds import posterior_picture as drawn

        ends = [[belief(prior, loss) for prior in _PRIORS] for loss in losses]
        pairs = zip(names, ends, strict=True)
        bands = [(name, [low for low, _ in both], [high for _, high in both]) for name, both in pairs]
        return drawn(bands, _PRIORS, title=title, caption=caption)

    alt = f"Beliefs after an answer against beliefs before it. {caption}"
    return Picture(title, caption, alt, ("before", *names), rows, draw)


def odometer_picture(charges: Sequence[tuple[str, Any]], budget: Any) -> Picture:
    """How much of a budget each answer took, in the order in which they were paid, and what is left."""
    whole = amounts.epsilon(budget, "budget")
    if len(charges) > _MOST_CHARGES:
        fix = "Join some, for example those of one day."
        raise bad("charges", f"must be at most {_MOST_CHARGES} to be told apart", len(charges), fix)
    costs = [(name, amounts.epsilon(cost)) for name, cost in charges]
    spent = sum((cost for _, cost in costs), start=whole * 0)
    if spent > whole:
        fix = "No ledger charges more than its budget; give the budget that they were paid from."
        raise bad("charges", "must fit in the budget", amounts.text_of(spent), fix)
    reading = f"{amounts.text_of(spent)} of {amounts.text_of(whole)} spent"
    caption = (
        f"{len(costs)} answers took ε = {amounts.text_of(spent)} of {amounts.text_of(whole)}; "
        f"{amounts.text_of(whole - spent)} is left. It only moves forward: what is spent never comes back, and the "
        "same question asked again costs nothing."
    )
    title = "The odometer of a budget"

    def draw() -> Any:
        from discreet.plot.worlds import odometer_picture as drawn

        charged = [(name, float(cost)) for name, cost in costs]
        return drawn(charged, float(whole), title=title, reading=f"ε: {reading}", caption=caption)

    rows, total = [], whole * 0
    for name, cost in costs:
        total += cost
        rows.append((name, amounts.text_of(cost), amounts.text_of(total), amounts.text_of(whole - total)))
    return Picture(title, caption, f"Half a dial. {caption}", ("answer", "ε", "spent", "left"), tuple(rows), draw)
