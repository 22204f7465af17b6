"""`auto` beside every protocol that is offered."""

from fractions import Fraction as F

import pytest

from discreet.errors import BadValue
from discreet.local import auto, hashed, kary, subset, unary
from discreet.local.code import mean_noise
from discreet.local.field import orders
from discreet.local.keep import keep_threshold
from discreet.local.protocol import ValueProtocol
from discreet.local.subset_code import SubsetCode

SIZES = (2, 3, 5, 10, 32, 100, 256, 257, 1024)
ROOMS = (None, 1, 2, 3, 128)


def offered(epsilon: str, size: int) -> list[ValueProtocol]:
    """Every protocol that its constructor does not refuse."""
    builders = [(kary, {}), (unary, {}), (subset, {}), *((hashed, {"field": order}) for order in orders())]
    protocols = []
    for build, how in builders:
        try:
            protocols.append(build(epsilon, size, **how))
        except BadValue:
            continue
    return protocols


def noise(protocol: ValueProtocol) -> float:
    """n times the noise variance averaged over the values: it is a straight line in the share, whose mean is 1/k."""
    return protocol.variance(f"1/{len(protocol.values)}", 1, of="respondents")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4", "8"])
def test_auto_is_within_two_percent_of_the_best_that_fits(epsilon: str, size: int) -> None:
    rivals = offered(epsilon, size)
    for room in ROOMS:
        fitting = [rival for rival in rivals if room is None or rival.report_bytes <= room]
        if not fitting:
            with pytest.raises(BadValue, match="max_bytes"):
                auto(epsilon, size, max_bytes=room)
            continue
        chosen = auto(epsilon, size, max_bytes=room)
        assert room is None or chosen.report_bytes <= room
        assert noise(chosen) <= 1.02 * min(map(noise, fitting)) * (1 + 1e-12)
        assert chosen.name in chosen.why
        assert str(chosen.report_bytes) in chosen.why


def test_auto_is_not_the_same_everywhere() -> None:
    """Few values or large ε: k-ary; some more: sets of them; many: hashed; and short reports cost something."""
    assert (auto(1, 3).name, auto(4, 32).name) == ("k-ary", "k-ary")
    assert (auto("0.1", 4).name, auto(1, 12).name, auto(2, 64).name) == ("subset", "subset", "subset")
    assert auto(1, 1024).name == "hashed"
    assert noise(auto(1, 128, max_bytes=1)) > 1.02 * noise(auto(1, 128))


def test_hashed_without_a_field_takes_the_best_one() -> None:
    for epsilon, size in (("0.1", 6), ("1", 1024), ("2", 50), ("4", 300)):
        rivals = [rival for rival in offered(epsilon, size) if rival.name == "hashed"]
        assert noise(hashed(epsilon, size)) == min(map(noise, rivals))


@pytest.mark.parametrize("size", [2, 3, 4, 8, 13, 40, 256])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4"])
def test_subset_takes_the_number_of_values_that_errs_least(epsilon: str, size: int) -> None:
    """Beside every other number of values in a set, each with the largest threshold that ε allows."""
    ours = subset(epsilon, size).code
    rivals = [SubsetCode(size, d, keep_threshold(F(epsilon), F(size, d))) for d in range(1, size)]
    assert mean_noise(ours) == min(map(mean_noise, rivals))


def test_sets_save_a_quarter_of_the_people_for_ten_values() -> None:
    """ε = 1: n·variance 2.95 by sets, 3.86 by the better of hashing and bits, 4.33 by k-ary response."""
    others = [noise(rival) for rival in offered("1", 10) if rival.name != "subset"]
    assert 1.29 < min(others) / noise(subset(1, 10)) < 1.32
