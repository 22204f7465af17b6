"""Every attack is whole: a name of the face, a page, an example, and words for what it achieved."""

import inspect
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

from discreet import attack
from discreet.attack import words
from discreet.attack.catalog import ATTACKS, attack_named
from discreet.attack.result import Result
from discreet.errors import BadValue
from discreet.plot.attack import Chart, Line

PAGES = Path(__file__).parents[2] / "docs" / "attacks"


def result(**changes):
    facts = {
        "name": "guess",
        "metric": "bits recovered",
        "measure": "share of bits that are recovered",
        "raw": 1.0,
        "private": {"1": 0.52},
        "baseline": 0.5,
        "ceiling": {"1": 0.731},
        "units": "one person's bit",
        "trials": 100,
        "intervals": {"1": (0.45, 0.6), "raw": (0.97, 1.0)},
    }
    return Result(**(facts | changes))


def test_names_of_the_face_are_sorted_and_resolve():
    assert attack.__all__ == sorted(attack._HOMES)
    for name in attack.__all__:
        assert callable(getattr(attack, name))
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        attack.magic  # noqa: B018


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_has_a_page_and_an_example(name):
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8").startswith("# ")
    home = import_module(f"discreet.attack.{ATTACKS[name].module}")
    assert list(inspect.signature(home.example).parameters) == ["epsilons", "seed"]
    assert hasattr(home, "on_file") == bool(ATTACKS[name].on)


def test_every_page_is_of_an_attack():
    assert {page.stem for page in PAGES.glob("*.md")} - {"README"} == set(ATTACKS)


def test_unknown_attack_is_refused_with_all_names():
    with pytest.raises(BadValue, match="worlds"):
        attack_named("magic")


def test_failed_attack_says_that_it_found_nothing_and_never_that_all_is_safe():
    sentence = result().sentence
    assert "0.52 at ε = 1 (at most 0.731)" in sentence
    assert sentence.endswith("At ε = 1 the attack found nothing above blind guessing.")
    assert "safe" not in sentence


def test_attack_above_guessing_is_not_called_failed():
    assert "nothing" not in result(intervals={"1": (0.51, 0.6)}).sentence


def test_an_interval_beyond_the_ceiling_refutes_the_claim():
    told = "At ε = 1 its whole interval is beyond the ceiling: chance, in one of 40 runs, or a wrong claim."
    assert told in result(private={"1": 0.9}, intervals={"1": (0.8, 0.95)}).sentence
    floors = {"better": "lower", "raw": None, "private": {"1": 0.2}}
    assert told in result(**floors, intervals={"1": (0.1, 0.3)}).sentence
    for other in (
        result(private={"1": 0.8}, intervals={"1": (0.7, 0.9)}),
        result(private={"1": 0.9}, intervals={}),
        result(private={"1": 0.9}, intervals={"1": (0.8, 0.95)}, ceiling={"1": None}),
        result(private={"1": 0.9}, intervals={"1": (0.8, 0.95)}, bounds_any_attacker=False),
        result(**floors, intervals={"1": (0.1, 0.8)}),
    ):
        assert "wrong" not in other.sentence


def test_fewer_is_better_for_some_attackers():
    fewer = result(better="lower", private={"1": 0.6}, baseline=0.5, intervals={})
    assert "at least" in fewer.sentence
    assert "nothing" in fewer.sentence


def test_what_a_result_does_not_say_is_said_where_it_applies():
    failed, bounded = "That this attack failed does not say that another would.", "Ceilings hold for any attacker"
    told = words.caveats(result())
    assert told[:-1] == [failed]
    assert told[-1].startswith(bounded)
    assert words.caveats(result(private={"1": 0.6}, intervals={}))[0].startswith(bounded)
    assert words.caveats(result(bounds_any_attacker=False)) == [failed]
    assert words.caveats(result(ceiling={"1": None}, baseline=None)) == []


def test_bounds_are_named_by_their_side_and_not_at_all_where_there_are_none():
    floors = result(better="lower", raw=None, private={"1": 0.6})
    assert words.caption(result()) == "Ceilings are for one person's bit; 100 trials."
    assert words.caption(floors) == "Floors are for one person's bit; 100 trials."
    assert words.alt_text(floors).endswith("Floors are for one person's bit.")
    assert words.caveats(floors)[-1].startswith("Floors hold for any attacker")
    assert words.caption(result(ceiling={"1": None}, trials=1)) == "1 trial."
    assert "are for" not in words.alt_text(result(ceiling={}))


def test_curves_without_ceilings_have_no_words_about_them():
    named = [Chart("x", "y", (Line(name, (0.0,), (1.0,)),)) for name in ("left", "ceiling", "floor at ε = 1")]
    assert ["are for" in words.caption(result(chart=chart)) for chart in named] == [False, True, True]


def test_labels_of_columns_stand_apart():
    """A rate near blind guessing, under every number of columns that is printed."""
    for epsilons in (("1",), ("0.1", "1", "10")):
        figure = result(
            raw=1.0,
            private=dict.fromkeys(epsilons, 0.0109),
            baseline=0.0109,
            ceiling=dict.fromkeys(epsilons, 0.6),
            intervals=dict.fromkeys(epsilons, (0.008, 0.013)),
        ).picture()
        figure.canvas.draw()
        boxes = [(text.get_text(), text.get_window_extent()) for text in figure.axes[0].texts]
        assert {"blind guessing", "ceiling", "0.0109", "1"} == {text for text, _ in boxes}
        for (first, box), (second, other) in combinations(boxes, 2):
            assert not box.overlaps(other), (first, second)


def test_results_on_real_rows_are_stamped_in_the_picture_too():
    assert words.alt_text(result(of_real_data=True)).startswith("PRIVATE")
    assert result(of_real_data=True).to_json()["private_to_the_curator"] is True


def test_plot_is_written(tmp_path):
    assert result().plot(tmp_path / "x.png").stat().st_size > 1000


def test_numbers_that_a_double_rounds_have_three_digits_and_one_is_singular():
    told = result(private={}, raw=75455088718862432.0, better="lower", trials=1)
    assert "7.55e16" in told.sentence
    assert words.caption(told).endswith("1 trial.")
    assert words.number(3029652849792) == "3,029,652,849,792"


def test_what_is_not_compared_with_the_truth_says_so():
    recovered = attack.gradient([[-0.3, -0.6], [0.3, 0.6]], [-0.5, 0.5])
    assert "not measured, as the truth was not given, 0 by blind guessing. What was recovered" in recovered.sentence
    assert "not measured" not in attack.gradient([[-0.3], [0.3]], [-0.5, 0.5], truth=[0.6]).sentence
    assert "not measured" in attack.missing_row([0.5, 0.25], [[1.0]], [1], ridge=1.0).sentence


def test_worlds_of_one_table_and_one_person_are_told_in_the_singular():
    told = attack.worlds([{"count": 1, "mean": "30"}], {"count": 1, "columns": {"age": range(100)}})
    assert "databases of 1 person that fit 1 table" in told.measure
