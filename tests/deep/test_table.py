"""Rows of a dataset as codes, nets on them, and trainings that its ledger pays, finds again and replays."""

import os
import signal
import subprocess
import sys
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from deep.folk import HEAD as METADATA
from deep.folk import opened, trainer_of, write
from discreet.bounded import RowLimit
from discreet.dataset import Dataset
from discreet.deep.accounting.stream import stream_plan
from discreet.deep.saved.file import HEAD, load, to_bytes
from discreet.deep.table.cells import cells, cells_of
from discreet.deep.table.identity import code_digest, weights_digest
from discreet.deep.table.net import TableNet, table_net
from discreet.deep.table.recipe import default_rate, noise_length, table_trainer
from discreet.deep.table.rows import bounded_rows, no_rows, rows_of_units
from discreet.deep.table.saved import net_of
from discreet.deep.table.train import training
from discreet.deep.training.state import bytes_of, contents_of
from discreet.errors import BadValue, BudgetExceeded, IntegrityError, NotAnswerable
from discreet.kernel.rows import UnitRows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def people(folder: Path) -> Any:
    with opened(folder) as dataset:
        yield dataset


def spent(people: Dataset) -> Fraction:
    standing = people.budget
    return Fraction(0) if standing is None else standing.spent.epsilon


def held_rows(**columns: Any) -> UnitRows:
    """Rows of three units: two rows, one, and one without a class."""
    arrays = {
        "age": np.array([18.0, 90.0, np.nan, 40.0]),
        "region": np.array([0, 1, -1, 0]),
        "sick": np.array([0, 1, 1, -1]),
    }
    return UnitRows(arrays | columns, np.array([0, 2, 3]), 4)


# --- codes -----------------------------------------------------------------------------------------------------------


def test_every_feature_has_a_code_for_each_cell_and_one_for_empty_ones(people: Dataset) -> None:
    codes = cells(people, "sick", ["age", "region", "seen"], bins=8)
    assert codes.sizes == (9, 3, 9)
    frame = {"age": [18, 90, None, 1000], "region": ["n", "s", "?", None], "seen": [date(2020, 1, 1), None, "x", ""]}
    assert codes.encoded(frame).tolist() == [[0, 0, 0], [7, 1, 8], [8, 2, 8], [7, 2, 8]]


def test_codes_of_a_frame_are_those_of_the_table(people: Dataset, folder: Path) -> None:
    codes = cells(people, "sick", ["age", "region", "seen"])
    view = people.table.view()
    rows = view.rows(codes.subject.columns).compute()
    behind = codes.codes({name: rows.columns[name] for name in codes.features})
    lines = [line.split(",") for line in (folder / "people.csv").read_text().splitlines()[1:]]
    frame = {
        "age": [float(line[1]) if line[1] else None for line in lines],
        "region": [line[2] for line in lines],
        "seen": [date.fromisoformat(line[3]) for line in lines],
    }
    view.close()
    assert sorted(codes.encoded(frame).tolist()) == sorted(behind.tolist())


def test_without_features_all_columns_with_public_facts_are_taken(people: Dataset) -> None:
    assert cells(people, "sick").features == ("age", "region", "seen", "pay")


