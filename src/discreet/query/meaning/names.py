"""Names as SQL spells them, and the name that a column of the answer gets without AS."""

import re
from fractions import Fraction

from discreet.inert import visible
from discreet.query import nodes
from discreet.query.nodes import Aggregate, Col, Expr

_PLAIN = re.compile(r"[^\W\d]\w*")
_TAKEN = frozenset(  # words that SQL reads as its own where a name should stand
    """
    all alter and as between by case create cross cube current_catalog current_date current_time current_timestamp
    current_user distinct drop else end except false fetch for force from glob grant group having ilike in inner insert
    install intersect into is join lateral like limit localtime localtimestamp lock not notnull null offset on only or
    order outer partitioned_by positional qualify regexp returning revoke rlike rollback rollup select session_user
    summarize tablesample then true uncache union using when where window with xor
    """.split()  # noqa: SIM905
)


def in_sql(name: str) -> str:
    """The name as a question must spell it: in double quotes unless it is a plain word.

    >>> in_sql("age"), in_sql("Größe (cm)"), in_sql("order")
    ('age', '"Größe (cm)"', '"order"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _TAKEN:
        return name
    return '"' + name.replace('"', '""') + '"'


def unprintable(name: str) -> bool:
    """Whether a name holds something that is not seen: a control character, a line break, half a character.

    >>> unprintable("n"), unprintable("a\\x1b[2Jb"), unprintable("\\ud800")
    (False, True, True)
    """
    return visible(name) != name


def text_in_sql(text: str) -> str:
    """The text as a question must spell it: in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def default_name(found: Aggregate | nodes.Bins | Expr) -> str:
    """The name without AS: the aggregate and its columns, such as count, sum_age or corr_age_income."""
    match found:
        case nodes.CountRows():
            return "count"
        case nodes.Quantile(item, q):
            return _joined("median" if q == Fraction(1, 2) else "quantile", item)
        case nodes.Extreme(item, end):
            return _joined(end.value, item)
        case nodes.Variance(item, less) | nodes.Stddev(item, less):
            stem = "variance" if isinstance(found, nodes.Variance) else "stddev"
            return _joined(stem if less else f"{stem}_pop", item)
        case nodes.Covariance(x, y, less):
            return _joined("covar" if less else "covar_pop", x, y)
        case nodes.Correlation(x, y):
            return _joined("corr", x, y)
        case nodes.Top(item, k):
            return _joined("mode" if k == 1 else "top", item)
        case nodes.Count() | nodes.CountDistinct() | nodes.Sum() | nodes.Mean() | nodes.Bins():
            stems = {
                nodes.Count: "count",
                nodes.CountDistinct: "count_distinct",
                nodes.Sum: "sum",
                nodes.Mean: "avg",
                nodes.Bins: "bin",
            }
            return _joined(stems[type(found)], found.item)
        case Col(name):
            return name
        case nodes.DatePart(part, item):
            return _joined(part, item)
        case _:
            return "key"


def respelt(name: str, short: str) -> str:
    """The name in the spelling of `short` where it differs from it in upper and lower case alone.

    A number behind a name that was taken stays.

    >>> respelt("sum_Age", "sum_age"), respelt("sum_AGE_2", "sum_age"), respelt("Total", "sum_age")
    ('sum_age', 'sum_age_2', 'Total')
    """
    start, rest = name[: len(short)], name[len(short) :]
    return short + rest if start.casefold() == short.casefold() and re.fullmatch(r"(_\d+)?", rest) else name


def _joined(stem: str, *items: Expr) -> str:
    bare = [item.parts[0] if isinstance(item, nodes.Call) and item.name == "clamp" else item for item in items]
    columns = [re.sub(r"\W", "_", item.name) for item in bare if isinstance(item, Col)]
    return "_".join([stem, *columns])
