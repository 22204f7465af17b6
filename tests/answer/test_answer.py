"""The answer: exact bytes, the object of the public face, tables for people and programs."""

import json
import re
from datetime import date
from fractions import Fraction as F
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.answer import Answer, Estimates, column, table
from discreet.answer.column import plain
from discreet.answer.show import number
from discreet.errors import BadValue

COST = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}
NASTY = "<script>alert(\"x\")</script> & 'n' $1$"


def count(values=(1204, -3), radius=30, name="n"):
    ends = Estimates(list(values), [v - radius for v in values], [v + radius for v in values])
    return column(name, ends, mechanism="Laplace", epsilon="0.5", scale=F(10), step=F(1), kind="laplace", part="rows")


def mean(values=(41.25, 39.0)):
    ends = Estimates(list(values), [v - 0.3125 for v in values], [v + 0.21875 for v in values])
    return column("age", ends, mechanism="Laplace of a sum and a count", epsilon="0.5")


def made(**parts):
    given = {
        "dataset": "people",
        "question": '["Question"]',
        "keys": ("region",),
        "labels": (("north",), (None,)),
        "columns": (count(), mean()),
        "level": F(95, 100),
        "cost": COST,
    }
    return Answer(**(given | parts))


# --- bytes and JSON ----------------------------------------------------------------------------------------------

plains = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
plains |= st.text(max_size=8)
numbers = st.integers(-(2**62), 2**62) | st.fractions(max_denominator=10**6) | st.floats(-1e300, 1e300)


@given(st.data())
def test_bytes_give_the_same_answer_back_and_it_the_same_bytes(data):
    n = data.draw(st.integers(0, 4))
    labels = tuple((data.draw(plains),) for _ in range(n))
    values = [data.draw(numbers) for _ in range(n)]
    ends = Estimates(
        list(values), [v - 1 for v in values], [v + 1 for v in values], ranks=data.draw(st.none() | st.just(2.5))
    )
    scale = data.draw(st.none() | st.fractions(F(1, 10**6), 10**6))
    chosen = column(
        "n", ends, mechanism=data.draw(st.text(max_size=9)), scale=scale, step=F(1, 3), signed=data.draw(st.booleans())
    )
    answer = made(labels=labels, columns=(chosen,), caveats=("é",), plan={"words": ["a"], "parts": [{"ε": "1"}]})
    stored = answer.to_bytes()
    assert Answer.from_bytes(stored) == answer
    assert Answer.from_bytes(stored).to_bytes() == stored


def test_receipt_replay_and_remaining_budget_are_not_stored_in_an_answer():
    handed = made(receipt="r1", replayed=True, remaining={"epsilon": "2", "delta": "0"})
    assert handed.to_bytes() == made().to_bytes()
    assert Answer.from_bytes(handed.to_bytes()).receipt is None


def test_json_is_the_object_of_the_public_face():
    said = made(receipt="r1", remaining={"epsilon": "2", "delta": "0"}).to_json()
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert {"ok", "format", "dataset", "cost", "remaining", "receipt", "caveats", "rows", "columns", "level"} <= set(
        said
    )
    assert said["rows"][0] == {"region": "north", "n": 1204, "n_moe": 30, "age": 41.25, "age_moe": 0.3125}
    assert list(said["rows"][0]) == ["region", "n", "n_moe", "age", "age_moe"]
    assert said["columns"][0] == {"name": "n", "mechanism": "Laplace", "scale": 10, "step": 1, "epsilon": "0.5"}
    assert (said["level"], said["replayed"]) == (0.95, False)


def test_moe_is_exact_for_whole_numbers_and_rounded_up_else():
    big = 2**61 + 1
    assert column("n", Estimates([0], [-big], [7]), mechanism="").moe == (big,)
    third = column("s", Estimates([F(1, 3)], [F(0)], [F(2, 3)]), mechanism="")
    assert third.moe == (0.333334,)
    assert column("s", Estimates([F(1, 10)], [F(-3)], [F(32, 10)]), mechanism="").moe == (3.1,)
    assert F(third.high[0]) >= F(2, 3)
    assert column("q", Estimates([5], [None], [None], ranks=3.0), mechanism="").moe == (None,)


def test_dates_are_iso_text_and_whole_fractions_are_whole():
    assert (plain(date(2020, 1, 31)), plain(F(4, 2)), plain(F(1, 2))) == ("2020-01-31", 2, 0.5)
    with pytest.raises(TypeError):
        plain(object())


def test_quantiles_carry_ranks_in_their_column():
    ranked = column("median", Estimates([41], [None], [None], ranks=12.4), mechanism="exponential")
    said = made(labels=(("north",),), columns=(ranked,)).to_json()
    assert said["rows"] == [{"region": "north", "median": 41, "median_moe": None}]
    assert said["columns"][0]["ranks"] == 12.4


