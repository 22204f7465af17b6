"""A small table with its metadata, in a folder of its own that is also the present one."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import main
from fixes import fixes_of

TOML = """\
# Public facts.
[dataset]
name = "people"
source = "people.csv"
[unit]
key = "person_id"
max_rows = 2
[columns.region]
type = "category"
values = ["north", "south", "east"]
[columns.age]
type = "integer"
bounds = [0, 110]
[budget]
epsilon = 3        # for everyone
delta = 1e-7
[budget.analysts]
ana = 1
"""
CANARY = "canary-4711"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """people.toml beside people.csv of 600 rows, two each; heads of ledgers lie in the same folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["person_id", "region", "age", "name"])
    for number in range(600):
        writer.writerow([number // 2, ("north", "south", "east")[number % 3], number % 90, CANARY])
    (tmp_path / "people.csv").write_text(text.getvalue())
    toml = tmp_path / "people.toml"
    toml.write_text(TOML)
    return toml


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """The one JSON object that a command line prints with --json."""

    def run(*arguments: str, exit_code: int = 0) -> dict[str, Any]:
        status = main.status([*arguments, "--json"])
        said = capfd.readouterr()
        assert said.out.count("\n") == 1, said
        assert CANARY not in said.out + said.err
        reply: dict[str, Any] = json.loads(said.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert (status, reply["ok"]) == (exit_code, exit_code == 0), reply
        if exit_code:
            assert reply["exit"] == exit_code
            assert all(reply[part] for part in ("code", "what", "why", "fix"))
            fixes_of(reply)
        return reply

    return run


@pytest.fixture
def shown(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """What a command line prints for people: stdout and stderr."""

    def run(*arguments: str, exit_code: int = 0) -> tuple[str, str]:
        status = main.status(list(arguments))
        said = capfd.readouterr()
        assert status == exit_code, said
        assert CANARY not in said.out + said.err
        return said.out, said.err

    return run
