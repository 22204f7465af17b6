"""Total functions that PostgreSQL lacks, made in each prepared schema.  None of them raises, whatever it is given.

Ordinary arguments take a short way without a handler, which costs a subtransaction.
"""

_HEAD = "LANGUAGE plpgsql IMMUTABLE STRICT"
_BEYOND = "numeric_value_out_of_range"
_MOST = 2**63 - 1
_LAST_DAY = 105_000_000  # in microseconds still a BIGINT, about the year 289,000
_MOMENT = (  # year-month-day (BC) hour:minute:second.fraction zone
    r"^\s*([0-9]{1,6})-([0-9]{1,2})-([0-9]{1,2})( \(BC\))?"
    r"(?:[ T]+([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]+))?)?)?"
    r"\s*(Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?( \(BC\))?\s*$"
)


def statements() -> tuple[str, ...]:
    """Every function, in the schema that comes first in the search path for new objects."""
    return (*_doubles(), *_wholes(), *_texts(), _order())


def _function(signature: str, returns: str, body: str, declared: str = "") -> str:
    declare = f"DECLARE {declared} " if declared else ""
    parallel = "UNSAFE" if "EXCEPTION" in body else "SAFE"  # no handler starts in a parallel plan: it would raise
    head = f"CREATE FUNCTION discreet_{signature} RETURNS {returns} {_HEAD} PARALLEL {parallel}"
    return f"{head} AS $discreet$ {declare}BEGIN {body} END $discreet$"


def _guarded_operation(name: str, op: str, ordinary: str, beyond: str) -> str:
    """An operation on doubles: at once where it is ordinary, and what IEEE 754 says where PostgreSQL raises."""
    body = (
        f"IF {ordinary} THEN RETURN a {op} b; END IF; "
        f"BEGIN RETURN a {op} b; EXCEPTION WHEN {_BEYOND} THEN RETURN {beyond}; "
        f"WHEN division_by_zero THEN RETURN NULL; END;"
    )
    return _function(f"{name}(a float8, b float8)", "float8", body)


def _doubles() -> tuple[str, ...]:
    below = "abs(a) < 1e300::float8 AND abs(b) < 1e300::float8"
    middle = " AND ".join(f"abs({x}) BETWEEN 1e-150::float8 AND 1e150::float8" for x in "ab")
    infinite = "'Infinity'::float8"
    signed = f"CASE WHEN (a > 0) = (b > 0) THEN {infinite} ELSE -{infinite} END"
    remainder = (  # long division: every step is exact
        f"IF b = 0 OR abs(a) >= {infinite} OR b = 'NaN'::float8 THEN RETURN 'NaN'::float8; END IF; "
        f"IF r < y THEN RETURN a; END IF; "
        "WHILE t <= r - t LOOP t := t * 2; END LOOP; "
        "LOOP IF t <= r THEN r := r - t; END IF; EXIT WHEN t = y; t := t / 2; END LOOP; "
        "RETURN CASE WHEN a < 0 THEN -r ELSE r END;"
    )
    exponent = (
        f"IF a > 709.7 THEN RETURN {_exp_top()}; ELSIF a < -745 THEN RETURN {_exp_bottom()}; END IF; RETURN exp(a);"
    )
    return (
        _guarded_operation("plus", "+", below, f"CASE WHEN a > 0 THEN {infinite} ELSE -{infinite} END"),
        _guarded_operation("minus", "-", below, f"CASE WHEN a > b THEN {infinite} ELSE -{infinite} END"),
        _guarded_operation("times", "*", middle, f"CASE WHEN abs(a) > 1 THEN {signed} ELSE 0 END"),
        _guarded_operation("over", "/", middle, f"CASE WHEN abs(a) > abs(b) THEN {signed} ELSE 0 END"),
        _function(
            "remainder(a float8, b float8)",
            "float8",
            remainder,
            "r float8 := abs(a); y float8 := abs(b); t float8 := abs(b);",
        ),
        _function("exp(a float8)", "float8", exponent),
    )


def _exp_top() -> str:
    """exp(a) for a > 709.7, infinite beyond ln of the largest double."""
    return "CASE WHEN a = 'NaN'::float8 THEN a WHEN a > 709.782712893384 THEN 'Infinity'::float8 ELSE exp(a) END"


def _exp_bottom() -> str:
    """exp(a) for a < −745, 0 below half of the least double."""
    return "CASE WHEN a < -745.1332191019411 THEN 0 ELSE exp(a) END"


def _wholes() -> tuple[str, ...]:
    fits = "a >= -9223372036854775808::float8 AND a < 9223372036854775808::float8"
    exact = (  # from 2⁶³ on a double is a multiple of 2,048
        f"IF {fits} THEN RETURN a::bigint::numeric; END IF; "
        "IF abs(a) < 1e38::float8 THEN h := floor(a / 18446744073709551616::float8); "
        "l := (a - h * 18446744073709551616::float8) / 2048; "
        "RETURN h::bigint::numeric * 18446744073709551616 + l::bigint::numeric * 2048; END IF; RETURN NULL;"
    )
    over = f"EXCEPTION WHEN {_BEYOND} THEN RETURN NULL;"
    return (
        _function("exact(a float8)", "numeric", exact, "h float8; l float8;"),
        _function("whole(a float8)", "bigint", f"IF {fits} THEN RETURN a::bigint; END IF; RETURN NULL;"),
        *(
            _function(
                f"{name}(a bigint, b bigint)",
                "bigint",
                f"IF abs(a::float8) < 1e{digits} AND abs(b::float8) < 1e{digits} THEN RETURN a {op} b; END IF; "
                f"BEGIN RETURN a {op} b; {over} END;",
            )
            for name, op, digits in (("difference", "-", 18), ("product", "*", 9))
        ),
    )