# --- rows --------------------------------------------------------------------------------------------------------


def test_kept_rows_keep_their_own_ends():
    kept = made().take([1])
    assert kept.rows == [{"region": None, "n": -3, "age": 39.0}]
    assert kept.column("n").low == (-33,)
    assert made().take([1, 0]).take([1, 0]) == made()


def test_rows_are_found_by_their_keys_and_others_refused():
    answer = made()
    assert [answer.row_index("north"), answer.row_index(("north",)), answer.row_index({"region": None})] == [0, 0, 1]
    for wrong in ("nowhere", {"county": "north"}, ("north", 1), {}):
        with pytest.raises(BadValue, match="row must be the keys of one row"):
            answer.row_index(wrong)
    with pytest.raises(BadValue, match="Use one of: n, age"):
        answer.column("m")


def test_equal_names_are_refused():
    with pytest.raises(BadValue, match="names must differ"):
        made(columns=(count(), count()))
    with pytest.raises(BadValue, match="names must differ"):
        made(columns=(count(name="region"),))


def test_explain_prints_the_words_of_the_plan():
    assert made(plan={"words": ["Protected: person_id.", "Cost: 1."]}).explain() == "Protected: person_id.\nCost: 1."


# --- for people --------------------------------------------------------------------------------------------------


def test_table_shows_no_more_digits_than_the_error_allows():
    header, rows = table(made())
    assert header == ["region", "n", "age"]
    assert rows == [["north", "1,204 ± 30", "41.25 ± 0.32"], ["(empty)", "-3 ± 30", "39.00 ± 0.32"]]
    assert number(123456.789, 2500.0) == "123,457"
    assert number(0.000012345, 0.0000011) == "0.0000123"
    assert number(2.5, 0.0) == "2.5"


def test_chosen_values_are_shown_with_ranks_or_rows():
    ranked = column("median", Estimates([41.5], [None], [None], ranks=12.4), mechanism="")
    top = column("top", Estimates(["flu, cold"], [None], [None], shortfall=7.2), mechanism="")
    assert table(made(labels=(("x",),), columns=(ranked, top)))[1] == [
        ["x", "41.5 ± 13 ranks", "flu, cold (short by < 8 rows)"]
    ]


def test_repr_ends_with_level_cost_unit_and_what_remains():
    lines = repr(made(remaining={"epsilon": "2", "delta": "0"})).splitlines()
    assert lines[0].split() == ["region", "n", "age"]
    assert lines[-1] == "± holds with probability 95 %; cost ε = 1 per person_id (add-remove); remaining ε = 2"
    assert "replayed, nothing new charged" in repr(made(replayed=True))
    many = made(labels=tuple((i,) for i in range(100)), columns=(count([5] * 100),))
    assert "… 70 more rows" in repr(many)


class Reader(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_html_escapes_every_text_and_heads_rows_and_columns():
    cost = COST | {"unit": NASTY}
    nasty = column(NASTY, Estimates([NASTY], [None], [None], shortfall=1.0), mechanism=NASTY)
    answer = made(keys=(f"k{NASTY}",), labels=((NASTY,),), columns=(nasty,), cost=cost, caveats=(NASTY,))
    page = answer._repr_html_()
    reader = Reader()
    reader.feed(page)
    assert {tag for tag, _ in reader.tags} == {"table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert sum(NASTY in text for text in reader.texts) == 6
    assert ("th", {"scope": "col"}) in reader.tags
    assert ("th", {"scope": "row"}) in reader.tags
    assert not re.search(r"<[^>]*\b(on\w+|style|href)=", page)


# --- for programs ------------------------------------------------------------------------------------------------

NAMES = ["region", "n", "n_moe", "age", "age_moe"]


def test_frames_have_keys_first_then_values_beside_their_error():
    answer = made()
    for frame in (answer.to_pandas(), answer.to_polars()):
        assert list(frame.columns) == NAMES
        assert list(frame["n"]) == [1204, -3]
        assert list(frame["age_moe"]) == [0.3125, 0.3125]
    assert answer.to_arrow().column_names == NAMES


def test_frames_say_where_they_come_from():
    answer = made(receipt="r7")
    assert answer.to_pandas().attrs["discreet"]["receipt"] == "r7"
    told = json.loads(answer.to_arrow().schema.metadata[b"discreet"])
    assert (told["receipt"], told["cost"]) == ("r7", COST)


def test_an_answer_without_keys_is_one_row():
    answer = made(keys=(), labels=((),), columns=(count([7]),))
    assert answer.rows == [{"n": 7}]
    assert answer.to_pandas().shape == (1, 2)
    assert answer.row_index({}) == answer.row_index(()) == 0
    assert "<td>7 ± 30</td>" in answer._repr_html_()
