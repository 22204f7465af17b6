"""A ledger in a temporary folder, its head in another one, for tests."""

from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules


def opening(epsilon=1, delta=0, *, under="add-remove", dataset="people", unit="person_id", **caps):
    return Opening(dataset, unit, under, Rules(budget(epsilon, delta), **caps))


def places(folder):
    return folder / "people.ledger", folder / "state" / "head.json"


def made(folder, *args, fixed=(), **kw):
    path, head = places(folder)
    return Ledger.create(path, opening(*args, **kw), fixed=fixed, head=head)


def again(folder, bound=None, **kw):
    path, head = places(folder)
    return Ledger.open(path, bound, head=head, **kw)
