"""Ledgers for tests: each in a temporary folder with its head beside it, asked as the gate asks."""

import sqlite3

from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import Opening, Rules
from discreet.ledger.schema import SCHEMA
from discreet.privacy.cost import Pure

NORTH, SOUTH = (("region", "north"),), (("region", "south"),)


def opening(epsilon=1, delta=0, *, under="add-remove", dataset="people", unit="person_id", **caps):
    """The facts that a ledger of people is opened with."""
    return Opening(dataset, unit, under, Rules(budget(epsilon, delta), **caps))


def places(folder):
    """The paths of the ledger and of its head."""
    return folder / "people.ledger", folder / "state" / "head.json"


def create_ledger(folder, *args, fixed=(), **kw):
    path, head = places(folder)
    return Ledger.create(path, opening(*args, **kw), fixed=fixed, head=head)


def open_ledger(folder, bound=None, **kw):
    path, head = places(folder)
    return Ledger.open(path, bound, head=head, **kw)


def reopen_ledger(ledger, folder, **kw):
    """Close a ledger and open it again, as another process would."""
    ledger.close()
    return open_ledger(folder, **kw)


def ask(ledger, key, cost=None, answer=b"42", *, memo="how many?", **kw):
    """Charge one question and store its answer, or replay the stored one."""
    receipt = ledger.charge(ChargeRequest(key, memo=memo, **kw), cost or Pure("0.1"))
    if not receipt.stored:
        ledger.commit(receipt, answer)
    return ledger.stored(key)


def create_asked_ledger(folder, charges=3):
    """A new ledger with answers to "key 0", "key 1", …"""
    ledger = create_ledger(folder, 100)
    for n in range(charges):
        ask(ledger, f"key {n}", answer=b"answer %d" % n, memo="a question")
    return ledger


def open_without_triggers(folder):
    """The file as someone without Discreet sees it, triggers dropped."""
    connection = sqlite3.connect(places(folder)[0], isolation_level=None)
    for name in ("entries_update", "entries_delete", "answers_update", "answers_delete"):
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def restore_triggers(connection):
    """Put the triggers back and close the connection."""
    for name, sql in SCHEMA.items():
        if sql.startswith("CREATE TRIGGER"):
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
            connection.execute(sql)
    connection.close()
