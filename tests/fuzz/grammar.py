"""Statements from a grammar, each a function of its number alone: of the language, beside it, and mutated.

`statement(number, known)` is typed well in most of its parts, so that many statements reach the engine; `known` are
tokens of the table that an attacker might have guessed.
"""

from collections.abc import Callable, Sequence

from discreet.noise.public import generator
from fuzz.words import (
    BEYOND,
    BOUNDED,
    NASTY_NUMBERS,
    NASTY_TEXTS,
    NASTY_TIMES,
    NUMBERS,
    PARTS,
    PIECES,
    PLAIN_TEXTS,
    TABLES,
    TEXTS,
    TIMES,
    WHOLE,
)


class Maker:
    """Choices from one seeded generator, and the rules of the grammar as methods."""

    def __init__(self, seed: int, known: Sequence[str]) -> None:
        self._drawn = generator(seed)
        self.words = [f"'{token}'" for token in known if not token.isdigit()]
        self.figures = [token for token in known if token.isdigit()]

    def below(self, size: int) -> int:
        return int(self._drawn.integers(0, size))

    def one(self, options: Sequence[str]) -> str:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def _of(self, *rules: Callable[[], str]) -> str:
        return rules[self.below(len(rules))]()

    # --- expressions -------------------------------------------------------------------------------------------------

    def number(self, depth: int) -> str:
        if depth <= 0 or self.chance(30):
            return self._of(lambda: self.one(NUMBERS), lambda: self.one(NUMBERS), lambda: self.figure())
        a, b = (lambda: self.number(depth - 1)), (lambda: self.number(depth - 2))
        return self._of(
            lambda: f"({a()} {self.one('+-*/%')} {b()})",
            lambda: f"{self.one(('abs', 'floor', 'ceil', 'round', 'sqrt', 'ln', 'exp'))}({a()})",
            lambda: f"{self.one(('least', 'greatest', 'coalesce', 'nullif', 'mod'))}({a()}, {b()})",
            lambda: f"clamp({a()}, 0, {self.one(('1', '100', '1e6'))})",
            lambda: f"length({self.text(depth - 1)})",
            lambda: f"{self.one(PARTS[:6])}({self.time(depth - 1)})",
            lambda: f"{self.one(PARTS)}({self.one(('at', 'at', 'day'))})",
            lambda: f"{self.one(('CAST', 'TRY_CAST'))}({self.any(depth - 1)} AS {self.one(('BIGINT', 'DOUBLE'))})",
            lambda: f"CASE WHEN {self.test(depth - 1)} THEN {a()} ELSE {b()} END",
        )

    def figure(self) -> str:
        return self._of(
            lambda: str(self.below(200)), lambda: self.one(NASTY_NUMBERS), lambda: self.one([*self.figures, "3"])
        )

    def text(self, depth: int) -> str:
        if depth <= 0 or self.chance(40):
            return self._of(lambda: self.one(TEXTS), lambda: self.one(TEXTS), lambda: self.quoted())
        return self._of(
            lambda: f"{self.one(('lower', 'upper', 'trim'))}({self.text(depth - 1)})",
            lambda: f"{self.one(('coalesce', 'nullif', 'ifnull'))}({self.text(depth - 1)}, {self.text(depth - 2)})",
            lambda: f"CAST({self.any(depth - 1) if self.chance(20) else self.text(depth - 1)} AS VARCHAR)",
            lambda: f"IF({self.test(depth - 1)}, {self.text(depth - 1)}, NULL)",
        )

    def quoted(self) -> str:
        return self._of(
            lambda: self.one(NASTY_TEXTS if self.chance(60) else PLAIN_TEXTS),
            lambda: self.one([*self.words, "'south'"]),
        )

    def time(self, depth: int) -> str:
        if depth <= 0 or self.chance(60):
            return self._of(lambda: self.one(TIMES), lambda: self.one(TIMES), lambda: self.moment())
        return self._of(
            lambda: f"CAST({self.text(depth - 1)} AS {self.one(('DATE', 'TIMESTAMP'))})",
            lambda: f"least(day, {self.one(NASTY_TIMES[:3])})",
            lambda: "coalesce(day, born)",
        )

    def moment(self) -> str:
        return self.one(NASTY_TIMES if self.chance(15) else NASTY_TIMES[:4])

    def any(self, depth: int) -> str:
        return self._of(lambda: self.number(depth), lambda: self.text(depth), lambda: self.time(depth), lambda: "flag")

    def test(self, depth: int) -> str:
        if depth > 0 and self.chance(30):
            joined = f" {self.one(('AND', 'OR'))} "
            return "(" + joined.join(self.test(depth - 1) for _ in range(2 + self.below(2))) + ")"
        compared = self.one(("=", "<>", "<", "<=", ">", ">="))
        return self._of(
            lambda: f"{self.number(depth)} {compared} {self.number(depth - 1)}",
            lambda: f"{self.text(depth)} {compared} {self.text(depth - 1)}",
            lambda: f"{self.time(depth)} {compared} {self.moment()}",
            lambda: f"{self.any(depth)} IS {self.one(('', 'NOT '))}NULL",
            lambda: f"{self.text(depth)} {self.one(('', 'NOT '))}{self.one(('LIKE', 'ILIKE'))} {self.quoted()}",
            lambda: f"{self.text(depth)} IN ({self.quoted()}, {self.quoted()})",
            lambda: f"{self.number(depth)} NOT IN ({self.figure()}, {self.figure()})",
            lambda: f"{self.number(depth)} BETWEEN {self.figure()} AND {self.figure()}",
            lambda: f"{self.one(('starts_with', 'ends_with', 'contains'))}({self.text(depth)}, {self.quoted()})",
            lambda: f"NOT {self.test(depth - 1)}" if depth > 0 else "flag",
        )

    def strange(self) -> str:
        """An expression beside the language."""
        return self.one(BEYOND).format(self.number(1), self.text(1), self.time(1), self.test(1))

    # --- statements --------------------------------------------------------------------------------------------------

    def aggregate(self) -> str:
        bounded = self.one(BOUNDED) if self.chance(50) else f"clamp({self.number(2)}, 0, {self.one(('1', '1000'))})"
        item = self.strange() if self.chance(6) else self.any(2)
        return self._of(
            lambda: "COUNT(*)",
            lambda: f"COUNT({item})",
            lambda: f"COUNT(DISTINCT {self.one(('person', item))})",
            lambda: f"{self.one(('SUM', 'AVG', 'VARIANCE', 'VAR_POP', 'STDDEV', 'STDDEV_POP'))}({bounded})",
            lambda: f"SUM({self.number(2)}, contribution_bounds_per_row => (0, {self.figure()}))",
            lambda: f"{self.one(('MEDIAN', 'MIN', 'MAX'))}({self.one((bounded, 'day', 'at', item))})",
            lambda: f"QUANTILE({bounded}, {self.one(('0.9', '0.5', '0.01', '1/3', '2'))})",
            lambda: self.one(("MODE({})", "TOP_K({}, 2)", "TOP_K({})")).format(self.one(("region", "flag", item))),
            lambda: f"{self.one(('CORR', 'COVAR_SAMP', 'COVAR_POP'))}({bounded}, {self.one(BOUNDED)})",
        )

    def key(self) -> str:
        return self._of(
            lambda: self.one((*TEXTS, "flag", "age", "serial", "free", "day", "born", "code")),
            lambda: f"BIN({self.one(('age', 'amount, 0, 10, 1e15', 'free, 0, 1', 'age, 0, 50, 110', 'serial, 5, 1'))})",
            lambda: f"{self.one(PARTS)}({self.one(TIMES)})",
            lambda: f"CASE WHEN {self.test(2)} THEN 'yes' ELSE 'no' END",
            lambda: self.strange() if self.chance(20) else self.any(2),
        )

    def select(self) -> str:
        keys = [self.key() for _ in range(self.one("000112").count("1") + self.one("001").count("1"))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        outputs = [f"{self.aggregate()} AS n{i}" for i in range(1 + self.one("0012").count("1"))]
        head = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_rows_contributed = 2) " if self.chance(4) else ""
        table = self.one(TABLES) if self.chance(4) else "people"
        text = f"SELECT {head}{', '.join(shown + outputs)} FROM {table}"
        if self.chance(50):
            text += f" WHERE {self.strange() if self.chance(8) else self.test(3)}"
        if keys:
            text += " GROUP BY " + ", ".join(f"k{i}" for i in range(len(keys)))
        if self.chance(12):
            text += f" HAVING n0 {self.one(('>', '<', '='))} {self.figure()}"
        if self.chance(12):
            text += f" ORDER BY {self.one(('n0', 'n0 DESC', 'n0', '1', 'name'))}"
        return text + (f" LIMIT {self.one(('3', '0', '1000000000', '-1'))}" if self.chance(8) else "")

    def mutated(self, text: str) -> str:
        """The statement after one to three small accidents."""
        for _ in range(1 + self.below(3)):
            position, words = self.below(len(text) + 1), text.split(" ")
            a, b = self.below(len(words)), self.below(len(words))
            words[a], words[b] = words[b], words[a]
            text = self._of(
                lambda start=position, text=text: text[:start] + self.one(PIECES) + text[start:],
                lambda start=position, text=text: text[:start] + text[start + 1 + self.below(4) :],
                lambda words=words: " ".join(words),
                lambda start=position, text=text: text[:start] + chr(32 + self.below(300)) + text[start + 1 :],
                lambda start=position, text=text: text[:start] + self.one((self.any(1), self.strange())) + text[start:],
            )
        return text


def statement(number: int, known: Sequence[str]) -> str:
    """The statement of that number: four fifths from the grammar, the rest mutated or no question at all."""
    maker = Maker(number, known)
    kind = maker.below(100)
    if kind < 2:
        return maker.one(WHOLE)
    statement = maker.select()
    return maker.mutated(statement) if kind < 20 else statement
