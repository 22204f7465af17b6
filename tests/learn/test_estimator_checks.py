"""scikit-learn's own checks of estimators; each that cannot hold for a private fit has its reason.

`make test-sklearn SKLEARN=1.6.1` runs them on another version of scikit-learn.
"""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learn.informed import KINDS

_NOISE = "two fits draw noise of their own, which shows in the digits that are compared at any ε"
EXPECTED_FAILED_CHECKS = {
    "check_estimators_empty_data_messages": "how many rows there are is private: none at all give a model of noise",
    "check_complex_data": "one complex cell would be told by the refusal: it is read as empty",
    "check_classifiers_regression_target": "what the cells of y hold is private: what is no public class is left out",
    "check_supervised_y_no_nan": "a number that is missing or infinite would be told by the refusal: it is left out",
    "check_fit_idempotent": _NOISE,
    "check_supervised_y_2d": _NOISE,
    "check_regressor_data_not_an_array": _NOISE,
}
_REGRESSION = ("LinearRegression",)
_GRADIENTS = ("AdditiveClassifier", "LogisticRegression", "LinearClassifier", *_REGRESSION)
ONLY_OF = {  # the other models pass
    "check_supervised_y_no_nan": _REGRESSION,
    "check_fit_idempotent": _GRADIENTS,
    "check_supervised_y_2d": _REGRESSION,
}

LEFT_OUT = {  # by scikit-learn itself
    "check_pipeline_consistency": "a fit draws noise, so two fits differ",
    "check_array_api_input": "arrays of other libraries are an option of SciPy's that is off",
}


@parametrize_with_checks([kind() for kind in KINDS])
def test_estimators_keep_the_rules_of_scikit_learn(estimator, check):
    name, kind = check.func.__name__, type(estimator).__name__.removeprefix("Informed")
    if name in EXPECTED_FAILED_CHECKS and kind in ONLY_OF.get(name, (kind,)):
        with pytest.raises(AssertionError):
            check(estimator)
        return
    try:
        check(estimator)
    except SkipTest:
        assert name in LEFT_OUT
