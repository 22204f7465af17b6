"""Read public facts from TOML strictly, list what is missing, and write a first file with comments.

No function here reads a row of the private table; `header.names` reads the first line of a CSV and not one byte more.
"""

from discreet.metadata.gaps import Gap, gaps
from discreet.metadata.read import Metadata, load, parse
from discreet.metadata.write import dumps

__all__ = ["Gap", "Metadata", "dumps", "gaps", "load", "parse"]
