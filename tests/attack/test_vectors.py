"""Rows that a support-vector machine keeps."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from discreet.attack.models.vectors import arrays_of, example, rows_in, vectors, windows_in
from discreet.errors import BadValue
from discreet.noise.public import generator


def people(count=80):
    chance = generator(2)
    rows = chance.normal(size=(count, 3))
    return rows, (rows[:, 0] + chance.normal(size=count) > 0).astype(int)


def rows_by_hand(arrays, rows):
    """The slow twin: every window against every row."""
    width, stands = rows.shape[1], []
    for row in rows:
        windows = [line[start : start + width] for array in arrays for line in (array.ravel(), array.T.ravel())
                   for start in range(len(line) - width + 1)]  # fmt: skip
        stands.append(any(np.abs(window - row).max() <= 1e-6 for window in windows))
    return stands


def test_the_rows_that_are_found_are_the_support_vectors():
    rows, classes = people()
    machine = SVC(kernel="rbf").fit(rows, classes)
    result = vectors(machine, rows)
    assert result.details["rows"] == sorted(machine.support_.tolist())
    assert result.raw == len(machine.support_) / 80
    assert result.of_real_data


def test_scaled_rows_are_found_inside_a_pipeline():
    rows, classes = people()
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(rows, classes)
    assert vectors(pipeline, pipeline[0].transform(rows)).raw > 0.3
    assert vectors(pipeline, rows).raw == 0


def test_weights_of_a_linear_machine_hold_no_row():
    rows, classes = people()
    assert vectors(LinearSVC().fit(rows, classes), rows).raw == 0


def test_windows_are_found_as_by_a_slow_search():
    chance = generator(3)
    rows = chance.integers(0, 3, size=(30, 2)).astype(float)
    arrays = [chance.integers(0, 3, size=7).astype(float), chance.integers(0, 3, size=(2, 3)).astype(float)]
    assert rows_in(arrays, rows).tolist() == rows_by_hand(arrays, rows)
    assert windows_in(arrays, 2) == 6 + 5 + 5
    assert windows_in(arrays, 7) == 1


def test_arrays_are_found_wherever_a_model_keeps_them():
    class Model:
        def __init__(self):
            self.name, self.parts, self.none = "a model", [{"w": np.ones(2)}, "text"], None

    assert [array.tolist() for array in arrays_of(Model())] == [[1, 1]]


def test_kernel_machines_hold_half_their_rows_and_private_machines_none():
    result = example(("1",), 7)
    assert result.raw > 0.4
    assert result.details["classes_told"] == 1
    assert result.private["1"] == 0
    assert "found nothing above" in result.sentence
    windows = result.details["windows"]["1"]
    assert windows > 1  # a row may stand in any of them
    assert result.ceiling["1"] == pytest.approx(min(1, windows * result.baseline * np.e))


@pytest.mark.parametrize(("model", "rows"), [("text", [[1.0]]), ([1.0], [1.0]), ({}, [[1.0]]), ([1.0], [["a"]])])
def test_what_is_no_model_or_table_is_refused(model, rows):
    with pytest.raises(BadValue):
        vectors(model, rows)
