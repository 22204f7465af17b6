"""Margins of a release hold the exact number as often as they say, on every level; narrower ones do not.

N = 300 releases; every other cell of a level is counted, since neighbours share a draw.  A level alarms if so many
misses would come with probability below 10⁻⁸ at 5 % each, by the exact binomial law: twelve levels, so below 1.2·10⁻⁷.
"""

import numpy as np
import pytest
from scipy.stats import binom

from discreet.noise.source import SYSTEM
from discreet.release.measure import Form
from discreet.release.plan import planned
from discreet.release.release import Release
from discreet.release.subject import Wanted, subject
from discreet.release.tree import summed
from discreet.schema import Column, Hierarchy, Schema, Unit

RUNS, ALARM = 300, 1e-8
BRANCHES = tuple(("x", f"r{region}", f"w{region}.{ward}") for region in range(20) for ward in range(5))
GEO = Hierarchy("geo", ("country", "region", "ward"), branches=BRANCHES)
COLUMNS = [
    Column("ward", "category", values=GEO.leaves),
    Column("sex", "category", values=("m", "f", "x")),
    Column("home", "text"),
]
SCHEMA = Schema("people", COLUMNS, Unit("person", 2), "add-remove", None, (GEO,))
ASKED = [
    (Wanted("geo"), {"epsilon": 1}),
    (Wanted("geo", by=("sex",), count="rows"), {"epsilon": "0.3", "sharing": "least"}),
    (Wanted("geo", groups="home", largest=4), {"epsilon": 1, "share": {"country": "0.1"}}),
    (Wanted("geo", groups="home", largest=4, form=Form.PLAIN), {"epsilon": 2, "delta": "1e-3"}),
]


@pytest.fixture(scope="module", params=range(len(ASKED)), ids=["units", "rows", "from the top", "sizes"])
def misses(request):
    """By level: by how much every interval missed, over all runs (0 or less: it held), and its radius."""
    wanted, terms = ASKED[request.param]
    plan = planned(subject(wanted, SCHEMA), **terms)
    leaves = np.random.default_rng(3).integers(0, 40, (len(GEO.leaves), plan.subject.cells))
    exact = summed(plan.subject.tree, leaves)
    beyond = []
    for _ in range(RUNS):
        made = Release(plan, plan.measurement(leaves, SYSTEM))
        beyond.append(np.abs(made.estimate - exact) - made.radius)
        inside = (made.low <= exact) & (exact <= made.high)
        assert (inside >= (np.abs(made.estimate - exact) <= made.radius)).all()  # cutting at 0 loses none
    tree = plan.subject.tree
    return [(np.stack(beyond)[:, tree.places(level)], plan.radius(level)) for level in range(tree.depth)]


def too_many(missed):
    """Whether so many misses would hardly come if the margins held 95 times of 100."""
    counted = missed[..., ::2]
    return binom.sf(int(counted.sum()) - 1, counted.size, 0.05) < ALARM


def test_margins_hold_on_every_level(misses):
    assert not any(too_many(beyond > 0) for beyond, _ in misses)


def test_margins_three_tenths_narrower_fail(misses):
    assert all(too_many(beyond + 0.3 * np.array(radius) > 0) for beyond, radius in misses[1:])
