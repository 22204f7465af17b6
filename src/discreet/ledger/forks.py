"""Prepare for forks: SQLite's connections and locks do not survive a fork, so none is open during one.

Before a fork a member may wait for its threads and close its files; afterwards parent and child each open their own.
"""

import os
import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Member = TypeVar("Member")


class Forkable(Protocol):
    """Something with files that must not be open in two processes at once."""

    def before_fork(self) -> None: ...

    def after_fork_in_parent(self) -> None: ...

    def after_fork_in_child(self) -> None: ...


_members: "weakref.WeakSet[Any]" = weakref.WeakSet()
_in_children: "weakref.WeakKeyDictionary[Any, Callable[[Any], None]]" = weakref.WeakKeyDictionary()
_still: list[Forkable] = []


def watch(member: Forkable) -> None:
    """Have the three methods called around every fork, for as long as the member lives."""
    _members.add(member)


def call_in_child(member: Member, action: Callable[[Member], None]) -> None:
    """Have the action called with the member in every forked child, for as long as the member lives."""
    _in_children[member] = action


def _before() -> None:
    _still[:] = list(_members)
    for member in _still:
        member.before_fork()


def _in_parent() -> None:
    while _still:
        _still.pop().after_fork_in_parent()


def _in_child() -> None:
    while _still:
        _still.pop().after_fork_in_child()
    for member, action in list(_in_children.items()):
        action(member)


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
