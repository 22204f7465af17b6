"""scikit-learn's own checks of estimators; each that cannot hold for a private fit has its reason.

`make test-sklearn SKLEARN=1.6.1` runs them on another version of scikit-learn.
"""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learn.informed import InformedNaiveBayes

EXPECTED_FAILED_CHECKS = {
    "check_estimators_empty_data_messages": "how many rows there are is private: none at all give a model of noise",
    "check_complex_data": "one complex cell would be told by the refusal: it is read as empty",
    "check_classifiers_regression_target": "what the cells of y hold is private: what is no public class is left out",
}


LEFT_OUT = {  # by scikit-learn itself
    "check_pipeline_consistency": "a fit draws noise, so two fits differ",
    "check_array_api_input": "arrays of other libraries are an option of SciPy's that is off",
}


@parametrize_with_checks([InformedNaiveBayes()])
def test_estimators_keep_the_rules_of_scikit_learn(estimator, check):
    name = check.func.__name__
    if name in EXPECTED_FAILED_CHECKS:
        with pytest.raises(AssertionError):
            check(estimator)
        return
    try:
        check(estimator)
    except SkipTest:
        assert name in LEFT_OUT
