"""`check` lets nets through whose gradients can be clipped person by person, and refuses those that mix examples."""

import argparse
import array
import contextlib
import copy
import io
import sys
import types
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations
from torch.utils import checkpoint

from discreet import errors
from discreet.deep.modules.check import check, require_clippable
from discreet.deep.modules.invented import leaves
from discreet.deep.modules.remembered import Memory
from discreet.deep.modules.replaced import replaced
from discreet.deep.modules.rowwise import require_own_rows

X = torch.zeros(2, 6)
IDS = torch.zeros(2, 5, dtype=torch.long)
LABELS = torch.zeros(2, dtype=torch.long)
CROSS = nn.CrossEntropyLoss(reduction="none")


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


class Net(nn.Module):
    """Two linear layers around a step that a test chooses."""

    def __init__(self, step=None, after=None):
        super().__init__()
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 3)
        self.step, self.after = step or torch.relu, after or (lambda x: x)

    def forward(self, x):
        return self.after(self.last(self.step(self.first(x))))


def refusal(module, example=X, loss=CROSS, targets=LABELS):
    """The message of the refusal."""
    with pytest.raises(errors.BadValue) as caught:
        check(module, example, loss, targets)
    assert caught.value.what
    assert caught.value.why
    assert caught.value.fix
    return str(caught.value)


# --- what passes -----------------------------------------------------------------------------------------------------


class Lora(nn.Module):
    """A frozen layer with a trained product of two small matrices beside it, whose second is zero at first."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, 6).requires_grad_(False)
        self.down, self.up = nn.Linear(6, 2, bias=False), nn.Linear(2, 6, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Scaled(nn.Module):
    """A layer with a raw parameter of its own and a layer inside."""

    def __init__(self):
        super().__init__()
        self.scale, self.inside = nn.Parameter(torch.ones(6)), nn.Linear(6, 6)

    def forward(self, x):
        return self.inside(x * self.scale).tanh() * self.scale


class Tied(nn.Module):
    """An embedding whose weight also gives the scores."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(4, 6), nn.Linear(6, 4, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        return self.head(self.table(ids).mean(1))


class Positions(nn.Module):
    """Ids and their positions, the positions once for each example."""

    def __init__(self):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(4, 6), nn.Embedding(5, 6), nn.Linear(6, 3)

    def forward(self, ids, mask):
        places = torch.arange(ids.shape[1]).expand(len(ids), -1)
        hidden = self.table(ids) + self.places(places)
        return self.head((hidden * ~mask[..., None]).sum(1) / (~mask).sum(1, keepdim=True).clamp(min=1))


def cnn():
    layers = [nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout2d(0.3)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(36, 3))


PASSING = {
    "layers": (lambda: Net(), X),
    "dropout": (lambda: Net(nn.Dropout(0.5)), X),
    "noise of the net's own": (lambda: Net(lambda x: x + torch.randn_like(x)), X),
    "layers called twice": (lambda: nn.Sequential(*[nn.Linear(6, 6)] * 2, nn.Linear(6, 3)), X),
    "in place": (lambda: Net(nn.ReLU(inplace=True)), X),
    "sorted inside an example": (lambda: Net(lambda x: x.sort(1).values), X),
    "added up inside an example": (lambda: Net(lambda x: x.cumsum(1) - x.mean(1, keepdim=True)), X),
    "raw parameters": (lambda: nn.Sequential(Scaled(), nn.Linear(6, 3)), X),
    "nested raw parameters with dropout": (lambda: nn.Sequential(Scaled(), nn.Dropout(0.4), Lora(), Net()), X),
    "LoRA": (lambda: nn.Sequential(Lora(), nn.Linear(6, 3)), X),
    "tied weights": (Tied, IDS),
    "positions and a mask": (Positions, (IDS, torch.zeros(2, 5, dtype=torch.bool))),
    "pictures": (cnn, torch.zeros(1, 1, 8, 8)),
    "bytes": (lambda: nn.Sequential(nn.Embedding(256, 3), nn.Flatten(), nn.Linear(15, 3)), IDS.to(torch.uint8).int()),
    "batch norm in eval": (lambda: nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)).eval(), X),
    "frozen recurrence": (lambda: Pooled(nn.GRU(6, 6, batch_first=True).requires_grad_(False)), torch.zeros(1, 4, 6)),
    "a transposed convolution": (lambda: Flat(nn.ConvTranspose1d(2, 3, 2)), torch.zeros(1, 2, 4)),
    "a bilinear layer": (lambda: Pair(nn.Bilinear(6, 6, 3)), X),
    "unused weights": (lambda: Unused(), X),
    "an id among the numbers": (lambda: Column(), X),
    "a learnt slope": (lambda: Net(nn.PReLU()), X),
    "recomputed": (lambda: Checkpointed(False), X),
    "in place on what it is given": (lambda: Overwriting(), X),
    "halves": (lambda: Net().bfloat16(), X.bfloat16()),
    "doubles": (lambda: Net().double(), X.double()),
}


