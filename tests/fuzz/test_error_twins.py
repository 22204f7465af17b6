"""A row whose cells break functions cannot be told from no row: same status, same shape of the body, same charge.

Twin tables, one with a unit of awkward rows and one without it, are asked every scalar function, operator, cast and
date part of the language, as a condition, as a group and as what is counted and summed.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.query.nodes import COMPARISONS, FUNCTIONS, OPERATORS, PARTS
from discreet.query.sql.dialect import tokens_of, trees
from discreet.query.sql.expr import _RULES, _TYPES
from discreet.query.sql.functions import _AFFIXES, _PARTS, _SAME
from fuzz.tokens import NEVER_FOUND
from fuzz.words import TYPES

TOML = """\
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 60
[columns.region]
type = "category"
values = ["north", "south"]
[columns.note]
type = "text"
[columns.whole]
type = "integer"
[columns.free]
type = "number"
[columns.flag]
type = "boolean"
[columns.born]
type = "date"
[columns.at]
type = "datetime"
[budget]
epsilon = 1000000
delta = 1e-6
"""
HEADER = ("person", "region", "note", "whole", "free", "flag", "born", "at")
TEXTS = (
    *(
        "",
        " ",
        "NaN",
        "inf",
        "-Infinity",
        "1e999",
        "1e-999",
        "9223372036854775808",
        "-9223372036854775809",
        "0x10",
        "1_0",
    ),
    *(
        "2020-02-30",
        "0000-00-00",
        "10000-01-01",
        "infinity",
        "2020-01-01 24:00:00",
        "2020-01-01T00:00:00+99:00",
        "true",
    ),
    *(
        "%",
        "_",
        "\\",
        "'",
        '"',
        "'; DROP TABLE prepared; --",
        "İ",
        "ß" * 500,
        "👍",
        "e\u0301",
        "\u202e",
        "a" * 100_000,
        "1,5",
    ),
    *("\ufeff", "\x01", "\u2028", "null", "NULL", "{", "[1", "(a+)+$", "١٢", "1e5", "-0", "+1", ".", "1.", ".5"),
)
NUMBERS = (
    *(
        "NaN",
        "inf",
        "-inf",
        "-0.0",
        "0",
        "1e308",
        "-1e308",
        "1e-320",
        "9223372036854775807",
        "-9223372036854775808",
        "1e400",
    ),
    *("9007199254740993", "4611686018427387904", "-1", "0.5", "710", "x", ""),
)
TIMES = (
    *("0001-01-01", "9999-12-31", "1969-12-31", "1970-01-01", "2020-02-29", "5874897-12-31", "infinity", "-infinity"),
    *("1582-10-10", "290309-12-22 (BC)", "2020-01-01 00:00:00", "2020-13-01", "epoch", "x", "", "0000-01-01"),
)
LINES = (  # a row that is no row: how it is written, not what it says
    *(b"t,north", b"t,north,a,1,1,true,2020-01-01,2020-01-01,more,and more", b",,,,,,,"),
    *(b"t,north,a\x00b,1,1,true,,", b"", b"t,north,'a,1,1,true,,", b't,north,"a ""b""",1,1,true,,', b'""'),
)
REFUSED = (  # what is not UTF-8, and quotes that are not pairs
    *(b"t,north,\xff\xfe,1,1,true,,", b"t\xed\xa0\x80,north,a,1,1,,,"),
    *(b't,north,a"b,1,1,true,,', b'"t,north'),
)
SPELT = [name for name in _TYPES if name != "TIMESTAMPNTZ"]  # that one is the parser's word for TIMESTAMP
EXPRESSIONS = {  # every name of the language, with what it is tried on
    "abs": ("abs(free)", "abs(whole)"),
    "floor": ("floor(free)",),
    "ceil": ("ceil(free)",),
    "round": ("round(free)", "round(free * 1e300)"),
    "sqrt": ("sqrt(free)", "sqrt(whole)"),
    "ln": ("ln(free)", "ln(whole)"),
    "exp": ("exp(free)", "exp(whole)"),
    "least": ("least(free, whole)",),
    "greatest": ("greatest(free, whole, 0)",),
    "clamp": ("clamp(free, -1e15, 1e15)", "clamp(whole, 0, 1)"),
    "coalesce": ("coalesce(free, whole)", "coalesce(note, 'none')"),
    "nullif": ("nullif(free, whole)", "nullif(note, '')"),
    "lower": ("lower(note)",),
    "upper": ("upper(note)",),
    "trim": ("trim(note)",),
    "length": ("length(note)", "length(upper(note))"),
    **{op: (f"(free {op} whole)", f"(whole {op} whole)", f"(whole {op} 0)") for op in OPERATORS},
    **{op: (f"(free {op} whole)", f"(note {op} 'a')", f"(born {op} DATE '2020-02-29')") for op in COMPARISONS},
    **{part: (f"{part}(at)",) if part in PARTS[6:] else (f"{part}(at)", f"{part}(born)") for part in PARTS},
    "weekday": ("isodow(at)", "isodow(born)"),
    "cast text": tuple(f"CAST(note AS {kind})" for kind in TYPES),
    "cast": (
        "CAST(free AS BIGINT)",
        "TRY_CAST(whole AS DOUBLE)",
        "CAST(at AS DATE)",
        "CAST(born AS TIMESTAMP)",
        "flag::BIGINT",
    ),
    "like": (
        "(note LIKE '%a_')",
        "(note NOT LIKE '\\')",
        "(note ILIKE '%İ%')",
        "contains(note, 'a')",
        "starts_with(note, '''')",
    ),
    "in": ("(note IN ('NaN', 'inf'))", "(whole NOT IN (0, 9223372036854775808))", "(born IN (DATE '9999-12-31'))"),
    "is": ("(free IS NULL)", "(flag IS NOT TRUE)", "(note IS NOT NULL)"),
    "logic": ("(flag AND free > 0)", "(NOT flag OR sqrt(free) < 1)", "(free BETWEEN whole AND 1e15)"),
    "case": ("CASE WHEN ln(free) > 0 THEN 1 / whole ELSE exp(free) END", "IF(flag, lower(note), NULL)"),
    "nested": (
        "sqrt(ln(free) / whole)",
        "exp(exp(free * free))",
        "month(CAST(lower(note) AS DATE))",
        "(whole * whole * whole * whole)",
    ),
}
EXPRESSIONS |= {  # the other names that SQL has for them
    **{
        other: tuple(expression.replace(f"{name}(", f"{other}(") for expression in EXPRESSIONS[name])
        for other, name in _SAME.items()
    },
    **{f"the part {name}": (f"{name}(at)",) for name in _PARTS},
    **{name: (f"{name}(note, 'a')", f"{name}(lower(note), 'O''Neil')") for name in _AFFIXES},
    **{f"cast to {name}": (f"CAST(note AS {name})", f"TRY_CAST(note AS {name})") for name in SPELT},
    "written otherwise": (
        *("mod(whole, whole)", "iff(flag, free, whole)", "date_part('month', at)", "datepart('isodow', born)"),
        *("EXTRACT(year FROM at)", "CASE region WHEN note THEN 1 END", "(- free)", "(note <> region)"),
    ),
}
SHAPES = (
    "SELECT COUNT(*) AS n FROM people WHERE {0} IS NOT NULL",
    "SELECT CASE WHEN {0} IS NULL THEN 'empty' ELSE 'full' END AS k, COUNT(*) AS n FROM people GROUP BY k",
    "SELECT region, COUNT({0}) AS n, SUM(CASE WHEN {0} IS NULL THEN 0 ELSE 1 END) AS s FROM people GROUP BY region",
    "SELECT CASE WHEN {0} IS NULL THEN 'empty' ELSE 'full' END AS k, COUNT(*) AS n FROM people GROUP BY k "
    "HAVING (k = 'full' AND n > -1000000) OR n > 1000000 ORDER BY n DESC, k LIMIT 5",
)
HAVING = {  # on what is released, each so that noise does not decide how many rows there are
    **{op: (f"(n {op} (n - n)) > 0 OR n > -1000000", f"NOT (n {op} 0) < 1e300 OR n > -1000000") for op in OPERATORS},
    **{op: (f"NOT n {op} 1e300 OR n > -1000000", f"k {op} 'north' OR n > -1000000") for op in COMPARISONS},
    "in": ("n IN (0, 1) OR n > -1000000", "k IN ('north') AND n > -1000000"),
    "between": ("n BETWEEN -1000000 AND 1000000",),
}
_NAMES = sorted(EXPRESSIONS)


