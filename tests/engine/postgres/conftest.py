"""One server for all tests of a process; those that kill or stop one start their own."""

import pytest

from engine.postgres.server import running


@pytest.fixture(scope="session")
def server():
    with running() as server:
        yield server
