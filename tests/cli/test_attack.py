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
        (["linkage", "--on", "x.parquet", "--curator"], "must be a synthetic table that is there"),
        (["membership", "--on", "x.dp", "--curator"], "must be a model that is there"),
        (["linkage", "--on", "x.parquet", "--curator", "--eps", "3"], "goes with the built-in example alone"),
        (["subset_sum"], "Did you mean subset_sums?"),
        ([QUICK, "--plot", "a.gif"], "ending in .png or .svg"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_it_begins(arguments, said, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert status(["attack", *arguments, "--json"]) == 2
    reply = json.loads(capfd.readouterr().out)
    assert said in f"{reply['what']} {reply['why']} {reply['fix']}"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def attacked(tmp_path):
    """A folder with everything that an attack reads, its private source elsewhere."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "lab" / "built").mkdir(parents=True)
    (tmp_path / "lab" / "people.toml").write_text('[dataset]\nname = "people"\nsource = "../rows/people.csv"\n')
    for name in ("synthetic.parquet", "model.dp", "members.csv", "others.csv", "built/release.json"):
        (tmp_path / "lab" / name).write_text("kept")
    (tmp_path / "rows" / "people.csv").write_text("kept")
    (tmp_path / "lab" / "hard.svg").hardlink_to(tmp_path / "lab" / "synthetic.parquet")
    (tmp_path / "lab" / "in.svg").hardlink_to(tmp_path / "lab" / "built" / "release.json")
    (tmp_path / "lab" / "link.svg").symlink_to("members.csv")
    return tmp_path / "lab"


@pytest.mark.parametrize(
    ("name", "on", "flag", "file"),
    [
        ("linkage", "synthetic.parquet", "-o", "synthetic.parquet"),
        ("linkage", "synthetic.parquet", "-o", "hard.svg"),
        ("linkage", "synthetic.parquet", "--plot", "hard.svg"),
        ("linkage", "synthetic.parquet", "-o", "../rows/people.csv"),
        ("linkage", "synthetic.parquet", "-o", "people.toml"),
        ("small_area", "built", "-o", "built/release.json"),
        ("small_area", "built", "--plot", "built/new.svg"),
        ("small_area", "built", "--plot", "in.svg"),
        ("membership", "model.dp", "-o", "model.dp"),
        ("membership", "model.dp", "-o", "members.csv"),
        ("membership", "model.dp", "-o", "others.csv"),
        ("membership", "model.dp", "--plot", "link.svg"),
    ],
)
def test_what_is_attacked_is_never_written_over(name, on, flag, file, attacked, capfd, monkeypatch):
    monkeypatch.chdir(attacked)
    assert status(["attack", name, "--on", on, "--curator", flag, file, "--yes", "--json"]) == 2
    reply = json.loads(capfd.readouterr().out)
    assert "must be another file than those that are attacked" in reply["what"] or "must not replace" in reply["what"]
    kept = [path for path in attacked.parent.rglob("*") if path.is_file() and path.suffix != ".toml"]
    assert {path.read_text() for path in kept} == {"kept"}
    assert not (attacked / "built" / "new.svg").exists()