def awkward() -> list[list[str]]:
    """Rows of one unit: every awkward text, number and time in every column that may hold it."""
    rows = []
    for i, text in enumerate(TEXTS):
        number, other, time = NUMBERS[i % len(NUMBERS)], NUMBERS[(i * 7 + 3) % len(NUMBERS)], TIMES[i % len(TIMES)]
        rows.append(
            ["target", ("north", "south", text)[i % 3], text, number, other, text, time, TIMES[(i * 5) % len(TIMES)]]
        )
    return rows


def ordinary() -> list[list[str]]:
    rows = []
    for i in range(40):
        day = f"2020-{1 + i % 12:02}-{1 + i % 28:02}"
        rows.append(
            [
                f"p{i}",
                ("north", "south")[i % 2],
                f"note {i}",
                str(i),
                f"{i}.5",
                ("true", "no")[i % 2],
                day,
                f"{day} 12:00:00",
            ]
        )
    return rows


def written(rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([HEADER, *rows])
    return text.getvalue().encode()


def laid(folder: Path, content: bytes) -> Path:
    folder.mkdir()
    (folder / "people.csv").write_bytes(content)
    (folder / "people.toml").write_text(TOML)
    return folder / "people.toml"


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dp.Dataset, dp.Dataset]]:
    """The table without the target, and the one with it."""
    folder = tmp_path_factory.mktemp("twins")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        without = laid(folder / "without", written(ordinary()))
        present = laid(folder / "present", written([*ordinary(), *awkward()]))
        with dp.open(without) as a, dp.open(present) as b:
            yield a, b


