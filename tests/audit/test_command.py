"""Programs of others: started without a shell, bounded in time and size, ended with all they started, never quoted."""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from discreet.audit import command, external
from discreet.audit.bounds import Odds
from discreet.audit.command import command_of, printed_numbers
from discreet.errors import BadValue

TABLE = Path("people.csv")
SECRET = "secret-4711"


def program(text: str, places: str = "{table} {repeats}") -> str:
    """The command line of a Python program."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(text)} {places}"


def run(text: str, repeats: int = 3, seconds: float = 20.0) -> np.ndarray:
    return printed_numbers(command_of(program(text)), TABLE, repeats, seconds)


def test_each_line_is_a_number() -> None:
    text = "import sys; print('\\n'.join(['1', '-2.5e3', 'nan'][:int(sys.argv[2])]))"
    assert np.array_equal(run(text), [1, -2500, np.nan], equal_nan=True)
    assert run("print(1); print(2); print(3, end='')").tolist() == [1, 2, 3]


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    harmless = command_of(program("import sys; print(len(sys.argv))", "{table} {repeats} ';' touch $HOME '&&'"))
    assert printed_numbers(harmless, Path(f"a; touch {touched}"), 1, 20).tolist() == [7]
    assert not touched.exists()


def test_places_are_filled_word_by_word() -> None:
    assert command_of("./t --n={repeats} {table}").line(Path("my table.csv"), 9) == ["./t", "--n=9", "my table.csv"]
    assert command_of("./t {table} {repeats}").line(Path("a{repeats}.csv"), 9) == ["./t", "a{repeats}.csv", "9"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./tool {table}", "{repeats}"),
        ("./tool {repeats}", "{table}"),
        ("{table} {repeats}", "{table}"),
        ("", "{table}"),
        ("./tool '{table} {repeats}", "quotes"),
    ],
)
def test_a_command_without_its_places_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadValue, match=r"command must have") as refusal:
        command_of(text)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("print('secret-4711')", "printed 1 lines"),
        ("print('secret-4711\\n' * 3, end='')", "Line 1 of what it printed is no number"),
        ("print('\\x1b[31m1\\n' * 3, end='')", "Line 1"),
        ("print(1); print(2)", "asked for 3 repeats and printed 2 lines"),
        ("print('1\\n' * 4)", "printed 5 lines"),
        ("", "printed 0 lines"),
        ("print(1); print(); print(2)", "Line 2"),
        ("print('1' * 500 + '\\n2\\n3')", "Line 1"),
        ("print('1\\n2\\n3'); raise SystemExit(9)", "ended with status 9"),
        ("raise ValueError('secret-4711')", "ended with status 1"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("while True: print('secret-4711' * 100)", "more than"),
    ],
)
def test_what_is_not_a_number_for_each_repeat_is_refused_unquoted(text: str, words: str) -> None:
    with pytest.raises(BadValue) as refusal:
        run(text)
    assert words in str(refusal.value)
    assert SECRET not in str(refusal.value)
    assert "\x1b" not in str(refusal.value)


def test_what_cannot_be_started_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "tool"
    text.write_text("no program")
    for name, words in ((tmp_path / "nowhere", "No such file"), (text, "Permission denied"), (tmp_path, "denied")):
        with pytest.raises(BadValue, match="can be started") as refusal:
            printed_numbers(command_of(f"{name} {{table}} {{repeats}}"), TABLE, 1, 5)
        assert words in refusal.value.why
    text.chmod(0o755)
    with pytest.raises(BadValue, match="can be started"):
        printed_numbers(command_of(f"{text} {{table}} {{repeats}}"), TABLE, 1, 5)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"


def ended(process: int) -> bool:
    """Whether it is gone, at once or soon."""
    for _ in range(100):
        if not is_alive(process):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("rest", ["print(1)", "while True: time.sleep(9)", "raise SystemExit(3)"])
def test_all_that_it_started_ends_with_it(rest: str, tmp_path: Path) -> None:
    note = tmp_path / "child"
    child = (
        f"import subprocess, time; c = subprocess.Popen(['sleep', '60']); open({str(note)!r}, 'w').write(str(c.pid))"
    )
    began = time.monotonic()
    text = f"{child}\n{rest}"
    if rest == "print(1)":
        assert run(text, 1).tolist() == [1]  # though the child holds its stdout
    else:
        with pytest.raises(BadValue, match="must end"):
            run(text, 1, 1.5)
    assert time.monotonic() - began < 15
    assert ended(int(note.read_text()))


def test_a_child_that_leaves_the_group_lives_on_as_the_docs_say(tmp_path: Path) -> None:
    note = tmp_path / "child"
    child = "subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=subprocess.DEVNULL)"
    run(f"import subprocess; c = {child}; open({str(note)!r}, 'w').write(str(c.pid)); print(1)", 1)
    process = int(note.read_text())
    try:
        assert is_alive(process)
    finally:
        os.kill(process, signal.SIGKILL)
    howto = Path(__file__).parents[2] / "docs" / "howto" / "audit.md"
    assert "setsid" in howto.read_text(encoding="utf-8")
    assert "setsid" in (command.__doc__ or "")


def test_what_runs_is_known_by_its_files(tmp_path: Path) -> None:
    script = tmp_path / "tool.py"
    script.write_text("print(1)")
    files = command_of(f"sh {script} {{table}} {{repeats}} {'x' * 5000}").files()
    assert script in files
    assert [file.name for file in files] == ["sh", "tool.py"]


def test_one_that_closes_its_stdout_and_lives_on_is_stopped() -> None:
    with pytest.raises(BadValue, match="in time"):
        run("import os, time; print(1, flush=True); os.close(1); time.sleep(60)", 1, 1.0)


def planned(text: str, seconds: float, most_runs: int = 4_000) -> external.Plan:
    watch = external.clock(seconds)
    return external.plan_of(command_of(program(text)), (TABLE, TABLE), Odds(1), watch, most_runs)  # type: ignore[arg-type]


def test_the_plan_says_what_the_time_allows_to_see() -> None:
    plan = planned("import sys; print('1\\n' * int(sys.argv[2]), end='')", 60)
    assert (plan.runs, plan.repeats) == (4_000, 1_000)
    assert "4,000 runs" in plan.sentence
    assert "Laplace noise on a count for 1.5 times the claimed ε would be seen" in plan.sentence
    slow = planned("import sys, time; n = int(sys.argv[2]); time.sleep(n / 500); print('1\\n' * n, end='')", 20)
    assert 1_000 < slow.runs < 4_000


def test_too_little_time_is_refused_with_the_reason() -> None:
    with pytest.raises(BadValue, match="seconds must allow 200 runs") as refusal:
        planned("import sys, time; n = int(sys.argv[2]); time.sleep(n / 100); print('1\\n' * n, end='')", 4)
    assert "a repeat" in refusal.value.why
    for seconds in ("0", "x", "1e9", "nan"):
        with pytest.raises(BadValue, match="seconds must be"):
            external.clock(seconds)
