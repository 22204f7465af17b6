"""LSTM, GRU and plain recurrent nets as linear layers that are called step by step.

    LSTM    i, f, o = σ(Wx + Uh + b)    g = tanh(Wx + Uh + b)    c′ = f·c + i·g    h′ = o·tanh(c′), or P(o·tanh(c′))
    GRU     r, z = σ(Wx + b + Uh + d)   n = tanh(Wx + b + r·(Uh + d))              h′ = n + z·(h − n)
    RNN     h′ = tanh(Wx + Uh + b), or relu

Wx of all time steps is one call of a linear layer, Uh one call a step; both see examples along the first axis, whatever
`batch_first` says.  LSTM and RNN need one bias b, the sum of the two that PyTorch has.  Definitions: the documentation
of `torch.nn.LSTM`, `torch.nn.GRU` and `torch.nn.RNN`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from discreet.deep.modules.parts import is_trained, linear_of
from discreet.errors import BadValue, bad

State = tuple[Tensor, ...]  # h, and c of an LSTM


class Cell(nn.Module):
    """One step of one direction of one layer: `input` is W, `hidden` is U, `project` is P."""

    def __init__(self, kind: str, weights: Sequence[Tensor], biases: Sequence[Tensor], project: Tensor | None) -> None:
        super().__init__()
        self.kind = kind
        (of_input, of_hidden), bias, bias_hidden = weights, None, None
        if biases:
            bias, bias_hidden = (biases[0], biases[1]) if kind == "GRU" else (biases[0] + biases[1], None)
        if kind == "LSTM":  # PyTorch has i, f, g, o
            of_input, of_hidden = _gates_of_one_kind_together(of_input), _gates_of_one_kind_together(of_hidden)
            bias = None if bias is None else _gates_of_one_kind_together(bias)
        trained = is_trained(*weights, *biases, project)
        self.input = linear_of(of_input, bias, trained=trained)
        self.hidden = linear_of(of_hidden, bias_hidden, trained=trained)
        self.project = None if project is None else linear_of(project, None, trained=trained)

    def forward(self, given: Tensor, state: State) -> State:
        """The state after a step; `given` is Wx + b of that step."""
        hidden = state[0]
        recurrent = self.hidden(hidden)
        if self.kind == "LSTM":
            size = given.shape[1] // 4
            coins, news = (given + recurrent).split([3 * size, size], 1)
            write, keep, show = coins.sigmoid().chunk(3, 1)
            memory = torch.addcmul(keep * state[1], write, news.tanh())
            output = show * memory.tanh()
            return (output if self.project is None else self.project(output)), memory
        if self.kind == "GRU":
            size = given.shape[1] // 3
            reset, keep = (given[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid().chunk(2, 1)
            news = torch.addcmul(given[:, 2 * size :], reset, recurrent[:, 2 * size :]).tanh()
            return (torch.lerp(news, hidden, keep),)
        total = given + recurrent
        return (total.relu() if self.kind == "RNN_RELU" else total.tanh(),)

    def run(self, sequence: Tensor, state: State, *, backwards: bool) -> tuple[Tensor, State]:
        """The outputs of all steps, examples × steps × size, and the last state."""
        steps = self.input(sequence).unbind(1)
        outputs = []
        for given in reversed(steps) if backwards else steps:
            state = self(given, state)
            outputs.append(state[0])
        return torch.stack(outputs[::-1] if backwards else outputs, 1), state


class Recurrent(nn.Module):
    """What `nn.LSTM`, `nn.GRU` or `nn.RNN` computes, from the same arguments, by linear layers.

    Padded tensors only: a packed sequence holds the steps of all examples in one axis.
    """

    def __init__(self, original: Any) -> None:
        super().__init__()
        self.mode, self.batch_first = original.mode, original.batch_first
        self.input_size, self.hidden_size = original.input_size, original.hidden_size
        self.num_layers, self.bidirectional = original.num_layers, original.bidirectional
        self.proj_size, self.dropout = original.proj_size, original.dropout
        self.between = nn.Dropout(original.dropout)
        self.cells = nn.ModuleList(_cells_of(original))
        self.train(original.training)

    def forward(self, input: Any, hx: Any = None) -> tuple[Tensor, Any]:
        """Outputs of the last layer at each step, and the last state of each layer and direction."""
        _require_batch(input, 3)
        sequence = input if self.batch_first else input.transpose(0, 1)
        states = self._first_states(sequence, hx)
        directions, ends = 1 + self.bidirectional, []
        for layer in range(self.num_layers):
            if layer:
                sequence = self.between(sequence)
            outputs = []
            for direction in range(directions):
                place = directions * layer + direction
                output, end = self.cells[place].run(sequence, states[place], backwards=direction == 1)
                outputs.append(output)
                ends.append(end)
            sequence = outputs[0] if directions == 1 else torch.cat(outputs, 2)
        last = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
        return (sequence if self.batch_first else sequence.transpose(0, 1)), last if len(last) == 2 else last[0]

    def flatten_parameters(self) -> None:
        """Change nothing; nets that call it on `nn.LSTM` can go on to do so."""

    def _first_states(self, sequence: Tensor, hx: Any) -> list[State]:
        """The state before the first step, of each layer and direction."""
        if hx is not None:
            parts = hx if isinstance(hx, (tuple, list)) else (hx,)
            return list(zip(*(part.unbind(0) for part in parts), strict=True))
        size = self.proj_size or self.hidden_size
        hidden = sequence.new_zeros(len(sequence), size)
        memory = (sequence.new_zeros(len(sequence), self.hidden_size),) if self.mode == "LSTM" else ()
        return [(hidden, *memory)] * len(self.cells)


class SingleStep(nn.Module):
    """What `nn.LSTMCell`, `nn.GRUCell` or `nn.RNNCell` computes, from the same arguments, by linear layers."""

    def __init__(self, original: Any) -> None:
        super().__init__()
        kinds = {nn.LSTMCell: "LSTM", nn.GRUCell: "GRU"}
        kind = next((kind for base, kind in kinds.items() if isinstance(original, base)), None)
        kind = kind or f"RNN_{original.nonlinearity.upper()}"
        biases = (original.bias_ih, original.bias_hh) if original.bias else ()
        self.input_size, self.hidden_size = original.input_size, original.hidden_size
        self.cell = Cell(kind, (original.weight_ih, original.weight_hh), biases, None)
        self.train(original.training)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The state after one step."""
        _require_batch(input, 2)
        zeros = input.new_zeros(len(input), self.hidden_size)
        if hx is None:
            hx = (zeros, zeros) if self.cell.kind == "LSTM" else zeros
        state = self.cell(self.cell.input(input), hx if isinstance(hx, tuple) else (hx,))
        return state if self.cell.kind == "LSTM" else state[0]


