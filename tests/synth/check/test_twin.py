"""What a check tells at a huge ε, against the slow twin in plain Python."""

import numpy as np
import pytest

import discreet as dp
from discreet.synth.check.products import SCALE, SyntheticCounts, products_of
from discreet.synth.check.tables import tables_of
from synth.check import twin
from synth.folk import rows_of, written

HUGE = 5 * 10**5


@pytest.fixture(scope="module", params=[(1, "add-remove"), (3, "add-remove"), (3, "replace-one")], ids=lambda p: f"{p}")
def told(request, tmp_path_factory):
    """A check at a huge ε, the build, and the units of both tables."""
    max_rows, neighbours = request.param
    rows = rows_of(200, max_rows)
    toml = written(tmp_path_factory.mktemp("folk"), rows, max_rows=max_rows, neighbours=neighbours, epsilon=10**6)
    with dp.open(toml) as people:
        table = people.synthesize().build(epsilon=20)
        check = table.check(epsilon=HUGE, delta=0, target="ill")
        names = table.build.plan.subject.column_names
        yield (
            check,
            table.build,
            twin.real_units(rows, names, max_rows),
            twin.synthetic_units(table.build, max_rows),
            rows,
        )


@pytest.mark.parametrize("kind", ["cells", "columns", "pairs", "triples"])
def test_mean_distances_are_those_of_plain_loops(told, kind):
    check, build, real, synthetic, _ = told
    tables = tables_of(build, kind)
    exact = [twin.distance(real, synthetic, clique, tables.groups) for clique in tables.cliques]
    assert check.find(kind).value == pytest.approx(np.mean(exact), abs=2e-4)
    assert check.find(kind).tables == len(exact) == tables.possible
    assert check.find(kind).moe < 2e-3


@pytest.mark.parametrize(("name", "kind"), [("each column", "cells"), ("each pair", "pairs")])
def test_each_distance_is_that_of_plain_loops(told, name, kind):
    check, build, real, synthetic, _ = told
    tables = tables_of(build, kind)
    statistics = check.all_of(name)
    assert len(statistics) == len(tables.cliques)
    for clique, own in zip(tables.cliques, statistics, strict=True):
        assert own.columns == tuple(build.plan.subject.names[feature] for feature in clique)
        assert own.value == pytest.approx(twin.distance(real, synthetic, clique, tables.groups), abs=2e-4)


def test_correlations_are_those_of_plain_loops(told):
    check, build, real, synthetic, _ = told
    products = products_of(build, SyntheticCounts(build))
    gaps = []
    for clique, own in zip(products.tables.cliques, check.all_of("each correlation"), strict=True):
        sides = [
            twin.correlation(units, clique, products.tables.groups, products.scores) for units in (real, synthetic)
        ]
        assert own.value == pytest.approx(sides[0], abs=9 / SCALE)
        assert own.synthetic == pytest.approx(sides[1], abs=9 / SCALE)
        gaps.append(abs(sides[0] - sides[1]))
    assert check.find("correlation").value == pytest.approx(np.mean(gaps), abs=18 / SCALE)


def test_units_are_counted_and_the_target_is_that_of_the_rows(told):
    check, _, real, _, rows = told
    assert check.find("units").value == pytest.approx(len(real), abs=1e-3)
    assert check.classes[0] in ("False", "True")
    if len(rows) == len(real):
        ill = sum(bool(row[-1]) for row in rows) / len(rows)
        share = ill if check.most_common == "True" else 1 - ill
        assert check.find("majority").value == pytest.approx(share, abs=1e-9)
    assert check.find("accuracy").value > check.find("majority").value  # illness follows region
    assert check.find("auc").value > 0.7


def test_a_check_is_sentences_rows_pictures_and_json(told):
    check, build, *_ = told
    words = check.words()
    assert all(sentence.endswith(".") for sentence in words)
    assert any(sentence.startswith("Of 100 units about") for sentence in words)
    assert any("built from these very" in sentence for sentence in words)
    assert {row["statistic"] for row in check.rows()} >= {"units", "cells", "pairs", "triples", "each column", "auc"}
    assert list(check.to_pandas()["statistic"]) == [row["statistic"] for row in check.rows()]
    assert check.to_json()["receipt"] == check.receipt == check.privacy_.receipt
    assert check.privacy_.public["synthetic_table"] == build.receipt
    for picture in check.pictures():
        assert picture.svg.startswith("<svg")
        assert picture.svg.endswith("</svg>")
        assert picture.alt.startswith(picture.title)
        assert picture.rows
        assert all("value" in row for row in picture.rows)
    assert "L1 columns" in repr(check)
