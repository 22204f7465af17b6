"""A lecture's table of five ages: averages make a staircase of worlds, and not a reconstruction."""

from discreet.attack.consistent.examples import Example, worlds_left
from discreet.attack.consistent.left import Worlds

_OLDEST = 110
_MEN, _WOMEN = {"sex": "man"}, {"sex": "woman"}
_COLUMNS = {"age": range(_OLDEST + 1), "sex": ("man", "woman")}
_ROWS = ((31, "woman"), (49, "man"), (26, "woman"), (19, "man"), (27, "woman"))
_IS_MAN, _IS_WOMAN = "sex = 'man'", "sex = 'woman'"
AGES = Example(
    "ages",
    tuple(dict(zip(_COLUMNS, row, strict=True)) for row in _ROWS),
    _COLUMNS,
    (
        {"name": "two men", "where": _MEN, "count": 2},
        {"name": "mean 30.4", "mean": "30.4"},
        {"name": "men's mean 34", "where": _MEN, "mean": "34.0"},
        {"name": "women's mean 28", "where": _WOMEN, "mean": "28.0"},
        {"name": "women's median 27", "where": _WOMEN, "median": 27},
        {"name": "median of all 27", "median": 27},
    ),
    (_IS_MAN, "", _IS_MAN, _IS_WOMAN, _IS_WOMAN, ""),
    _OLDEST,
)


def example(epsilons: tuple[str, ...], seed: int) -> Worlds:
    """Worlds that the lecture's averages leave, exact and with noise."""
    return worlds_left(AGES, epsilons, seed)
