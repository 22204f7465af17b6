"""Planted faults of the gate and the ledger: each in a real function of the product, by `plant(patch)`."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from discreet import amounts, gate, table
from discreet.answer import compose, quote
from discreet.bounded import Bounded
from discreet.engine.engine import Engine
from discreet.gate import Disclosed
from discreet.ledger import account as accounts
from discreet.ledger import books, decide, ledger, reader, weigh, written
from discreet.ledger.books import Books
from discreet.ledger.refusal import down
from discreet.query.layout import TABLE
from discreet.table import Table
from faults import promises
from faults.promises import Promise

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]


# --- charging --------------------------------------------------------------------------------------------------------


def refund_on_error(patch: Patch) -> None:
    take, fail = Books._charge, Books._fail
    kept: dict[int, Any] = {}

    def charge(held: Books, row: Any, entry: dict[str, Any]) -> None:
        take(held, row, entry)
        kept[row.number] = held.place(entry), written.amounts_of(entry["amounts"])

    def failed(held: Books, number: int, died: str | None) -> None:
        fail(held, number, died)
        held.account = accounts.empty(len(held.rules.budget.orders))
        for n, (place, weight) in kept.items():
            if n not in held.unanswered or held.unanswered[n].failed == 0:
                held.account = accounts.with_charge(held.account, place, weight)

    patch.setattr(Books, "_charge", charge)
    patch.setattr(Books, "_fail", failed)


def check_then_act(patch: Patch) -> None:
    def reserve(held: Any, key: str, patience: float, decided: Any, prepare: Any) -> Any:
        books = held._read()
        with held._store.lock, held._store.writing() as pen:
            is_held = lambda charge: held._is_held(charge.row.number, charge.holder)  # noqa: E731
            asker, known = decide.Asker(held._lease.name(), is_held), reader.charge_of(pen, books, key)
        decision = decided(books, known, asker)
        with held._store.lock, held._store.writing() as pen:
            last = [pen.append(entry) for entry in decision.entries][-1:]
        return held._outcome(decision, *last or [None])

    patch.setattr(ledger.Ledger, "_reserve", reserve)


def charge_after_compute(patch: Patch) -> None:
    real = table.disclose

    def disclose(held: Any, order: Any, mechanism: Any, bounded: Any, **named: Any) -> Any:
        exact = bounded.compute()
        return real(held, order, mechanism, Bounded(lambda: exact, bounded.sensitivity), **named)

    patch.setattr(table, "disclose", disclose)


def nan_passes_the_guard(patch: Patch) -> None:
    real = amounts.epsilon

    def epsilon(value: Any, name: str = "epsilon") -> Fraction:
        if isinstance(value, float) and not (value < 1e-9 or value > 1e6):
            return Fraction(1) if value != value else real(value, name)
        return real(value, name)

    patch.setattr(amounts, "epsilon", epsilon)


def true_is_one(patch: Patch) -> None:
    real = amounts.epsilon
    patch.setattr(amounts, "epsilon", lambda value, *named: real(int(value) if value is True else value, *named))


def epsilon_rounded_down(patch: Patch) -> None:
    patch.setattr(weigh, "charged_epsilon", lambda epsilon: Fraction(int(epsilon * 10**30), 10**30))


def delta_rounded_down(patch: Patch) -> None:
    patch.setattr(weigh, "charged_delta", lambda delta: Fraction(int(delta * 10**400), 10**400))


def shown_cost_rounded_down(patch: Patch) -> None:
    real = compose.cost_json
    patch.setattr(compose, "cost_json", lambda plan: real(plan) | {"epsilon": down(plan.terms.epsilon)})


def sums_in_floats(patch: Patch) -> None:
    real = accounts.Amounts.__add__

    def add(first: Any, other: Any) -> Any:
        return replace(real(first, other), epsilon=Fraction(float(first.epsilon) + float(other.epsilon)))

    patch.setattr(accounts.Amounts, "__add__", add)


def private_keys_counted_in_the_cost(patch: Patch) -> None:
    real = Table.disclose

    def disclose(held: Table, request: Any, view: Any, mechanism: Any, bounded: Any, **named: Any) -> Any:
        keys = bounded.compute().keys
        epsilon = request.terms.epsilon * max(len(keys), 1)
        dearer = replace(request, terms=replace(request.terms, epsilon=epsilon))
        return real(held, dearer, view, mechanism, bounded, **named)

    patch.setattr(Table, "disclose", disclose)


def delta_from_the_number_of_rows(patch: Patch) -> None:
    real = Table.delta

    def delta(held: Table, typed: Any = None) -> Fraction:
        count = held.engine.run([f"SELECT count(*) AS p0 FROM {TABLE}"])[0]["p0"]
        return real(held, typed) if typed is not None else Fraction(1, 10**8 + int(count[0]))

    patch.setattr(Table, "delta", delta)


def cheaper_quote(patch: Patch) -> None:
    real = quote.cost_json

    def half(plan: Any) -> dict[str, str]:
        return real(replace(plan, terms=replace(plan.terms, epsilon=plan.terms.epsilon / 2)))

    patch.setattr(quote, "cost_json", half)


def dearer_charge(patch: Patch) -> None:
    real = Table.charge_request
    patch.setattr(Table, "charge_request", lambda *given: replace(request := real(*given), epsilon=request.epsilon * 2))


# --- handing out -----------------------------------------------------------------------------------------------------


def third_attempt_for_nothing(patch: Patch) -> None:
    patch.setattr(books, "ATTEMPTS", 10)
    patch.setattr(decide, "ATTEMPTS", 10)


def _handing_out(patch: Patch, change: Callable[[Disclosed, Callable[[], bytes]], Disclosed]) -> None:
    """What the gate hands out changed, with a fresh answer at hand."""
    real = table.disclose

    def disclose(held: Any, order: Any, mechanism: Any, bounded: Any, *, pack: Any, source: Any = gate.SYSTEM) -> Any:
        disclosed = real(held, order, mechanism, bounded, pack=pack, source=source)
        return change(disclosed, lambda: pack(mechanism(bounded.compute(), source)))

    patch.setattr(table, "disclose", disclose)


def fresh_noise_at_every_replay(patch: Patch) -> None:
    _handing_out(
        patch, lambda disclosed, fresh: replace(disclosed, stored=fresh()) if disclosed.replayed else disclosed
    )


def noise_drawn_again_when_handed_out(patch: Patch) -> None:
    _handing_out(
        patch, lambda disclosed, fresh: disclosed if disclosed.replayed else replace(disclosed, stored=fresh())
    )


def handed_out_before_it_is_stored(patch: Patch) -> None:
    def disclose(held: Any, order: Any, mechanism: Any, bounded: Any, *, pack: Any, source: Any = gate.SYSTEM) -> Any:
        receipt = held.charge(order, mechanism.cost)
        packed = held.stored(order.key) or pack(mechanism(bounded.compute(), source))
        with contextlib.suppress(Exception):  # "it can be stored later"
            held.commit(receipt, packed)
        return Disclosed(packed, receipt, receipt.stored)

    patch.setattr(table, "disclose", disclose)


def _key_without(patch: Patch, fact: str) -> None:
    """The replay key, which is all that the ledger goes by, does not know that fact."""
    real = Table.charge_request

    def order(held: Table, request: Any, snapshot: str) -> Any:
        if fact == "analyst":
            return replace(real(held, replace(request, analyst=None), snapshot), analyst=request.analyst)
        return replace(real(held, request, "any"), snapshot=snapshot)

    patch.setattr(Table, "charge_request", order)


def replay_across_analysts(patch: Patch) -> None:
    _key_without(patch, "analyst")


def replay_across_snapshots(patch: Patch) -> None:
    _key_without(patch, "snapshot")


def source_not_looked_at_again(patch: Patch) -> None:
    patch.setattr(Engine, "_is_good", lambda engine, known: True)


def snapshot_of_the_charge_forgotten(patch: Patch) -> None:
    real = Engine.run
    patch.setattr(Engine, "run", lambda engine, asked, snapshot=None: real(engine, asked))


Mutant = tuple[Plant, Promise, str]  # the fault, the promise it breaks, and what the check says of it
ALWAYS: list[Mutant] = [
    (refund_on_error, promises.failures_stay_charged, "gave its charge back"),
    (check_then_act, promises.races_do_not_overspend, "overspent: 2 of 1"),
    (charge_after_compute, promises.nothing_is_read_before_its_charge, "with 0 of 1 charged"),
    (nan_passes_the_guard, promises.only_decimals_pay, "epsilon = nan (float) got: answered"),
    (true_is_one, promises.only_decimals_pay, "epsilon = True (bool) got: answered"),
    (epsilon_rounded_down, promises.charges_are_never_rounded_down, "epsilon charged is"),
    (delta_rounded_down, promises.charges_are_never_rounded_down, "delta charged is too small"),
    (shown_cost_rounded_down, promises.charges_are_never_rounded_down, "shown cost"),
    (sums_in_floats, promises.charges_are_never_rounded_down, "three tenths"),
    (private_keys_counted_in_the_cost, promises.charges_follow_no_row, "the charge differs on few rows"),
    (delta_from_the_number_of_rows, promises.charges_follow_no_row, "the charge differs on none rows"),
    (cheaper_quote, promises.quotes_are_what_is_charged, "quoted"),
    (dearer_charge, promises.quotes_are_what_is_charged, "but charged"),
    (
        third_attempt_for_nothing,
        promises.answers_are_computed_once,
        "failing question was computed 4 times under 1 charge",
    ),
    (fresh_noise_at_every_replay, promises.answers_are_computed_once, "answered question was computed 4 times"),
    (handed_out_before_it_is_stored, promises.answers_are_stored_before_they_are_seen, "although the disk is full"),
    (replay_across_analysts, promises.replays_are_their_analysts_own, "'ana': ('answered', 0, True"),
    (replay_across_snapshots, promises.answers_are_of_their_snapshot, "a stale answer"),
    (source_not_looked_at_again, promises.answers_are_of_their_snapshot, "a stale answer"),
    (snapshot_of_the_charge_forgotten, promises.answers_are_of_their_snapshot, "than the one charged for: answered"),
]
BY_CHANCE: list[Mutant] = [
    (fresh_noise_at_every_replay, promises.answers_are_followed_by_their_like, "answers to one charge"),
    (noise_drawn_again_when_handed_out, promises.answers_are_followed_by_their_like, "answers to one charge"),
    (noise_drawn_again_when_handed_out, promises.answers_are_stored_before_they_are_seen, "that is not stored"),
]
