"""The table, and the command line to compare with."""

from cli.conftest import people, told

__all__ = ["people", "told"]
