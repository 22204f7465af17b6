"""The seven-person census block of Garfinkel, Abowd & Martindale (2018): seven tables, one world."""

from typing import Any

from discreet.attack.consistent.examples import Example, worlds_left
from discreet.attack.consistent.left import Worlds, worlds

__all__ = ["BLOCK", "WITHOUT_RULE", "example", "worlds"]

_OLDEST = 115
_ROWS = (
    (8, "female", "black", "single"),
    (18, "male", "white", "single"),
    (24, "female", "white", "single"),
    (30, "male", "white", "married"),
    (36, "female", "black", "married"),
    (66, "female", "black", "married"),
    (84, "male", "black", "married"),
)
_COLUMNS = {
    "age": range(_OLDEST + 1),
    "sex": ("female", "male"),
    "race": ("black", "white"),
    "status": ("married", "single"),
}
_TABLES: tuple[tuple[str, dict[str, Any], int, int, str], ...] = (
    ("1A everybody", {}, 7, 30, "38.0"),
    ("2A women", {"sex": "female"}, 4, 30, "33.5"),
    ("2B men", {"sex": "male"}, 3, 30, "44.0"),
    ("2C black", {"race": "black"}, 4, 51, "48.5"),
    ("2D white", {"race": "white"}, 3, 24, "24.0"),
    ("3B married adults", {"status": "married", "age": range(18, _OLDEST + 1)}, 4, 51, "54.0"),
    ("4A black women", {"sex": "female", "race": "black"}, 3, 36, "36.7"),
)
_CONDITIONS = (
    "",
    "sex = 'female'",
    "sex = 'male'",
    "race = 'black'",
    "race = 'white'",
    "status = 'married' AND age >= 18",
    "sex = 'female' AND race = 'black'",
)
NO_MARRIED_CHILD = {"age": range(15), "status": "married"}
BLOCK = Example(
    "worlds",
    tuple(dict(zip(_COLUMNS, row, strict=True)) for row in _ROWS),
    _COLUMNS,
    tuple(
        {"name": name, "where": where, "count": count, "median": median, "mean": mean}
        for name, where, count, median, mean in _TABLES
    ),
    _CONDITIONS,
    _OLDEST,
    (NO_MARRIED_CHILD,),
)
WITHOUT_RULE = Example(BLOCK.name, BLOCK.persons, _COLUMNS, BLOCK.tables, _CONDITIONS, _OLDEST)


def example(epsilons: tuple[str, ...], seed: int) -> Worlds:
    """Worlds that the seven tables leave, exact and with noise, under the rule that nobody under 15 is married."""
    return worlds_left(BLOCK, epsilons, seed)
