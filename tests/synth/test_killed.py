"""A build that is killed, once and twice, at every step: equal bytes, and one charge."""

import pytest

from faults.common import driven
from synth.kill_engine import STEPS, edges

DRIVER = "synth.kill_engine"


def killed(tmp_path, how, every, first):
    """What the driver saw; a second child meets an edge only if the first one left something to do there."""
    outcome = driven(DRIVER, tmp_path / "killed", how, every, first, folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["killed"] >= len(range(first, len(edges()), every))


def test_a_build_killed_at_an_edge_goes_on_with_equal_bytes_and_one_charge(tmp_path):
    """Every fifth edge: before and after the purse, in each of the three steps, and at the end."""
    killed(tmp_path, "once", 5, 1)
    names = [name for number, name in enumerate(edges()) if number % 5 == 1]
    assert {name.split(":")[0] for name in names} >= {"purse", *STEPS}


def test_a_build_killed_twice_goes_on_with_equal_bytes_and_one_charge(tmp_path):
    killed(tmp_path, "twice", 8, 5)


@pytest.mark.long
@pytest.mark.parametrize("how", ["once", "twice"])
def test_a_build_killed_at_any_edge_goes_on_with_equal_bytes_and_one_charge(tmp_path, how):
    killed(tmp_path, how, 1, 0)
