"""Card and page of a synthetic table: what they say, that names run nowhere, and that every picture has its numbers."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.errors import BadValue
from discreet.synth.report import pictures, words
from discreet.synth.report.page import page
from discreet.synth.report.pictures import Bar
from discreet.synth.report.shares import MOST_BARS, _largest, column_bars, singles
from synth import folk
from synth.saved.village import ODD, built

VOID = {"meta", "link", "br", "img", "hr", "input"}
NOT_FOR = ("Single persons", "Rare groups", "three columns", "replicates", "Linking")


class Outline(HTMLParser):
    """The tags of a page, whether they close in order, and what it would fetch."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module", params=[1, 3], ids=["rows", "units"])
def village(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    table, people = built(tmp_path_factory.mktemp("village"), max_rows=request.param)
    with people:
        yield table, people


def test_the_card_says_what_a_reader_must_know(village: tuple[Any, Any]) -> None:
    table, _ = village
    card = table.card()
    titles = re.findall(r"^#+ (.*)$", card, re.MULTILINE)
    assert titles[0] == "Synthetic table of people"
    assert titles[1:] == [
        "What it promises",
        "How it was built",
        "What was measured",
        "What was left out",
        "What ± covers",
        "What it must not be used for",
        "Receipt",
    ]
    for said in ("of 100 results", "ε = 5", "is noisy, not the true number", "note: It is free text", *NOT_FOR):
        assert said.casefold() in card.casefold()
    assert f"receipt {table.privacy_.receipt}" in card
    assert "1 combination that was declared impossible never occurs" in card


def test_shares_of_the_steps_add_up(village: tuple[Any, Any]) -> None:
    table, _ = village
    shares = [float(step.share.removesuffix(" %")) for step in words.steps(table.measured)]
    assert sum(shares) == pytest.approx(100, abs=0.03)


def test_a_table_without_pairs_says_so(village: tuple[Any, Any]) -> None:
    _, people = village
    alone = people.synthesize(["region", "age"], method="independent", rows=77).build(epsilon=1)
    card = alone.card()
    assert "as was asked" in card
    assert "77" in card
    assert "a public number" in card
    assert "Anything about two columns together" in card
    assert "one by one, as was asked" in page(alone)


def test_a_single_column_is_not_said_to_be_alone_by_request(tmp_path: Path) -> None:
    with dp.open(folk.written(tmp_path)) as people:
        task = people.synthesize(["age"])
        assert repr(task).startswith("<synthetic table of 1 column:")
        quote = str(task.quote(epsilon=1))
        assert quote.startswith("Synthetic table of 1 column: ")
        assert "Measured: 1 column by its cells" in quote
        sentence = words.method(task.build(epsilon=1))
    for told in (quote, sentence):
        assert "one by one, for there is no pair of them" in told
        assert "as was asked" not in told


def test_pairs_that_are_too_large_are_told_apart_from_pairs_that_are_not_worth_it(tmp_path: Path) -> None:
    age, independent = np.arange(60_000) % 100, np.arange(60_000) // 100 % 100
    numbers = "".join(f'[columns.{name}]\ntype = "integer"\nbounds = [0, 99]\n' for name in ("age", "pay"))
    toml = tmp_path / "people.toml"
    toml.write_text(f'[dataset]\nname = "people"\n{numbers}[budget]\nepsilon = 100\ndelta = 1e-6\n')
    for pay, said in (
        (age, "No pair of columns that was worth its noise fits in tables of at most 1,000 cells"),
        (independent, "No pair of columns was worth its noise. "),
    ):
        with dp.open(toml, table=pandas.DataFrame({"age": age, "pay": pay})) as people:
            table = people.synthesize(max_cells=1000).build(epsilon=20)
        assert words.pairs(table.measured) == []
        assert said in words.method(table)
        assert "independently" in words.method(table)


def test_the_page_makes_no_request_and_runs_nothing(village: tuple[Any, Any]) -> None:
    html = page(village[0])
    outline = Outline(html)
    assert outline.open == []
    assert {"script", "link", "img", "iframe", "object", "style"} & {tag for tag, _ in outline.tags} == {"style"}
    attributes = {name for _, attrs in outline.tags for name in attrs}
    assert not attributes & {"src", "href", "srcset", "style", "action"} | {n for n in attributes if n.startswith("on")}
    assert not re.search(r"url\(|@import|https?:", html)
    policy = next(attrs["content"] for tag, attrs in outline.tags if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_names_and_values_are_seen_and_not_run(village: tuple[Any, Any]) -> None:
    html = page(village[0])
    assert ODD not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert ODD in "".join(Outline(html).text)


def test_hostile_names_of_columns_and_tables_are_escaped(tmp_path: Path) -> None:
    toml = tmp_path / "odd.toml"
    toml.write_text(
        '[dataset]\nname = "odd"\nsource = "odd.csv"\n[unit]\nkey = "who"\nmax_rows = 1\n'
        '[columns."<img src=x onerror=alert(1)>"]\ntype = "boolean"\n[columns."a|b*c"]\ntype = "boolean"\n'
        "[budget]\nepsilon = 9\ndelta = 1e-6\n"
    )
    (tmp_path / "odd.csv").write_text(
        "who,<img src=x onerror=alert(1)>,a|b*c\n" + "".join(f"{n},true,false\n" for n in range(200))
    )
    with dp.open(toml) as people:
        table = people.synthesize().build(epsilon=1)
        html, card = page(table), table.card()
    assert "<img" not in html
    assert "img" not in {tag for tag, _ in Outline(html).tags}
    assert "a\\|b\\*c" in card
    assert "\\<img" in card


def test_every_picture_has_words_and_the_same_numbers_as_a_table(village: tuple[Any, Any]) -> None:
    table, _ = village
    html = page(table)
    figures = re.findall(r"<figure>.*?</figure>", html, re.DOTALL)
    assert len(figures) == len(table.build.plan.subject.names) + 1
    for figure in figures:
        assert 'role="img" aria-label="' in figure
        assert figure.count("<table>") == 1
        assert "<caption>" in figure


def test_pictures_fit_a_phone_and_colours_change_in_the_dark(village: tuple[Any, Any]) -> None:
    html = page(village[0])
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    assert {int(width) for width in re.findall(r'class="own" viewBox="0 0 (\d+)', html)} == {360}


def test_bars_of_a_column_are_its_shares_joined(village: tuple[Any, Any]) -> None:
    table, _ = village
    own = singles(table)
    for place, name in enumerate(table.build.plan.subject.names):
        shown = column_bars(table.build.plan, own, place)
        assert len(shown) <= MOST_BARS + 1, name
        assert sum(bar.share for bar in shown) == pytest.approx(100)
        assert len({bar.label for bar in shown}) == len(shown)
        assert all(bar.moe > 0 for bar in shown)


def test_a_long_list_of_values_ends_in_all_others() -> None:
    groups = _largest(np.arange(100.0))
    assert len(groups) == MOST_BARS
    assert groups[:-1] == [[cell] for cell in range(77, 100)]
    assert groups[-1] == list(range(77))


def test_a_grid_of_many_columns_shows_those_in_a_pair() -> None:
    names = [f"column {n}" for n in range(100)]
    drawn = pictures.matrix(names, [(3, 90), (5, 6)], ["1", "2"])
    assert drawn.svg.count('class="full"') == 2
    assert drawn.svg.count("column 9") == 1
    assert drawn.rows == (("column 3", "column 90", "1"), ("column 5", "column 6", "2"))


def test_whiskers_of_bars_begin_at_nothing() -> None:
    drawn = pictures.bars("x", [Bar("a", 1.0, 5.0), Bar("b", 0.0, 5.0)], "units")
    lows = [float(low) for low in re.findall(r'<path d="M([\d.]+) ', drawn.svg)]
    left = float(re.findall(r'<rect x="([\d.]+)"', drawn.svg)[0])
    assert min(lows) == left


def test_the_report_is_written_once_and_never_over_an_input(village: tuple[Any, Any], tmp_path: Path) -> None:
    table, people = village
    written = table.report(tmp_path / "r.html")
    assert Path(written).read_text(encoding="utf-8") == table.report()
    with pytest.raises(BadValue, match="must not be there yet"):
        table.report(tmp_path / "r.html")
    with pytest.raises(BadValue, match=r"\.html"):
        table.report(tmp_path / "r.pdf")
    with pytest.raises(BadValue, match=r"\.html"):
        table.report(people.table.toml)


def test_a_check_comes_with_its_numbers(village: tuple[Any, Any]) -> None:
    table, _ = village
    check = table.check(epsilon=3)
    html = page(table, check)
    assert "Compared with the private table" in html
    assert check.receipt in html
    assert html.count("<svg") == page(table).count("<svg") + len(check.pictures())
    assert "All numbers of the check" in html
    assert Outline(html).open == []


def test_a_loaded_table_has_the_same_card_and_page(village: tuple[Any, Any], tmp_path: Path) -> None:
    table, _ = village
    loaded = dp.synth.load(table.save(tmp_path / "s.parquet"))
    assert loaded.card() == table.card()
    assert page(loaded) == page(table)


def test_card_and_page_of_a_rehearsal_are_stamped(village: tuple[Any, Any]) -> None:
    _, people = village
    with dp.open(people.table.toml, rehearsal=True) as rehearsal:
        table = rehearsal.synthesize().build(epsilon=1)
        card, html = table.card(), page(table, table.check(epsilon=1))
    assert card.startswith("**REHEARSAL")
    assert "<title>REHEARSAL: " in html
    assert '<p class="stamp">REHEARSAL' in html
    assert "thrown away: receipt rehearsal-" in card
