"""Generated releases for the tests of what is published: small trees with tame or hostile names, no private table."""

import random
from fractions import Fraction

import numpy as np

from discreet.release import known as public
from discreet.release.plan import planned
from discreet.release.publish.page import Tables
from discreet.release.release import Release
from discreet.release.subject import Wanted, subject
from discreet.schema import Column, Hierarchy, Schema, Unit

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "</style><!--",
    "=cmd|'/C calc'!A0",
    "+1",
    "-2",
    "@sum",
    "\"'&<>",
    "a|b*c_d_`e`[x](javascript:alert(3))",
    "https://example.org/a.js",
    "ünï, 中文; \u202ertl",
    "&lt;b&gt; &#60;",
    "\\u003cscript\\u003e",
)
TAME = tuple(f"place{number}" for number in range(len(HOSTILE)))
KINDS = {
    "plain": Wanted("geo"),
    "sex": Wanted("geo", by=("sex",)),
    "sex and age": Wanted("geo", by=("sex", "age")),
    "sizes": Wanted("geo", groups="household", largest=5),
    "rows": Wanted("geo", by=("level",), count="rows"),
}


def known(names=TAME, *, tops=1, relation="add-remove", seed=0, sexes=("m", "f")):
    """Public facts over a tree of places with these names for leaves."""
    chance = random.Random(seed)
    middle = [f"{names[at % len(names)]} region {at}" for at in range(3)]
    branches = tuple((f"top {at % 3 % tops} {names[0]}", middle[at % 3], name) for at, name in enumerate(names))
    tree = Hierarchy("geo", ("country", "n_moe", "ward"), branches=tuple(chance.sample(branches, len(branches))))
    columns = [
        Column("ward", "category", values=tuple(names)),
        Column("household", "text"),
        Column("sex", "category", values=sexes),
        Column("level", "boolean"),
        Column("age", "integer", bounds=(0, 99), bins=(0, 18, 65, 99)),
    ]
    return Schema("people", columns, Unit("person", 2), relation, hierarchies=(tree,))


def tables(release):
    """The numbers that a page takes."""
    numbers = (release.fitted, release.estimate, release.radius, release.totals, release.total_radius)
    return Tables(release.plan.subject.tree, *numbers)


def made(schema, kind="sex", *, seed=0, receipt="3-ab", total=None, leaf_totals=None, zeros=None, **price):
    """A release whose noise comes from a seed: it protects nobody, for nobody is in it."""
    about = subject(KINDS[kind], schema)
    given = public.known(about, total=total, leaf_totals=leaf_totals, zeros=zeros)
    plan = planned(about, **({"epsilon": Fraction(1), "known": given} | price))
    chance = np.random.default_rng(seed)
    width = plan.measurement.columns[-1].stop
    shape = (len(plan.subject.tree), width)
    exact = np.cumsum(chance.integers(0, 60, shape), axis=1)[:, ::-1]
    larger = (1 + 5 * (plan.subject.tree.level == 0))[:, None]
    return Release(plan, exact * larger + chance.integers(-9, 10, shape), receipt)
