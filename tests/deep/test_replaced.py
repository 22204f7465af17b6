"""`replaced` gives nets that compute the same, of layers that see examples along the first axis."""

import copy
import itertools
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from discreet import errors
from discreet.deep.modules.replaced import REPLACEABLE, group_count, replaced

B, T, E = 3, 5, 8


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def flat(output):
    """The tensors of an output."""
    if isinstance(output, torch.Tensor):
        return [output]
    return [part for item in output if item is not None for part in flat(item)]


def assert_equal_outputs(original, *args, **kwargs):
    other = replaced(original)
    expected, outputs = original(*args, **kwargs), other(*args, **kwargs)
    for left, right in zip(flat(expected), flat(outputs), strict=True):
        torch.testing.assert_close(right, left, rtol=1e-5, atol=1e-6)
    return other


def first_axes(module, *args, **kwargs):
    """The length of the first axis of what each layer with weights of its own is given."""
    lengths = []
    layers = [layer for layer in module.modules() if list(layer.parameters(recurse=False))]
    hooks = [layer.register_forward_hook(lambda layer, given, out: lengths.append(len(given[0]))) for layer in layers]
    module(*args, **kwargs)
    for hook in hooks:
        hook.remove()
    return set(lengths)


@pytest.mark.parametrize(
    ("kind", "layers", "two_ways", "batch_first", "bias"),
    [
        *itertools.product([nn.LSTM, nn.GRU, nn.RNN], [1], [False, True], [True], [False, True]),
        *itertools.product([nn.LSTM, nn.GRU, nn.RNN], [2], [True], [False], [True]),
    ],
)
def test_recurrent_nets_compute_the_same_step_by_step(kind, layers, two_ways, batch_first, bias):
    net = kind(4, 6, layers, bias=bias, batch_first=batch_first, bidirectional=two_ways)
    x = torch.randn(B, T, 4) if batch_first else torch.randn(T, B, 4)
    other = assert_equal_outputs(net, x)
    state = torch.randn(layers * (1 + two_ways), B, 6)
    assert_equal_outputs(net, x, (state, state.sin()) if kind is nn.LSTM else state)
    assert first_axes(other, x) == {B}
    assert not any(isinstance(layer, kind) for layer in other.modules())


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
def test_recurrent_nets_with_projections_relu_and_dropout_compute_the_same():
    x = torch.randn(B, T, 4)
    assert_equal_outputs(nn.LSTM(4, 6, 2, proj_size=3, batch_first=True, bidirectional=True), x)
    assert_equal_outputs(nn.RNN(4, 6, nonlinearity="relu", batch_first=True), x)
    assert_equal_outputs(nn.GRU(4, 6, 2, dropout=0.5, batch_first=True).eval(), x)
    dropping = replaced(nn.GRU(4, 6, 2, dropout=0.5, batch_first=True))
    assert not torch.equal(dropping(x)[0], dropping(x)[0])


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_single_steps_compute_the_same(kind):
    cell, x, state = kind(4, 6), torch.randn(B, 4), torch.randn(B, 6)
    assert_equal_outputs(cell, x)
    other = assert_equal_outputs(cell, x, (state, state.cos()) if kind is nn.LSTMCell else state)
    assert first_axes(other, x) == {B}


def test_gradients_of_recurrent_nets_reach_inputs_alike():
    net = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
    other = replaced(net)
    x = torch.randn(B, T, 4, requires_grad=True)
    (expected,) = torch.autograd.grad(net(x)[0].square().sum(), x)
    (gradient,) = torch.autograd.grad(other(x)[0].square().sum(), x)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)


def test_packed_sequences_and_inputs_without_examples_are_refused():
    net = replaced(nn.LSTM(4, 6, batch_first=True))
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(2, T, 4), [5, 3], batch_first=True)
    with pytest.raises(errors.BadValue, match="packed sequence"):
        net(packed)
    with pytest.raises(errors.BadValue, match="3 axes"):
        net(torch.randn(T, 4))
    with pytest.raises(errors.BadValue, match="2 axes"):
        replaced(nn.GRUCell(4, 6))(torch.randn(4))
    with pytest.raises(errors.BadValue, match="three axes"):
        replaced(nn.MultiheadAttention(E, 2))(*[torch.randn(T, E)] * 3)
    net.flatten_parameters()


