"""The examples in the docstrings of the fits that tests and benchmarks compare with."""

import doctest

import pytest

from release import error
from release.fits import countofcounts, hay, relaxed, tables


@pytest.mark.parametrize("module", [countofcounts, error, hay, relaxed, tables], ids=lambda module: module.__name__)
def test_examples_of_a_compared_fit_hold(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
