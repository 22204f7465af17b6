"""Generated releases for the tests of what is published: small trees with tame or hostile names, no private table."""

import json
import random

import numpy as np
import pyarrow.parquet

from discreet.release import known as public
from discreet.release.plan import plan_of
from discreet.release.publish import files
from discreet.release.publish.page import Tables
from discreet.release.release import Release
from discreet.release.subject import ReleaseSpec, subject
from discreet.schema import Column, Hierarchy, Schema, Unit
from discreet.terms import Terms

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
    "plain": ReleaseSpec("geo"),
    "sex": ReleaseSpec("geo", by=("sex",)),
    "sex and age": ReleaseSpec("geo", by=("sex", "age")),
    "sizes": ReleaseSpec("geo", groups="household", largest=5),
    "rows": ReleaseSpec("geo", by=("level",), count="rows"),
}


def known(names=TAME, *, tops=1, relation="add-remove", seed=0, sexes=("m", "f")):
    """Public facts over a tree of places with these names for leaves."""
    chance = random.Random(seed)
    middle = [f"{names[number % len(names)]} region {number}" for number in range(3)]
    branches = tuple(
        (f"top {number % 3 % tops} {names[0]}", middle[number % 3], name) for number, name in enumerate(names)
    )
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


def made(schema, kind="sex", *, seed=0, receipt="3-ab", total=None, leaf_totals=None, zeros=None, **given):
    """A release whose noise comes from a seed: it protects nobody, for nobody is in it."""
    about = subject(KINDS[kind], schema)
    facts = public.known_of(about, total=total, leaf_totals=leaf_totals, zeros=zeros)
    amounts = {name: given.pop(name) for name in ("epsilon", "delta", "level") if name in given}
    plan = plan_of(about, Terms.parse(**({"epsilon": 1} | amounts)), **({"known": facts} | given))
    chance = np.random.default_rng(seed)
    width = plan.measurement.columns[-1].stop
    shape = (len(plan.subject.tree), width)
    exact = np.cumsum(chance.integers(0, 60, shape), axis=1)[:, ::-1]
    larger = (1 + 5 * (plan.subject.tree.level == 0))[:, None]
    return Release(plan, exact * larger + chance.integers(-9, 10, shape), receipt)


# --- in a folder ---------------------------------------------------------------------------------------------------


def saved(folder):
    """A folder with a release by sex under a public total, its schema and the release."""
    schema = known(HOSTILE)
    release = made(schema, "sex", total=4_000)
    files.save(release, folder / "r")
    return folder / "r", schema, release


def rewritten(folder, name, change):
    """The file with its rows changed, and its digest with it: as careful an editor would."""
    path = folder / name
    pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path)
    told = json.loads((folder / "release.json").read_text())
    told["files"][name]["sha256"] = files.digest(path)
    (folder / "release.json").write_text(json.dumps(told))


def restated(folder, **changes):
    """Facts changed, each to a value or by a function of the one that was there."""
    told = json.loads((folder / "release.json").read_text())
    told |= {name: change(told[name]) if callable(change) else change for name, change in changes.items()}
    (folder / "release.json").write_text(json.dumps(told))
