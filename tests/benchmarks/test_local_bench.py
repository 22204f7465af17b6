"""The survey bench at a small size: its tables, errors, regret and server; no timing is asserted."""

import pytest

from benchmarks import local, local_accuracy, local_own, local_server


def test_own_worker_measures_every_protocol_of_the_table():
    assert set(local_own.LAWS) == set(local.RATES) == set(local.SAMPLES[local.OURS])
    for build in local_own.LAWS.values():
        assert len(build("1")(1_000)) == 1_000


def test_rates_are_told_beside_the_peer_where_it_has_the_protocol():
    jobs = [local.job(worker, law) for worker, laws in local.SAMPLES.items() for law in laws]
    table = local.rates_table(dict.fromkeys(jobs, (0.5, 0.5)))
    by_name = {row[0]: row for row in table.rows}
    assert by_name["binary"][1:5] == ("8e+06", "≥ 5e+07", "no", "4e+04")
    assert by_name["subset selection, 12"][4:] == ("", "")
    alone = local.rates_table({job: (0.5,) for job in jobs if job.worker == local.OURS})
    assert all(row[4:] == ("", "") for row in alone.rows)


def test_errors_are_those_of_the_formula():
    """20,000 people, four surveys of 1,024 values: the mean of 4,096 squares is within a quarter of it."""
    for error in local_accuracy.errors(people=20_000, surveys=4):
        assert error.ratio == pytest.approx(1, abs=0.25)


def test_auto_gives_away_at_most_two_percent():
    lost, where = local_accuracy.regret()
    assert 0 <= lost <= 0.02
    assert "values" in where


def test_server_is_measured_by_what_it_acknowledged():
    figures = local_server.measure(1.0, connections=2)
    assert figures["acknowledged"] > 0
    assert figures["per_second"] > 0
