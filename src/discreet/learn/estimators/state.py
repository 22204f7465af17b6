"""What travels when an estimator is pickled: its parameters, the bytes of its model's file, and never a ledger."""

from typing import Any

from discreet.errors import bad
from discreet.learn.saved import file

_FIT, _PROMISE, _LEDGER = "fit_", "privacy_", "ledger"


class LeftBehind:
    """In place of a ledger that was not pickled: without it a fit elsewhere would be charged nowhere, in silence."""

    def __repr__(self) -> str:
        return "<ledger left behind>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeftBehind)

    def __hash__(self) -> int:
        return hash(LeftBehind)


def stored_state(state: dict[str, Any]) -> dict[str, Any]:
    """The state to pickle."""
    fit = state.pop(_FIT, None)
    state.pop(_PROMISE, None)
    if state.get(_LEDGER) is not None:
        state[_LEDGER] = LeftBehind()
    return state if fit is None else {**state, _FIT: file.to_bytes(fit)}


def restored(state: dict[str, Any]) -> dict[str, Any]:
    """The state with its model read."""
    if _FIT not in state:
        return state
    fit = file.from_bytes(state[_FIT])
    return {**state, _FIT: fit, _PROMISE: fit.privacy}


def require_ledger(ledger: Any) -> None:
    """Refuses a fit whose ledger was left behind."""
    if isinstance(ledger, LeftBehind):
        rule = "must be given again: it stays behind when an estimator is pickled or sent to another process"
        raise bad("ledger", rule, ledger, "Write set_params(ledger=people), or search with n_jobs=1.")
