"""A fit killed at its edges, with the source left and changed: resumed on its rows, equal bytes, one charge."""

import pytest

import discreet as dp
from discreet.errors import BudgetExceeded
from discreet.learn.risk.centre import CENTRE_SHARE
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.steps import Steps
from discreet.learn.task import learning
from faults.common import driven
from rooms.run_driver import TOML, filled

DRIVER = "rooms.fit_driver"


@pytest.mark.parametrize(("how", "every"), [("once", 3), ("changed", 6)])
def test_a_fit_killed_at_an_edge_resumes_with_equal_bytes_and_one_charge(tmp_path, how, every):
    outcome = driven(DRIVER, tmp_path / "fits", how, every, 1, folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["killed"] == outcome["children"] > 3


@pytest.mark.long
@pytest.mark.parametrize("how", ["once", "changed"])
def test_a_fit_killed_at_any_edge_resumes_with_equal_bytes_and_one_charge(tmp_path, how):
    outcome = driven(DRIVER, tmp_path / "fits", how, 1, 0, folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["killed"] == outcome["children"]


def test_passes_that_leave_nothing_for_the_centre_are_refused_by_the_purse(tmp_path, monkeypatch):
    """The planted bug: each pass takes its part of the whole price, as if the centre had cost nothing."""
    real = Steps.sum

    def greedy(self, name, kernel, public, share, **named):
        return real(self, name, kernel, public, share if name == "centre" else share / (1 - CENTRE_SHARE), **named)

    monkeypatch.setattr(Steps, "sum", greedy)
    (tmp_path / "people.toml").write_text(TOML)
    filled(tmp_path, lambda n: "n" if n % 2 else "s")
    with dp.open(tmp_path / "people.toml") as people:
        with pytest.raises(BudgetExceeded):
            learning(people.table, LinearLearner("huber", passes=2), "age", ["region"]).fit(epsilon=20)
        kinds = [entry["kind"] for entry in people.table.ledger.entries()]
    assert kinds.count("part") == 2  # the last pass was refused
