"""Rows to train on: what is accepted, and what somebody has sampled already."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from deep.nets import rows as small_rows
from discreet.deep.training.data import rows_of
from discreet.errors import BadValue


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return {"x": torch.tensor([float(index)]), "y": torch.tensor(index)}, index**2


class Endless(IterableDataset):
    def __iter__(self):
        yield torch.zeros(1), 0


@pytest.mark.parametrize("form", [tuple, list, lambda pair: TensorDataset(*pair)])
def test_tensors_in_every_form_are_the_same_rows(form):
    inputs, targets = small_rows()
    rows = rows_of(form((inputs, targets)))
    picked = rows.pick(np.array([3, 1, 3]))
    assert torch.equal(picked[0], inputs[[3, 1, 3]])
    assert torch.equal(picked[1], targets[[3, 1, 3]])
    assert rows.persons.count == len(inputs)


def test_arrays_become_tensors_and_doubles_the_type_of_weights():
    rows = rows_of((np.ones((5, 2)), np.arange(5)))
    inputs, targets = rows.pick(np.array([4]))
    assert (inputs.dtype, targets.dtype) == (torch.float32, torch.int64)
    assert rows.example[0].shape == (0, 2)


def test_several_inputs_keep_their_structure():
    inputs = {"ids": torch.arange(6).reshape(3, 2), "mask": (torch.ones(3, 2), torch.zeros(3, 1))}
    rows = rows_of((inputs, torch.zeros(3)))
    picked, _ = rows.pick(np.array([2]))
    assert picked["ids"].tolist() == [[4, 5]]
    assert picked["mask"][1].shape == (1, 1)
    assert rows.invented_rows(2)[0]["mask"][0].shape == (2, 2)


def test_a_dataset_gives_rows_by_their_index():
    rows = rows_of(Squares(9), units=[0, 0, 0, 1, 1, 1, 2, 2, None])
    (inputs, targets), empty = rows.pick(np.array([8, 2])), rows.pick(np.array([], dtype=np.int64))
    assert inputs["x"].tolist() == [[8.0], [2.0]]
    assert targets.tolist() == [64, 4]
    assert empty[0]["x"].shape == (0, 1)
    assert rows.persons.sizes.tolist() == [3, 3, 2]
    assert rows_of(Subset(Squares(9), [1, 5])).pick(np.array([1]))[1].tolist() == [25]


def test_a_dataset_without_rows_shows_no_shapes():
    rows = rows_of(Squares(0))
    assert rows.persons.count == 0
    assert rows.invented_rows(2) is None


@pytest.mark.parametrize(
    "drawn",
    [
        lambda data: DataLoader(data, batch_size=10, shuffle=True),
        lambda data: iter(DataLoader(data, batch_size=10)),
        lambda data: (batch for batch in DataLoader(data)),
        lambda data: Endless(),
    ],
)
def test_batches_that_somebody_drew_are_refused_with_the_reason(drawn):
    with pytest.raises(BadValue, match="the price holds for samples that are drawn here"):
        rows_of(drawn(TensorDataset(*small_rows())))


@pytest.mark.parametrize(
    "wrong",
    [
        torch.zeros(5, 2),
        np.zeros((5, 2)),
        {"X": torch.zeros(3)},
        "rows.csv",
        None,
        (torch.zeros(2), torch.zeros(2), torch.zeros(2)),
        (torch.tensor(1.0), torch.zeros(1)),
        (np.array(["a", "b"]), np.zeros(2)),
        ([1.0, 2.0], [0, 1]),
    ],
)
def test_what_has_no_inputs_and_targets_is_refused(wrong):
    with pytest.raises(BadValue):
        rows_of(wrong)


def test_lengths_that_differ_are_refused_without_a_number():
    for data, units in [
        ((torch.zeros(71, 2), torch.zeros(73)), None),
        ((torch.zeros(71, 2), torch.zeros(71)), list(range(73))),
        (({"a": torch.zeros(71), "b": torch.zeros(73)}, torch.zeros(71)), None),
    ]:
        with pytest.raises(BadValue, match="must have one length") as refused:
            rows_of(data, units)
        assert "71" not in str(refused.value)
        assert "73" not in str(refused.value)


def test_units_of_tensors_are_keys_and_floats_are_refused():
    data = torch.zeros(4, 1), torch.zeros(4)
    assert rows_of(data, torch.tensor([5, 5, 7, 5])).persons.sizes.tolist() == [3, 1]
    for floats in (torch.zeros(4), np.zeros(4)):
        with pytest.raises(BadValue, match="must not be floats"):
            rows_of(data, floats)


# --- what would let a person move more, or tell of a row ------------------------------------------------------------


class Views(Squares):
    """Gives several views of each index."""

    def __getitems__(self, indices):
        return [self[index] for index in indices for _ in range(self.views)]


class Batches(Squares):
    """Gives one thing for all indices, in which there may be any number of rows."""

    def __getitems__(self, indices):
        return torch.zeros(len(indices), 2)


@pytest.mark.parametrize("views", [0, 2])
def test_a_dataset_gives_one_row_for_each_index(views):
    data = Views(9)
    data.views = 1
    rows = rows_of(data)
    data.views = views
    for indices in ([3], [3, 4]):
        with pytest.raises(BadValue, match="must give one row for each index"):
            rows.pick(np.array(indices))
    for wrong in (data, Batches(9)):
        with pytest.raises(BadValue, match="for index 0"):
            rows_of(wrong)


def test_what_a_dataset_raises_is_not_repeated():
    class Failing(Squares):
        def __getitem__(self, index):
            raise ValueError("income 123456")

    with pytest.raises(BadValue, match="for index 0") as refused:
        rows_of(Failing(9))
    shown = refused.value
    assert "123456" not in str(shown)
    assert shown.__context__ is None
    assert shown.__cause__ is None


@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_not_dense_are_refused_in_words():
    dense = torch.ones(4, 2)
    odd = [dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to("meta")]
    odd += [torch.nested.nested_tensor([dense[0], dense[1]]), dense.to_mkldnn()]
    for inputs in odd:
        with pytest.raises(BadValue, match="must be a dense tensor"):
            rows_of((inputs, torch.zeros(4)))