@pytest.mark.parametrize(
    ("target", "features", "said"),
    [
        ("note", None, "must have public values"),
        ("sick", ["note"], "must have public values"),
        ("sick", ["id"], "unit's key"),
        ("sick", ["agee"], "Did you mean 'age'?"),
        ("sick", [], "must be 1 to"),
    ],
)
def test_columns_without_public_facts_are_refused(people: Dataset, target: str, features: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        cells(people, target, features)


def test_a_number_is_scaled_by_its_bounds_and_back(people: Dataset) -> None:
    codes = cells(people, "pay", ["age"])
    scaled, known = codes.targets(np.array([0.0, 500.0, np.nan, 9999.0]))
    assert (scaled[known].tolist(), known.tolist()) == ([-1.0, 1.0, 1.0], [True, True, False, True])
    assert codes.numbers(torch.tensor([-1.0, 0.0, 3.0])).tolist() == [0.0, 250.0, 500.0]


# --- rows ------------------------------------------------------------------------------------------------------------


def test_rows_without_a_target_are_left_out_and_so_are_persons_without_others(people: Dataset) -> None:
    codes = cells(people, "sick", ["age", "region"], bins=8)
    rows = rows_of_units(held_rows(), codes)
    assert (rows.persons.order.tolist(), rows.persons.starts.tolist()) == ([0, 1, 2], [0, 2, 3])
    inputs, targets = rows.pick(np.array([2, 0]))
    assert (inputs.tolist(), targets.tolist()) == ([[8, 2], [0, 0]], [1, 0])


def test_a_unit_more_changes_no_row_of_another_unit(people: Dataset) -> None:
    codes = cells(people, "sick", ["age", "region"], bins=8)
    longer, shorter = rows_of_units(held_rows(), codes), rows_of_units(held_rows(sick=np.array([0, 1, -1, -1])), codes)
    assert shorter.persons.count == longer.persons.count - 1
    for mine, theirs in zip(shorter.pick(np.array([0, 1])), longer.pick(np.array([0, 1])), strict=True):
        assert torch.equal(mine, theirs)


def test_rows_of_a_table_without_units_are_a_person_each(folder: Path) -> None:
    with opened(folder) as people:
        schema = people.table.schema
        alone = type(schema)(schema.name, schema.columns)
        held = UnitRows(held_rows().columns, np.arange(4), 4)
        rows = rows_of_units(held, cells_of(alone, "sick", ["age", "region"]))
    assert not rows.persons.has_units
    assert (rows.persons.count, rows.persons.order.tolist()) == (3, [0, 1, 2])


def test_rows_for_the_gate_are_limited_and_read_once(people: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = cells_of(people.table.schema, "sick", ["age"], max_rows=2)
    view = people.table.view()
    rows = bounded_rows(view, codes)
    assert rows.sensitivity == RowLimit(2)
    assert rows.compute() is rows.compute()
    view.close()


def test_rows_of_nobody_have_the_shapes_of_the_table(people: Dataset) -> None:
    invented = no_rows(cells(people, "pay", ["age", "region"])).invented_rows(2)
    assert invented is not None
    assert (invented[0].shape, invented[0].dtype, invented[1].shape) == ((2, 2), torch.int64, (2,))


# --- nets ------------------------------------------------------------------------------------------------------------


def test_a_sum_of_embeddings_is_a_linear_layer_on_one_hots(people: Dataset) -> None:
    net = table_net(people, "sick", ["age", "region"], hidden=(5,), bins=8)
    nn.init.normal_(net.layers[1].weight)
    codes = torch.tensor([[3, 1], [8, 2]])
    hot = torch.zeros(2, 12)
    for row, (age, region) in enumerate(codes.tolist()):
        hot[row, age] = hot[row, 9 + region] = 1
    assert torch.allclose(net(codes), net.layers(hot @ net.embedding.weight), atol=1e-6)


def test_nets_of_equal_arguments_begin_alike_and_others_do_not(people: Dataset) -> None:
    first, same, other = (table_net(people, "sick", seed=seed) for seed in (0, 0, 1))
    assert weights_digest(first) == weights_digest(same) != weights_digest(other)


def test_probabilities_and_classes_are_of_the_public_classes(people: Dataset) -> None:
    net = table_net(people, "sick", ["age", "region"], hidden=())
    shares = net.predict_proba({"age": [20, 80], "region": ["n", "?"]})
    assert shares.shape == (2, 2)
    assert np.allclose(shares, 0.5)
    assert net.predict({"age": [20], "region": ["n"]}).tolist() == ["no"]
    with pytest.raises(BadValue, match="must have a column 'region'"):
        net.predict({"age": [20]})


def test_a_predicted_number_lies_within_its_bounds(people: Dataset) -> None:
    net = table_net(people, "pay", ["age"], hidden=())
    nn.init.constant_(net.embedding.weight, 7.0)
    assert net.predict({"age": [20, None]}).tolist() == [500.0, 500.0]
    with pytest.raises(BadValue, match="Call predict"):
        net.predict_proba({"age": [20]})


@pytest.mark.parametrize("hidden", ["32", 32, (0,), (2.5,), [1] * 65])
def test_widths_that_are_none_are_refused(people: Dataset, hidden: Any) -> None:
    with pytest.raises(BadValue, match="hidden"):
        table_net(people, "sick", hidden=hidden)


# --- training --------------------------------------------------------------------------------------------------------


def test_a_training_is_charged_once_and_replayed_for_nothing_with_the_same_bytes(folder: Path) -> None:
    with opened(folder) as people:
        first = trainer_of(people)
        net = people.train(first, target="sick")
        paid = spent(people)
        assert 0 < paid <= 5
    (folder / "people.csv").rename(folder / "gone.csv")
    with opened(folder) as people:
        (folder / "gone.csv").rename(folder / "people.csv")
        second = trainer_of(people)
        assert people.train(second, target="sick") is second.module
        assert spent(people) == paid
    assert to_bytes(net, first.privacy_) == to_bytes(second.module, second.privacy_)


def test_a_training_learns_what_the_features_tell(people: Dataset) -> None:
    net = people.train(trainer_of(people, epsilon=60, steps=60), target="sick")
    shares = net.predict_proba({"age": [20, 88], "region": ["n", "n"]})[:, 1]
    assert shares[0] < 0.4 < 0.6 < shares[1]


def test_a_number_is_learnt_too(people: Dataset) -> None:
    net = people.train(trainer_of(people, "pay", epsilon=60, steps=60), target="pay")
    low, high = net.predict({"age": [20, 88], "region": ["n", "n"]})
    assert 0 <= low < high <= 500


def test_the_promise_covers_the_whole_and_names_the_columns(people: Dataset) -> None:
    trainer = trainer_of(people, max_rows=2)
    people.train(trainer, target="sick")
    privacy = trainer.privacy_
    assert (privacy.unit, privacy.max_rows, privacy.is_charged) == ("id", 2, True)
    assert privacy.covers.startswith("everything from the rows")
    assert [column["name"] for column in privacy.public["table"]["subject"]["features"]] == ["age", "region"]


def test_a_net_of_the_callers_own_gets_codes(people: Dataset) -> None:
    class Own(nn.Module):
        def __init__(self, sizes: tuple[int, ...]) -> None:
            super().__init__()
            self.tables = nn.ModuleList(nn.Embedding(size, 2) for size in sizes)

        def forward(self, codes: Any) -> Any:
            return sum(table(codes[:, place]) for place, table in enumerate(self.tables))

    torch.manual_seed(1)
    trainer = trainer_of(people, net=Own(cells(people, "sick", "age").sizes))
    assert people.train(trainer, target="sick", features="age") is trainer.module
    with pytest.raises(BadValue, match="holds no table net"):
        net_of(to_bytes(trainer.module, trainer.privacy_))


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 6},
        {"max_rows": 2},
        {"at_once": 200},
        {"loss": nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1)},
    ],
    ids=["another price", "more rows", "other micro-batches", "another loss"],
)
def test_another_training_is_another_charge_and_micro_batches_are_none(people: Dataset, change: Any) -> None:
    people.train(trainer_of(people, steps=3), target="sick")
    paid = spent(people)
    people.train(trainer_of(people, steps=3, **change), target="sick")
    assert (spent(people) > paid) is ("at_once" not in change)


