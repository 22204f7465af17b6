"""The gradient of one parameter for each person, in the form in which a layer gives it.

    Outer    Σ_t l_t ⊗ r_t        a matrix, as its factors at T positions: layers that multiply by a weight
    Picked   Σ_t e(i_t) ⊗ r_t     the same, where l_t picks a row of the matrix: embeddings
    Plain    the gradient itself  biases, norms, everything else

A parameter that is used several times has several pieces, which add up.  `squared_norms` and `add_weighted` are all
that clipping needs; neither writes a matrix for each person unless that is cheaper (`rule.is_ghost_cheaper`).

Rounding: `squared_norms` are at least the true ones of the pieces as they are.  A sum of n products of numbers of unit
roundoff u = 2⁻²⁴ errs by at most n·u·Σ|products| in any order (Higham 2002, section 3.1), to first order in u;
`_rounding` has twice that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from discreet.deep.clipping.rule import is_ghost_cheaper
from discreet.deep.clipping.workspace import CACHED, Workspace


@dataclass(frozen=True, eq=False)
class Outer:
    """`left` is persons × T × rows, `right` persons × T × columns."""

    left: Tensor
    right: Tensor


@dataclass(frozen=True, eq=False)
class Picked:
    """`rows` is persons × T, the row that each position picks; `right` persons × T × columns; `height` all rows."""

    rows: Tensor
    right: Tensor
    height: int


@dataclass(frozen=True, eq=False)
class Plain:
    """`values` is persons × any shape of as many numbers as the parameter; `axes` puts that shape in its order."""

    values: Tensor
    axes: tuple[int, ...] | None = None


Piece = Outer | Picked | Plain


def joint_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of one parameter as few: those of one kind joined, and all made plain where one is plain."""
    if len(pieces) == 1:
        return list(pieces)
    if any(isinstance(piece, Plain) for piece in pieces):
        total = _in_order(plain(pieces[0])).clone()
        for piece in pieces[1:]:
            total += _in_order(plain(piece))
        return [Plain(total)]
    outers = [piece for piece in pieces if isinstance(piece, Outer)]
    picked = [piece for piece in pieces if isinstance(piece, Picked)]
    joined: list[Piece] = []
    if outers:
        joined.append(Outer(_cat([piece.left for piece in outers]), _cat([piece.right for piece in outers])))
    if picked:
        rows, right = _cat([piece.rows for piece in picked]), _cat([piece.right for piece in picked])
        joined.append(Picked(rows, right, picked[0].height))
    return joined


def cheapest(pieces: Sequence[Piece], workspace: Workspace) -> list[Piece]:
    """The joint pieces of one parameter in the form in which their norm is cheapest."""
    form = joint_pieces(pieces)
    match form:
        case [Outer() as outer]:
            _, positions, rows = outer.left.shape
            columns = outer.right.shape[2]
            if is_ghost_cheaper(positions, rows, columns):
                return form
            matrix = workspace.take(outer.left, len(outer.left), rows, columns)
            return [Plain(torch.bmm(outer.left.transpose(1, 2), outer.right, out=matrix))]
        case _:
            return form


def plain(piece: Piece) -> Plain:
    """The piece as the gradient itself."""
    match piece:
        case Plain():
            return piece
        case Outer():
            return Plain(torch.bmm(piece.left.transpose(1, 2), piece.right))
        case Picked():
            persons, _, columns = piece.right.shape
            values = piece.right.new_zeros(persons, piece.height, columns)
            index = piece.rows.unsqueeze(2).expand_as(piece.right)
            return Plain(values.scatter_add_(1, index, piece.right))


def piece_at_least_single(piece: Piece) -> Piece:
    """The piece in float32 where it is in a shorter type, whose sums would be too coarse for the bounds below."""
    match piece:
        case Plain():
            return Plain(at_least_single(piece.values), piece.axes)
        case Outer():
            return Outer(at_least_single(piece.left), at_least_single(piece.right))
        case Picked():
            return Picked(piece.rows, at_least_single(piece.right), piece.height)


def at_least_single(values: Tensor) -> Tensor:
    """The numbers in float32 where they are in a shorter type."""
    return values.float() if values.is_floating_point() and values.element_size() < 4 else values


def squared_norms(pieces: Sequence[Piece]) -> Tensor:
    """‖Σ pieces‖² of each person, rounded up, in float64."""
    match pieces:
        case [Plain() as only]:
            return _plain_squares(only.values)
        case [Outer(left=left, right=right)] if left.shape[1] == 1:
            return _row_squares(left)[:, 0] * _row_squares(right)[:, 0]
        case _:
            total = _inner(pieces[0], pieces[0])
            for place, piece in enumerate(pieces[1:], 1):
                total = total + _inner(piece, piece) + 2 * sum(_inner(earlier, piece) for earlier in pieces[:place])
            return total.clamp(min=0) + _ghost_rounding(pieces)


def add_weighted(pieces: Sequence[Piece], factors: Tensor, total: Tensor, workspace: Workspace) -> None:
    """Add Σ over persons of factor · gradient to `total`, in the type of `total`."""
    weights = factors.to(total.dtype)
    for piece in pieces:
        match piece:
            case Plain():
                sums = _weighted_rows(weights, piece.values.flatten(1), workspace)
                total += sums.view(piece.values.shape[1:]).permute(piece.axes) if piece.axes else sums.view_as(total)
            case Outer():
                left = _weighted(piece.left, weights, workspace)
                right = _converted(piece.right, total, workspace)
                total.view(left.shape[1], right.shape[1]).addmm_(left.t(), right)
            case Picked():
                right = _weighted(piece.right, weights, workspace)
                total.view(piece.height, right.shape[1]).index_add_(0, piece.rows.flatten(), right)


