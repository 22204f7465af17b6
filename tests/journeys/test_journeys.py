"""Ten journeys of a new user, each a story in a text file, run as typed: real commands in a fresh folder.

    $ command           given to the shell; `discreet` is the installed one
    $ paste the command, the SELECT, the name, the TOML or the whole TOML
                        taken from what the last command printed, and used as its sentence says;
                        `with "…" for …` says what the reader puts for its dots
        words           stand in what it prints, in this order; … is anything
        (exit 5)        its exit code, 0 if none is given
        ? words         are waited for on a terminal
        > words         are then typed there

Every folder holds people.csv.  A refusal that shows something to paste must be followed by pasting it.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from journeys.parts import CANARY, on_a_terminal, people_csv
from journeys.pasting import PASTEABLE, pasted

HERE = Path(__file__).parent
STORIES = sorted(HERE.glob("*.txt"))


@dataclass
class Step:
    """One command and what must come of it."""

    command: str
    expected: list[str] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    exit: int = 0


def steps(story: str) -> list[Step]:
    """The commands of a story; lines that begin at the margin are for the reader."""
    steps: list[Step] = []
    prompt = ""
    for line in story.splitlines():
        word = line.strip()
        if line.startswith("$ "):
            steps.append(Step(line[2:]))
        elif not line.startswith("    "):
            continue
        elif word.startswith("(exit "):
            steps[-1].exit = int(word[6:-1])
        elif word.startswith("? "):
            prompt = word[2:]
        elif word.startswith(">"):
            steps[-1].answers.append((prompt, word[1:].strip()))
        else:
            steps[-1].expected.append(word)
    return steps


def run(step: Step, command: str, folder: Path) -> tuple[int, str]:
    """The exit code and all that was printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "120"}
    if step.answers:
        return on_a_terminal(command, step.answers, folder, settings)
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=settings, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("file", STORIES, ids=lambda file: file.stem)
def test_journey_goes_as_it_is_told(file: Path, tmp_path: Path) -> None:
    people_csv(tmp_path / "people.csv")
    last, said, code = "", "", 0
    for step in steps(file.read_text()):
        pastes = step.command.startswith("paste ")
        assert pastes or not (code and PASTEABLE.search(said)), f"a fix was not pasted:\n{said}"
        last = pasted(step.command.removeprefix("paste "), last, said, tmp_path) if pastes else step.command
        code, said = run(step, last, tmp_path)
        assert code == step.exit, f"$ {last}\n{said}"
        assert not any(word in said for word in (CANARY, "Traceback"))
        parts = [".*?".join(map(re.escape, part.split("…"))) for part in step.expected]
        assert re.search(r"[\s\S]*?".join(parts), said), f"$ {last}\n{said}"
    assert not (code and PASTEABLE.search(said))


def test_there_are_ten_stories() -> None:
    assert [file.name[:2] for file in STORIES] == [f"{number:02}" for number in range(1, 11)]


def test_journey_of_a_data_frame_ends_well_and_shows_no_row(tmp_path: Path) -> None:
    people_csv(tmp_path / "people.csv")
    settings = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "MPLBACKEND": "agg"}
    command = [sys.executable, str(HERE / "frame_journey.py")]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr
    assert CANARY not in done.stdout + done.stderr
