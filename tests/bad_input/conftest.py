"""The desks: one that every test must leave as it was, and one that is empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bad_input.desk import COUNT, TABLE, TOML, Desk
from discreet.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(folder)
        (folder / "people.csv").write_text(TABLE)
        (folder / "people.toml").write_text(TOML)
        assert main.status(["ask", "people.toml", COUNT, "--eps", "0.5", "--json"]) == 0
        yield folder


@pytest.fixture
def desk(folder: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """Whatever a test does there, afterwards the files and the books are what they were."""
    desk = Desk(folder, capfd)
    capfd.readouterr()
    before, files = desk.books(), sorted(folder.iterdir())
    assert before == (3, {"epsilon": "2.5", "delta": "0"})
    yield desk
    assert desk.books() == before
    assert sorted(folder.iterdir()) == files
    assert (folder / "people.csv").read_text() == TABLE
    assert (folder / "people.toml").read_text() == TOML


@pytest.fixture
def fresh(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capfd)
