"""Two worlds are the laws that really run; the page is whole in itself; beliefs and odometers are those of `odds`."""

import json
import re
from base64 import b64encode
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from discreet.errors import DiscreetError
from discreet.lecture.pictures import Picture, odometer_picture, posterior_picture, two_worlds_picture
from discreet.lecture.two_worlds import SHOWN, WITH, WITHOUT, belief, two_worlds
from discreet.lecture.worlds_page import two_worlds_page
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.calibrate import gaussian_sigma
from discreet.privacy.odds import posterior


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_laplace_worlds_are_the_law_that_runs_and_never_leave_the_band(epsilon: str) -> None:
    worlds, law = two_worlds(epsilon), DiscreteLaplace(1 / Fraction(epsilon))
    assert worlds.without == pytest.approx([float(law.mass(k - WITHOUT)) for k in SHOWN])
    assert worlds.present == pytest.approx([float(law.mass(k - WITH)) for k in SHOWN])
    low, high = worlds.band
    assert all(b * (1 - 1e-9) <= p <= t * (1 + 1e-9) for b, p, t in zip(low, worlds.present, high, strict=True))
    assert worlds.tail == 0


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-2"), ("1", "1e-5"), ("3", "1e-3")])
def test_gaussian_worlds_are_the_law_that_runs_and_leave_the_band_by_at_most_delta(epsilon: str, delta: str) -> None:
    worlds, law = two_worlds(epsilon, delta), RoundedGaussian(gaussian_sigma(epsilon, delta))
    central = [k for k in SHOWN if abs(k - WITHOUT) < 8]
    assert [worlds.without[SHOWN.index(k)] for k in central] == pytest.approx(
        [float(law.mass(k - WITHOUT)) for k in central], rel=1e-6
    )
    assert 0 < worlds.tail <= float(Fraction(delta)) * (1 + 1e-9)
    assert sum(worlds.beyond) <= worlds.tail * (1 + 1e-9)


def test_belief_is_that_of_odds() -> None:
    bound = posterior(Fraction(1, 10), "0.4")
    assert belief(0.4, Fraction(1, 10)) == pytest.approx((float(bound.low), float(bound.high)))
    assert "50 %" in two_worlds(1).sentence
    assert "73.1 %" in two_worlds(1).sentence


class Reader(HTMLParser):
    """Tags with their attributes, and the texts of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in self.texts:
            self.texts[self.open].append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return two_worlds_page("0.77", "1e-3")


def test_page_asks_the_network_for_nothing_and_runs_its_own_script_alone(page: str) -> None:
    reader = Reader(page)
    (policy,) = (a["content"] or "" for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    for kind, text in (("style", reader.texts["style"][0]), ("script", reader.texts["script"][1])):
        assert f"{kind}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any(name in {"src", "href", "style"} or name.startswith("on") for _, a in reader.tags for name in a)
    assert "://" not in page


def test_page_has_a_place_for_every_epsilon_and_begins_at_the_given_one(page: str) -> None:
    places = json.loads(Reader(page).texts["script"][0])
    epsilons = [place["epsilon"] for place in places]
    assert epsilons == sorted(epsilons)
    assert {0.1, 0.77, 1, 5} <= set(epsilons)
    (slider,) = (a for t, a in Reader(page).tags if a.get("id") == "slider")
    assert (slider["max"], slider["value"]) == (str(len(places) - 1), str(epsilons.index(0.77)))
    assert len({len(place["cells"]) for place in places}) == 1
    assert page.count("<td>") == len(places[0]["cells"])
    assert all(re.fullmatch(r"[MHVLZ0-9. -]*", place[name]) for place in places for name in ("band", "tail", "present"))
    assert any(place["tail"] for place in places)


def test_page_of_a_pure_promise_has_no_tail() -> None:
    places = json.loads(Reader(two_worlds_page(1)).texts["script"][0])
    assert not any(place["tail"] for place in places)


def test_page_has_words_a_table_and_a_number_beside_the_slider(page: str) -> None:
    tags = Reader(page).tags
    assert {"table", "form", "noscript"} <= {tag for tag, _ in tags}
    assert any(a.get("type") == "number" and a.get("aria-label") for _, a in tags)
    assert any(a.get("role") == "img" and "band" in (a.get("aria-label") or "") for _, a in tags)
    assert any(a.get("aria-live") == "polite" for _, a in tags)


CHARGES = [("average age", "0.5"), ("people by ward", "0.25"), *((f"question {i}", "0.01") for i in range(12))]


@pytest.mark.parametrize(
    "picture",
    [two_worlds_picture(1), two_worlds_picture("0.5", "1e-2"), posterior_picture(), odometer_picture(CHARGES, 3)],
)
def test_every_picture_is_written_with_its_words_and_has_a_table(picture: Picture, tmp_path: Path) -> None:
    for name in ("p.svg", "p.png"):
        picture.write(tmp_path / name)
    assert picture.alt.split(":")[0] in (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert all(len(row) == len(picture.header) for row in picture.rows)


def test_odometer_adds_up_what_was_paid() -> None:
    rows = odometer_picture([("a", "0.5"), ("b", "0.25")], 1).rows
    assert rows == (("a", "0.5", "0.5", "0.5"), ("b", "0.25", "0.75", "0.25"))
    assert "0.25 is left" in odometer_picture([("a", "0.5"), ("b", "0.25")], 1).alt
    assert odometer_picture([], 1).rows == ()


def test_posterior_has_the_lectures_figures() -> None:
    picture = posterior_picture(("0.1",))
    assert "37.63 and 42.42 %" in picture.alt
    assert "5.77 %" in picture.alt


def test_bad_promises_and_budgets_are_refused() -> None:
    for epsilon, delta in (("0", "0"), ("x", "0"), ("1", "1")):
        with pytest.raises(DiscreetError):
            two_worlds(epsilon, delta)
    for charges, budget in (([("a", 2)], 1), ([("a", "0.001")] * 61, 1), ([("a", -1)], 1)):
        with pytest.raises(DiscreetError):
            odometer_picture(charges, budget)
    with pytest.raises(DiscreetError):
        posterior_picture(())
