"""`discreet init`: from a header and a few answers to a file that reads back; nothing is read or lost."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.screen import run_at_terminal
from discreet.cli import main
from discreet.metadata import load
from discreet.schema import Budget, Column, Hierarchy, Schema, Unit

CANARY = "canary-4711"
FLAGS = ["--unit", "person_id", "--max-rows", "5", "--column", "age:integer:0:110"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(f"person_id,age,region,name\n1,2,north,{CANARY}\n")
    return path


def made(capfd: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    """The one JSON object of `discreet init ARGUMENTS --json`."""
    assert main.status(["init", *arguments, "--json"]) == exit_code
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    assert CANARY not in said.out + said.err
    read: dict[str, Any] = json.loads(said.out)
    assert read["ok"] is (exit_code == 0)
    assert exit_code == 0 or read["fix"]
    return read


def test_flags_become_a_file_that_reads_back(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    more = [
        "--column",
        "region:category:north|south",
        "--epsilon",
        "3",
        "--delta",
        "1e-7",
        "--neighbours",
        "replace-one",
    ]
    reply = made(capfd, str(table), *FLAGS, *more, "--hierarchy", "geo:land>region")
    file = table.with_suffix(".toml")
    assert reply["file"] == str(file)
    assert reply["text"] == file.read_text()
    assert reply["undeclared"] == ["name"]
    assert [gap["where"] for gap in reply["gaps"]][:1] == ["columns.age.why_public"]
    known = load(file)
    age, region = (
        Column("age", "integer", bounds=(0, 110)),
        Column("region", "category", values=("north", "south")),
    )
    nested = (Hierarchy("geo", ("land", "region")),)
    unit = Unit("person_id", 5)
    assert known.schema == Schema("people", (age, region), unit, "replace-one", hierarchies=nested)
    assert known.budget == Budget(3, "1e-7")
    assert known.source_path == table


def test_next_command_that_is_shown_works(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["init", str(table), *FLAGS, "--eps", "3"]) == 0
    said = capfd.readouterr()
    assert CANARY not in said.out + said.err
    line = next(line.strip() for line in said.out.splitlines() if line.strip().startswith("discreet check"))
    assert main.status(shlex.split(line)[1:]) == 0


def test_first_quote_is_shown_where_nothing_stops_a_question_and_works(
    table: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = made(capfd, str(table), *FLAGS, "--eps", "0.5")["next"]
    assert shlex.split(lines[1])[-3:] == ["SELECT COUNT(*) AS n FROM people", "--eps", "0.5"]
    assert main.status(shlex.split(lines[1])[1:]) == 0
    assert "± 30" in capfd.readouterr().out
    assert [path.suffix for path in table.parent.iterdir() if path.stem == "people"].count(".ledger") == 0
    assert len(made(capfd, str(table), *FLAGS, "--yes")["next"]) == 1  # without a budget


def test_next_command_is_quoted_for_the_shell(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my table.csv"
    path.write_text("person_id,age\n")
    line = made(capfd, str(path), *FLAGS, "--eps", "3")["next"][0]
    assert shlex.split(line) == ["discreet", "check", str(path.with_suffix(".toml"))]
    assert main.status(shlex.split(line)[1:]) == 0


def test_init_without_flags_leaves_everything_open_and_says_so(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reply = made(capfd, str(table))
    assert [gap["where"] for gap in reply["gaps"]] == ["budget", "unit", "columns"]
    assert reply["undeclared"] == ["person_id", "age", "region", "name"]
    text = table.with_suffix(".toml").read_text()
    for taught in ("# [unit]", "# [columns.age]", "# [budget]", "# In the header, not declared: person_id, age"):
        assert taught in text
    assert reply["gaps"][1]["fix"].startswith('Write:\n[unit]\nkey = "person_id"\nmax_rows = 5  #')
    assert reply["gaps"][2]["fix"].startswith('Write:\n[columns.age]\ntype = "category"  # put its own type in place')


def test_lines_to_paste_use_the_names_of_the_header(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("ward,Patient ID,cost\n")
    reply = made(capfd, str(path))
    assert 'key = "Patient ID"' in reply["gaps"][1]["fix"]
    assert "[columns.ward]" in reply["gaps"][2]["fix"]
    text = path.with_suffix(".toml").read_text()
    assert '# key = "Patient ID"' in text
    assert "# [columns.ward]" in text
    assert "--unit 'Patient ID'" in made(capfd, str(path), "--max-rows", "5", "--yes", exit_code=2)["fix"]


def test_init_without_a_terminal_says_so_and_shows_the_flags(
    table: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    assert main.status(["init", "people.csv"]) == 0
    said = capfd.readouterr().out
    assert "Nothing was asked, because there is no terminal." in said
    line = next(line.strip() for line in said.splitlines() if line.strip().startswith("discreet init"))
    flags = "--unit person_id --max-rows 5 --epsilon 3 --delta 1e-7 --yes"
    assert "add --column NAME:TYPE for each column to ask about" in said
    assert line == f"discreet init people.csv {flags}"
    assert main.status(shlex.split(line)[1:]) == 0
    assert "Nothing was asked" not in capfd.readouterr().out
    assert made(capfd, "people.csv", "--yes")["caveats"][0].endswith(line)


def test_source_is_written_as_seen_from_the_file(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = table.parent / "metadata"
    folder.mkdir()
    made(capfd, str(table), "-o", str(folder / "x.toml"), "--name", "folk")
    known = load(folder / "x.toml")
    assert known.source == "../people.csv"
    assert known.schema.name == "folk"


def test_odd_file_name_becomes_a_plain_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "2020 visits (final).csv"
    path.write_text("a,b\n")
    assert made(capfd, str(path))["dataset"] == "t_2020_visits__final_"


# --- nothing written, nothing lost -------------------------------------------------------------------------------


def test_file_that_is_there_is_kept_without_yes(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = table.with_suffix(".toml")
    file.write_text("mine")
    assert "--yes" in made(capfd, str(table), exit_code=2)["fix"]
    assert file.read_text() == "mine"
    made(capfd, str(table), "--column", "age:int", "--yes", exit_code=2)
    assert file.read_text() == "mine"
    made(capfd, str(table), "--yes")
    assert load(file).schema.name == "people"
    assert sorted(path.name for path in table.parent.iterdir()) == ["people.csv", "people.toml"]


def test_dry_run_prints_and_writes_nothing(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert made(capfd, str(table), *FLAGS, "--dry-run")["file"] is None
    assert main.status(["init", str(table), *FLAGS, "--dry-run"]) == 0
    assert "[columns.age]\n" in capfd.readouterr().out
    assert not table.with_suffix(".toml").exists()


REFUSED: list[tuple[list[str], int, str]] = [
    (["--unit", "person_id"], 2, "discreet init people.csv --unit person_id --max-rows 5"),
    (["--unit", "persn_id"], 3, 'Did you mean "person_id"?'),
    (
        ["--unit", "person_id", "--column", "region:category:a|b", "--name", "folk", "--eps", "3"],
        2,
        "discreet init people.csv --name folk --unit person_id --max-rows 5 --column 'region:category:a|b' --epsilon 3",
    ),
    (["--max-rows", "5"], 2, "--unit person_id"),
    (["--unit", "personid", "--max-rows", "5"], 3, '"person_id"'),
    (["--unit", "zzz", "--max-rows", "5"], 3, "Give one of these names."),
    (["--unit", "person_id", "--max-rows", "0"], 2, "--max-rows 5"),
    (["--unit", "person_id", "--max-rows", "x"], 2, "--max-rows 5"),
    (["--unit", "person_id", "--max-rows", "9" * 5000], 2, "--max-rows 5"),
    (["--unit", "age", "--max-rows", "5", "--column", "age:integer"], 2, "Remove --column age:"),
    (["--column", "agee:integer:0:110"], 3, '"age"'),
    (["--column", "age"], 2, "--column age:integer:0:110"),
    (["--column", "age:int:0:110"], 2, "--column age:integer:0:110"),
    (["--column", "age:decimal"], 2, "--column age:number:0:5000"),
    (["--column", "age:integer:110:0"], 2, "--column age:integer:0:110"),
    (["--column", "age:integer:0"], 2, "--column age:integer:0:110"),
    (["--column", "age:integer:a:b"], 2, "--column age:integer:0:110"),
    (["--column", "age:date:2020-01-01"], 2, "--column age:date:2020-01-01:2029-12-31"),
    (["--column", "region:category:a|a"], 2, "--column 'region:category:north|south'"),
    (["--column", "region:category:a|"], 2, "--column 'region:category:north|south'"),
    (["--column", "age:integer", "--column", "age:number"], 2, "Remove"),
    (["--hierarchy", "geo"], 2, "--hierarchy 'geo:country>region>ward'"),
    (["--column", "region:category:A,B"], 2, "Write: --column 'region:category:A|B'"),
    (["--column", "region:text:A, B"], 2, "Write: --column 'region:text:A|B'"),
    (["--hierarchy", "geo:land>region"], 2, "Add the column: --column region:category "),
    (["--hierarchy", "geo:land>ward"], 3, "Give one of these names."),
    (
        ["--hierarchy", "geo:land>region", "--column", "region:integer"],
        2,
        "Write: --column region:category",
    ),
    (["--epsilon", "0"], 2, "--epsilon 3"),
    (["--epsilon", "x"], 2, "--epsilon 3"),
    (["--epsilon", "1", "--delta", "0.5"], 2, "--delta 1e-7"),
    (["--delta", "1e-7"], 2, "--epsilon 3"),
    (["--neighbours", "swap"], 2, "--neighbours replace-one"),
    (["--neighbours", "foo"], 2, "--neighbours add-remove"),
    (["--name", "a b"], 2, "--name a_b"),
    (["-o", "people.csv"], 2, "people.toml"),
    (["-o", "nowhere/people.toml"], 2, "mkdir -p nowhere"),
]


@pytest.mark.parametrize(("flags", "exit_code", "fix"), REFUSED, ids=[" ".join(flags)[:40] for flags, _, _ in REFUSED])
def test_bad_flag_writes_nothing_and_shows_the_right_one(
    table: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    exit_code: int,
    fix: str,
) -> None:
    monkeypatch.chdir(table.parent)
    before = table.read_bytes()
    reply = made(capfd, "people.csv", *flags, exit_code=exit_code)
    assert fix in reply["fix"]
    assert " = " not in reply["fix"]
    assert "You gave it as one" not in reply["why"]
    assert [path.name for path in table.parent.iterdir()] == ["people.csv"]
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content", "exit_code"),
    [
        ("none.csv", None, 7),
        ("folder.csv", "folder", 7),
        ("empty.csv", b"", 3),
        ("blank.csv", b"\n\n", 3),
        ("twice.csv", b"age,Age\n", 3),
        ("nameless.csv", b"age,\n", 3),
        ("latin.csv", "größe\n".encode("latin1"), 3),
        ("nul.csv", b"a,b\0\n", 3),
        ("rows.csv", CANARY.encode() + b",1234,north\n", 3),
        ("table.parquet", b"PAR1", 3),
        ("table.duckdb", b"DUCK", 3),
        ("people", b"a,b\n", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_table_writes_nothing_and_has_a_fix(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: Any, exit_code: int
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    assert made(capfd, str(path), exit_code=exit_code)["fix"]
    assert [path.name for path in tmp_path.iterdir()] == ([name] if content is not None else [])


def test_comma_in_a_value_is_kept_where_a_bar_says_so(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made(capfd, str(table), "--column", "region:category:north, far|south")
    assert load(table.with_suffix(".toml")).schema.columns[0].values == ("north, far", "south")


def test_table_of_a_header_alone_is_enough(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"\xef\xbb\xbfperson_id,age")
    made(capfd, str(path), *FLAGS, "--epsilon", "1")


def test_other_formats_take_their_columns_from_flags(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(b"\0")
    assert "--column" in made(capfd, str(path), exit_code=3)["fix"]
    made(capfd, str(path), *FLAGS)
    assert load(tmp_path / "people.toml").source == "people.parquet"


def test_header_of_ten_thousand_columns_is_taken(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"column {number}" for number in range(10**4)) + "\n")
    assert len(made(capfd, str(path), "--unit", "column 7", "--max-rows", "1")["undeclared"]) == 10**4 - 1
    assert load(tmp_path / "wide.toml").schema.unit == Unit("column 7", 1)


def test_folder_that_may_not_be_written_ends_with_7(
    table: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes, *, mode: int, new: bool) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.durable.write", full)
    assert made(capfd, str(table), exit_code=7)["code"] == "cannot-write"


# --- only the header ---------------------------------------------------------------------------------------------


def test_init_never_reads_the_second_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The table is a pipe, and what is left in it after `init` is all but the header."""
    pipe = tmp_path / "people.csv"
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    sender = os.open(pipe, os.O_WRONLY)
    try:
        os.write(sender, f"person_id,age\n{CANARY}\n".encode())
        made(capfd, str(pipe), *FLAGS)
        assert os.read(ours, 1000) == f"{CANARY}\n".encode()
    finally:
        os.close(sender)
        os.close(ours)


