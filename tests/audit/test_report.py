"""The words of a report: two verdicts, and neither says more than was shown."""

import dataclasses
import math
from pathlib import Path

import pytest

from discreet import audit
from discreet.audit.report import Row, rounded_down, verdict


def row(bound: float, refuted: bool = False) -> Row:
    return Row("laplace-1", "ε = 1", bound, 20_000, "y ≥ 1", verdict(refuted))


def test_json_has_the_six_keys_of_the_public_face() -> None:
    assert row(0.91239).to_json() == {
        "name": "laplace-1",
        "claim": "ε = 1",
        "lower_bound": 0.9123,
        "runs": 20_000,
        "event": "y ≥ 1",
        "verdict": "not refuted",
    }
    assert row(math.inf, True).to_json()["lower_bound"] is None
    assert row(-math.inf).to_json()["lower_bound"] == 0.0


@pytest.mark.parametrize(
    ("bound", "said"),
    [(0.99999, 0.9999), (1.0, 1.0), (12.3456, 12.34), (2.2654e-5, 2.265e-5), (-1.0, 0.0), (3e-9, 3e-9)],
)
def test_bound_is_shown_rounded_down(bound: float, said: float) -> None:
    assert rounded_down(bound) == said
    assert rounded_down(bound) <= max(bound, 0.0) * (1 + 1e-12)


def test_rows_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        row(1.0).verdict = "refuted"  # type: ignore[misc]


def test_no_audit_ever_says_verified() -> None:
    for path in Path(audit.__file__).parent.rglob("*.py"):
        assert "verified" not in path.read_text(encoding="utf-8").lower()
    assert {verdict(True), verdict(False)} == {"refuted", "not refuted"}
