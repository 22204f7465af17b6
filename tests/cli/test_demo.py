"""`discreet demo` and `discreet demo lecture`, for people and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main
from discreet.demo import curator
from discreet.plot import style


def shown(capfd: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    """The JSON object that `discreet demo lecture ARGUMENTS --json` prints."""
    assert main.status(["demo", "lecture", *arguments, "--json"]) == exit_code
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    reply: dict[str, Any] = json.loads(said.out)
    return reply


def test_tour_answers_three_questions(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main.status(["demo", "lecture"]) == 0
    page = capfd.readouterr().out
    for words in ("blue eyes", "dodge your tax", "trust worth", "± 30", "5.77 %", "invented", "discreet odds"):
        assert words in page
    assert max(len(line) for line in page.splitlines()) <= 100


def test_json_is_one_object_with_the_figures(capfd: pytest.CaptureFixture[str]) -> None:
    reply = shown(capfd)
    assert reply["ok"] is True
    assert reply["dataset"] == "invented"
    assert reply["receipt"] is None
    assert reply["demo"]["eyes"]["scale"] == "10"
    assert round(reply["demo"]["survey"]["after_yes"], 4) == 0.0577
    assert len(reply["demo"]["errors"]["curves"]) == 3
    assert reply["demo"]["plot"] is None
    assert any("takes no seed" in note for note in reply["caveats"])
    assert any("invented" in note for note in reply["caveats"])


def test_seed_gives_the_same_people_again(capfd: pytest.CaptureFixture[str]) -> None:
    exact = [[t["exact"] for t in shown(capfd, "--seed", "3")["demo"]["eyes"]["towns"]] for _ in range(2)]
    assert exact[0] == exact[1]


@pytest.mark.parametrize("name", ["errors.png", "errors.svg"])
def test_plot_writes_the_picture_and_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    file = tmp_path / name
    assert shown(capfd, "--plot", str(file))["demo"]["plot"] == str(file)
    assert file.stat().st_size > 10_000
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--seed", "-1"], "seed must be a whole number"),
        (["--seed", "x"], "seed must be a whole number"),
        (["--plot", "errors.txt"], "plot must be a file ending in .png or .svg"),
        (["--plot", "no/such/folder/errors.png"], "plot must lie in a folder that exists"),
    ],
)
def test_bad_option_is_refused_by_name_and_draws_nothing(
    capfd: pytest.CaptureFixture[str], arguments: list[str], what: str
) -> None:
    reply = shown(capfd, *arguments, exit_code=2)
    assert reply["ok"] is False
    assert reply["what"].startswith(what)
    assert reply["fix"]


def test_picture_that_cannot_be_written_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "errors.png"
    taken.mkdir()
    assert shown(capfd, "--plot", str(taken), exit_code=2)["what"] == "plot must be a file that can be written."


def test_a_picture_without_its_package_is_refused_by_the_name_of_the_extra(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "find_spec", lambda package: None)
    monkeypatch.chdir(tmp_path)
    refused = shown(capfd, "--plot", "errors.png", exit_code=2)
    assert refused["what"] == "plot needs the package matplotlib."
    assert refused["why"] == "You gave 'errors.png'."
    assert refused["fix"] == "Install discreet[plot]."


def test_help_says_that_the_noise_takes_no_seed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["demo", "--help"]) == 0
    assert "the noise takes no" in " ".join(capfd.readouterr().out.split())


def test_hospital_is_asked_and_the_next_commands_are_those_of_this_shell(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", "")
    assert main.status(["demo", "--folder", str(tmp_path / "d"), "--json"]) == 0
    first = json.loads(capfd.readouterr().out)
    assert [len(question["answer"]["rows"]) for question in first["demo"]["asked"]] == [9, 3, 5]
    assert all(command.split()[0].endswith("/discreet") for command in first["demo"]["next"])
    assert main.status(["demo", "--folder", str(tmp_path / "d")]) == 0
    page = capfd.readouterr().out
    assert page.count("asked before: nothing new is charged") == 3
    assert page.rstrip().splitlines()[-1].startswith("To write `discreet` alone, first run: . ")
    assert page.rstrip().endswith("/activate")


def test_demo_names_no_activation_where_discreet_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "discreet"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (curator.command(), curator.activation()) == ("discreet", None)
