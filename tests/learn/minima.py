"""Slow, obvious minimisers and invented tables for output and objective perturbation: long doubles, plain Newton."""

from fractions import Fraction

import numpy as np

from discreet.bounded import RowLimit
from discreet.kernel.rows import UnitRows
from discreet.learn.risk.line_loss import line_loss
from discreet.learn.risk.spec import RiskSpec
from discreet.relation import Relation

LONG = np.longdouble
NUMBER = {"low": -1.0, "high": 1.0}
TWO_CLASSES = {"size": 2}
ADDED, REPLACED = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def spec_of_numbers(features, loss, norm, rows=1):
    """So many numbers within −1 … 1 beside the intercept."""
    target = NUMBER if loss == "huber" else TWO_CLASSES
    return RiskSpec((NUMBER,) * features, target, Fraction(norm), rows)


def table(x, y, loss, starts=None):
    """Rows as a view hands them out."""
    columns = {f"x{place}": np.ascontiguousarray(column, dtype=np.float64) for place, column in enumerate(x.T)}
    columns["y"] = np.asarray(y, dtype=np.float64 if loss == "huber" else np.int64)
    return UnitRows(columns, np.arange(len(y)) if starts is None else np.array(starts), len(y))


def invented(random, size, features, loss):
    """Rows that are often extreme: corners pull hardest."""
    x = random.uniform(-1, 1, (size, features))
    x = np.where(random.random((size, 1)) < 0.5, np.sign(x), x)
    return x, (random.uniform(-1, 1, size) if loss == "huber" else random.integers(0, 2, size))


def neighbours(random, loss, relation, features=2):
    """Two tables that differ by one row."""
    x, y = invented(random, int(random.integers(0, 7)), features, loss)
    other_x, other_y = invented(random, 2, features, loss)
    first = np.concatenate([x, other_x[:1]]), np.concatenate([y, other_y[:1]])
    if relation is ADDED:
        return first, (x, y)
    return first, (np.concatenate([x, other_x[1:]]), np.concatenate([y, other_y[1:]]))


def slopes(loss, lines, answers, steepest):
    """Slope and curvature by the textbook's formulas."""
    if loss == "logistic":
        size = 1 / (1 + np.exp(np.clip(answers * lines, -700, 700)))
        return -answers * np.minimum(size, steepest), np.where(size < steepest, size * (1 - size), 0)
    if loss == "hinge":
        size = LONG(1.5) - answers * lines
        return -answers * np.clip(size, 0, steepest), ((size > 0) & (size < steepest)).astype(LONG)
    return np.clip(lines - answers, -steepest, steepest), (np.abs(lines - answers) < steepest).astype(LONG)


def clipped_rows(x, norm):
    """Rows behind their intercept, rounded to steps and shortened to the norm."""
    rows = np.concatenate([np.ones((len(x), 1)), np.rint(np.asarray(x) * 1024) / 1024], axis=1).astype(LONG)
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows * np.where(lengths > norm, norm / np.maximum(lengths, 1e-9) * (1 - LONG(2) ** -20), 1)


def gradient(rows, answers, loss, steepest, ridge, point, tilt=0.0):
    """∇ of the risk."""
    slope, _ = slopes(loss, rows @ point, answers, steepest)
    return rows.T @ slope + ridge * point + tilt


def true_minimum(x, y, loss, steepest, norm, ridge, tilt=0.0):
    """The minimum to some 15 digits, by halved Newton steps in long doubles."""
    rows = clipped_rows(x, norm)
    answers = np.asarray(y, dtype=LONG) if loss == "huber" else np.where(np.asarray(y) == 1, LONG(1), LONG(-1))
    if loss == "huber":
        answers = np.rint(answers * 1024) / 1024
    point = np.zeros(rows.shape[1], dtype=LONG)
    for _ in range(200):
        slope = gradient(rows, answers, loss, steepest, ridge, point, tilt)
        _, bend = slopes(loss, rows @ point, answers, steepest)
        second = (rows.T * bend) @ rows + ridge * np.eye(len(point))
        direction = np.linalg.solve(second.astype(float), slope.astype(float))
        step = LONG(1)
        while step > 1e-9:
            after = gradient(rows, answers, loss, steepest, ridge, point - step * direction, tilt)
            if (after**2).sum() <= (slope**2).sum() * (1 - step / 4):
                break
            step /= 2
        if np.sqrt((slope**2).sum()) < 1e-14 * ridge:
            break
        point = point - step * direction
    return point.astype(float)


def loss_of(name, steepest=1):
    return line_loss(name, steepest)


def limit(relation):
    return RowLimit(1, relation)