# --- on a terminal -----------------------------------------------------------------------------------------------


PROMPT = re.compile(r"^(\d+)\. ", re.MULTILINE)


def type_answers(folder: Path, answers: list[str], *flags: str, left: bytes = b"\x04") -> tuple[int, str]:
    """Run `init` at a terminal and type an answer per question, then `left`; the exit code and all that was shown."""
    questions, waiting, is_leaving = 0, list(answers), False

    def reply(shown: str, is_idle: bool) -> bytes:
        nonlocal questions, is_leaving
        if is_idle:
            return left if is_leaving else b""
        if len(PROMPT.findall(shown)) == questions or not shown.endswith(": "):
            return b""
        questions, is_leaving = len(PROMPT.findall(shown)), not waiting
        return left if is_leaving else (waiting.pop(0) + "\n").encode()

    return run_at_terminal(folder, ["init", "people.csv", *flags], reply)


def test_answers_to_the_questions_make_the_file(table: Path) -> None:
    answers = ["person_id", "5", "age:integer, region:category", "0:110", "north|south", "geo:land>region", "3 1e-7"]
    status, shown = type_answers(table.parent, answers)
    assert status == 0, shown
    assert CANARY not in shown
    known = load(table.with_suffix(".toml"))
    assert known.schema.unit == Unit("person_id", 5)
    assert [column.name for column in known.schema.columns] == ["age", "region"]
    assert known.schema.columns[1].values == ("north", "south")
    assert known.schema.hierarchies[0].levels == ("land", "region")
    assert known.budget == Budget(3, "1e-7")
    assert PROMPT.findall(shown) == list("1234567")


