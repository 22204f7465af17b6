"""The edges of a question, each a place where something can happen to whoever asks: functions wrapped to act once."""

import os
import signal

from discreet.ask import asking
from discreet.engine import engine, wire
from discreet.ledger.head import HeadFile
from discreet.ledger.ledger import Ledger
from discreet.query.joint import Joint


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def at(owner, name, act, *, after=False, times=1):
    """Arms: `act` before or after that function, the first time or times it is called."""

    def arm():
        real, calls = getattr(owner, name), iter(range(1, times + 1))

        def wrapped(*args, **named):
            if next(calls) == times:
                setattr(owner, name, real)
            if not after:
                act()
            result = real(*args, **named)
            if after:
                act()
            return result

        setattr(owner, name, wrapped)

    return arm


def within(owner, name, arm):
    """Arms `arm` when that function is called."""
    return at(owner, name, arm)


def in_statement(verb, start, act):
    """Arms: `act` when the ledger, within that verb, is about to run such a statement."""

    def arm():
        real = getattr(Ledger, verb)

        def wrapped(self, *args, **named):
            connection = self._store._open_connection()
            connection.set_trace_callback(lambda sql: act() if sql.startswith(start) else None)
            return real(self, *args, **named)

        setattr(Ledger, verb, wrapped)

    return arm


def edges_of(verb, act):
    """The edges inside a verb of the ledger that writes."""
    return {
        f"{verb}: head not written": within(Ledger, verb, at(HeadFile, "prepare", act)),
        f"{verb}: head written beside": within(Ledger, verb, at(HeadFile, "prepare", act, after=True)),
        f"{verb}: durable, head not in place": within(Ledger, verb, at(HeadFile, "publish", act)),
        f"{verb}: durable, head in place": within(Ledger, verb, at(HeadFile, "publish", act, after=True)),
    }


def edges_of_asking(act):
    """Name → what arms it, in the order in which a question meets them."""
    return {
        "before the charge": at(Ledger, "charge", act),
        **edges_of("charge", act),
        "charged": at(Ledger, "charge", act, after=True),
        "statement sent": within(engine.Engine, "run", at(wire, "send", act, after=True)),
        "reply received": at(engine.Engine, "run", act, after=True),
        "noise drawn": at(Joint, "__call__", act, after=True),
        "before the commit": at(Ledger, "commit", act),
        **edges_of("commit", act),
        "committed": at(Ledger, "commit", act, after=True),
        "before the stored bytes are read": at(Ledger, "stored", act),
        "before the hand-out": at(asking, "with_receipt", act),
        "after the hand-out": at(asking, "with_receipt", act, after=True),
    }


def expected(name):
    """Whether a question that ended at that edge is charged, and whether its answer is stored."""
    names = list(edges_of_asking(die))
    place = names.index(name) if name in names else names.index("statement sent")
    durable = names.index("charge: durable, head not in place"), names.index("commit: durable, head not in place")
    return [place >= durable[0], place >= durable[1]]
