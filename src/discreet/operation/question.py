"""The call of a question: its text and its price, and what is refused before it is planned."""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BadValue, NotAnswerable, bad, fixed_by
from discreet.fix import UNKNOWN, Fix

if TYPE_CHECKING:
    from discreet.answer.quote import Quote
    from discreet.ask.asking import Asking
    from discreet.dataset import Dataset

_MOST_SIZE = 10**12


@dataclass(frozen=True)
class QuestionCall:
    """A question and its price; amounts as they were typed, which `amounts` parses."""

    metadata: Path  # the TOML of the dataset
    sql: str
    epsilon: str | None = None
    error: tuple[str, ...] = ()  # the ± to reach, such as n=15
    delta: str | None = None
    level: str | None = None  # how often the ± shall hold
    analyst: str | None = None  # who asks
    at_size: str | None = None  # rows at which the ± of means is quoted
    rehearse: bool = False
    second_ledger: str | None = None  # why these rows have two ledgers
    verb: str = "ask"  # the operation that fixes offer to call again

    def fix(self, words: str, **more: Any) -> Fix:
        """This call as a fix, with `more` in place of its own arguments, and without a second ledger."""
        names = [field.name for field in fields(self) if field.name not in ("second_ledger", "verb")]
        return Fix(words, self.verb, {name: getattr(self, name) for name in names} | more)

    @property
    def price(self) -> dict[str, Any]:
        """ε, the ± to reach, δ and level, as keyword arguments of a plan or a quote."""
        errors = target_errors(self.error) if self.error else None
        return {"epsilon": self.epsilon, "error": errors, "delta": self.delta, "level": self.level}

    @property
    def size(self) -> int | None:
        """The number of rows at which the ± of means is quoted."""
        return None if self.at_size is None else amounts.whole(self.at_size, "at-size", 1, _MOST_SIZE, such_as=1000)


def asking(dataset: "Dataset", call: QuestionCall) -> "Asking":
    """The question; refused if it cannot be answered, has no price or two, or needs a δ that is not there."""
    question = dataset.sql(call.sql)
    if call.epsilon is not None and call.error:
        fix = replace(call, error=()).fix("Keep one of them:")
        raise BadValue("The price is given twice.", "--eps says what to spend, --error finds it.", fix)
    if not has_price(question, call):
        raise _no_price(question, call)
    _require_delta(question, call)
    return question


def has_price(question: "Asking", call: QuestionCall) -> bool:
    """Whether the call states ε or a ± to reach, or the question's text states ε."""
    return call.epsilon is not None or bool(call.error) or question.options.epsilon is not None


def quote_of(question: "Asking", call: QuestionCall) -> "Quote":
    """The quote at the price of the call or of the text, with the most that one question may cost."""
    quote = question.quote(**call.price, at_size=call.size, analyst=call.analyst)
    return replace(quote, max_epsilon=question.table.budget.max_epsilon_per_question)


def delta_of(question: "Asking", call: QuestionCall) -> Fraction:
    """The δ that the question will take: of the call, else of its text, else the default."""
    return question.table.delta(question.options.delta if call.delta is None else call.delta)


def target_errors(texts: tuple[str, ...]) -> dict[str, str]:
    """The ± to reach for each column; "" stands for the only column.

    >>> target_errors(("n=15,age=0.5",)), target_errors(("15",))
    ({'n': '15', 'age': '0.5'}, {'': '15'})
    """
    widths: dict[str, str] = {}
    for part in ",".join(texts).split(","):
        name, equals, value = part.rpartition("=")
        name = name.strip()
        if not value.strip() or (equals and not name) or name in widths:
            rule, fix = "must be NAME=± for each column, with commas between", "Write, for example: --error n=15"
            raise bad("error", rule, ",".join(texts), fix)
        widths[name] = value.strip()
    for name, value in widths.items():
        _require_width(name, value)
    return widths


def _require_width(name: str, value: str) -> None:
    """Refuses text that is no ±; the fix for a bare column name shows it with one."""
    if name:
        amounts.positive(value, f"error of {name}")
        return
    column = value if value.isidentifier() and value.casefold() not in ("nan", "inf", "infinity", "true") else "n"
    with fixed_by(f"Write, for example: --error {column}=15"):
        amounts.positive(value, "error")


def _no_price(question: "Asking", call: QuestionCall) -> BadValue:
    """The refusal of a question without a price; its fixes are the same call with an ε, and with a ±."""
    from discreet.query.recipe import MeanAmong, Single

    fixes = [replace(call, epsilon="1").fix("Say what to spend, or how exact it must be:\n")]
    pairs = zip(question.draft.question.outputs, question.draft.recipes, strict=True)
    name = next((output.name for output, recipe in pairs if isinstance(recipe, Single | MeanAmong)), None)
    if name is not None:
        fixes.append(replace(call, error=(f"{name}=15",)).fix(""))
    return BadValue("The question has no price.", "Neither --eps nor --error was given.", tuple(fixes))


def _require_delta(question: "Asking", call: QuestionCall) -> None:
    """Refuse a question whose groups only a δ can find; the fix is that call with a δ, or a budget with one."""
    table, cells = question.table, question.draft.cells
    if cells.public or delta_of(question, call):
        return
    names = ", ".join(group.key.name for group in cells.keys if group.labels is None)
    why = f"The values of {names} are not public, and to find them privately takes a delta above 0."
    declare = 'List them in the metadata: values = ["…"]'
    if table.budget.delta:
        fix = replace(call, delta=amounts.exact_text(table.delta())).fix(f"{declare}, or ask with a delta:")
    else:
        from discreet.metadata.gaps import round_delta

        arguments = {"delta": amounts.exact_text(round_delta(table.schema.population)), "why": UNKNOWN}
        fix = Fix(f"{declare}, or let the curator allow a delta:", "budget set", arguments)
    raise NotAnswerable("These groups cannot be found without a delta.", why, fix)
