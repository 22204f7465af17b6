"""`discreet attack`: a result beside guessing and its ceiling, one sentence for what cannot be tried."""

import json

import pytest

from discreet.attack.catalog import ATTACKS
from discreet.attack.words import STAMP
from discreet.cli.main import status

QUICK = "shame"


def test_list_names_every_attack(told):
    listed = told("attack", "list", "--json")["attacks"]
    assert [row["name"] for row in listed] == list(ATTACKS)
    assert all(row["title"].endswith(".") for row in listed)


def test_attack_prints_the_result_beside_guessing_and_the_ceiling(shown):
    out, _ = shown("attack", QUICK)
    assert "at most" in out or "at least" in out
    assert "shows what this attack could not do, not what every attack cannot" in out
    assert STAMP not in out


def test_attack_as_json_has_every_number(told):
    result = told("attack", QUICK, "--eps", "0.5", "--json")["result"]
    assert list(result["private"]) == ["0.5"]
    assert result["sentence"]
    assert result["private_to_the_curator"] is False


def test_picture_is_drawn_with_its_description(shown, tmp_path):
    _, err = shown("attack", QUICK, "--plot", str(tmp_path / "a.svg"))
    assert "Drawn" in err
    assert "ε = 1" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "attack must be one of"),
        ([QUICK, "--eps", "0"], "epsilon"),
        ([QUICK, "--eps", "101"], "at most 100"),
        ([QUICK, "--seed", "x"], "seed"),
        ([QUICK, "--curator"], "goes with --on"),
        ([QUICK, "--on", "x.parquet", "--curator"], "is not for"),
        (["linkage", "--on", "x.parquet"], "must come with --curator"),
        (["linkage", "--on", "x.parquet", "--curator"], "that is there"),
        ([QUICK, "--plot", "a.gif"], "ending in .png or .svg"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_it_begins(arguments, said, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert status(["attack", *arguments, "--json"]) == 2
    reply = json.loads(capfd.readouterr().out)
    assert said in f"{reply['what']} {reply['why']} {reply['fix']}"
    assert list(tmp_path.iterdir()) == []
