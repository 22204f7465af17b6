"""The Python form of a question: the same nodes that SQL gives."""

from discreet.query.form.frame import Frame

__all__ = ["Frame"]
