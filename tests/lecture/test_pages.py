"""Pages of the lectures: pictures inside, each with its words and its table, no request, no style that is not allowed.

What is measured here is drawn with the system's own noise; no test looks at its value but for `coins`, whose share
among 26,000 yes has a standard deviation of 0.0015: a distance of 0.009 is 6 of them, a chance of 2·10⁻⁹ (the laws of
the other pictures are tested where they are made).
"""

import json
import re
import time
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from itertools import chain

import pytest

from discreet.cli.main import status
from discreet.lecture import attacked, shown
from discreet.lecture import page as page_module
from discreet.lecture.catalog import LECTURES
from discreet.lecture.page import page
from discreet.lecture.picture import Picture
from discreet.lecture.section import Section
from discreet.plot.inline import png_of, svg_of

NUMBERS = [chosen.number for chosen in LECTURES]
MOST_BYTES, MOST_SECONDS = 2_000_000, 20


@cache
def sections(number: int) -> tuple[Section, ...]:
    start = time.process_time()
    computed = LECTURES[number - 1].sections()
    assert time.process_time() - start < MOST_SECONDS
    return computed


@cache
def html(number: int) -> str:
    return page(LECTURES[number - 1], sections(number))


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("number", NUMBERS)
def test_page_asks_the_network_for_nothing_and_is_small(number: int) -> None:
    text = html(number)
    assert len(text.encode()) < MOST_BYTES
    assert "://" not in text
    for _, attributes in Tags(text).tags:
        assert (attributes.get("src") or "data:image/png;base64,").startswith("data:image/png;base64,")
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name == "style" or name.startswith("on") for name in attributes)
        links = re.findall(r"url\([^)]*\)", " ".join(filter(None, attributes.values())))
        assert all(link.startswith("url(#") for link in links)


@pytest.mark.parametrize("number", NUMBERS)
def test_policy_knows_the_style_and_the_script_by_their_hashes(number: int) -> None:
    text = html(number)
    (policy,) = (a["content"] or "" for t, a in Tags(text).tags if "http-equiv" in a)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [b64encode(sha256(part.encode()).digest()).decode() for part in (style, *scripts)]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digests[0]}'")
    assert [f"script-src 'sha256-{digest}'" in policy for digest in digests[1:]] == [True] * len(scripts)
    assert ("script-src" in policy) == (number in {1, 4}) == bool(scripts)
    assert ("img-src data:" in policy) == (number == 3) == ("<img" in text)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_picture_has_words_and_its_table(number: int) -> None:
    pictures = list(chain.from_iterable(section.pictures for section in sections(number)))
    tags = Tags(html(number)).tags
    assert pictures
    assert sum(tag == "details" for tag, _ in tags) == len(pictures)
    named = [a.get("aria-label") or a.get("alt") for t, a in tags if a.get("role") == "img" or t == "img"]
    assert len(named) == len(pictures)
    assert all(named)
    for picture in pictures:
        assert picture.rows
        assert all(len(row) == len(picture.header) for row in (*picture.rows, *picture.brief))
        assert 0 < len(picture.short_rows) <= 12
        assert set(picture.short_rows) <= set(picture.rows)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_name_of_a_mark_is_used_twice_and_every_link_leads_to_one(number: int) -> None:
    tags = Tags(html(number)).tags
    names = [a["id"] for _, a in tags if "id" in a]
    assert len(names) == len(set(names))
    leads = {(a["href"] or "").removeprefix("#") for _, a in tags if "href" in a}
    clips = {(a["clip-path"] or "")[5:-1] for _, a in tags if "clip-path" in a}
    assert leads | clips <= set(names)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_ink_has_another_in_the_dark(number: int) -> None:
    text = html(number)
    inks = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', text))
    assert {ink for ink in inks if f'[fill="{ink}"]' not in text} == set()


def test_lectures_show_what_they_are_about() -> None:
    titles = {number: " ".join(p.title for s in sections(number) for p in s.pictures) for number in NUMBERS}
    assert "Two worlds" in titles[1]
    assert "Two worlds" in titles[4]
    assert "odometer" in titles[4]
    assert "flipped" in titles[3]
    assert all("belief" in titles[number] for number in (2, 3))


def test_staircase_is_the_lectures() -> None:
    (picture,) = next(s.pictures for s in sections(3) if "means" in s.title)
    assert [row[1] for row in picture.rows[1:]] == ["1,455,389,376", "2,012,983", "22,085"]
    assert "not a reconstruction" in picture.caption


def test_whoever_says_yes_did_dodge_as_bayes_has_it() -> None:
    picture = attacked.coins()
    assert abs(float(picture.rows[0][1]) - 0.0577) < 0.009
    assert [row[2] for row in picture.rows][:2] == ["0.0577", "0.25"]


def test_terminal_prints_a_short_twin_and_json_the_whole_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["lecture", "5"]) == 0
    printed = capsys.readouterr().out
    assert "95 % interval" in printed
    assert status(["lecture", "5", "--json"]) == 0
    (picture,) = json.loads(capsys.readouterr().out)["lecture"]["sections"][2]["pictures"]
    assert len(picture["table"]["rows"]) > len([line for line in printed.splitlines() if "Laplace, ε" in line])
    assert picture["sentence"].split(":")[0].startswith("Response falls")


def test_page_without_matplotlib_has_tables_in_place_of_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "find_spec", lambda name: None)
    text = page(LECTURES[4], sections(5))
    assert "discreet[plot]" in text
    assert 'role="img"' not in text
    assert text.count("<table>") == html(5).count("<table>")


def test_drawn_picture_keeps_no_heading_and_shows_hostile_words_as_they_are() -> None:
    words = 'a "quoted" <b> & ]]> \u202e'
    svg = svg_of(shown.beliefs().figure, alt=words, name="p1")
    assert "What an answer can do" not in svg
    assert "belief before the answer" in svg
    assert "<b>" not in svg
    assert "\u202e" not in svg
    assert 'role="img"' in svg
    image = png_of(shown.beliefs().figure, alt=words)
    assert "<b>" not in image
    assert b64decode(image.split("base64,")[1].split('"')[0]).startswith(b"\x89PNG")


def test_short_rows_keep_the_first_and_the_last() -> None:
    rows = tuple((str(place),) for place in range(40))
    short = Picture("", "", "", ("",), rows, lambda: None).short_rows
    assert (len(short), short[0], short[-1]) == (8, ("0",), ("39",))
    assert Picture("", "", "", ("",), rows, lambda: None, rows[:2]).short_rows == rows[:2]
