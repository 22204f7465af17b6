"""Draws inside nets and rows of mixed types: nothing of them may tell who else is there."""

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from deep.nets import CROSS_ENTROPY
from discreet import deep
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.training.data import rows_of
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue
from discreet.noise.source import SYSTEM


def dropping() -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))


def rows(count: int, seed: int = 1) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 5, generator=generator), torch.zeros(count, dtype=torch.long)


def trainer(module: nn.Module, *, steps: int = 2, **options: Any) -> Trainer:
    plan = options.pop("plan", None) or deep.plan(rows=100, rate=1, steps=steps, sigma=1, delta="1e-5")
    return Trainer(module, CROSS_ENTROPY, torch.optim.SGD(module.parameters(), lr=0.1), plan=plan, **options)


@pytest.mark.parametrize("count", [0, 100, 101])
def test_the_callers_generator_tells_nothing_of_a_fit(count):
    module = dropping()
    torch.manual_seed(7)
    trainer(module).fit(rows(count))
    drawn = torch.rand(3)
    torch.manual_seed(7)
    assert torch.equal(drawn, torch.rand(3))


def test_the_callers_generator_tells_nothing_while_progress_is_told():
    states = []
    module = dropping()
    torch.manual_seed(7)
    before = torch.get_rng_state()
    undo = __import__("discreet.deep.training.undo", fromlist=["Undo"]).Undo(trainer(module).course())
    with secret_draws(SYSTEM), undo.as_before():
        states.append(torch.get_rng_state())
    assert torch.equal(states[0], before)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_seed_does_not_decide_what_a_net_draws_in_training():
    """With known masks one row more would move the masks of all later rows, by many clips."""
    inputs, targets = rows(40)
    module, sums = dropping(), []
    for _ in range(2):
        torch.manual_seed(3)
        sums.append(deep.clipped_sum(module, CROSS_ENTROPY, inputs, targets, clip=1).flat.clone())
    assert not torch.equal(*sums)


def test_secret_states_are_whole_and_draw_as_they_should():
    """N = 10⁶ even numbers: the mean is off by 5.5 deviations with a chance below 4·10⁻⁸."""
    with secret_draws(SYSTEM):
        state, drawn = torch.get_rng_state(), torch.rand(10**6)
    with secret_draws(SYSTEM):
        other = torch.get_rng_state()
    words, others = (part.numpy()[24 : 24 + 8 * 624].view(np.uint64) for part in (state, other))
    assert (words < 2**32).all()
    assert (words != others).mean() > 0.99
    assert abs(float(drawn.mean()) - 0.5) < 5.5 * (1 / 12 / 10**6) ** 0.5


class Mixed(Dataset):
    """Bytes of pictures, one row of which is handed over as floats."""

    def __init__(self, count: int, odd: int | None) -> None:
        self.count, self.odd = count, odd

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        picture = torch.full((4,), 200, dtype=torch.uint8)
        return (picture.float() if index == self.odd else picture), 1.0 if index == self.odd else 1


@pytest.mark.parametrize("odd", [None, 3])
def test_a_row_of_another_type_changes_the_type_of_no_other(odd):
    inputs, targets = rows_of(Mixed(8, odd)).pick(np.arange(8))
    assert inputs.dtype is torch.uint8
    assert targets.dtype is torch.int64
    assert bool((inputs == 200).all())


@pytest.mark.parametrize("column", [pd.array([1, None], dtype="Int64"), pd.array([1, 2], dtype="Int64")])
def test_columns_that_may_have_empty_cells_are_refused_by_their_type(column):
    with pytest.raises(BadValue, match="one empty cell would give all rows another type"):
        rows_of((torch.zeros(2, 3), pd.Series(column)))


@pytest.mark.parametrize("cells", [[1, 2], [1, None]])
def test_columns_of_other_libraries_are_refused_by_their_type(cells):
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for column in (polars.Series(cells), arrow.array(cells), polars.DataFrame({"a": cells})):
        with pytest.raises(BadValue, match="one empty cell would give all rows another type") as caught:
            rows_of((torch.zeros(2, 3), column))
        assert "null" not in str(caught.value).replace("fill_null", "")


def test_frames_of_plain_types_are_taken():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    inputs, targets = rows_of((frame, frame["b"])).pick(np.arange(2))
    assert inputs.tolist() == [[1, 3], [2, 4]]
    assert targets.tolist() == [3, 4]


def test_a_kind_of_tensor_dataset_gives_its_own_rows():
    class Part(TensorDataset):
        def __len__(self) -> int:
            return 10

        def __getitem__(self, index: int) -> Any:
            inputs, target = super().__getitem__(index)
            return inputs + 100, target

    held = rows_of(Part(torch.zeros(40, 3), torch.zeros(40)))
    assert held.persons.count == 10
    assert bool((held.pick(np.arange(10))[0] == 100).all())


def test_batch_norm_that_wakes_up_in_a_loop_is_refused_before_it_writes():
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(5, 4), nn.BatchNorm1d(4, affine=False), nn.Linear(4, 2)

        def forward(self, given: Any) -> Any:
            return self.last(self.norm(self.first(given)))

    module = Normed()
    plan = deep.plan(rows=40, rate=1, steps=2, sigma=1, delta="1e-5")
    with plan.run(rows(40), clip=1) as run:
        for number, step in enumerate(run):
            module.train()
            if number == 0:
                module.norm.eval()
                step.noisy(deep.clipped_sum(module, CROSS_ENTROPY, *step.batch, clip=run.clip))
                continue
            before = module.norm.running_mean.clone()
            with pytest.raises(BadValue):
                step.noisy(deep.clipped_sum(module, CROSS_ENTROPY, *step.batch, clip=run.clip))
            assert torch.equal(module.norm.running_mean, before)


