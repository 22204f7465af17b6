"""One envelope around every outcome."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from discreet import errors
from discreet.cli import main
from discreet.cli.reply import Reply, show
from discreet.errors import BadValue, DiscreetError, NotPriced, Refuted

ERROR_KEYS = {"ok", "code", "exit", "what", "why", "fix", "fixes", "position"}
CANARY = "row-canary-4711"


def one_object(text: str) -> dict[str, Any]:
    """The only JSON object on stdout, on one line."""
    assert text.count("\n") == 1
    reply = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(reply, dict)
    return reply


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Registers `discreet lab` with the behaviour a test gives it, on an app of its own."""

    def register(act: Any) -> None:
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.callback(invoke_without_command=True)(main.root)

        @app.command("lab")
        def lab(json: main.AsJson = False) -> Any:
            return act()

        monkeypatch.setattr(main, "app", app)

    return register


def raising(error: BaseException) -> Any:
    def act() -> Reply:
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "exit_code", "code"),
    [
        (BadValue("a", "b", "c"), 2, "bad-value"),
        (NotPriced("a", "b", "c"), 4, "not-priced"),
        (Refuted("a", "b", "c"), 6, "refuted"),
        (DiscreetError("a", "b", "c"), 1, "error"),
        (ValueError(CANARY), 1, "bug"),
        (MemoryError(CANARY), 1, "bug"),
        (RecursionError(CANARY), 1, "bug"),
        (OSError(CANARY), 1, "bug"),
        (UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, CANARY), 1, "bug"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (typer.Abort(), 130, "interrupted"),
        (typer.BadParameter("no such thing"), 2, "usage"),
        (EOFError(CANARY), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_error_becomes_its_exit_code_and_three_sentences(
    verb: Any, capfd: pytest.CaptureFixture[str], error: BaseException, exit_code: int, code: str
) -> None:
    verb(raising(error))
    assert main.status(["lab", "--json"]) == exit_code
    said = capfd.readouterr()
    reply = one_object(said.out)
    assert set(reply) == ERROR_KEYS
    assert (reply["ok"], reply["code"], reply["exit"]) == (False, code, exit_code)
    assert all(reply[part] for part in ("what", "why", "fix"))
    assert main.status(["lab"]) == exit_code
    plain = capfd.readouterr()
    assert plain.out == ""
    assert plain.err.strip().splitlines() == [reply["what"], reply["why"], reply["fix"]]
    assert CANARY not in said.out + said.err + plain.err


def test_reply_that_cannot_be_drawn_is_a_bug_and_shows_nothing(verb: Any, capfd: pytest.CaptureFixture[str]) -> None:
    verb(lambda: Reply({"ok": True, "x": float("nan")}, raising(ValueError(CANARY))))
    for arguments in (["lab"], ["lab", "--json"]):
        assert main.status(arguments) == 1
        said = capfd.readouterr()
        assert CANARY not in said.out + said.err
    assert one_object(said.out)["code"] == "bug"


def test_text_that_a_verb_prints_by_mistake_never_reaches_stdout(verb: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def chatty() -> Reply:
        print(CANARY)
        return Reply({"ok": True}, lambda: "fine", exit=6)

    verb(chatty)
    assert main.status(["lab", "--json"]) == 6
    assert one_object(capfd.readouterr().out) == {"ok": True}


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["odds", "--bogus"],
        ["odds", "--eps"],
        ["odds", "stray"],
        ["--bogus" + "x" * 5000],
        ["\udcff"],
        ["odds", "--json=1"],
    ],
    ids=str,
)
def test_usage_errors_are_one_object_and_exit_2(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["--json", *arguments]) == 2
    reply = one_object(capfd.readouterr().out)
    assert set(reply) == ERROR_KEYS
    assert (reply["code"], reply["exit"]) == ("usage", 2)
    assert len(reply["what"]) < 500
    assert "--help" in reply["fix"]


def test_suggestion_ends_with_its_own_mark(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["odd", "--json"]) == 2
    assert one_object(capfd.readouterr().out)["what"].endswith("Did you mean 'odds'?")


def test_output_beyond_a_terminal_has_whole_lines_without_trailing_spaces(
    verb: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    line = "key = " + "x " * 300 + "[not markup] :smile: end"
    table = Table.grid(padding=(0, 2))
    table.add_row("n" * 300, "short")
    pictures = [Text(line, no_wrap=True, overflow="ignore"), Group(Padding(line, (1, 0)), table)]
    for picture in pictures:
        verb(lambda picture=picture: Reply({"ok": True}, lambda: picture))
        assert main.status(["lab"]) == 0
        said = capfd.readouterr().out
        assert line in said.splitlines()
        assert all(part == part.rstrip() for part in said.splitlines())
    assert f"{'n' * 300}  short" in said


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def test_lines_to_paste_stay_whole_on_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.text import Text

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    line = "discreet check " + "long name " * 20 + ".toml"
    assert show(Reply({}, lambda: Text(line, no_wrap=True, overflow="ignore")), as_json=False) == 0
    assert line in screen.getvalue()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["odds", "--help"]], ids=str)