PADDING = torch.tensor([[False] * T, [False] * 3 + [True] * 2, [False] * 4 + [True]])
CAUSAL = torch.ones(T, T, dtype=torch.bool).triu(1)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("masks", ["none", "padding", "causal", "both", "numbers", "each"])
def test_attention_computes_the_same_with_masks(batch_first, need_weights, masks):
    net = nn.MultiheadAttention(E, 2, batch_first=batch_first)
    nn.init.normal_(net.in_proj_bias)
    x = torch.randn(B, T, E) if batch_first else torch.randn(T, B, E)
    each = torch.rand(B * 2, T, T) > 0.7
    each[:, :, 0] = False
    options = {
        "none": {},
        "padding": {"key_padding_mask": PADDING},
        "causal": {"attn_mask": CAUSAL, "is_causal": True},
        "both": {"attn_mask": CAUSAL, "key_padding_mask": PADDING},
        "numbers": {"attn_mask": torch.randn(T, T), "key_padding_mask": torch.randn(B, T)},
        "each": {"attn_mask": each},
    }[masks]
    other = assert_equal_outputs(net, x, x, x, need_weights=need_weights, **options)
    assert_equal_outputs(net, x, x, x, need_weights=need_weights, average_attn_weights=False, **options)
    assert first_axes(other, x, x, x, **options) == {B}


def test_attention_to_keys_of_other_sizes_computes_the_same():
    net = nn.MultiheadAttention(E, 2, kdim=3, vdim=4, bias=False, batch_first=True)
    assert_equal_outputs(net, torch.randn(B, T, E), torch.randn(B, 7, 3), torch.randn(B, 7, 4))


def test_attention_that_cannot_be_replaced_is_refused():
    for options in ({"add_bias_kv": True}, {"add_zero_attn": True}):
        with pytest.raises(errors.BadValue, match="cannot be replaced"):
            replaced(nn.MultiheadAttention(E, 2, **options))
    with pytest.raises(errors.BadValue, match="attn_mask must be given"):
        replaced(nn.MultiheadAttention(E, 2))(*[torch.randn(T, B, E)] * 3, is_causal=True)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_transformers_compute_the_same(batch_first, norm_first, training):
    options = {"dim_feedforward": 6, "dropout": 0.0, "batch_first": batch_first, "norm_first": norm_first}
    net = nn.Transformer(E, 2, 2, 2, **options).train(training)
    source, target = torch.randn(B, T, E), torch.randn(B, 4, E)
    if not batch_first:
        source, target = source.transpose(0, 1), target.transpose(0, 1)
    masks = {"src_key_padding_mask": PADDING, "memory_key_padding_mask": PADDING}
    masks["tgt_mask"] = torch.ones(4, 4, dtype=torch.bool).triu(1)
    other = assert_equal_outputs(net, source, target, **masks)
    assert first_axes(other, source, target, **masks) == {B}
    layer = assert_equal_outputs(net.encoder.layers[0], source, src_key_padding_mask=PADDING)
    assert first_axes(layer, source) == {B}
    layer = assert_equal_outputs(net.decoder.layers[0], target, source)
    assert first_axes(layer, target, source) == {B}


def test_a_gelu_encoder_in_eval_has_no_fast_path_that_hides_its_layers():
    layer = nn.TransformerEncoderLayer(E, 2, 6, batch_first=True, activation="gelu")
    net = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(E)).eval()
    with torch.no_grad():
        other = assert_equal_outputs(net, torch.randn(B, T, E), CAUSAL)
    assert first_axes(other, torch.randn(B, T, E)) == {B}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_stacks_of_layers_of_ones_own_are_refused():
    class Own(nn.TransformerEncoderLayer):
        pass

    with pytest.raises(errors.BadValue, match="layers of your own"):
        replaced(nn.TransformerEncoder(Own(E, 2, 6), 2))