class Checkpointed(Net):
    """A net that computes its last layer again in the backward pass."""

    def __init__(self, use_reentrant):
        super().__init__()
        self.use_reentrant = use_reentrant

    def forward(self, x):
        return checkpoint.checkpoint(self.last, self.first(x).relu(), use_reentrant=self.use_reentrant)


class Scored(Net):
    """A net with a loss of its own."""

    def loss(self, outputs, targets):
        return CROSS(outputs, targets) + outputs.square().mean(1)


class Pooled(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.inside, self.head = inside, nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.inside(x)[0][:, -1])


class Flat(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def forward(self, x):
        return self.inside(x).mean(2)


class Pair(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def forward(self, x):
        return self.inside(x, x.sin())


class Overwriting(Net):
    def forward(self, x):
        return super().forward(x.mul_(2))


class Unused(Net):
    def __init__(self):
        super().__init__()
        self.spare = nn.Linear(3, 3)


class Column(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(3, 4), nn.Linear(9, 3)

    def forward(self, x):
        return self.head(torch.cat([self.table(x[:, 0].long()), x[:, 1:]], 1))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", PASSING)
def test_nets_of_clippable_layers_pass(name):
    build, example = PASSING[name]
    report = check(build(), example, CROSS, LABELS)
    assert report.trained > 0


def test_losses_of_single_examples_pass():
    out = torch.zeros(2, 3)
    check(Net(), X)
    check(Net(), X, lambda y, t: functional.mse_loss(y, t, reduction="none").mean(1), out)
    check(Net(after=torch.sigmoid), X, lambda y, t: functional.binary_cross_entropy(y, t, reduction="none").sum(1), out)
    check(Net(), {"x": X}, lambda y, t: y.square().sum(1))
    net = Scored()
    check(net, X, net.loss, LABELS)
    net = Net()
    check(Net(), [X], lambda y, t: CROSS(y, t["label"]) * t["weight"], {"label": LABELS, "weight": torch.ones(2)})


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_what_replaced_gives_passes():
    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 4)
            self.mix = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6), 1)
            self.step, self.norm = nn.LSTM(4, 3, bidirectional=True), nn.BatchNorm1d(6)
            self.head = nn.Linear(6, 3)

        def forward(self, ids, padding):
            hidden = self.mix(self.table(ids).transpose(0, 1), src_key_padding_mask=padding)
            return self.head(self.norm(self.step(hidden)[0][-1]))

    batch = (IDS, torch.zeros(2, 5, dtype=torch.bool))
    assert "dp.deep.replaced(module)" in refusal(Text(), batch)
    report = check(replaced(Text()), batch, CROSS, LABELS)
    assert "norm from pairs of equal ids" in str(report)


