"""TOML ↔ public facts: reading strictly, naming gaps, and writing a first file that teaches.

No function here reads a row of the private table; `header.names` reads the first line of a CSV and not one byte more.
"""

from discreet.metadata.gaps import Gap, gaps
from discreet.metadata.read import Metadata, load, parse
from discreet.metadata.write import dumps

__all__ = ["Gap", "Metadata", "dumps", "gaps", "load", "parse"]
