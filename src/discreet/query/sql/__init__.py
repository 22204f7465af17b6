"""SQL → nodes: read with a foreign grammar, accepted node by node, refused with a place and a rewrite."""

from discreet.query.sql.read import Parsed, Terms, parsed

__all__ = ["Parsed", "Terms", "parsed"]
