"""Names as SQL spells them, and the default names of the answer's columns."""

import re
from fractions import Fraction

from discreet.inert import visible
from discreet.query import nodes
from discreet.query.nodes import Aggregate, Col, Expr

_STEMS = dict(zip((nodes.Count, nodes.CountDistinct, nodes.Sum, nodes.Mean, nodes.Bins),
                  ("count", "count_distinct", "sum", "avg", "bin"), strict=True))  # fmt: skip
_PLAIN = re.compile(r"[^\W\d]\w*")
_KEYWORDS = frozenset(  # words that SQL does not read as names
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
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def unprintable(name: str) -> bool:
    """Whether a name holds a control character, a line break or half a character.

    >>> unprintable("n"), unprintable("a\\x1b[2Jb"), unprintable("\\ud800")
    (False, True, True)
    """
    return visible(name) != name


def text_in_sql(text: str) -> str:
    """The text as an SQL literal: in single quotes, with those inside doubled."""
    return "'" + text.replace("'", "''") + "'"


def default_name(node: Aggregate | nodes.Bins | Expr) -> str:
    """The name of a column without AS: the aggregate and its columns, such as count, sum_age or corr_age_income."""
    match node:
        case nodes.CountRows():
            return "count"
        case nodes.Quantile(item, q):
            return _name("median" if q == Fraction(1, 2) else "quantile", item)
        case nodes.Extreme(item, end):
            return _name(end.value, item)
        case nodes.Variance(item, less) | nodes.Stddev(item, less):
            stem = "variance" if isinstance(node, nodes.Variance) else "stddev"
            return _name(stem if less else f"{stem}_pop", item)
        case nodes.Covariance(x, y, less):
            return _name("covar" if less else "covar_pop", x, y)
        case nodes.Correlation(x, y):
            return _name("corr", x, y)
        case nodes.Top(item, k):
            return _name("mode" if k == 1 else "top", item)
        case nodes.Count() | nodes.CountDistinct() | nodes.Sum() | nodes.Mean() | nodes.Bins():
            return _name(_STEMS[type(node)], node.item)
        case Col(name):
            return name
        case nodes.DatePart(part, item):
            return _name(part, item)
        case _:
            return "key"


def respelt(name: str, default: str) -> str:
    """The name, spelt as `default` is if they differ in upper and lower case alone; a number behind it stays.

    >>> respelt("sum_Age", "sum_age"), respelt("sum_AGE_2", "sum_age"), respelt("Total", "sum_age")
    ('sum_age', 'sum_age_2', 'Total')
    """
    start, suffix = name[: len(default)], name[len(default) :]
    return default + suffix if start.casefold() == default.casefold() and re.fullmatch(r"(_\d+)?", suffix) else name


def _name(stem: str, *items: Expr) -> str:
    bare = [item.parts[0] if isinstance(item, nodes.Call) and item.name == "clamp" else item for item in items]
    columns = [re.sub(r"\W", "_", item.name) for item in bare if isinstance(item, Col)]
    return "_".join([stem, *columns])
