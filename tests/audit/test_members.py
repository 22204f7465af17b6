"""Audits by membership: a training that remembers is refuted, one with enough noise is not."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit.members import Members, log_odds, membership
from discreet.errors import BadValue
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM

CANARIES = list(range(400))


def histogram(scale: Any) -> Callable[[list[int]], Any]:
    """Counts by canary with Laplace noise: ε = 1/scale for each."""

    def fit(rows: list[int]) -> Any:
        counts = Counter(rows)
        exact = np.array([counts[canary] for canary in CANARIES])
        return exact + DiscreteLaplace(Fraction(scale)).draw(len(CANARIES), SYSTEM)

    return fit


def seen(model: Any, canary: int) -> float:
    return float(model[canary])


def test_a_training_that_remembers_is_refuted() -> None:
    audit = dp.audit.membership(lambda rows: set(rows), lambda model, row: row in model, CANARIES, claim=2)
    assert audit.refuted
    assert (audit.right, audit.caught) == (audit.guesses, 1.0)
    assert "is refuted" in audit.sentence


def test_noise_for_the_claim_stands_and_far_too_little_falls() -> None:
    """A true claim falls once in 10⁶ audits; at ε = 16 every guess is right, which proves more than ε = 2."""
    sound = membership(histogram(1), seen, CANARIES)
    assert not sound.refuted
    assert "nothing above" in sound.sentence
    assert membership(histogram(Fraction(1, 16)), seen, CANARIES, claim=2).refuted


def test_the_shadows_make_canaries_alike() -> None:
    """Each canary has a level of its own, far above what being inside moves: only its own shadows tell."""
    chance = generator(3)
    coins = chance.random((201, 400)) < 0.5
    scores = 100 * chance.standard_normal(400) + 3 * coins + chance.standard_normal((201, 400))
    odds = log_odds(scores[:-1], coins[:-1], scores[-1])
    assert np.mean((odds > 0) == coins[-1]) > 0.9
    assert np.mean((scores[-1] > np.median(scores[-1])) == coins[-1]) < 0.6


def test_rows_that_are_always_in_are_in() -> None:
    sizes: list[int] = []

    def fit(rows: list[Any]) -> int:
        sizes.append(rows.count("always"))
        return 0

    audit = membership(fit, lambda model, row: 0.0, CANARIES[:20], rows=["always"] * 3, shadows=8)
    assert sizes == [3] * 9
    assert isinstance(audit, Members)
    assert audit.lower == 0


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((5, seen, CANARIES), {}, "fit must be"),
        ((len, 5, CANARIES), {}, "score must be"),
        ((len, seen, CANARIES[:5]), {}, "canaries must be"),
        ((len, seen, CANARIES), {"shadows": 2}, "shadows must be"),
        ((len, seen, CANARIES), {"claim": -1}, "claim must be"),
        ((len, seen, 5), {}, "canaries must be a list"),
        ((len, seen, None), {}, "canaries must be a list"),
        ((len, seen, iter(CANARIES)), {}, "canaries must be a list"),
        ((len, seen, "a" * 400), {}, "canaries must be a list"),
        ((len, seen, dict.fromkeys(CANARIES)), {}, "canaries must be a list"),
        ((len, seen, CANARIES), {"rows": None}, "rows must be a list"),
        ((len, seen, CANARIES), {"rows": iter([1])}, "rows must be a list"),
        ((len, lambda model, row: "secret", CANARIES), {}, "score must return a number"),
        ((len, lambda model, row: "0.5", CANARIES), {}, "score must return a number"),
        ((len, lambda model, row: None, CANARIES), {}, "score must return a number"),
        ((len, lambda model, row: [1, 2], CANARIES), {}, "score must return a number"),
    ],
)
def test_bad_input_is_refused(arguments: Any, options: Any, words: str) -> None:
    with pytest.raises(BadValue, match=words) as refusal:
        membership(*arguments, **options)
    assert refusal.value.fix
    assert "secret" not in str(refusal.value)


@pytest.mark.long
def test_a_sound_training_is_not_refuted_in_100_audits() -> None:
    assert not any(membership(histogram(1), seen, CANARIES, shadows=8).refuted for _ in range(100))