def test_names_of_columns_are_enough_and_types_and_limits_are_asked_for(table: Path) -> None:
    answers = ["", "age, region", "integer", "0 110", "category", "north, south", "north|south", "", "3 1e-7"]
    status, shown = type_answers(table.parent, answers)
    assert status == 0, shown
    known = load(table.with_suffix(".toml"))
    age, region = known.schema.columns
    assert age.bounds == (0, 110)
    assert region.values == ("north", "south")
    assert "Type: north|south" in shown
    assert PROMPT.findall(shown) == list("123456678")


def test_answers_that_contradict_each_other_are_refused_at_their_question(table: Path) -> None:
    answers = ["person_id", "5", "person_id", "region:category", "", "geo:land>town", "geo:land>region", ""]
    status, shown = type_answers(table.parent, answers)
    assert status == 0, shown
    assert "It must not be declared as a column too" in shown
    assert "It must end with a column that is declared" in shown
    assert "--" not in shown.partition("Written")[0]


def test_question_with_a_wrong_answer_is_repeated_and_enter_leaves_it_open(table: Path) -> None:
    answers = ["persn", "person_id", "many", "5", "age:int", "age:integer", "110:0", "", "0", "2"]
    status, shown = type_answers(table.parent, answers)
    assert status == 0, shown
    for help_ in (
        'Did you mean "person_id"?',
        "Type, for example: 5",
        "Type, for example: 0:110",
        "Type, for example: 3",
    ):
        assert help_ in " ".join(shown.split())
    assert "--" not in shown.partition("Written")[0]
    assert PROMPT.findall(shown) == list("112233445566")[: len(PROMPT.findall(shown))]
    known = load(table.with_suffix(".toml"))
    assert known.schema.columns == (Column("age", "integer"),)
    assert known.budget == Budget(2)


