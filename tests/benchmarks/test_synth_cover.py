"""Intervals from replicates cover what was measured: simulated builds of an invented table."""

import numpy as np
import pytest
from benchmarks.synth_cover import GOAL, MEASURED, cover_figures, tables

from discreet.synth.answers import redrawn


def measured_share(figures):
    own = [figure for figure in figures if figure["is_measured"]]
    return sum(figure["covered"] * figure["statistics"] for figure in own) / sum(figure["statistics"] for figure in own)


def test_replicates_cover_measured_statistics():
    """24 builds, 12 replicates each: the share of a build varies by 0.02, that of 24 by 0.004; 0.95 is expected, and
    0.92 is further off than 7 standard errors, a chance below 10⁻⁶.  Seeds are fixed besides."""
    figures = cover_figures(24, rows=800, epsilon="4", replicates=12)
    assert {figure["kind"] for figure in figures} >= set(MEASURED)
    assert measured_share(figures) >= 0.92
    (table,) = tables(figures)
    assert f"{100 * GOAL:.0f} %" in table.meaning
    assert "95 %" in table.meaning
    assert len(table.rows) == len(figures)


def test_replicates_with_too_little_noise_do_not_cover(monkeypatch):
    """12 builds whose replicates forget two thirds of the noise: the measure sees it."""
    drawn = redrawn.noise_of
    monkeypatch.setattr(redrawn, "noise_of", lambda *given: np.rint(drawn(*given) / 3).astype(np.int64))
    assert measured_share(cover_figures(12, rows=800, epsilon="4", replicates=8)) < 0.85


@pytest.mark.long
def test_replicates_cover_in_300_builds():
    """300 builds at ε = 1: each measured kind above the goal; its standard error is below 0.007."""
    for figure in cover_figures():
        assert not figure["is_measured"] or figure["covered"] >= GOAL, figure