@pytest.mark.parametrize(
    ("norm", "x"),
    [
        (nn.BatchNorm1d(12), torch.randn(B, 12)),
        (nn.BatchNorm1d(12), torch.randn(B, 12, 4)),
        (nn.BatchNorm2d(12), torch.randn(B, 12, 4, 4)),
        (nn.BatchNorm3d(12, affine=False), torch.randn(B, 12, 2, 2, 2)),
        (nn.SyncBatchNorm(12), torch.randn(B, 12, 4)),
    ],
)
def test_batch_norms_become_group_norms_with_their_weights(norm, x):
    if norm.affine:
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    other = replaced(nn.Sequential(norm))[0]
    assert type(other) is nn.GroupNorm
    assert other.num_groups == (1 if isinstance(norm, nn.BatchNorm1d) else 3)
    expected = functional.group_norm(x, other.num_groups, norm.weight, norm.bias, norm.eps)
    torch.testing.assert_close(other(x), expected)
    assert not dict(other.named_buffers())


@pytest.mark.parametrize("channels", [1, 2, 3, 7, 16, 48, 64, 100, 320, 2048])
def test_groups_divide_the_channels(channels):
    groups = group_count(channels)
    assert channels % groups == 0
    assert groups == 1 or (groups <= 32 and channels // groups >= 4)


def test_instance_norms_lose_statistics_and_embeddings_lose_options_that_mix_examples():
    norm = replaced(nn.InstanceNorm2d(4, affine=True, track_running_stats=True))
    x = torch.randn(B, 4, 3, 3)
    torch.testing.assert_close(norm.eval()(x), functional.instance_norm(x))
    assert not dict(norm.named_buffers())
    table = nn.Embedding(5, 3, padding_idx=0, max_norm=1.0, scale_grad_by_freq=True, sparse=True)
    other = replaced(table)
    assert (other.max_norm, other.scale_grad_by_freq, other.sparse, other.padding_idx) == (None, False, False, 0)
    assert torch.equal(other.weight, table.weight)


def test_norms_of_weights_are_taken_off_and_the_weights_stay():
    net = nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 3)), parametrizations.spectral_norm(nn.Linear(3, 2)))
    net.eval()
    x = torch.randn(B, 4)
    other = replaced(net)
    torch.testing.assert_close(other(x), net(x))
    assert [type(layer) for layer in other] == [nn.Linear, nn.Linear]
    assert [name for name, _ in other.named_parameters()] == ["0.bias", "0.weight", "1.bias", "1.weight"]


def test_the_net_itself_and_the_generator_stay_as_they_are():
    net = nn.ModuleDict(
        {"a": nn.LSTM(4, 6, batch_first=True), "b": nn.BatchNorm1d(6), "c": nn.MultiheadAttention(E, 2)}
    )
    before, state = copy.deepcopy(net.state_dict()), torch.get_rng_state()
    kinds = [type(layer) for layer in net.modules()]
    other = replaced(net)
    assert torch.equal(state, torch.get_rng_state())
    assert kinds == [type(layer) for layer in net.modules()]
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1)
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])


def test_frozen_weights_stay_frozen_and_modes_stay():
    net = nn.Sequential(nn.GRU(4, 6, batch_first=True), nn.MultiheadAttention(E, 2), nn.BatchNorm1d(4))
    net.requires_grad_(False)
    net[2].eval()
    other = replaced(net)
    assert not any(parameter.requires_grad for parameter in other.parameters())
    assert (other[1].training, other[2].training) == (True, False)


def test_a_layer_used_twice_is_replaced_once():
    cell = nn.GRUCell(4, 4)
    other = replaced(nn.ModuleList([cell, nn.Sequential(cell)]))
    assert other[0] is other[1][0]


def test_weights_shared_with_another_layer_and_hooks_are_not_lost_in_silence():
    net = nn.ModuleList([nn.GRUCell(4, 4), nn.Linear(4, 12)])
    net[1].weight = net[0].weight_ih
    with pytest.raises(errors.BadValue, match="shares a weight"):
        replaced(net)
    hooked = nn.GRUCell(4, 4)
    hooked.register_forward_hook(lambda *_: None)
    with pytest.raises(errors.BadValue, match="hooks"):
        replaced(nn.Sequential(hooked))
    with pytest.raises(errors.BadValue, match=r"torch\.nn\.Module"):
        replaced("net")


def test_every_builder_belongs_to_a_layer_that_a_test_names():
    source = Path(__file__).read_text(encoding="utf-8")
    missing = {kind.__name__ for kind in REPLACEABLE if kind.__name__ not in source}
    assert missing <= {"InstanceNorm1d", "InstanceNorm3d", "TransformerDecoderLayer", "TransformerDecoder"}