def _weighted_rows(weights: Tensor, rows: Tensor, workspace: Workspace) -> Tensor:
    """Σ weight · row; rows of another type are converted a few at a time, which stay in the cache."""
    if rows.dtype == weights.dtype:
        return weights @ rows
    sums = weights.new_zeros(rows.shape[1])
    few = max(1, min(len(rows), CACHED // rows.shape[1]))
    block = workspace.take(weights, few, rows.shape[1])
    for start in range(0, len(rows), few):
        part = rows[start : start + few]
        sums.addmv_(block[: len(part)].copy_(part).t(), weights[start : start + few])
    return sums


def _weighted(values: Tensor, weights: Tensor, workspace: Workspace) -> Tensor:
    """The numbers at all positions times the weight of their person, in the type of the weights."""
    buffer = workspace.take(weights, *values.shape)
    return torch.mul(values, weights.view(-1, 1, 1), out=buffer).flatten(0, 1)


def _converted(values: Tensor, like: Tensor, workspace: Workspace) -> Tensor:
    """The numbers at all positions in the type of `like`."""
    if values.dtype == like.dtype:
        return values.flatten(0, 1)
    return workspace.take(like, *values.shape).copy_(values).flatten(0, 1)


def _in_order(piece: Plain) -> Tensor:
    """The numbers of each person in the order of the parameter, flat."""
    if piece.axes is None:
        return piece.values.flatten(1)
    return piece.values.permute(0, *(axis + 1 for axis in piece.axes)).flatten(1)


# --- norms -----------------------------------------------------------------------------------------------------------


def _inner(some: Piece, other: Piece) -> Tensor:
    """⟨some, other⟩ of each person from inner products of positions."""
    match some, other:
        case Outer(), Outer():
            lefts = torch.bmm(some.left, other.left.transpose(1, 2))
            products = torch.bmm(some.right, other.right.transpose(1, 2))
        case Picked(), Picked():
            lefts = some.rows.unsqueeze(2) == other.rows.unsqueeze(1)
            products = torch.bmm(some.right, other.right.transpose(1, 2))
        case Outer(), Picked():
            index = other.rows.unsqueeze(1).expand(-1, some.left.shape[1], -1)
            lefts = some.left.gather(2, index)
            products = torch.bmm(some.right, other.right.transpose(1, 2))
        case _:
            raise TypeError("plain pieces have no positions")
    return (lefts * products).sum(2).double().sum(1)


def _ghost_rounding(pieces: Sequence[Any]) -> Tensor:
    """How much `_inner` of all pairs may be too small.

    Relatively: Σ|products| ≤ (Σ_t ‖l_t‖·‖r_t‖)² by Cauchy and Schwarz.  By underflow: an inner product of n numbers is
    off by 2n·2⁻¹²⁶ at most, which the other side multiplies, and so is each product of two inner products.
    """
    terms = sum(_width(piece) + piece.right.shape[1] for piece in pieces)
    positions = sum(piece.right.shape[1] for piece in pieces)
    rights = [_row_squares(piece.right) for piece in pieces]
    lefts = [
        _row_squares(piece.left) if isinstance(piece, Outer) else torch.ones_like(own)
        for piece, own in zip(pieces, rights, strict=True)
    ]
    both = zip(lefts, rights, strict=True)
    lengths = sum((left * right).sqrt().sum(1) for left, right in both)
    left_sum, right_sum = (sum(side.sqrt().sum(1) for side in sides) for sides in (lefts, rights))
    lost = 2 * terms * _TINY
    underflow = lost * (torch.as_tensor(left_sum).square() + torch.as_tensor(right_sum).square())
    return _rounding(terms) * torch.as_tensor(lengths).square() + underflow + positions**2 * (lost * lost + 4 * _TINY)


def _width(piece: Any) -> int:
    return int(piece.right.shape[2]) + (int(piece.left.shape[2]) if isinstance(piece, Outer) else 0)


def _plain_squares(values: Tensor) -> Tensor:
    """Σ of squares of each person's numbers: rows of at most 4,096 are added in float32, all else in float64."""
    values = values.flatten(2) if values.dim() > 2 else values
    if values.shape[-1] > _LONGEST:
        values = _folded(values.flatten(1))
    squares = _row_squares(values)
    return squares.sum(1) if squares.dim() > 1 else squares


def _row_squares(rows: Tensor) -> Tensor:
    """‖row‖² along the last axis, rounded up; squares of tiny numbers may have become 0, so as much is added."""
    length = rows.shape[-1]
    return torch.linalg.vector_norm(rows, dim=-1).double().square() * (1 + _rounding(length + 4)) + 2 * length * _TINY


_LONGEST = 4096
_TINY = 2.0**-126  # the least normal float32; what is below may be taken for 0


def _folded(values: Tensor) -> Tensor:
    """The numbers of each person in rows of at most 4,096, the last filled with zeros."""
    missing = -values.shape[1] % _LONGEST
    return torch.nn.functional.pad(values, (0, missing)).view(len(values), -1, _LONGEST)


def _rounding(terms: int) -> float:
    """Twice terms · 2⁻²⁴."""
    return terms * 2.0**-23


def _cat(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=1)
