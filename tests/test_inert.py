"""What leaves as text is inert: every form of an answer with hostile keys and names, and the one rule of each."""

import contextlib
import csv
import io
import json
import re
from fractions import Fraction as F
from html.parser import HTMLParser

import pytest

from discreet.answer import Answer, Estimates, column
from discreet.answer.quote import Expected, Quote
from discreet.cli import formats
from discreet.errors import BadValue, IntegrityError, NotAnswerable
from discreet.inert import cell, in_json, is_hidden, markdown, visible, visible_lines
from discreet.query.form.frame import Frame
from discreet.query.form.words import count as count_rows
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import CountRows, Output, Question
from discreet.schema import Column, Schema

HOSTILE = (
    *(
        "=1+1",
        "@SUM(A1)",
        "-cmd|' /C calc'!A0",
        "+1",
        "  =1",
        "\t=1",
        "\r=1",
        '"=1',
        "'=1",
        "＝1+1",
        "＠x",
        "﹢1",
        "-5",
    ),
    *("\ufeff=1", "\u200b=1", "a;=1", "a\n=1", "a\t@x", "\u202e=1"),
    *("\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\x08b", "\x7f", "line\nbreak", "car\rriage", "nul\x00"),
    *(
        "abc\u202edcba",
        "\u2066x\u2069",
        "zero\u200bwidth",
        "soft\u00adhyphen",
        "\u2028",
        "\u2029",
        "\ud800",
        "\U000e0041",
    ),
    *(
        "<script>alert(1)</script>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "&lt;",
        "a|b",
        "`x`",
        "[x](javascript:1)",
    ),
    *("$x^2$", r"\$", "$", r"\input{x}", "[bold]x[/bold]", ":smile:"),
)
HARMLESS = ("north", "naïve – 東京", "می‌خواهم", "O'Neill", "a=b", "1-2", "C:\\dir", "", "👩‍🔬")


def hidden_in(text):
    return [letter for letter in text if is_hidden(letter) and letter != "\n" and letter not in "\u200c\u200d"]


def answer(labels=HOSTILE, name="n", key="place", of="of at most 3 rows per person"):
    values = [10] * len(labels)
    ends = Estimates(values, [v - 3 for v in values], [v + 3 for v in values])
    column_made = column(name, ends, mechanism="Laplace", scale=F(1), step=F(1), kind="laplace", part="rows", of=of)
    cost = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person"}
    rows = tuple((label,) for label in labels)
    words = {"words": [f"Measured: {labels[0]}"]}
    return Answer("people", "SELECT", (key,), rows, (column_made,), F(95, 100), cost, (f"About {labels[-1]}.",), words)


# --- the rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_visible_text_has_no_hidden_letter_and_stays_the_same(text):
    for shown in (visible(text), markdown(text), cell(text)):
        assert hidden_in(shown) == []
        assert "\n" not in shown
    assert visible(visible(text)) == visible(text)
    assert hidden_in(visible_lines(text)) == []
    shown = json.dumps(text, ensure_ascii=False)
    assert json.loads(in_json(shown)) == text
    assert hidden_in(in_json(shown)) == []


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text):
    assert visible(text) == cell(text) == visible_lines(text) == text


def runs(text):
    """Whether a spreadsheet could take a written cell, or a part of it cut at another separator, for a formula."""
    seen = (re.sub(r"^[\s\"]*", "", part) for part in re.split("[;\t\r\n]", text))
    return any(part[:1] in tuple("=+-@＝＋－＠﹢﹦﹣﹫") for part in seen)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_runs_as_a_formula(text):
    assert not runs(cell(text))


def test_the_check_of_cells_can_fail():
    assert [runs(text) for text in ("=1", "＝1", ' "@x', "a;-1", "a\t+1")] == [True] * 5


# --- every form of an answer -----------------------------------------------------------------------------------------


