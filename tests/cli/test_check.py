"""`discreet check`, for people and for programs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main

GOOD = """
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "id"
max_rows = 5
[columns.age]
type = "integer"
bounds = [0, 110]
why_public = "common knowledge"
[budget]
epsilon = 3
delta = 1e-7
"""
CANARY = "canary-4711"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(f"id,age,name\n1,2,{CANARY}\n")
    (tmp_path / "people.toml").write_text(GOOD)
    return tmp_path


def checked(capfd: pytest.CaptureFixture[str], path: Path, exit_code: int) -> dict[str, Any]:
    """The one JSON object of `discreet check PATH --json`."""
    assert main.status(["check", str(path), "--json"]) == exit_code
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    assert CANARY not in said.out + said.err
    read: dict[str, Any] = json.loads(said.out)
    return read


def test_full_metadata_has_no_gaps_and_exit_0(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reply = checked(capfd, folder / "people.toml", 0)
    assert reply["ok"] is True
    assert reply["dataset"] == "people"
    assert reply["gaps"] == []
    assert len(reply["schema_hash"]) == 64
    assert {"format", "cost", "remaining", "receipt", "caveats"} <= set(reply)
    assert main.status(["check", str(folder / "people.toml")]) == 0
    assert capfd.readouterr().out.startswith("people: no gaps.")


def test_gap_that_does_not_block_is_listed_with_exit_0(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "people.toml").write_text(GOOD.replace("delta = 1e-7", ""))
    reply = checked(capfd, folder / "people.toml", 0)
    assert [gap["where"] for gap in reply["gaps"]] == ["budget.delta"]
    assert set(reply["gaps"][0]) == {"where", "what", "fix", "blocks"}
    assert main.status(["check", str(folder / "people.toml")]) == 0
    said = capfd.readouterr().out
    assert "1 gap, none of which stops a question" in said
    assert "Under [budget] write: delta = 1e-7" in said


@pytest.mark.parametrize(("population", "delta"), [(1000, "0.001"), (2, "0.5"), (60000, "1e-6")])
def test_delta_near_one_over_the_population_is_a_gap_and_its_line_closes_it(
    folder: Path, capfd: pytest.CaptureFixture[str], population: int, delta: str
) -> None:
    text = GOOD.replace("[unit]", f"population = {population}\n[unit]").replace("delta = 1e-7", f"delta = {delta}")
    (folder / "people.toml").write_text(text)
    assert main.status(["check", str(folder / "people.toml")]) == 0
    said = capfd.readouterr().out
    assert "may   budget.delta" in said
    assert "no gaps" not in said
    line = checked(capfd, folder / "people.toml", 0)["gaps"][0]["fix"].partition("write: ")[2]
    (folder / "people.toml").write_text(text.replace(f"delta = {delta}", line))
    assert checked(capfd, folder / "people.toml", 0)["gaps"] == []


def test_delta_above_one_over_the_population_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("[unit]", "population = 1000\n[unit]").replace("delta = 1e-7", "delta = 0.002")
    (folder / "people.toml").write_text(text)
    assert "ceiling" in checked(capfd, folder / "people.toml", 3)["what"]


def test_line_for_why_public_pasted_unchanged_is_still_a_gap(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "people.toml").write_text(GOOD.replace('why_public = "common knowledge"\n', ""))
    first = checked(capfd, folder / "people.toml", 0)["gaps"]
    line = first[0]["fix"].partition("write: ")[2].splitlines()[0]
    (folder / "people.toml").write_text(GOOD.replace('why_public = "common knowledge"', line))
    assert checked(capfd, folder / "people.toml", 0)["gaps"] == first
    assert [gap["where"] for gap in first] == ["columns.age.why_public"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("[budget]\nepsilon = 3\ndelta = 1e-7\n", "", "budget"),
        ('key = "id"', 'key = "ident"', "unit.key"),
        ("[columns.age]", "[columns.ages]", "columns.ages"),
        ('"people.csv"', '"elsewhere.csv"', "dataset.source"),
    ],
)
def test_gap_that_blocks_is_an_error_object_with_exit_3(
    folder: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, where: str
) -> None:
    (folder / "people.toml").write_text(GOOD.replace(old, new))
    reply = checked(capfd, folder / "people.toml", 3)
    assert (reply["ok"], reply["code"], reply["exit"]) == (False, "metadata", 3)
    assert where in reply["what"]
    assert all(reply[part] for part in ("why", "fix"))
    assert reply["gaps"][0]["where"] == where
    assert reply["gaps"][0]["blocks"] is True
    assert main.status(["check", str(folder / "people.toml")]) == 3
    said = capfd.readouterr()
    assert f"must  {where}" in said.out


@pytest.mark.parametrize(
    ("content", "fix"),
    [
        (GOOD.replace("bounds", "bonds"), "bounds = [0, 110]"),
        (GOOD.replace('"integer"', '"int"'), 'type = "integer"'),
        ("", 'name = "people"'),
        ("not toml", "key = value"),
    ],
)
def test_invalid_file_ends_with_3_and_a_fix(
    folder: Path, capfd: pytest.CaptureFixture[str], content: str, fix: str
) -> None:
    (folder / "people.toml").write_text(content)
    reply = checked(capfd, folder / "people.toml", 3)
    assert reply["what"].startswith("people.toml")
    assert fix in reply["fix"]
    assert main.status(["check", str(folder / "people.toml")]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert fix in said.err
    assert (folder / "people.toml").read_text() == content


@pytest.mark.parametrize("name", ["none.toml", "people.csv", ".", "folder.toml", ""])
def test_path_that_is_no_metadata_file_ends_with_3(folder: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    (folder / "folder.toml").mkdir()
    assert checked(capfd, folder / name, 3)["fix"]


def test_header_that_is_damaged_blocks_without_being_quoted(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for content in (b"", b"\xff", b"a\0", f"{CANARY},{CANARY}".encode(), f"1,{CANARY}".encode()):
        (folder / "people.csv").write_bytes(content)
        assert checked(capfd, folder / "people.toml", 3)["gaps"][0]["where"] == "dataset.source"


@pytest.mark.parametrize("name", ["people.parquet", "people.pq", "people.duckdb", "people.db"])
def test_other_formats_are_left_unopened(folder: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    (folder / "people.toml").write_text(GOOD.replace("people.csv", name))
    (folder / name).write_text(CANARY)
    assert checked(capfd, folder / "people.toml", 0)["gaps"] == []


@pytest.mark.parametrize(
    "name",
    ["gone.csv", "gone.parquet", "gone.duckdb", "gone.xlsx", "there.xlsx", "there.gz", "folder.parquet", "pipe.csv"],
)
def test_table_that_no_question_could_read_must_be_put_right(
    folder: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    (folder / "people.toml").write_text(GOOD.replace("people.csv", name))
    if name.startswith("there"):
        (folder / name).write_text(CANARY)
    elif name.startswith("folder"):
        (folder / name).mkdir()
    elif name.startswith("pipe"):
        os.mkfifo(folder / name)
    gaps = checked(capfd, folder / "people.toml", 3)["gaps"]
    assert [(gap["where"], gap["blocks"]) for gap in gaps] == [("dataset.source", True)]
    assert name in gaps[0]["what"]


@pytest.mark.parametrize("verb", [["check"], ["budget"], ["ask"], ["budget", "set"]])
def test_metadata_in_a_pipe_are_refused_at_once(
    folder: Path, capfd: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    os.mkfifo(folder / "pipe.toml")
    more = {"ask": ["SELECT 1", "--eps", "1"], "set": ["--epsilon", "1", "--why", "x"]}.get(verb[-1], [])
    assert main.status([*verb, str(folder / "pipe.toml"), *more]) == 3
    assert "plain file" in capfd.readouterr().err


def test_square_brackets_in_names_are_shown_as_they_are(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "people.toml").write_text(GOOD + '[columns."[red]x[/red]"]\ntype = "text"\n')
    main.status(["check", str(folder / "people.toml")])
    assert '[columns."[red]x[/red]"]' in capfd.readouterr().out


def test_ten_thousand_gaps_fit_on_a_screen(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    many = "".join(f'[columns.c{number}]\ntype = "text"\n' for number in range(10**4))
    (folder / "people.csv").write_text("id,age," + ",".join(f"c{number}" for number in range(10**4)) + "\n")
    (folder / "people.toml").write_text(GOOD + many)
    assert main.status(["check", str(folder / "people.toml")]) == 0
    said = capfd.readouterr().out
    assert len(said.splitlines()) < 100
    assert "… and 9980 more: see --json." in said
    assert len(checked(capfd, folder / "people.toml", 0)["gaps"]) == 10**4


@pytest.mark.parametrize("name", ["people.toml", "people.csv"])
def test_reply_never_replaces_what_it_is_about(folder: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    before = (folder / name).read_bytes()
    assert main.status(["check", str(folder / "people.toml"), "-o", str(folder / name)]) == 2
    assert "gaps.txt" in capfd.readouterr().err
    assert (folder / name).read_bytes() == before


def test_reply_can_go_to_a_file(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["check", str(folder / "people.toml"), "-o", str(folder / "said.txt")]) == 0
    assert "no gaps" in (folder / "said.txt").read_text()


def test_existing_file_is_replaced_on_request_only(tmp_path: Path) -> None:
    page, facts = tmp_path / "gaps.txt", tmp_path / "people.toml"
    facts.write_text('[dataset]\nformat = 1\nname = "people"\nsource = "people.csv"\n')
    page.write_text("kept")
    assert main.status(["check", str(facts), "-o", str(page)]) == 2
    assert page.read_text() == "kept"
    assert main.status(["check", str(facts), "-o", str(page), "--yes"]) == 3
    assert page.read_text() != "kept"


@pytest.mark.parametrize(
    ("bounds", "step", "said"), [("[0, 1e7]", "", True), ("[0, 5000]", "", False), ("[0, 1e7]", "step = 0.01", False)]
)
def test_a_coarse_step_that_nobody_declared_is_advice(
    folder: Path, capfd: pytest.CaptureFixture[str], bounds: str, step: str, said: bool
) -> None:
    tip = f'[columns.tip]\ntype = "number"\nbounds = {bounds}\n{step}\nwhy_public = "tariff"\n[budget]'
    (folder / "people.csv").write_text("id,age,tip\n")
    (folder / "people.toml").write_text(GOOD.replace("[budget]", tip))
    gaps = [gap for gap in checked(capfd, folder / "people.toml", 0)["gaps"] if gap["where"] == "columns.tip.step"]
    assert len(gaps) == said
    if said:
        assert "steps of 8" in gaps[0]["what"]
        assert "Under [columns.tip] write: step = 0.01" in gaps[0]["fix"]
