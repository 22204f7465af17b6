"""A skip hides a hole, so where every part is installed (`DISCREET_CI`) only absent data may be the reason for one.

There the CPU seconds of each folder of tests are held against its budget too, by `cpu_budget.py`.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from cpu_budget import Recorder

ABSENT = "data is absent"


settings.register_profile("ci", derandomize=True)  # the same examples each time; whoever runs them at home draws others


def pytest_configure(config):
    if os.environ.get("DISCREET_CI"):
        settings.load_profile("ci")
        config.pluginmanager.register(Recorder(Path(__file__).parent), "cpu_budget")


@pytest.fixture(scope="session", autouse=True)
def nobodys_state(tmp_path_factory):
    """No test writes to the state folder of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield os.environ["XDG_STATE_HOME"]


@pytest.fixture(scope="module", autouse=True)
def modules_state(nobodys_state, tmp_path_factory):
    """Fixtures of a module know no ledgers of others, nor those of an earlier half of the module in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield os.environ["XDG_STATE_HOME"]


@pytest.fixture(autouse=True)
def own_state(modules_state, tmp_path_factory, monkeypatch):
    """Every test has heads and a registry of its own, unless its module set a folder for all of its tests."""
    if os.environ["XDG_STATE_HOME"] == modules_state:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def _strict(report):
    if report.outcome == "skipped" and os.environ.get("DISCREET_CI") and ABSENT not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped for another reason than {ABSENT!r}: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    _strict(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _strict(outcome.get_result())