def _texts() -> tuple[str, ...]:
    """Functions that read numbers and moments from texts as the other engine does; other texts give NULL."""
    number = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
    double = (
        "s := lower(btrim(a, E' \\t\\n\\r\\f\\v')); "
        "i := CASE WHEN left(s, 1) = '-' THEN '-Infinity' ELSE 'Infinity' END; "
        "IF s ~ '^[+-]?(inf|infinity)$' THEN RETURN i; END IF; "
        "IF s ~ '^[+-]?nan$' THEN RETURN 'NaN'::float8; END IF; "
        f"IF s !~ '{number}' THEN RETURN NULL; END IF; "
        f"BEGIN RETURN s::float8; EXCEPTION WHEN {_BEYOND} OR invalid_text_representation THEN "
        "IF s ~ 'e-' OR s !~ '[1-9].*(e|$)' THEN RETURN 0; END IF; "
        "RETURN i; END;"
    )
    integer = "IF a ~ '^[+-]?[0-9]{1,18}$' THEN RETURN a::bigint; END IF; RETURN NULL;"
    huge = (  # numeric takes at most 131,072 digits before the point
        f"IF s !~ '{number}' OR length(s) > 400 THEN RETURN NULL; END IF; "
        f"BEGIN n := round(s::numeric); EXCEPTION WHEN {_BEYOND} OR invalid_text_representation THEN RETURN NULL; END; "
        "IF abs(n) < 1e38 THEN RETURN n; END IF; RETURN NULL;"
    )
    days = (  # the calendar's own arithmetic, for every year
        "l := CASE WHEN m = 2 THEN 28 + ((y % 4 = 0 AND y % 100 <> 0) OR y % 400 = 0)::integer "
        "WHEN m IN (4, 6, 9, 11) THEN 30 ELSE 31 END; "
        "IF m < 1 OR m > 12 OR d < 1 OR d > l THEN RETURN NULL; END IF; "
        "n := CASE WHEN m <= 2 THEN y - 1 ELSE y END; e := floor(n / 400.0)::bigint; o := n - e * 400; "
        "RETURN e * 146097 + o * 365 + o / 4 - o / 100 "
        "+ (153 * (m + CASE WHEN m > 2 THEN -3 ELSE 9 END) + 2) / 5 + d - 1 - 719468;"
    )
    moment = (
        "s := btrim(a); "
        f"IF lower(s) IN ('infinity', 'inf') THEN RETURN {_MOST}; END IF; "
        f"IF lower(s) IN ('-infinity', '-inf') THEN RETURN -{_MOST}; END IF; "
        f"p := regexp_match(s, '{_MOMENT}'); IF p IS NULL THEN RETURN NULL; END IF; "
        "y := p[1]::bigint; IF p[4] IS NOT NULL OR p[10] IS NOT NULL THEN y := 1 - y; END IF; "
        "d := discreet_days(y, p[2]::bigint, p[3]::bigint); "
        f"IF d IS NULL OR abs(d) > {_LAST_DAY} THEN RETURN NULL; END IF; "
        "IF p[5]::bigint > 24 OR p[6]::bigint > 59 OR p[7]::bigint > 59 THEN RETURN NULL; END IF; "
        "IF p[5]::bigint = 24 AND (p[6]::bigint > 0 OR coalesce(p[7]::bigint, 0) > 0) THEN RETURN NULL; END IF; "
        "z := CASE WHEN p[9] ~ '^[+-]' THEN (CASE WHEN left(p[9], 1) = '-' THEN -1 ELSE 1 END) "
        "* (substr(p[9], 2, 2)::bigint * 3600 "
        "+ coalesce(nullif(right(replace(p[9], ':', ''), -3), '')::bigint, 0) * 60) ELSE 0 END; "
        "RETURN (d * 86400 + coalesce(p[5]::bigint, 0) * 3600 + coalesce(p[6]::bigint, 0) * 60 "
        "+ coalesce(p[7]::bigint, 0) - z) * 1000000 + coalesce(rpad(left(p[8], 6), 6, '0')::bigint, 0);"
    )
    second = (
        f"m := discreet_moment(a); IF abs(m) = {_MOST} THEN RETURN NULL; END IF; RETURN floor(m / 1000000.0)::bigint;"
    )
    return (
        _function("double(a text)", "float8", double, "s text; i float8;"),
        _function("integer(a text)", "bigint", integer),
        _function("huge(a text)", "numeric", huge, "s text := btrim(a, E' \\t\\n\\r\\f\\v'); n numeric;"),
        _function("days(y bigint, m bigint, d bigint)", "bigint", days, "l bigint; n bigint; e bigint; o bigint;"),
        _function("moment(a text)", "bigint", moment, "s text; p text[]; y bigint; d bigint; z bigint;"),
        _function("second(a text)", "bigint", second, "m bigint;"),
        _function("day(a text)", "bigint", "RETURN floor(discreet_second(a) / 86400.0)::bigint;"),
    )


def _order() -> str:
    turned = " || ".join(f"substr(h, {place}, 2)" for place in range(31, 16, -2))
    return _function("order(a text)", "text", f"RETURN {turned};", "h text := md5(a);")
