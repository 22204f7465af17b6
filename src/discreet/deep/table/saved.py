"""What a net's file says of the table that it was trained on, and the net made again from it.

The description is among the public facts of the promise: columns with their values and bounds, bins, and the widths of
a table net's layers.  Reading it runs nothing; what does not fit the stored tensors is refused before it is built.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import prod
from typing import Any

from torch import nn

from discreet.deep.saved.file import HEAD, from_bytes
from discreet.deep.table.cells import Cells
from discreet.deep.table.net import TableNet
from discreet.deep.training.state import contents_of
from discreet.errors import BadValue, IntegrityError
from discreet.learn.input.column import bins_of
from discreet.learn.saved.file import read_bytes
from discreet.learn.saved.rebuild import schema_json, subject_from_json


def table_json(cells: Cells, net: nn.Module) -> dict[str, Any]:
    """Columns, bins and, of a table net, the widths of its hidden layers."""
    subject = cells.subject
    hidden = list(net.hidden) if isinstance(net, TableNet) else None
    return {"subject": subject.to_json(), "schema": schema_json(subject), "bins": cells.bins, "hidden": hidden}


def read(path: Any) -> TableNet:
    """The table net in a file, with its promise as `privacy_`."""
    return net_of(read_bytes(path))


def net_of(stored: bytes) -> TableNet:
    """The table net in these bytes; refused where they hold another net, or none."""
    facts, tensors = contents_of(stored, HEAD)
    try:
        table = facts["privacy"]["public"].get("table") or {}
        is_table_net = table.get("hidden") is not None
        net = _net(table, sum(tensor.numel() for tensor in tensors)) if is_table_net else None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
        raise _unlike() from None
    if net is None:
        fix = "Make the module as it was, and read it in Python: dp.deep.load(path, module)."
        raise BadValue("The file holds no table net.", "Its module was made by a program of its own.", fix)
    return _loaded(stored, net)


def _net(table: Mapping[str, Any], numbers: int) -> TableNet:
    """The net of that description; ValueError unless it has so many weights."""
    cells = Cells(subject_from_json(table["subject"], table["schema"]), bins_of(table["bins"]))
    hidden = table["hidden"]
    if not isinstance(hidden, list) or not all(type(width) is int and width > 0 for width in hidden):
        raise ValueError
    widths = [sum(cells.sizes), *hidden, cells.outputs]
    pairs = list(pairwise(widths))
    if sum(map(prod, pairs)) + sum(after for _, after in pairs[1:]) != numbers:
        raise ValueError
    return TableNet(cells, hidden)


def _loaded(stored: bytes, net: TableNet) -> TableNet:
    try:
        from_bytes(stored, net)
    except BadValue:
        raise _unlike() from None
    return net


def _unlike() -> IntegrityError:
    why, fix = "Its weights are not those of its columns.", "Save the net again where it was trained."
    return IntegrityError("This is no whole file of a table net.", why, fix)