def test_parts_of_the_persons_are_charged_side_by_side(people: Dataset) -> None:
    training_part, held_out = people.split(test="0.5")
    training_part.train(trainer_of(people, steps=3), target="sick")
    paid = spent(people)
    held_out.train(trainer_of(people, steps=3), target="sick")
    assert spent(people) == paid
    with pytest.raises(BadValue, match="where is given"):
        held_out.train(trainer_of(people), target="sick", where=None)


def test_a_rehearsal_charges_nothing_and_says_so(folder: Path) -> None:
    with opened(folder, rehearsal=True) as people:
        trainer = trainer_of(people, steps=3)
        people.train(trainer, target="sick")
    assert trainer.privacy_.is_invented
    assert "REHEARSAL" in trainer.card()
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "people.toml"]


def test_a_quote_reads_nothing_and_tells_what_is_charged(people: Dataset) -> None:
    quote = training(people.table, trainer_of(people), target="sick").quote()
    assert quote.fits
    assert people.budget is None
    people.train(trainer_of(people), target="sick")
    assert Fraction(quote.cost["epsilon"] or 0) == spent(people)


def test_a_training_that_does_not_fit_is_refused_before_a_row_is_read(people: Dataset) -> None:
    with pytest.raises(BudgetExceeded):
        people.train(trainer_of(people, epsilon=101), target="sick")
    assert spent(people) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"checkpoint": "net.training"}, "must be None for a dataset"),
        ({"max_rows": 3}, "max_rows must be a whole number between 1 and 2"),
    ],
)
def test_trainers_that_do_not_suit_a_dataset_are_refused(people: Dataset, change: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        people.train(trainer_of(people, **change), target="sick")
    assert people.budget is None


def test_what_is_no_trainer_or_was_trained_already_is_refused(people: Dataset) -> None:
    with pytest.raises(BadValue, match="must be a trainer"):
        people.train(nn.Linear(1, 1), target="sick")
    trainer = trainer_of(people, steps=3)
    people.train(trainer, target="sick")
    with pytest.raises(BadValue, match="trained its net already"):
        people.train(trainer, target="sick")


def test_a_plan_without_samples_is_refused(people: Dataset) -> None:
    trainer = trainer_of(people)
    trainer.plan = stream_plan(rows=300, batch_size=100, epochs=1, epsilon=1, delta="1e-5")  # type: ignore[assignment]
    with pytest.raises(BadValue, match="must be a plan with samples"):
        people.train(trainer, target="sick")


def test_a_net_for_other_columns_is_refused(people: Dataset) -> None:
    with pytest.raises(BadValue, match="made for other columns"):
        people.train(trainer_of(people), target="sick", features=["age"])


def test_replace_one_is_refused_with_a_reason(folder: Path) -> None:
    write(folder, head=METADATA.replace('source = "people.csv"', 'source = "people.csv"\nneighbours = "replace-one"'))
    with opened(folder) as people, pytest.raises(NotAnswerable, match="replace-one"):
        people.train(trainer_of(people), target="sick")


def test_a_trained_net_is_read_back_from_its_file(people: Dataset, folder: Path) -> None:
    trainer = trainer_of(people, steps=3)
    net = people.train(trainer, target="sick")
    stored = to_bytes(net, trainer.privacy_)
    copy = net_of(stored)
    frame = {"age": [20, 50, None], "region": ["n", "s", None]}
    assert np.array_equal(copy.predict_proba(frame), net.predict_proba(frame))
    assert copy.privacy_ == trainer.privacy_
    assert isinstance(load(trainer.save(folder / "net.dp")), TableNet)
    with pytest.raises(IntegrityError):
        net_of(stored[:-1] + b"?")


@pytest.mark.parametrize(
    ("place", "forged"),
    [
        (("table", "hidden"), [10**9]),
        (("table", "hidden"), [True]),
        (("table", "hidden"), 4),
        (("table", "bins"), 10**9),
        (("table", "bins"), 9),
        (("table", "subject"), {}),
        (("table", "subject", "target", "column"), "age"),
        (("table", "schema"), []),
        (("table",), "x"),
        ((), 3),
    ],
    ids=str,
)
def test_a_forged_description_is_refused_before_a_net_is_built(people: Dataset, place: Any, forged: Any) -> None:
    trainer = trainer_of(people, steps=1)
    facts, tensors = contents_of(to_bytes(people.train(trainer, target="sick"), trainer.privacy_), HEAD)
    holder, names = facts["privacy"], ("public", *place)
    for name in names[:-1]:
        holder = holder[name]
    holder[names[-1]] = forged
    with pytest.raises(IntegrityError):
        net_of(bytes_of(facts, tensors, HEAD))


def test_a_net_is_scored_on_held_out_persons_and_knows_whom_it_was_trained_on(people: Dataset) -> None:
    training_part, held_out = people.split(test="0.4")
    net = training_part.train(trainer_of(people, epsilon=40, steps=60), target="sick")
    score = held_out.score(net, metric="auc", epsilon=20)
    assert 0.6 < score.low <= score.value <= 1
    assert "The model was not trained on these units." in score.caveats
    paid = spent(people)
    assert held_out.score(net_of(to_bytes(net, net.privacy_)), metric="auc", epsilon=20).receipt == score.receipt
    assert spent(people) == paid
    rates = held_out.fairness(net, by="region", epsilon=20)
    assert "a net for sick" in str(rates)
    assert "maybe on these" in " ".join(people.score(net, metric="accuracy", epsilon=1).caveats)


def test_a_net_with_other_weights_is_not_taken_for_the_one_in_the_ledger(people: Dataset) -> None:
    net = people.train(trainer_of(people, steps=3), target="sick")
    assert net.predictor().is_stored(people.table.ledger)
    other = people.quote_score(net, metric="accuracy", epsilon=1)
    assert other.fits
    with torch.no_grad():
        net.layers[1].bias += 1
    assert not net.predictor().is_stored(people.table.ledger)
    with pytest.raises(BadValue, match="must be a net that was trained"):
        people.quote_score(table_net(people, "sick"), metric="accuracy", epsilon=1)


def test_a_net_of_a_number_is_scored_by_r2(people: Dataset) -> None:
    net = people.train(trainer_of(people, "pay", epsilon=40, steps=60), target="pay")
    score = people.score(net, metric="r2", epsilon=20)
    assert score.value is None or score.value <= 1


# --- what is the same training --------------------------------------------------------------------------------------


class Doubled(nn.Linear):
    """A layer whose forward is the caller's."""

    def forward(self, inputs: Any) -> Any:
        """Twice the line."""
        return 2 * super().forward(inputs)


def test_code_of_layers_and_loss_tells_trainings_apart_but_not_their_docstrings() -> None:
    def loss(outputs: Any, targets: Any) -> Any:
        return outputs - targets

    def commented(outputs: Any, targets: Any) -> Any:
        """The difference."""
        return outputs - targets

    def another(outputs: Any, targets: Any) -> Any:
        return outputs + targets

    plain = nn.Linear(2, 2)
    assert code_digest(plain, loss) == code_digest(plain, commented)
    digests = {code_digest(net, function) for net in (plain, Doubled(2, 2)) for function in (loss, another)}
    assert len(digests) == 4


def test_plain_numbers_that_a_loss_holds_tell_trainings_apart() -> None:
    def weighted(weight: float) -> Any:
        return lambda outputs, targets: weight * (outputs - targets)

    net = nn.Linear(2, 2)
    assert code_digest(net, weighted(1.0)) != code_digest(net, weighted(2.0))
    assert code_digest(net, nn.CrossEntropyLoss()) != code_digest(net, nn.CrossEntropyLoss(label_smoothing=0.1))
    weights = nn.CrossEntropyLoss(weight=torch.ones(2)), nn.CrossEntropyLoss(weight=torch.zeros(2))
    assert len({code_digest(net, loss) for loss in weights}) == 2


# --- the recipe ------------------------------------------------------------------------------------------------------


def test_the_rate_of_the_recipe_falls_with_the_noise(people: Dataset) -> None:
    net = table_net(people, "sick")
    trainers = [table_trainer(net, trainer_of(people, epsilon=epsilon).plan) for epsilon in (50, 1, "0.1")]
    lengths = [noise_length(net, trainer.plan) for trainer in trainers]
    rates = [trainer.optimizer.param_groups[0]["lr"] for trainer in trainers]
    assert lengths == sorted(lengths)
    assert rates == sorted(rates, reverse=True)
    assert (default_rate(0.001), default_rate(1000.0)) == (1.0, 0.02)


# --- killed ----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from deep.folk import opened, trainer_of
from discreet.deep.training.block import Block
calls = Block.__call__
def dying(self, rows, source):
    if self.first >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return calls(self, rows, source)
Block.__call__ = dying
people = opened(Path(sys.argv[2]))
people.train(trainer_of(people), target="sick")
"""


def test_a_killed_training_is_found_again_and_costs_nothing_more(folder: Path) -> None:
    write(folder)
    tests = str(Path(__file__).parents[1])
    for first in (0, 9):
        arguments = [sys.executable, "-c", KILLED, tests, str(folder), str(first)]
        gone = subprocess.run(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, check=False)
        assert gone.returncode == -signal.SIGKILL, gone.stderr
    with opened(folder) as people:
        paid = spent(people)
        assert paid > 0
        net = people.train(trainer_of(people), target="sick")
        assert spent(people) == paid
    assert isinstance(net, TableNet)


def test_a_score_of_other_code_is_another_training(people: Dataset) -> None:
    def digest(score: Any) -> str:
        net = table_net(people, "sick", ["age", "region"], hidden=())
        return code_digest(net, nn.CrossEntropyLoss(reduction="none"), score)

    first, same, other = digest(lambda o, t: t * 0.5), digest(lambda o, t: t * 0.5), digest(lambda o, t: t * 0.25)
    assert first == same != other