def test_a_net_that_repairs_infinite_rows_where_any_is_no_number_is_refused():
    class Repairing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 2)

        def forward(self, given: Any) -> Any:
            if torch.isnan(given).any():
                given = torch.nan_to_num(given, posinf=1.0, neginf=-1.0)
            return self.layer(given)

    with pytest.raises(BadValue, match="mixes examples"):
        trainer(Repairing()).fit(rows(40))


def test_a_trainer_fits_once_whatever_its_checkpoint_is_called(tmp_path, monkeypatch):
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    own = trainer(dropping(), checkpoint="net.training")
    own.fit(rows(40))
    own.fit(rows(40))  # replayed
    monkeypatch.chdir(tmp_path / "second")
    with pytest.raises(BadValue, match="has trained its net already"):
        own.fit(rows(40))


def test_a_trainer_that_was_tuned_fits_no_more():
    plan = deep.plan(rows=40, rate=1, steps=2, sigma=1, delta="1e-5", scores=1)
    own = trainer(dropping(), plan=plan)
    deep.tuned([own], rows(40))
    with pytest.raises(BadValue, match="has trained its net already"):
        own.fit(rows(40))
    with pytest.raises(BadValue, match="has trained its net already"):
        deep.tuned([own], rows(40))


def test_a_checkpoint_that_is_somebodys_database_stays_as_it_is(tmp_path):
    import sqlite3

    place = tmp_path / "own.db"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    place.chmod(0o600)
    before = place.read_bytes()
    with pytest.raises(BadValue, match="must be the file of a training"):
        trainer(dropping(), checkpoint=place).fit(rows(40))
    assert place.read_bytes() == before


def test_autocast_of_the_caller_trains_on_the_weights_of_each_step():
    inputs, targets = rows(200, seed=2)
    targets = (inputs[:, 0] > 0).long()
    plan = deep.plan(rows=200, rate=1, steps=60, sigma="0.01", delta="1e-5")
    torch.manual_seed(0)
    module = nn.Linear(5, 2)
    own = Trainer(module, CROSS_ENTROPY, torch.optim.SGD(module.parameters(), lr=5), plan=plan, clip=1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        own.fit((inputs, targets))
    assert float((module(inputs).argmax(1) == targets).float().mean()) > 0.9


def test_clipped_sums_of_a_net_that_draws_differ_only_by_its_draws():
    inputs, targets = rows(30)
    module = dropping()
    with Clipper(module, CROSS_ENTROPY, clip=1) as clipper:
        torch.manual_seed(3)
        first = clipper.total(inputs, targets).clone()
        torch.manual_seed(3)
        assert torch.equal(first, clipper.total(inputs, targets))


@pytest.mark.parametrize("shape", [(1,), (2,)])
def test_a_row_of_another_shape_ends_a_batch(shape):
    class Odd(Dataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            return torch.zeros(3), torch.zeros(shape if index == 2 else ())

    held = rows_of(Odd())
    with pytest.raises(BadValue, match="rows of one shape"):
        held.pick(np.arange(4))


def test_rows_of_odd_kinds_bring_no_warning(recwarn):
    class Odd(Dataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            return torch.zeros(3, dtype=torch.complex64 if index == 2 else torch.float32), 0

    assert rows_of(Odd()).pick(np.arange(4))[0].dtype is torch.float32
    assert not recwarn.list


def test_threads_take_turns_with_the_generator():
    """Without turns the second thread would leave the caller with the first one's secret state."""
    torch.manual_seed(7)
    before, states, inside = torch.get_rng_state(), [], threading.Event()

    def other() -> None:
        inside.wait()
        with secret_draws(SYSTEM):
            states.append(torch.get_rng_state())

    thread = threading.Thread(target=other)
    thread.start()
    with secret_draws(SYSTEM):
        inside.set()
        thread.join(0.2)
        assert thread.is_alive()
        assert not states
    thread.join()
    assert len(states) == 1
    assert torch.equal(torch.get_rng_state(), before)


def test_a_sum_is_tried_in_the_modes_that_it_was_made_in():
    class Centred(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 2)

        def forward(self, given: Any) -> Any:
            return self.layer(given - given.mean(0) if self.training else given)

    module = Centred()
    plan = deep.plan(rows=40, rate=1, steps=1, sigma=1, delta="1e-5")
    with plan.run(rows(40), clip=1) as run:
        for step in run:
            module.train()
            total = deep.clipped_sum(module, CROSS_ENTROPY, *step.batch, clip=run.clip)
            module.eval()
            with pytest.raises(BadValue, match="mixes examples"):
                step.noisy(total)
            assert not module.training


def test_a_net_that_seeds_its_draws_is_refused():
    class Seeding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 2)

        def forward(self, given: Any) -> Any:
            torch.manual_seed(11)
            return self.layer(given * (torch.rand(given.shape) > 0.5))

    with pytest.raises(BadValue, match="seeds PyTorch's generator"):
        trainer(Seeding()).fit(rows(40))


def test_dropout_draws_as_many_words_as_it_has_numbers():
    """One word for all of a call, as other libraries draw by, would be a seed that can be searched."""
    moved = []
    for count in (1, 300):
        torch.manual_seed(1)
        nn.functional.dropout(torch.ones(count), 0.5)
        moved.append(torch.rand(1))
    torch.manual_seed(1)
    torch.rand(300)
    assert not torch.equal(moved[0], moved[1])
