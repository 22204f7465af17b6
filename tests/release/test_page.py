"""The page of a release: one file that asks for nothing, shows names as text and holds the release's numbers."""

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from discreet.release.publish import page as pages
from discreet.release.publish.facts import facts
from discreet.release.publish.page import packed_numbers, page, page_data
from release.published import HOSTILE, KINDS, TAME, known, made, tables

LOADING = {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video", "source", "use", "image"}
VOID = {"meta", "input", "br", "link", "img"}
KIND = {1: "<i1", 2: "<i2", 4: "<i4", 8: "<f8"}


class Parsed(HTMLParser):
    """Every tag with its attributes, and the text inside each style and script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inside, self.text, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in ("style", "script"):
            self.inside.append((tag, dict(attributes), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            tag, attributes, text = self.inside[-1]
            self.inside[-1] = (tag, attributes, text + data)
        else:
            self.text.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def paged(release, **limits):
    return page(facts(release), tables(release), **limits)


@pytest.fixture(scope="module", params=KINDS)
def shown(request):
    """A release with hostile names and its parsed page."""
    release = made(known(HOSTILE, tops=2, sexes=HOSTILE[:2]), request.param)
    text = paged(release)
    return release, text, Parsed(text)


def data(parsed):
    (content,) = [text for tag, attributes, text in parsed.inside if attributes.get("id") == "data"]
    return json.loads(content)


# --- nothing from outside --------------------------------------------------------------------------------------------


def test_the_page_asks_for_nothing(shown):
    _, _, parsed = shown
    for tag, attributes in parsed.tags:
        assert tag not in LOADING
        assert not {"src", "srcset", "action", "style", "background", "xlink:href", "ping"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
    links = [attributes["href"] for attributes in parsed.all("a")]
    names = ("table.csv", "table.parquet", "noisy.csv", "noisy.parquet", "release.json", "report.md")
    assert set(links) == {"#place", *names}
    for tag, attributes, text in parsed.inside:
        if attributes.get("id") != "data":
            assert "//" not in re.sub(r"(^|\s)//[^\n]*", "", text), tag  # comments aside, no address at all
            assert "@import" not in text
            assert set(re.findall(r"url\([^)]*\)", text)) <= {"url(#hatch)"}


def test_the_policy_allows_the_two_inline_texts_and_nothing_else(shown):
    _, _, parsed = shown
    (rule,) = [meta["content"] for meta in parsed.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    digest = {
        tag: b64encode(sha256(text.encode()).digest()).decode()
        for tag, attributes, text in parsed.inside
        if attributes.get("id") != "data"
    }
    assert rule == (
        f"default-src 'none'; style-src 'sha256-{digest['style']}'; script-src 'sha256-{digest['script']}'; "
        "base-uri 'none'; form-action 'none'"
    )
    before = [tag for tag, attributes in parsed.tags[: parsed.tags.index(("style", {}))]]
    assert before.count("meta") == 4  # the policy stands before what it is about
    assert [attributes for tag, attributes, _ in parsed.inside] == [{}, {"type": "application/json", "id": "data"}, {}]


def test_the_script_makes_text_only_and_calls_nobody():
    script = files("discreet.release.publish").joinpath("page.js").read_text("utf-8")
    for word in (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "setTimeout"),
        *("fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "import(", "importScripts", "Worker"),
        *("localStorage", "sessionStorage", "document.cookie", "DOMParser", "createContextualFragment", "srcdoc"),
    ):
        assert word not in script
    set_from_names = re.findall(r'(?:href|src|on\w+): (`[^`]*`|"[^"]*"|\w+)', script)
    assert set_from_names == ["`#${p}`"]  # the number of a place is all that ever goes into an address


# --- hostile names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_make_no_tag(kind):
    pair = [Parsed(paged(made(known(names, sexes=names[:2]), kind))) for names in (HOSTILE, TAME)]
    tags = [[(tag, sorted(attributes)) for tag, attributes in page.tags] for page in pair]
    assert tags[0] == tags[1]
    assert [len(page.inside) for page in pair] == [3, 3]


def test_names_in_the_data_are_those_of_the_tree(shown):
    release, text, parsed = shown
    names = [name.replace("\u202e", "\\u202e") for name in release.plan.subject.tree.names]
    assert data(parsed)["names"] == names
    block = text[text.index('id="data">') : text.rindex("<script>")]
    assert block.count("<") == 1  # its own end


def test_labels_are_those_of_the_attributes(shown):
    release, _, parsed = shown
    shown_labels = [attribute["labels"] for attribute in data(parsed)["attributes"]]
    if release.plan.subject.attributes == ("size",):
        assert shown_labels == [["1", "2", "3", "4", "5 or more"]]
    else:
        assert [len(labels) for labels in shown_labels] == [len(labels) for labels in release.plan.subject.labels]
    assert [attribute["name"] for attribute in data(parsed)["attributes"]] == list(release.plan.subject.attributes)


# --- the numbers -----------------------------------------------------------------------------------------------------


def unpacked(packed):
    return np.frombuffer(b64decode(packed["values"]), dtype=KIND[packed["bytes"]]).astype(np.int64)


def repeated(packed, count):
    """As the script does: a margin is there once for all, once for each cell, or for each place and cell."""
    return np.resize(unpacked(packed), count)


def test_the_data_are_the_numbers_of_the_release(shown):
    release, _, parsed = shown
    tree, inside = release.plan.subject.tree, data(parsed)
    fitted = np.concatenate([unpacked(level["n"]) for level in inside["levels"]]).reshape(release.fitted.shape)
    off = np.concatenate([unpacked(level["off"]) for level in inside["levels"]]).reshape(release.fitted.shape)
    assert np.array_equal(fitted, release.fitted)
    assert np.array_equal(fitted + off, release.estimate)
    assert (
        np.concatenate([unpacked(level["below"]) for level in inside["levels"]]).tolist()
        == np.diff(tree.child).tolist()
    )
    for level, packed in enumerate(inside["levels"]):
        rows = tree.places(level)
        sums = release.fitted[rows].sum(axis=1)
        assert np.array_equal(repeated(packed["moe"], release.radius[rows].size), release.radius[rows].ravel())
        assert np.array_equal(repeated(packed["total_moe"], len(sums)), release.total_radius[rows])
        assert np.array_equal(sums + unpacked(packed["total_off"]), release.totals[rows])
    assert inside["cells"] == release.plan.subject.cells
    assert inside["of_100"] == "Of 100 such margins, 95 hold the exact number."


@pytest.mark.parametrize(
    ("values", "width"),
    [([0], 1), ([127, -128], 1), ([128], 2), ([-129], 2), ([2**15], 4), ([-(2**31)], 4), ([2**31], 8), ([2**53], 8)],
)
def test_numbers_are_packed_in_as_few_bytes_as_they_need(values, width):
    packed = packed_numbers(np.array(values))
    assert packed["bytes"] == width
    assert unpacked(packed).tolist() == values


def test_a_large_release_shows_its_upper_levels_and_says_so():
    release = made(known(), "sex")
    told, tree = facts(release), release.plan.subject.tree
    whole = len(json.dumps(page_data(told, tables(release))["names"]))
    sizes = []
    for largest in (0, 400, 700, 10**6):
        text = paged(release, largest=largest)
        inside = data(Parsed(text))
        sizes.append(len(inside["levels"]))
        assert len(inside["names"]) == tree.first[sizes[-1]]
        assert ("Not on this page" in text) == (sizes[-1] < tree.depth)
        assert all(level in text for level in tree.levels)
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0, tree.depth)
    assert 0 < sizes[1] < tree.depth
    assert whole > 0


def test_a_page_of_43_thousand_places_and_8_cells_is_below_its_limit():
    """The size of the smallest areas of England and Wales: 35,672 in 7,264 in 331 in 2."""
    tree_sizes, names = (1, 2, 331, 7264, 35672), 20
    chance = np.random.default_rng(0)
    total = sum(
        len(packed_numbers(chance.integers(0, 24_783_486 // size // 4 + 1, size * 8))["values"])
        + len(packed_numbers(chance.integers(-99, 99, size * 8))["values"])
        + size * (names + 3)
        for size in tree_sizes
    )
    assert total < 3_000_000 < pages.LARGEST


# --- for everyone ----------------------------------------------------------------------------------------------------


def test_the_page_has_landmarks_labels_and_a_language(shown):
    _, _, parsed = shown
    assert parsed.open == []
    assert parsed.tags[0] == ("html", {"lang": "en"})
    present = [tag for tag, _ in parsed.tags]
    assert [present.count(tag) for tag in ("header", "main", "footer", "h1", "title", "noscript")] == [1] * 6
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert (
        {label["for"] for label in parsed.all("label")} == {field["id"] for field in parsed.all("input")} == {"search"}
    )
    named = [attributes for tag, attributes in parsed.tags if tag in ("nav", "section", "main")]
    assert all("aria-label" in element or "aria-labelledby" in element for element in named)
    assert any(meta.get("name") == "viewport" for meta in parsed.all("meta"))
    assert all(header.get("scope") in ("col", "row") for header in parsed.all("th"))
    live = [attributes["id"] for _, attributes in parsed.tags if attributes.get("role") == "status"]
    assert live == ["found", "said"]


def test_the_style_has_dark_narrow_and_print_and_shows_the_focus():
    style = files("discreet.release.publish").joinpath("page.css").read_text("utf-8")
    for word in ("prefers-color-scheme: dark", "@media print", "max-width: 46rem", ":focus-visible", "color-scheme"):
        assert word in style


def test_the_keyboard_walks_the_tree():
    script = files("discreet.release.publish").joinpath("page.js").read_text("utf-8")
    for key in ("ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End", "Enter", '" "'):
        assert f"{key}: () =>" in script
    for word in ('role: "tree"', 'role: "treeitem"', 'role: "group"', "aria-expanded", "aria-level", "aria-selected"):
        assert word in script


def test_the_promise_is_on_the_page_without_a_script(shown):
    release, _, parsed = shown
    text = " ".join(parsed.text)
    told = facts(release)
    assert all(line in text for line in told["promise"]["sentences"])
    assert "Rules broken: 0." in text
    assert "How it was protected" in text
    assert all(line in text for line in told["caveats"])
    assert f"ε = {told['epsilon']}" in text
    assert told["why"] in text
