"""What a topic hands back: tables for people, figures for programs."""

import os
import platform
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows of text, and a sentence that says what the numbers mean."""

    title: str
    meaning: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """A topic's tables, its figures as plain JSON values, and what could not be measured."""

    tables: tuple[Table, ...]
    figures: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aim:
    """A figure to reach: at least `at_least`, or at most `at_most`."""

    at_least: float | None = None
    at_most: float | None = None

    def met(self, *figures: float) -> bool:
        """Whether every figure reaches it."""
        low = self.at_least if self.at_least is not None else float("-inf")
        high = self.at_most if self.at_most is not None else float("inf")
        return all(low <= figure <= high for figure in figures)

    def text(self, unit: str = "") -> str:
        """≥ 100 or ≤ 3, with its unit."""
        return f"≥ {self.at_least:g}{unit}" if self.at_least is not None else f"≤ {self.at_most:g}{unit}"


def verdict(aim: Aim | None, *figures: float) -> str:
    """yes, no, or nothing where there is no aim."""
    return "" if aim is None else "yes" if aim.met(*figures) else "no"


def machine() -> dict[str, Any]:
    """What a reader needs to judge the figures: processor, cores, load, Python."""
    return {
        "processor": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": ".".join(map(str, sys.version_info[:3])),
    }
