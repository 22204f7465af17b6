"""`auto` beside every protocol that is offered."""

import pytest

from discreet.errors import BadValue
from discreet.local import auto, hashed, kary, unary
from discreet.local.field import orders
from discreet.local.protocol import ValueProtocol

SIZES = (2, 3, 5, 10, 32, 100, 1024)
ROOMS = (None, 1, 2, 3, 128)


def offered(epsilon: str, size: int) -> list[ValueProtocol]:
    """Every protocol that its constructor does not refuse."""
    builders = [(kary, {}), (unary, {}), *((hashed, {"field": order}) for order in orders())]
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
    """Few values or large ε: k-ary; many values: hashed; and short reports cost something."""
    assert (auto(1, 3).name, auto(1, 1024).name, auto(4, 32).name) == ("k-ary", "hashed", "k-ary")
    assert noise(auto(1, 128, max_bytes=1)) > 1.02 * noise(auto(1, 128))


def test_hashed_without_a_field_takes_the_best_one() -> None:
    for epsilon, size in (("0.1", 6), ("1", 1024), ("2", 50), ("4", 300)):
        rivals = [rival for rival in offered(epsilon, size) if rival.name == "hashed"]
        assert noise(hashed(epsilon, size)) == min(map(noise, rivals))