def test_flags_answer_their_questions_and_yes_answers_all(table: Path) -> None:
    status, shown = type_answers(table.parent, [""], *FLAGS)
    assert status == 0, shown
    assert PROMPT.findall(shown) == ["1"]
    assert "1. Budget" in shown
    table.with_suffix(".toml").unlink()
    status, shown = type_answers(table.parent, [], "--yes")
    assert status == 0, shown
    assert not PROMPT.search(shown)


@pytest.mark.parametrize("flags", [["--column", "age:int"], ["--epsilon", "0"], ["--hierarchy", "geo"]], ids=str)
def test_bad_flag_is_said_before_any_question(table: Path, flags: list[str]) -> None:
    status, shown = type_answers(table.parent, [], *flags)
    assert status == 2, shown
    assert not PROMPT.search(shown)


def test_file_that_is_there_is_said_before_any_question(table: Path) -> None:
    table.with_suffix(".toml").write_text("mine")
    status, shown = type_answers(table.parent, [])
    assert status == 2, shown
    assert not PROMPT.search(shown)


@pytest.mark.parametrize("left", [b"\x04", b"\x03"], ids=["Ctrl-D", "Ctrl-C"])
def test_leaving_early_writes_nothing(table: Path, left: bytes) -> None:
    status, shown = type_answers(table.parent, ["person_id"], left=left)
    assert status == 130, shown
    assert "No file was written." in shown
    assert "charged" not in shown
    assert not table.with_suffix(".toml").exists()


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused = made(capfd, str(tmp_path / ("x" * 500)), "--dry-run", exit_code=2)
    assert "a name that a file can have" in refused["what"]
