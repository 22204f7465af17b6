"""Closed, full and abandoned streams: exit 7 with the stored answer named where anything can be said; no traceback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = f'{sys.executable} -c "from discreet.cli.main import run; run()"'
ASK = f"{RUN} ask people.toml 'SELECT COUNT(*) AS n FROM people' --eps 0.5"


def shell(folder: Path, command: str, stdout: Any = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    state = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    words, err = ["bash", "-c", command], subprocess.PIPE
    return subprocess.run(words, stdout=stdout, stderr=err, text=True, timeout=120, check=False, cwd=folder, env=state)


def abandoned(folder: Path, command: str) -> "subprocess.CompletedProcess[str]":
    """The command with a reader that left before the first byte."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        return shell(folder, command, pipe)


@pytest.mark.parametrize("ending", [">&-", "--json >&-", "--json > /dev/full", "left"])
def test_an_answer_that_stdout_does_not_take_is_named_and_asked_again_for_nothing(people: Path, ending: str) -> None:
    lost = abandoned(people.parent, ASK) if ending == "left" else shell(people.parent, f"{ASK} {ending}")
    assert lost.returncode == 7, lost
    assert "Traceback" not in lost.stderr
    assert "Exception ignored" not in lost.stderr
    receipt = re.search(r"The answer is stored, receipt (\S+): the same again costs nothing\.", lost.stderr)
    assert receipt is not None
    replay = json.loads(shell(people.parent, f"{ASK} --json").stdout)
    assert (replay["replayed"], replay["receipt"]) == (True, receipt[1])


@pytest.mark.parametrize("ending", ["2>&-", "2> /dev/full"])
def test_closed_stderr_is_no_bug_and_the_answer_is_there(people: Path, ending: str) -> None:
    told = shell(people.parent, f"{ASK} {ending}")
    assert (told.returncode, told.stderr) == (7, "")
    assert re.search(r"^\s*n", told.stdout)
    assert "receipt" not in told.stdout  # notes for people do not slip into the data
    whole = shell(people.parent, f"{ASK} --json {ending}")
    assert (whole.returncode, json.loads(whole.stdout)["replayed"]) == (0, True)


def test_ledger_is_whole_after_an_ask_with_every_stream_closed(people: Path) -> None:
    """The first file that is opened would take the number of a closed stream, and be written to as if it were one."""
    lost = shell(people.parent, f"{ASK} <&- >&- 2>&-")
    assert (lost.returncode, lost.stdout, lost.stderr) == (7, "", "")
    verified = json.loads(shell(people.parent, f"{RUN} ledger people.toml --verify --json").stdout)
    assert [entry["kind"] for entry in verified["entries"]] == ["open", "charge", "answer"]


@pytest.mark.parametrize("ending", ["--json >&-", "2>&-", "> /dev/full 2>&1", "<&-"])
def test_a_refusal_keeps_its_exit_code(people: Path, ending: str) -> None:
    refused = shell(people.parent, f"{RUN} ask people.toml 'SELECT nothing' --eps 1 {ending}")
    assert refused.returncode == 4, refused
    assert "Traceback" not in refused.stderr
    if "2>" not in ending:
        assert "FROM" in refused.stderr + refused.stdout


def test_a_file_that_is_written_is_told_apart_from_a_stderr_that_is_closed(people: Path) -> None:
    told = shell(people.parent, f"{ASK} -o answer.csv 2>&-")
    assert told.returncode == 7
    assert (people.parent / "answer.csv").read_text().startswith("n,n_moe")


def test_a_file_that_cannot_be_written_names_the_receipt(people: Path) -> None:
    told = shell(people.parent, f"{ASK} -o /dev/full")
    assert told.returncode == 7
    assert "could not be written to '/dev/full'" in told.stderr
    assert "The answer is stored, receipt" in told.stderr
