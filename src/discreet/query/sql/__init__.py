"""SQL → nodes: read with a foreign grammar, accepted node by node, refused with a place and a rewrite."""

from discreet.query.sql.head import NO_OPTIONS, Options
from discreet.query.sql.read import Parsed, parse_sql

__all__ = ["NO_OPTIONS", "Options", "Parsed", "parse_sql"]
