"""Claims of steps of deep learning, on neighbours of a few persons.  They need torch; without it they are left out."""

from collections.abc import Iterator
from fractions import Fraction
from importlib.util import find_spec

from discreet.audit.claim import Claim

LEFT_OUT = (
    "Claims and planted bugs of deep learning were left out, because torch is not installed: "
    "install the extra discreet[deep]."
)
_RUNS = 500  # of a training, which is drawn step by step
_AHEAD, _ASIDE = ((1.0, 0.0),), ((0.0, 1.0),)
_TWO = (_AHEAD, _ASIDE)
_OUTLIER, _BACK, _BROKEN = ((1e6, 1e6),), ((-3.0, 0.0),), ((float("nan"), 1.0),)
_PAIRS = (
    (_TWO, (*_TWO, _OUTLIER)),  # two persons against three
    ((), (_AHEAD,)),  # nobody against somebody
    (_TWO, (*_TWO, _BACK)),
    (_TWO, (*_TWO, _BROKEN)),
)
_MANY_ROWS = (
    ((), (_AHEAD * 3,)),  # one person has all rows
    ((_AHEAD * 2,), (_AHEAD * 2, _OUTLIER * 10)),
    ((_AHEAD, _ASIDE * 4), (_AHEAD, _ASIDE * 4, (*_OUTLIER, *_BACK, *_BROKEN))),
)


def has_torch() -> bool:
    """Whether torch can be imported."""
    return find_spec("torch") is not None


def family() -> Iterator[Claim]:
    """All claims of this module; none where there is no torch."""
    if not has_torch():
        return
    from discreet.deep.audit.tiny import Steps

    def claim(name: str, steps: Steps, pairs: tuple[tuple[object, object], ...] = _PAIRS) -> Claim:
        return Claim(f"deep-{name}", Steps, steps, pairs, (), _RUNS)

    half, whole = Fraction(1, 2), Fraction(1)
    yield claim("step", Steps(whole, whole, 1))
    yield claim("sampled-steps", Steps(half, half, 2))
    yield claim("persons", Steps(whole, whole, 1, max_rows=3), _MANY_ROWS)
    yield claim("sampled-persons", Steps(half, whole, 2, max_rows=2), _MANY_ROWS)
