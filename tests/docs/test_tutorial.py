"""The tutorials run as they are written: every command, every line of Python, and what they print but for the noise."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(console|pycon(?: noisy)?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(text):
    """Each command with what the page says it prints, and each block of Python."""
    for language, block in BLOCK.findall(text):
        if language != "console":
            yield language, block, ""
            continue
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = piece.partition("\n")
            if command.endswith("<<'END'"):  # a file, written line by line
                lines, _, printed = printed.partition("\nEND\n")
                command = f"{command}\n{lines}\nEND\n"
            yield "shell", command, printed


def masked(printed):
    """The text without what noise, clocks and receipts change: numbers and the spaces that align them."""
    named = re.sub(r"\b\d+-[0-9a-f]{12}\b|(?<=head )[0-9a-f]{16}|\b[0-9a-f]{64}\b", "NAME", printed)
    numbers = re.sub(r"-?\d[\d,.]*(e-?\d+)?", "#", named)
    return [re.sub(r"\s+", " ", line).strip() for line in numbers.splitlines() if line.strip()]


def without_order(lines):
    """Ranked groups may come in another order, and their names with them."""
    return sorted(re.sub(r"^[\w#]+( #)", r"GROUP\1", line) for line in lines)


class Masked(doctest.OutputChecker):
    """In blocks marked `pycon noisy` numbers and receipts may be others."""

    def check_output(self, want, got, optionflags):
        return masked(want) == masked(got)


def ran(command, folder, environment):
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_there_is_a_tutorial_for_answers_tables_models_and_surveys():
    assert {"first-answer.md", "publish-tables.md", "learn.md", "survey.md"} <= {page.name for page in PAGES}


def test_files_that_a_page_writes_are_part_of_the_command():
    text = "```console\n$ cat > a.csv <<'END'\nx\n1\nEND\n$ cat a.csv\nx\n1\n```\n"
    assert list(steps(text)) == [
        ("shell", "cat > a.csv <<'END'\nx\n1\nEND\n", ""),
        ("shell", "cat a.csv", "x\n1\n"),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tutorial_runs_as_it_is_written(page, tmp_path, monkeypatch):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    commands, names = 0, {}
    for kind, written, printed in steps(page.read_text(encoding="utf-8")):
        commands += 1
        if kind == "shell":
            seen = ran(written, tmp_path, environment)
            assert without_order(masked(seen)) == without_order(masked(printed)), f"{written}\n{seen}"
            continue
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        test = doctest.DocTestParser().get_doctest(written, {}, page.name, str(page), 0)
        test.globs = names  # of all blocks of a page
        checker = Masked() if kind == "pycon noisy" else None
        told = []
        runner = doctest.DocTestRunner(checker)
        assert runner.run(test, out=told.append, clear_globs=False).failed == 0, "".join(told)
    assert commands >= 10