def test_help_and_version_can_be_read_as_json(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(arguments) == 0
    plain = capfd.readouterr().out
    assert plain.strip()
    assert main.status([*arguments, "--json"]) == 0
    reply = one_object(capfd.readouterr().out)
    assert reply["ok"] is True
    assert reply["text"].split() == plain.split()


def test_json_flag_counts_before_the_verb(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.status(["--json", "odds", "--eps", "1"]) == 0
    assert one_object(capfd.readouterr().out)["ok"] is True


def test_run_exits_with_the_status_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main.run(["bogus"])
    assert stopped.value.code == 2
    assert "Traceback" not in capfd.readouterr().err


# --- the process -------------------------------------------------------------------------------------------------


def process(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", "from discreet.cli.main import run; run()", *arguments]
    settings: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 60, "stdin": subprocess.DEVNULL}
    return subprocess.run(command, **(settings | options), check=False)


def test_full_disk_ends_with_7_and_no_traceback() -> None:
    if not Path("/dev/full").exists():
        return  # only Linux has one
    for more in ([], ["--json"]):
        with open("/dev/full", "w") as full:
            ended = process("odds", "--eps", "1", *more, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert ended.returncode == 7
        assert "Traceback" not in ended.stderr
        assert "could not be written" in ended.stderr


def test_reader_that_leaves_early_ends_the_command_quietly() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        ended = process("odds", "--eps", "1", capture_output=False, stdout=closed, stderr=subprocess.PIPE)
    assert ended.returncode == 7
    assert "Traceback" not in ended.stderr


def test_terminal_that_knows_only_ascii_reads_plain_words() -> None:
    ascii_only = {"env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    for arguments in (["odds", "--eps", "1", "--delta", "1e-6"], ["odds", "--help"], ["demo", "lecture"]):
        ended = process(*arguments, **ascii_only)
        assert ended.returncode == 0
        assert "\\u" not in ended.stdout
        assert "\\x" not in ended.stdout
        assert "eps" in ended.stdout
    assert "+- 30" in ended.stdout
    assert "####" in ended.stdout
    refused = process("odds", "--eps", "1", "--delta", "0.5", **ascii_only)
    assert "delta near" in refused.stderr
    assert "\\u" not in refused.stderr


LOADED = "import sys; print(sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["odds", "--eps", "1"], ["odds", "--sigma", "1"], ["odds", "--rho", "1"]], ids=str
)
def test_start_loads_no_heavy_package(arguments: list[str]) -> None:
    """What makes it quick; how quick is measured by `make bench start`."""
    script = f"from discreet.cli.main import status\nassert status({arguments!r}) == 0\n{LOADED}"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = ended.stderr.strip().splitlines()[-1]
    assert "'discreet'" in loaded
    for heavy in ("dp_accounting", "scipy", "numpy", "matplotlib", "duckdb", "sqlglot"):
        assert f"'{heavy}'" not in loaded


# --- the table of codes ------------------------------------------------------------------------------------------


def subclasses(kind: type[DiscreetError]) -> set[type[DiscreetError]]:
    return {kind}.union(*(subclasses(below) for below in kind.__subclasses__()))


def test_table_of_codes_in_the_docs_is_complete_and_says_the_right_exit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", page, flags=re.MULTILINE))
    known = {kind.code: str(kind.exit) for kind in subclasses(DiscreetError) if kind.__module__ == errors.__name__}
    own = [main._usage(typer.BadParameter("x")), main._bug(), main._cannot_write(None), main._interruption()]
    assert {problem.code for problem in own} == set(main.OWN_CODES)
    assert table == known | {problem.code: str(problem.exit) for problem in own}
    assert len(known) == sum(kind.__module__ == errors.__name__ for kind in subclasses(DiscreetError))


def test_the_command_line_leaves_no_core_file() -> None:
    asked = "import resource, sys; from discreet.cli import main; main.status = lambda given: print(resource.getrlimit(resource.RLIMIT_CORE)[0]) or 0; main.run(['--version'])"  # noqa: E501
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "0"


def test_python_runs_the_package_as_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "odds", "--eps", "1", "--json"], capture_output=True)
    assert done.returncode == 0
    assert one_object(done.stdout.decode())["ok"] is True
    assert subprocess.run([sys.executable, "-m", "discreet", "orakel"], capture_output=True).returncode == 2
