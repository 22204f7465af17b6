"""Every folder of tests has a budget, a run above twice of one fails, and a test that hangs is ended and named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cpu_budget import Budget, folder_of, folders

TESTS = Path(__file__).parent
BUDGET = Budget.read(TESTS / "budget.toml")
LEAST = 20  # CPU seconds: the first test in a process pays for imports and compilers, whichever folder it is in
QUICK = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
XDIST = ("-n", "2", "--dist", "worksteal")
BURN = """
import time
end = time.process_time() + 0.6
while time.process_time() < end:
    pass
"""
SUITE = {
    "test_beside.py": "def test_calm(): pass",
    "own/test_own.py": f"def test_burns_here(): exec({BURN!r})\ndef test_calm(): pass",
    "child/deep/test_child.py": f"""
import subprocess, sys
def test_burns_in_a_child():
    subprocess.run([sys.executable, "-c", {BURN!r}], check=True)
""",
    "full/test_full.py": f"""
import pytest
@pytest.mark.long
def test_burns_at_length(): exec({BURN!r})
""",
}
HANG = """
import os, time
def test_waits_for_a_child():
    child = os.fork()
    if child == 0:
        time.sleep(1000)
        os._exit(0)
    os.waitpid(child, 0)
"""
AMPLE = {"tests": 30, "tests/own": 30, "tests/child": 30}


def run(
    folder: Path, *arguments: str, suite: dict[str, str], budget: dict[str, float], limit: float = 60, ci: str = "1"
) -> subprocess.CompletedProcess[str]:
    """A run of pytest over a suite with our `conftest.py` and a budget of its own."""
    tests = folder / "tests"
    for name, text in suite.items():
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_text(text)
    for name in ("conftest.py", "cpu_budget.py"):
        shutil.copy(TESTS / name, tests)
    lines = [f"test_seconds = {limit}", "[cpu_seconds]", *(f'"{name}" = {seconds}' for name, seconds in budget.items())]
    (tests / "budget.toml").write_text("\n".join(lines))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = long: full counts")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *QUICK, *arguments, "tests"],
        cwd=folder,
        env=clean | {"DISCREET_CI": ci},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_every_folder_of_tests_has_a_budget_and_every_budget_a_folder() -> None:
    assert set(BUDGET.cpu_seconds) == folders(TESTS)
    assert all(seconds >= LEAST for seconds in BUDGET.cpu_seconds.values())


def test_a_folder_is_the_topmost_below_tests() -> None:
    tests = Path("/somewhere/tests")
    assert folder_of(tests / "test_gate.py", tests) == "tests"
    assert folder_of(tests / "answer" / "test_quote.py", tests) == "tests/answer"
    assert folder_of(tests / "answer" / "deep" / "test_quote.py", tests) == "tests/answer"


def test_twice_a_budget_is_allowed_and_no_more() -> None:
    budget = Budget({"tests/a": 10, "tests/b": 10}, test_seconds=600)
    assert budget.errors({"tests/a": 20.0, "tests/b": 0.0}) == []
    assert budget.errors({"tests/a": 20.1, "tests/new": 3.0}) == [
        "tests/a took 20.1 CPU seconds, more than 2 times its budget of 10.",
        "tests/new has no budget in budget.toml; it took 3.0 CPU seconds.",
    ]


@pytest.mark.parametrize("arguments", [(), XDIST], ids=["alone", "xdist"])
def test_folders_above_twice_their_budget_fail_the_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """0.6 CPU seconds are burnt in each of two folders, in one of them by a child, and 0.2 are allowed."""
    ended = run(tmp_path, *arguments, suite=SUITE, budget=AMPLE | {"tests/own": 0.1, "tests/child": 0.1})
    errors = [line for line in ended.stdout.splitlines() if line.startswith("ERROR ")]
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended
    assert [line.split()[1] for line in errors] == ["tests/child", "tests/own"], ended
    assert all(line.endswith("more than 2 times its budget of 0.1.") for line in errors)
    assert all(0.6 <= float(line.split()[3]) < 20 for line in errors), errors
    assert "5 passed" in ended.stdout


@pytest.mark.parametrize("arguments", [(), XDIST], ids=["alone", "xdist"])
def test_folders_within_their_budgets_pass_and_are_listed(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The long test has no budget and needs none."""
    ended = run(tmp_path, *arguments, suite=SUITE, budget=AMPLE)
    assert ended.returncode == 0, ended
    table = [line.split() for line in ended.stdout.splitlines() if line.startswith("tests")]
    assert [(row[0], row[2]) for row in table] == [("tests", "30"), ("tests/child", "30"), ("tests/own", "30")]
    assert all(float(row[1]) >= 0.6 for row in table[1:])


def test_a_folder_without_a_budget_fails_the_run(tmp_path: Path) -> None:
    ended = run(tmp_path, suite={"new/test_new.py": "def test_new(): pass"}, budget={})
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "tests/new has no budget in budget.toml" in ended.stdout


def test_nothing_is_counted_unless_asked(tmp_path: Path) -> None:
    ended = run(tmp_path, suite={"new/test_new.py": "def test_new(): pass"}, budget={}, ci="")
    assert ended.returncode == 0
    assert "CPU seconds" not in ended.stdout


@pytest.mark.parametrize("arguments", [(), XDIST], ids=["alone", "xdist"])
def test_a_test_that_hangs_ends_the_run_and_is_named(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Its child, which has the line to the controller of xdist open, ends with it."""
    ended = run(tmp_path, *arguments, suite={"test_hang.py": HANG}, budget=AMPLE, limit=1)
    name = "tests/test_hang.py::test_waits_for_a_child"
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"{name} did not end within 1 seconds." in ended.stderr
    assert 'test_hang.py", line 8 in test_waits_for_a_child' in ended.stderr
    if arguments:
        assert f"The process that ran {name} ended before it." in ended.stdout


def test_a_call_into_c_that_never_lets_go_is_ended_too() -> None:
    """`PyDLL` keeps the interpreter's lock, so that no other thread of Python runs."""
    code = "import ctypes, cpu_budget as c\nc.GRACE = 1\nwith c.ended_after(1, 'it', 2): ctypes.PyDLL(None).sleep(1000)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
    assert 'File "<string>", line 3' in ended.stderr