def shape(body: Any) -> Any:
    """What is left of a body without its values: names, lengths of lists, types."""
    match body:
        case dict():
            return {name: shape(value) for name, value in sorted(body.items())}
        case list() | tuple():
            return [shape(value) for value in body]
        case _:
            return type(body).__name__


def outcome(dataset: dp.Dataset, text: str) -> dict[str, Any]:
    """What a caller sees of a question besides its noisy numbers: status, shape, charge."""
    before = dataset.table.remaining()
    try:
        answer = dataset.sql(text).ask(epsilon="0.5", delta=NEVER_FOUND)
    except DiscreetError as error:
        return {"status": error.to_json(), "before": before, "after": dataset.table.remaining()}
    body = answer.to_json()
    return {
        "status": "answered",
        "shape": shape(body),
        "labels": sorted(answer.labels),
        "about": {name: body[name] for name in ("cost", "caveats", "level", "replayed", "remaining")},
        "explained": answer.explain(),
        "before": before,
        "after": dataset.table.remaining(),
    }


@pytest.mark.parametrize("name", _NAMES)
def test_a_breaking_row_and_no_row_look_the_same(name, twins):
    for expression in EXPRESSIONS[name]:
        for shape in SHAPES:
            text = shape.format(expression)
            absent, present = (outcome(twin, text) for twin in twins)
            assert absent["status"] == "answered", (text, absent["status"])
            assert absent == present, text
            replayed = absent["about"]["replayed"]  # another name for what was asked before
            assert (absent["before"] == absent["after"]) == replayed, text


@pytest.mark.parametrize("name", sorted(HAVING))
def test_a_condition_on_what_is_released_cannot_tell_a_breaking_row_from_no_row(name, twins):
    for condition in HAVING[name]:
        asked = "SELECT region AS k, COUNT(*) AS n FROM people WHERE ln(free) > 0 GROUP BY region"
        asked += f" HAVING {condition} ORDER BY n DESC, k LIMIT 2"
        absent, present = (outcome(twin, asked) for twin in twins)
        assert absent["status"] == "answered", (asked, absent["status"])
        assert absent == present, asked


@pytest.mark.parametrize(
    "key", ["note", "lower(note)", "whole", "born", "year(born)", "free", "CAST(note AS DATE)", "at"]
)
def test_private_keys_of_a_breaking_row_look_like_none(key, twins):
    text = f"SELECT {key} AS k, COUNT(*) AS n FROM people GROUP BY k"
    absent, present = (outcome(twin, text) for twin in twins)
    assert absent == present, text


@pytest.mark.parametrize("line", LINES)
def test_a_malformed_line_and_no_line_look_the_same(line, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    content = written(ordinary())
    paths = laid(tmp_path / "without", content), laid(tmp_path / "present", content + line + b"\n")
    seen = []
    for path in paths:
        with dp.open(path) as dataset:
            seen.append(outcome(dataset, "SELECT region, COUNT(*) AS n FROM people GROUP BY region"))
    assert seen[0]["status"] == "answered"
    assert seen[0] == seen[1]


@pytest.mark.parametrize("line", REFUSED)
def test_a_table_that_is_no_text_of_whole_cells_is_refused_without_a_charge_or_a_cell(line, tmp_path, monkeypatch):
    """What a status tells about rows: encoding and pairs of quotes are checked before any question."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with dp.open(laid(tmp_path / "present", written(ordinary()) + line + b"\n")) as dataset:
        seen = outcome(dataset, "SELECT COUNT(*) AS n FROM people")
    assert seen["status"]["code"] == "source-unavailable"
    assert seen["before"] == seen["after"]
    assert not (tmp_path / "present" / "people.ledger").exists()
    assert "north" not in str(seen["status"])


def test_every_name_of_the_language_is_tried():
    """The tables of names are the language's own, so that a new one fails here until it is tried."""
    names = (FUNCTIONS, OPERATORS, COMPARISONS, PARTS, _SAME, _AFFIXES)
    assert set().union(*names) <= set(EXPRESSIONS)
    assert {f"the part {name}" for name in _PARTS} | {f"cast to {name}" for name in SPELT} <= set(EXPRESSIONS)
    assert len(awkward()) <= 60  # no row of the target is left out


def test_every_rule_by_which_an_expression_is_read_is_tried():
    met = set()
    for text in (f"SELECT {expression}" for group in EXPRESSIONS.values() for expression in group):
        met |= {type(node).__name__ for tree in trees(tokens_of(text), text) for node in tree.walk()}
    assert set(_RULES) <= met
