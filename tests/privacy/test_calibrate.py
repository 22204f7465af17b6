"""Targets become the least noise; the cache on disk is never believed."""

import json
import os
import stat
from fractions import Fraction as F

import pytest

from discreet.errors import BadValue
from discreet.privacy import calibrate, hints, price
from discreet.privacy.cost import Gaussian, Repeated, Sampled

TARGET = ("0.1", 20, 1, "1e-5")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def the_file(cache):
    (only,) = cache.iterdir()
    return only


def epsilon_of(sigma):
    return price.epsilon(Repeated(Sampled("0.1", Gaussian(sigma)), 20), "1e-5").value


def test_gaussian_sigma_meets_its_target_and_no_less_would():
    sigma = calibrate.gaussian_sigma("0.5", "1e-6")
    assert price.delta(Gaussian(sigma), "0.5").value <= F(1, 10**6)
    assert price.delta(Gaussian(sigma * F(999999, 10**6)), "0.5").value > F(1, 10**6)


def test_zcdp_sigma_is_rounded_to_the_noisier_side():
    for rho in ("0.5", "0.3", "1e-9", "7"):
        sigma = calibrate.zcdp_sigma(rho)
        assert price.zcdp(Gaussian(sigma)).value <= F(rho)
        assert price.zcdp(Gaussian(sigma * (1 - F(1, 10**10)))).value > F(rho)


def test_sampled_sigma_meets_its_target_and_a_thousandth_less_would_not():
    sigma = calibrate.sampled_sigma(*TARGET)
    assert epsilon_of(sigma) <= 1 < epsilon_of(sigma * F(999, 1000))


def test_unsampled_steps_agree_with_the_closed_form():
    sigma, exact = calibrate.sampled_sigma(1, 4, 1, "1e-5"), 2 * calibrate.gaussian_sigma(1, "1e-5")
    assert exact <= sigma * (1 + F(1, 10**9)) <= exact * F(1001, 1000)


def test_a_hint_is_priced_again_and_saves_the_search(cache, monkeypatch):
    first = calibrate.sampled_sigma(*TARGET)
    asked = []
    real = price.epsilon
    monkeypatch.setattr(price, "epsilon", lambda cost, delta: asked.append(cost) or real(cost, delta))
    assert calibrate.sampled_sigma(*TARGET) == first
    assert len(asked) == 2


@pytest.mark.parametrize(
    "value", ["0.5", "1000", "1e300", "-1", "0", "nan", "Infinity", "1/0", "9" * 5000, None, 3, True, ["1"], {"a": 1}]
)
def test_a_hostile_hint_changes_nothing(cache, value):
    honest = calibrate.sampled_sigma(*TARGET)
    place = the_file(cache)
    stored = json.loads(place.read_text())
    place.write_text(json.dumps(stored | {"value": value}))
    sigma = calibrate.sampled_sigma(*TARGET)
    assert sigma == honest


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", "[" * 100000, '{"key": "other", "value": "1"}'])
def test_a_broken_cache_is_ignored(cache, text):
    hints.remember("k", F(3, 2))
    assert hints.recall("k") == F(3, 2)
    the_file(cache).write_text(text)
    assert hints.recall("k") is None


def test_an_unwritable_cache_is_fine(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("DISCREET_CACHE", str(blocked / "below"))
    hints.remember("k", F(1))
    assert hints.recall("k") is None


def test_hints_are_written_whole_and_for_the_owner_alone(cache):
    hints.remember("k", F(1, 3))
    assert [p.suffix for p in cache.iterdir()] == [".json"]
    assert stat.S_IMODE(os.stat(the_file(cache)).st_mode) == 0o600


def test_the_cache_directory_follows_the_environment(monkeypatch):
    monkeypatch.delenv("DISCREET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x/cache")
    assert str(hints.directory()) == "/x/cache/discreet"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ana")
    assert str(hints.directory()) == "/home/ana/.cache/discreet"


@pytest.mark.parametrize("bad", [float("nan"), -1, True, None, "9" * 5000])
def test_bad_targets_are_refused(bad):
    for call in (
        lambda: calibrate.gaussian_sigma(bad, "1e-5"),
        lambda: calibrate.gaussian_sigma(1, bad),
        lambda: calibrate.zcdp_sigma(bad),
        lambda: calibrate.sampled_sigma(bad, 1, 1, "1e-5"),
        lambda: calibrate.sampled_sigma("0.1", bad, 1, "1e-5"),
    ):
        with pytest.raises(BadValue):
            call()
    with pytest.raises(BadValue, match="above 0"):
        calibrate.sampled_sigma(0, 1, 1, "1e-5")