def test_the_report_says_how_each_layer_is_clipped():
    text = str(check(nn.Sequential(Lora(), Scaled(), nn.Linear(6, 3)).eval(), X, CROSS, LABELS))
    assert "in eval mode" in text
    lines = {line.split()[0]: line for line in text.splitlines()[1:-1]}
    assert "frozen" in lines["0.base"]
    assert "lengths of input and gradient" in lines["0.up"]
    assert "torch.func" in lines["1"]
    tied = str(check(Tied(), IDS, CROSS, LABELS))
    assert "shares table.weight" in tied
    assert "24 trained numbers" in tied
    assert "pairs of equal ids" in tied
    assert "unused" in str(check(Unused(), X))


# --- what mixes examples ---------------------------------------------------------------------------------------------


def split_by_sign(x):
    """Positive rows doubled, through lists of rows."""
    rows = [row * 2 if row.sum() > 0 else row for row in x if row.abs().max() < 1e9]
    return torch.stack(rows) if rows else x[:0]


def shortened(x):
    """All rows halved until the largest number is below one."""
    while x.abs().max() > 1 and x.abs().max() < 1e6:
        x = x / 2
    return x


class Backward(torch.autograd.Function):
    """Nothing in forward; in backward every example gets the mean gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.mean(0, keepdim=True).expand_as(gradient)


MIXING = {
    "centred": lambda x: x - x.mean(0),
    "divided by the batch's largest": lambda x: x / x.abs().max().clamp(min=1e-3),
    "ordered by value": lambda x: x[x[:, 0].argsort()],
    "ordered and back": lambda x: x[x[:, 0].argsort()] + x,
    "added up along the batch": lambda x: x.cumsum(0),
    "best of the batch": lambda x: x * (x[:, :1] >= x[:, 0].topk(2).values[-1]),
    "rolled": lambda x: x.roll(1, 0),
    "turned around": lambda x: x.flip(0),
    "against the first": lambda x: x - x[:1],
    "against the last": lambda x: x - 1e-6 * x[-1:],
    "the median": lambda x: x - x.median(0).values,
    "outliers cut": lambda x: torch.where((x - x.median(0).values).abs() > 100, 0, x),
    "a vote": lambda x: x * (x.sum() > 0),
    "a vote on all": lambda x: x if bool((x > -100).all()) else -x,
    "any that is no number": lambda x: torch.zeros_like(x) if bool(x.isnan().any()) else x,
    "any that is infinite": lambda x: torch.zeros_like(x) if bool(x.isinf().any()) else x,
    "duplicates": lambda x: x * (len(x.unique(dim=0)) / 10),
    "the number of examples": lambda x: x / len(x),
    "one more than three": lambda x: x if len(x) < 16 else 2 * x,
    "the place in the batch": lambda x: x + torch.arange(len(x))[:, None],
    "attention between examples": lambda x: (x @ x.T).softmax(1) @ x,
    "statistics in eval": lambda x: functional.batch_norm(x, None, None, training=True),
    "a very small share": lambda x: x + 1e-7 * x.mean(0),
    "mixed by every second draw": lambda x: x if float(torch.rand(())) < 0.5 else 0.5 * x + 0.5 * x.roll(1, 0),
    "gradient alone": lambda x: x + (x.mean() - x.mean().detach()),
    "gradient of its own": Backward.apply,
    "halved together": shortened,
    "folded": lambda x: x.reshape(-1, 2, 6).flip(1).reshape(-1, 6) if len(x) % 2 == 0 else x,
    "shuffled": lambda x: 0.5 * x + 0.5 * x[torch.randperm(len(x))],
    "one draw for all, by values": lambda x: x * torch.rand(int(x.sum().nan_to_num().clamp(-9, 9)) + 10)[-1],
}


@pytest.mark.parametrize("name", MIXING)
def test_steps_that_mix_examples_are_refused(name):
    assert "mixes examples" in refusal(Net(MIXING[name]))


@pytest.mark.parametrize("name", ["centred", "ordered by value", "a vote", "gradient alone"])
def test_steps_that_mix_examples_are_refused_after_the_last_layer_and_in_eval(name):
    assert "mixes examples" in refusal(Net(after=MIXING[name]).eval())
    assert refusal(Net(after=MIXING[name]), loss=None, targets=None)


@pytest.mark.parametrize(
    "step",
    [
        lambda x: x[x[:, 0] > 0],
        split_by_sign,
        lambda x: x.unique(dim=0),
        lambda x: x.T @ x,
        lambda x: x.mean(0, keepdim=True),
        lambda x: x.sum(),
    ],
)
def test_steps_that_select_or_lose_examples_are_refused(step):
    assert refusal(Net(step))


def test_mixing_that_integers_decide_is_refused():
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(4, 6), nn.Linear(6, 3)

        def forward(self, ids):
            often = (ids.flatten()[:, None] == ids.flatten()[None]).sum(1).view(ids.shape)
            return self.head((self.table(ids) / often[..., None]).sum(1))

    assert "mixes examples" in refusal(Counted(), IDS)


def test_zero_weights_hide_no_mixing():
    net = Net(MIXING["centred"])
    nn.init.zeros_(net.last.weight)
    nn.init.zeros_(net.first.weight)
    assert "mixes examples" in refusal(net)


def test_weights_of_the_net_itself_are_tried_too():
    class Gated(Net):
        def forward(self, x):
            hidden = self.first(x)
            return self.last(hidden - hidden.mean(0) if float(self.last.bias.detach().sum()) == 0 else hidden)

    net = Gated()
    nn.init.zeros_(net.last.bias)
    assert "mixes examples" in refusal(net)


def test_losses_that_mix_examples_are_refused():
    assert "mixes examples" in refusal(Net(), loss=lambda y, t: CROSS(y, t) / len(y))
    assert "mixes examples" in refusal(Net(), loss=lambda y, t: CROSS(y, t) - CROSS(y, t).mean())
    assert "mixes examples" in refusal(Net(), loss=lambda y, t: CROSS(y, t) * (t == t.mode().values))
    assert "one number for each example" in refusal(Net(), loss=nn.CrossEntropyLoss())
    assert "one number for each example" in refusal(Net(), loss=lambda y, t: CROSS(y, t).sum())
    assert "one number for each example" in refusal(Net(), loss=lambda y, t: CROSS(y, t)[:, None])
    assert "one number for each example" in refusal(Net(), loss=lambda y, t: CROSS(y, t)[:-1])
    assert "one number for each example" in refusal(Net(), loss=lambda y, t: 0.0)
    assert "does not depend" in refusal(Net(), loss=lambda y, t: CROSS(y, t).detach())
    contrastive = lambda y, t: functional.cross_entropy(y @ y.T, torch.arange(len(y)), reduction="none")  # noqa: E731
    assert "mixes examples" in refusal(Net(), loss=contrastive)


@pytest.mark.parametrize(
    "is_seen",
    [
        lambda x: x.isposinf().all(1).any(),
        lambda x: x.isneginf().all(1).any(),
        lambda x: (x.isposinf().sum(1) == 1).any(),
        lambda x: not (x.isneginf().all(1) | x.isfinite().all(1)).all() and not x.isnan().any(),
    ],
)
def test_nets_whose_rows_change_where_another_is_infinite_are_refused(is_seen):
    class Gated(Net):
        def forward(self, x):
            return super().forward(0 * x.nan_to_num(0, 0, 0) if is_seen(x) else x)

    assert "mixes examples" in refusal(Gated())


@pytest.mark.parametrize("like", [(X, LABELS), (X, X[:, 0]), ((X, IDS), {"class": LABELS, "weight": X[:, 0].double()})])
def test_functions_of_rows_together_are_refused_and_those_of_each_row_pass(like):
    def leaf(batch):
        return next(leaves(batch))

    def share(inputs, targets):
        return (leaf(inputs).mean(1) > leaf(targets)).double().numpy()

    require_own_rows("score", share, *like)
    far = [lambda x, t: t.max() > 50, lambda x, t: x.max() > 1e20, lambda x, t: x.isinf().any()]
    far += [lambda x, t: (t < 0).any(), lambda x, t: x[0, 0] > 0.5, lambda x, t: len(t) > 1]
    for is_seen in far:

        def together(inputs, targets, is_seen=is_seen):
            value = float(is_seen(leaf(inputs), leaf(targets)))
            return np.full(len(leaf(targets)), value)

        with pytest.raises(errors.BadValue, match="depends on that row alone"):
            require_own_rows("score", together, *like)


def test_functions_that_raise_on_extreme_rows_pass_and_those_that_write_into_rows_are_tried_on_copies():
    def own(inputs, targets):
        if not bool(inputs.isfinite().all()):
            raise ZeroDivisionError
        return inputs.mul_(2)[:, 0].double().numpy()

    require_own_rows("score", own, X, LABELS)


# --- what remembers --------------------------------------------------------------------------------------------------


class Counting(Net):
    """A net that remembers what it saw, in a place that a test chooses."""

    seen: list = []  # noqa: RUF012
    largest = 0.0

    def __init__(self, where):
        super().__init__()
        self.where, self.calls, self.rows, self.sums = where, 0, [], {}
        self.space, self.options = types.SimpleNamespace(last=None), argparse.Namespace()
        self.bytes, self.numbers, self.file = bytearray(8), array.array("d"), io.StringIO()
        self.generator, self.named = torch.Generator(), Named()
        self.register_buffer("last_mean", torch.zeros(6), persistent=False)

    def forward(self, x):
        match self.where:
            case "buffer":
                self.last_mean.copy_(x.detach().mean(0))
            case "new buffer":
                self.last_mean = x.detach().mean(0)
            case "number":
                self.calls += 1
            case "list":
                self.rows.append(x.detach())
            case "dict":
                self.sums["sum"] = float(x.detach().sum())
            case "class":
                type(self).largest = max(type(self).largest, float(x.detach().abs().max()))
            case "class list":
                self.seen.append(len(x))
            case "global":
                GLOBAL.append(x.detach())
            case "weight":
                self.first.weight.data.mul_(0.9)
            case "gradient flag":
                self.first.weight.requires_grad_(not self.first.weight.requires_grad)
            case "mode":
                self.train(not self.training)
            case "default":
                remember(x)
            case "namespace":
                self.space.last = x.detach()
            case "options":
                self.options.last = float(x.detach().sum())
            case "bytes":
                self.bytes[:] = x.detach().numpy().tobytes()
            case "numbers":
                self.numbers.append(float(x.detach().sum()))
            case "view":
                VIEW[:8] = np.float64(x.detach().sum()).tobytes()
            case "file in memory":
                self.file.write(str(x.detach().sum()))
            case "generator":
                self.generator.manual_seed(int(1e6 * x.detach().sum().nan_to_num(0, 0, 0)) % 2**31)
            case "module":
                helpers.log.append(x.detach())
            case "module's number":
                helpers.inner.last = float(x.detach().sum())
            case "module's function":
                helpers.remember(x)
            case "imported module":
                import helpers_of_a_test as own_helpers

                own_helpers.log.append(x.detach())
            case "weight's attribute":
                self.first.weight.last = x.detach()
            case "list's attribute":
                self.named.last = float(x.detach().sum())
            case "other object":
                self.rows = Holder()
                self.rows.value = float(x.detach().sum())
        return super().forward(x)


class Holder:
    value = 0.0


class Named(list):
    """A list with attributes."""


VIEW = memoryview(bytearray(16))
helpers, helpers.inner = types.ModuleType("helpers_of_a_test"), types.ModuleType("helpers_of_a_test.inner")
helpers.log, helpers.inner.last, helpers.remember = [], 0.0, lambda x: remember(x)


GLOBAL: list = []


def remember(x, into=[]):  # noqa: B006
    into.append(float(x.detach().sum()))


@pytest.mark.parametrize(
    "where",
    [
        *("buffer", "new buffer", "number", "list", "dict", "class", "class list", "global", "weight"),
        *("gradient flag", "mode", "default", "other object", "namespace", "options", "bytes", "numbers", "view"),
        *("file in memory", "generator", "module", "module's number", "module's function", "imported module"),
        *("weight's attribute", "list's attribute"),
    ],
)
def test_nets_that_write_while_they_compute_are_refused(where, monkeypatch):
    monkeypatch.setitem(sys.modules, "helpers_of_a_test", helpers)
    net = Counting(where)
    before = copy.deepcopy(net.state_dict())
    assert "writes to a buffer or an attribute" in refusal(net)
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])


def test_state_in_closures_losses_and_toggles_is_refused():
    kept, calls = [], [0]

    def keeping(x):
        kept.append(x)
        return x

    def alternating(x):
        calls[0] += 1
        return x if calls[0] % 2 else 2 * x

    def iterated(x):
        return x * next(source)

    source = iter(float(number) for number in range(1, 10**6))
    assert "writes" in refusal(Net(keeping))
    assert "writes" in refusal(Net(alternating))
    assert "when it is called again" in refusal(Net(iterated))
    assert "writes" in refusal(Net(), loss=lambda y, t: CROSS(keeping(y), t))


def test_caches_that_were_filled_on_invented_examples_pass():
    class Cached(Net):
        mask = None

        def forward(self, x):
            if self.mask is None:
                self.mask = torch.ones(x.shape[1])
            return super().forward(x * self.mask)

    net = Cached()
    assert "writes" in refusal(net)
    net(torch.zeros(1, 6))
    check(net, X, CROSS, LABELS)


def test_a_digest_follows_what_objects_hold():
    class Slots:
        __slots__ = ("part",)

    holder = Slots()
    holder.part = {"a": [torch.zeros(2)]}
    before = Memory(holder, min).digest
    assert Memory(holder, min).digest == before
    holder.part["a"][0][1] = 1
    assert Memory(holder, min).digest != before


def test_a_digest_ends_and_looks_only_at_what_code_names_in_modules_of_the_user():
    def reader():
        return helpers.log, np.pi

    helpers.other = [0]
    before = Memory(reader).digest
    helpers.other.append(1)
    assert Memory(reader).digest == before
    helpers.log.append(1)
    assert Memory(reader).digest != before
    helpers.log.append(helpers.log)
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    assert Memory(reader, deep, helpers).digest == Memory(reader, deep, helpers).digest
    released, closed = memoryview(b"1"), io.BytesIO()
    released.release()
    closed.close()
    assert Memory(released, closed).digest == Memory(released, closed).digest


# --- weights that no layer's call shows ------------------------------------------------------------------------------


class Reaching(nn.Module):
    """A net that uses the weight of a layer without calling it."""

    def __init__(self, how):
        super().__init__()
        self.how, self.first, self.last = how, nn.Linear(6, 6), nn.Linear(6, 3)
        self.listed = nn.ParameterList([torch.ones(6)])

    def forward(self, x):
        if self.how == "functional":
            return self.last(functional.linear(x, self.first.weight, self.first.bias))
        if self.how == "forward":
            return self.last(self.first.forward(x))
        if self.how == "also":
            return self.last(self.first(x) + x @ self.first.weight)
        if self.how == "list":
            return self.last(self.first(x) * self.listed[0])
        if self.how == "replaced forward":
            self.first.forward = lambda x: functional.linear(x, self.first.weight**2)
            return self.last(self.first(x))
        if self.how == "given":
            hidden = self.first(x)
            x.relu_()
            return self.last(hidden)
        hidden = self.first(x)
        kept = self.last(hidden)
        hidden.mul_(2.0)
        return kept


@pytest.mark.parametrize("how", ["functional", "forward", "also", "overwritten", "given", "list", "replaced forward"])
def test_weights_used_past_their_layer_are_refused_by_name(how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        message = refusal(Reaching(how))
    assert "cannot be clipped" in message or "fails on invented" in message or "writes" in message


def test_reentrant_checkpoints_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "use_reentrant" in refusal(Checkpointed(True))


def test_weights_of_modules_that_draw_at_random_are_refused_where_clipping_draws_anew():
    class Dropping(Scaled):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(super().forward(x))

    assert "with other draws" in refusal(nn.Sequential(Dropping(), nn.Linear(6, 3)))
    check(nn.Sequential(Dropping().eval(), nn.Linear(6, 3)), X, CROSS, LABELS)


def test_penalties_on_weights_in_a_loss_are_refused():
    net = Net()
    assert "uses weights of the net" in refusal(net, loss=lambda y, t: CROSS(y, t) + net.first.weight.square().sum())


def test_positions_shared_by_all_examples_are_refused_with_their_layer():
    class Shared(Positions):
        def forward(self, ids, mask):
            return self.head((self.table(ids) + self.places(torch.arange(ids.shape[1]))).mean(1))

    for length in (5, 4):
        message = refusal(Shared(), (IDS[:, :length], torch.zeros(2, length, dtype=torch.bool)))
        assert "places (Embedding)" in message


def test_folded_and_transposed_examples_are_refused():
    class Folded(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

        def forward(self, x):
            hidden = self.inside(x.flatten(0, 1)).view(x.shape)
            return self.head(hidden.mean(1))

    class Transposed(Folded):
        def forward(self, x):
            return self.head(self.inside(x.transpose(0, 1)).mean(0))

    for length in (4, 5):
        assert "inside (Linear)" in refusal(Folded(), torch.zeros(1, length, 6))
        assert refusal(Transposed(), torch.zeros(1, length, 6))


def test_layers_that_are_given_lists_are_refused():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, parts):
            return parts[0] * self.scale + parts[1]

    assert "is given a list" in refusal(nn.Sequential(nn.Linear(6, 3), Splitting(Listed())))


class Splitting(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def forward(self, x):
        return self.inside([x, x])


# --- layers refused for what they are --------------------------------------------------------------------------------


def hooked(kind):
    net = Net()
    match kind:
        case "forward":
            net.first.register_forward_hook(lambda *_: None)
        case "before":
            net.first.register_forward_pre_hook(lambda *_: None)
        case "backward":
            net.first.register_full_backward_hook(lambda *_: None)
        case "weight":
            net.first.weight.register_hook(lambda gradient: gradient * 2)
        case "gathered":
            net.first.weight.register_post_accumulate_grad_hook(lambda _: None)
    return net


@pytest.mark.parametrize("kind", ["forward", "before", "backward", "weight", "gathered"])
def test_hooks_are_refused(kind):
    assert "hooks" in refusal(hooked(kind))


def test_global_hooks_are_refused():
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    with contextlib.closing(contextlib.ExitStack()) as stack:
        stack.callback(handle.remove)
        assert "all modules of PyTorch" in refusal(Net())


REPLACEABLE = {
    "batch norm": (lambda: nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)), X),
    "batch norm without statistics": (lambda: Net(nn.BatchNorm1d(6, track_running_stats=False).eval()).eval(), X),
    "frozen batch norm": (lambda: Net(nn.BatchNorm1d(6).requires_grad_(False)), X),
    "recurrence": (lambda: Pooled(nn.GRU(6, 6, batch_first=True)), torch.zeros(1, 4, 6)),
    "max_norm": (lambda: Text(max_norm=1.0), IDS),
    "scale_grad_by_freq": (lambda: Text(scale_grad_by_freq=True), IDS),
    "sparse": (lambda: Text(sparse=True), IDS),
    "weight norm": (lambda: Net(parametrizations.weight_norm(nn.Linear(6, 6))), X),
    "spectral norm": (lambda: Net(parametrizations.spectral_norm(nn.Linear(6, 6))), X),
}


class Text(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.table, self.head = nn.Embedding(4, 6, **options), nn.Linear(6, 3)

    def forward(self, ids):
        return self.head(self.table(ids).mean(1))


@pytest.mark.parametrize("name", REPLACEABLE)
def test_layers_with_a_replacement_are_refused_with_its_name_and_pass_replaced(name):
    build, example = REPLACEABLE[name]
    net = build()
    assert "dp.deep.replaced(module)" in refusal(net, example)
    check(replaced(net), example, CROSS, LABELS)


def test_a_scale_of_statistics_written_in_training_is_refused():
    net = nn.Sequential(nn.InstanceNorm1d(2, track_running_stats=True), nn.Flatten(), nn.Linear(6, 3))
    assert "dp.deep.replaced(module)" in refusal(net, torch.zeros(1, 2, 3))
    check(replaced(net), torch.zeros(1, 2, 3), CROSS, LABELS)


def test_subclasses_of_layers_that_can_be_replaced_are_sent_to_pytorchs_own():
    class Own(nn.BatchNorm1d):
        pass

    assert "Use PyTorch's own layers" in refusal(Net(Own(6)))
    assert "Use PyTorch's own layers" in refusal(nn.Sequential(nn.EmbeddingBag(4, 6, sparse=True)), IDS)


def test_wrapped_unfinished_and_strange_nets_are_refused():
    assert "Give the net that is inside it" in refusal(nn.DataParallel(Net()))
    assert "no shape yet" in refusal(nn.Sequential(nn.Linear(6, 6), nn.LazyLinear(3)))
    assert "no values yet" in refusal(Net().to("meta"))
    assert "Complex" in refusal(nn.Sequential(nn.Linear(6, 6, dtype=torch.complex64)), X.to(torch.complex64))
    assert "trainable parameters" in refusal(Net().requires_grad_(False))
    net = Net()
    net.source = iter(range(3)).__iter__
    net.lock = (part for part in [])
    assert "cannot be copied" in refusal(net)


def test_what_is_no_net_or_batch_is_refused():
    for module, example in ((len, X), (Net(), "x"), (Net(), []), (Net(), torch.tensor(1.0)), (Net(), (X, 1))):
        with pytest.raises(errors.BadValue):
            check(module, example, CROSS, LABELS)
    assert "fails on invented examples" in refusal(Net(), torch.zeros(2, 5))
    assert "batch of one example" in refusal(Net(after=torch.squeeze), loss=lambda y, t: CROSS(y, t))
    assert "not finite" in refusal(Net(lambda x: x / 0))
    assert "zero or not finite" in refusal(Net(after=lambda x: x * 0))
    assert "does not have one example" in refusal(Net(after=lambda y: y.T), loss=None, targets=None)


# --- what stays as it was --------------------------------------------------------------------------------------------


def test_the_net_its_gradients_and_the_generator_stay_as_they_were():
    net = nn.Sequential(Scaled(), nn.Dropout(0.5), nn.Linear(6, 3))
    net(torch.randn(2, 6)).sum().backward()
    before = Memory(net).digest
    torch.manual_seed(5)
    state = torch.get_rng_state()
    check(net, X, CROSS, LABELS)
    with torch.no_grad():
        require_clippable(net, CROSS, X, LABELS)
    assert torch.equal(state, torch.get_rng_state())
    assert Memory(net).digest == before
    mixing = Net(MIXING["centred"])
    before, state = Memory(mixing).digest, torch.get_rng_state()
    refusal(mixing)
    assert torch.equal(state, torch.get_rng_state())
    assert Memory(mixing).digest == before


def test_reports_and_refusals_do_not_depend_on_the_examples_or_their_number():
    for build in (Net, lambda: Net(MIXING["centred"])):
        net, texts = build(), set()
        for example in (X, torch.randn(7, 6) * 1e9, torch.full((1, 6), torch.nan), torch.zeros(0, 6)):
            try:
                texts.add(str(check(net, example, CROSS, LABELS[:1].expand(len(example)))))
            except errors.BadValue as refused:
                texts.add(str(refused))
        assert len(texts) == 1


def test_what_a_net_raises_on_invented_rows_is_told_in_full():
    with pytest.raises(errors.BadValue) as refused:
        check(
            torch.nn.Linear(4, 2), torch.zeros(3, 5), torch.nn.CrossEntropyLoss(reduction="none"), torch.zeros(3).long()
        )
    assert "mat1 and mat2 shapes cannot be multiplied" in str(refused.value)