class Texts(HTMLParser):
    """The tags of a page, and its texts."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


FORMS = {
    **{name: (lambda a, name=name: formats.content(a, name).decode()) for name in ("csv", "tsv", "json", "jsonl")},
    **{name: (lambda a, name=name: formats.content(a, name).decode()) for name in ("md", "html")},
    "text": repr,
    "notebook": lambda a: a._repr_html_(),
    "explained": lambda a: a.explain(),
    "shares": lambda a: "\n".join(map(str, a.share(a.columns[0].name))),
    "quote": lambda a: repr(
        Quote(
            "people", a.cost, a.level, (Expected(a.columns[0].name, "Laplace", F(3)),), None, a.cost, a.cost, a.caveats
        )
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_shows_hostile_keys_and_names_without_a_hidden_letter(form):
    for hostile in (answer(), answer(("x",), name="\x1b]0;n\x07"), answer(("x",), key="\u202ekey")):
        text = FORMS[form](hostile)
        assert hidden_in(text.replace("\t", "") if form == "tsv" else text) == []


@pytest.mark.parametrize("form", ["html", "notebook"])
def test_pages_have_no_tags_but_their_own(form):
    parser = Texts()
    parser.feed(FORMS[form](answer()))
    own = {"table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "br", "small"}
    assert parser.tags <= own | {"html", "head", "meta", "title", "body"}
    assert visible(HOSTILE[19]) in parser.texts


def test_markdown_has_one_row_a_key_and_no_html():
    lines = FORMS["md"](answer()).splitlines()
    assert sum(line.startswith("| ") for line in lines) == len(HOSTILE) + 2
    assert not re.search(r"(?<!\\)<", "\n".join(lines))


@pytest.mark.parametrize(("form", "separator"), [("csv", ","), ("tsv", "\t")])
def test_cells_are_neutral_unless_raw_and_numbers_stay_numbers(form, separator):
    formula = answer(name="=n")
    header, *rows = csv.reader(io.StringIO(FORMS[form](formula), newline=""), delimiter=separator)
    assert header == ["place", "'=n", "'=n_moe", "'=n_of"]
    assert [row[0] for row in rows] == [cell(text) for text in HOSTILE]
    negative = answer(("x",)).column("n")
    below = column("n", Estimates([-5], [-8], [-2]), mechanism="", scale=F(1), step=F(1), kind="laplace")
    text = formats.content(Answer(**(vars(answer(("x",))) | {"columns": (below,)})), form).decode()
    assert text.splitlines()[1].split(separator)[1] == "-5"
    assert negative.value == (10,)
    raw = formats.content(formula, form, formats.exact_cell).decode(errors="surrogatepass")
    header, *rows = csv.reader(io.StringIO(raw, newline=""), delimiter=separator)
    assert header[1] == "=n"
    assert [row[0] for row in rows] == list(HOSTILE)


def test_a_caveat_is_given_where_cells_were_changed_and_only_there():
    assert "--raw" in formats.guard_caveat(answer(), "csv")
    assert formats.guard_caveat(answer(HARMLESS), "csv") is None
    assert formats.guard_caveat(answer(), "json") is None


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_pictures_show_hostile_keys_as_text(tmp_path, suffix):
    from discreet.plot import style

    figure = answer(name="$n^2$").plot()
    axes = figure.axes[0]
    texts = [axes.xaxis.label, *axes.get_yticklabels(), *figure.texts, figure._suptitle]
    assert all(not text.get_parse_math() and not text.get_usetex() for text in texts)
    assert [hidden_in(text.get_text()) for text in texts] == [[]] * len(texts)
    assert axes.get_xlabel() == "$n^2$, of at most 3 rows per person"
    style.write(figure, tmp_path / f"x{suffix}", alt="\x1b<x>")
    if suffix == ".svg":
        from xml.etree import ElementTree

        assert {e.tag.split("}")[1] for e in ElementTree.parse(tmp_path / "x.svg").iter()}.isdisjoint({"script", "img"})


def test_errors_quote_what_was_typed_without_a_hidden_letter():
    with pytest.raises(BadValue) as refused:
        answer().column("\x1b[2J\u202e")
    assert hidden_in(str(refused.value)) == []
    error = NotAnswerable("what \x1b", "why\u202e", "fix\nnext", (1, 2))
    assert (error.what, error.why, error.fix) == (r"what \x1b", r"why\u202e", "fix\nnext")


@pytest.mark.parametrize("name", ["a\x1b", "a\u202eb", "\ud800", "a\nb", "zero\u200bwidth"])
def test_hidden_letters_in_names_are_refused_in_metadata_and_in_questions(name):
    with pytest.raises(BadValue, match="printable"):
        Column(name, "integer", bounds=(0, 1))
    schema = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    with pytest.raises(BadValue, match="letters that can be seen"):
        Frame("people").agg(**{name: count_rows()})
    with pytest.raises(NotAnswerable, match="cannot name a column"):
        resolved(Question("people", (Output(name, CountRows()),)), schema)


# --- stored bytes ----------------------------------------------------------------------------------------------------


def test_bytes_that_are_no_answer_are_refused_in_words():
    with pytest.raises(IntegrityError, match="The stored answer cannot be read"):
        Answer.from_bytes(b"{}")
    stored = json.loads(answer().to_bytes())
    garbage = [b"", b"\xff", b"{}", b"[]", b"null", b"1", b"[" * 10**5, b'{"format":1}', answer().to_bytes()[:-1]]
    for field in stored:
        garbage.append(json.dumps({name: value for name, value in stored.items() if name != field}).encode())
        wrong = [None, 7, "x", [1], {"a": 1}, [[["x"]]], True, 1e3, "1/0", "9" * 5000]
        garbage += [json.dumps(stored | {field: value}).encode() for value in wrong if stored[field] != value]
    for field in stored["columns"][0]:
        other = [{name: value for name, value in stored["columns"][0].items() if name != field}]
        other += [stored["columns"][0] | {field: value} for value in ({"a": 1}, [[]], "1/0", -1, "-1")]
        garbage += [json.dumps(stored | {"columns": [column]}).encode() for column in other]
    garbage.append(json.dumps(stored | {"columns": stored["columns"] * 2}).encode())
    garbage.append(answer().to_bytes().replace(b'"value":[10,', b'"value":[1e999,'))
    kept = 0
    for each in garbage:
        with contextlib.suppress(IntegrityError):
            reread = Answer.from_bytes(each)
            kept += 1  # a text where any text may stand, or without a field that earlier versions lack
            assert Answer.from_bytes(reread.to_bytes()) == reread
    assert 0 < kept < 30 < len(garbage)


def test_answers_stored_before_caps_were_said_read_and_write_as_they_were():
    stored = answer(of=None).to_bytes()
    assert b'"of"' not in stored
    assert Answer.from_bytes(stored).to_bytes() == stored