def _cells_of(original: Any) -> list[Cell]:
    """A cell for each layer and direction, in the order of PyTorch's states."""
    cells = []
    for layer in range(original.num_layers):
        for reverse in ("", "_reverse")[: 1 + original.bidirectional]:
            end = f"l{layer}{reverse}"
            weights = tuple(getattr(original, f"weight_{part}_{end}") for part in ("ih", "hh"))
            biases = tuple(getattr(original, f"bias_{part}_{end}") for part in ("ih", "hh")) if original.bias else ()
            project = getattr(original, f"weight_hr_{end}") if original.proj_size else None
            cells.append(Cell(original.mode, weights, biases, project))
    return cells


def _gates_of_one_kind_together(weights: Tensor) -> Tensor:
    """Rows i, f, g, o as i, f, o, g, so that one sigmoid serves three gates."""
    write, keep, news, show = weights.detach().chunk(4)
    return torch.cat([write, keep, show, news])


def _require_batch(given: Any, dimensions: int) -> None:
    if isinstance(given, PackedSequence):
        what = "A packed sequence cannot be clipped person by person."
        why = "It holds the steps of all examples along one axis, in an order that depends on their lengths."
        raise BadValue(what, why, "Give the padded tensor, and take the output at each example's last step.")
    if given.dim() != dimensions:
        rule = f"must have {dimensions} axes, one of them for examples"
        raise bad("input of a recurrent layer", rule, tuple(given.shape), "Add an axis of one example: x[None].")
