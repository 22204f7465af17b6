"""A skip hides a hole, so where every part is installed (`DISCREET_CI`) only absent data may be the reason for one."""

import os

import pytest

ABSENT = "data is absent"


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
