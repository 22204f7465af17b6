"""No answer outgrows the ledger after its charge: caps on private keys, and refusals, from public facts alone."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.answer.compose import answer_of
from discreet.errors import NotAnswerable
from discreet.ledger.ledger import LONGEST_ANSWER
from discreet.noise.source import SYSTEM
from discreet.query import caps
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Exacts, exacts_of
from discreet.query.compile.statements import statements
from discreet.query.explain import group_limit_caveat
from discreet.query.joint import Released
from discreet.query.parts import Present, Units
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms
from query.twin import connected

TOWNS = "SELECT town, COUNT(DISTINCT person) AS n FROM t GROUP BY town"
WIDEST = "\U0001f44d"  # a letter that JSON escapes in twelve bytes


def schema(null="drop"):
    return Schema("t", [Column("town", "text", null=null), Column("code", "integer")], Unit("person", 3))


def draft(sql, null="drop"):
    return draft_of(parse_sql(sql).question, schema(null))


def exact_units(rows, sql, null):
    draft_of_sql = draft(sql, null)
    asked = statements(draft_of_sql.schema, draft_of_sql.cells, None, draft_of_sql.caps, [Units()])
    con = connected(rows, draft_of_sql.schema)
    exact = exacts_of(asked, [con.execute(statement.sql).fetchnumpy() for statement in asked], draft_of_sql.cells)
    con.close()
    return dict(zip(exact.keys, exact.parts[Units()].tolist(), strict=True))


@pytest.mark.parametrize("letter", ["a", "ü", WIDEST])
def test_a_key_longer_than_the_cap_counts_as_empty_by_its_cell_alone(letter):
    short, long = letter * caps.MOST_LETTERS, letter * (caps.MOST_LETTERS + 1)
    rows = [(0, 1, short, 1), (0, 2, long, 1), (0, 3, long + "x", 1), (1, 1, None, 1), (1, 2, long, 1)]
    assert exact_units(rows, TOWNS, "drop") == {(short,): 1}
    assert exact_units(rows, TOWNS, "key") == {(short,): 1, (None,): 2}
    assert exact_units(rows, TOWNS.replace("town,", "lower(town) AS town,"), "drop") == {(short,): 1}


def planned(sql, **given):
    return plan_of(draft(sql, **given), Terms.parse(1, "1e-6"))


WIDE = (
    "SELECT town, code, lower(town) AS low, AVG(clamp(code, 0, 9)) AS a, COUNT(*) AS n FROM t GROUP BY town, code, low"
)


@pytest.mark.parametrize("sql", [TOWNS, WIDE])
def test_no_row_of_an_answer_is_longer_than_was_reckoned(sql):
    plan = planned(sql)
    parts = [measured.part for measured in plan.measured if not isinstance(measured.part, Present)]
    labels = {"town": WIDEST * caps.MOST_LETTERS, "code": -(2**63), "low": "\x00" * caps.MOST_LETTERS}
    key = tuple(labels[cell_key.key.name] for cell_key in plan.draft.cells.keys)

    def size(rows):
        numbers = {part: np.full(rows, -(2**62), dtype=np.int64) for part in parts}
        return len(answer_of(plan, Released((key,) * rows, numbers)).to_bytes())

    single, many = size(1), size(21)
    assert many - single <= 20 * caps.row_bytes(plan.draft.cells, plan.draft.recipes)
    assert single + plan.joint.max_groups * caps.row_bytes(plan.draft.cells, plan.draft.recipes) < LONGEST_ANSWER


def test_of_more_groups_than_an_answer_holds_the_first_in_order_are_shown():
    plan = planned(TOWNS)
    assert 10_000 < plan.joint.max_groups <= caps.MOST_PRIVATE_GROUPS
    few = replace(plan, joint=replace(plan.joint, max_groups=3))
    keys = tuple((name,) for name in "abcdefgh")
    counts = np.full(len(keys), 10**6)
    counts[1] = 0
    released = few.joint(Exacts(keys, {part.part: counts for part in few.measured}), SYSTEM)
    assert released.keys == (("a",), ("c",), ("d",))
    assert {len(numbers) for numbers in released.parts.values()} == {3}
    assert any("the first in the order of their keys" in caveat for caveat in answer_of(few, released).caveats)


def test_the_caveat_depends_on_what_was_released_alone():
    plan = planned(TOWNS)
    assert group_limit_caveat(plan, plan.joint.max_groups - 1) == []
    assert "others may be missing" in group_limit_caveat(plan, plan.joint.max_groups)[0]


def test_public_groups_whose_labels_would_not_fit_are_refused_before_the_charge():
    names = tuple(f"{i:03d}{WIDEST * 190}" for i in range(1000))
    wide = Schema("t", [Column("a", "category", values=names), Column("b", "integer", bounds=(0, 199))])
    with pytest.raises(NotAnswerable, match="The answer would be too long"):
        draft_of(parse_sql("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b").question, wide)
    draft_of(parse_sql("SELECT a, COUNT(*) AS n FROM t GROUP BY a").question, wide)
    short = Schema("t", [Column("a", "integer", bounds=(0, 999)), Column("b", "integer", bounds=(0, 999))])
    draft_of(parse_sql("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b").question, short)
    many = Schema("t", [Column("a", "category", values=names), Column("b", "integer", bounds=(0, 1999))])
    with pytest.raises(NotAnswerable, match="The answer would be too long"):
        draft_of(parse_sql("SELECT b, TOP_K(a, 100) AS x FROM t GROUP BY b").question, many)


def test_having_on_released_keys_of_any_kind_ends_in_an_answer():
    """What is done after the noise must not fail: the charge is made, and the draw would be repeated."""
    digits = "9" * caps.MOST_LETTERS
    plan = planned(TOWNS + " HAVING town <> 'x' AND n > 0")
    keys = tuple((key,) for key in (digits, "\x1b[2J", "nan", "", "9999-12-31", None))
    numbers = {measured.part: np.arange(6) for measured in plan.measured if not isinstance(measured.part, Present)}
    assert len(answer_of(plan, Released(keys, numbers))) == 4
