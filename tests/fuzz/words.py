"""What statements are put together from: names of the table, awkward constants, and what the language does not have."""

TEXTS = ("region", "name", "note")
NUMBERS = ("code", "exact", "serial", "amount", "free", "age")
BOUNDED = ("code", "amount", "age")
TIMES = ("day", "born", "at")
PARTS = ("year", "quarter", "month", "week", "day", "isodow", "hour", "minute", "second")
TYPES = ("BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")
NASTY_NUMBERS = (
    *("0", "-1", "0.0", "-0.0", "1e308", "-1e308", "1e-300", "1e400", "9223372036854775807", "-9223372036854775808"),
    *("9223372036854775808", "4611686018427387904", "170141183460469231731687303715884105728", "0.1", "1e15", "17"),
    *("99999999999999999999999999999999999999999999999999999999999999999999999999999999", "00012", ".5", "1."),
)
NASTY_TEXTS = (
    *("''", "'north'", "'%'", "'_'", "'a''b'", "'\\'", "'--'", "'; DROP TABLE prepared; --'", "'/*'", "'zq%'", "'%zq'"),
    *("'\u0000'", "'\ud7ff'", "'ß'", "'İ'", "'👍'", "'e\u0301'", "'1e5'", "'2020-02-30'", "'NaN'", "'infinity'"),
    *("'{0}'", "'%s'", "'\\x41'", "E'\\n'", "$$x$$", "x'41'", "N'a'", "'" + "a" * 300 + "'"),
)
PLAIN_TEXTS = ("'south'", "''", "'zq%'", "'%a%'", "'1e5'", "'NaN'", "'a''b'", "'; DROP TABLE prepared; --'")
NASTY_TIMES = (
    *("DATE '2020-02-29'", "DATE '0001-01-01'", "DATE '9999-12-31'", "TIMESTAMP '2020-01-01 00:00:00'"),
    *("TIMESTAMP '1969-12-31 23:59:59.999999'", "DATE '2020-02-30'", "DATE 'infinity'", "DATE '2020-1-1'"),
)
BEYOND = (  # {0} a number, {1} a text, {2} a time, {3} a condition
    *("regexp_matches({1}, '(a+)+$')", "substring({1}, 1, 3)", "{1} || {1}", "repeat({1}, 1000000)", "{1}[1]"),
    *("concat({1}, 'x')", "error({1})", "CAST({1} AS INTEGER[])", "CAST({1} AS JSON)", "json_extract({1}, '$.a')"),
    *("strptime({1}, '%Y')", "hash({1})", "md5({1})", "ascii({1})", "chr({0})", "{0} // 0", "{0} << 70", "{0} ^ 2"),
    *("random()", "now()", "current_date", "getenv('HOME')", "nextval('s')", "(SELECT max(name) FROM people)"),
    *("(SELECT 1)", "EXISTS (SELECT 1 FROM people)", "{1} SIMILAR TO 'a'", "{1} GLOB '*'", "{1} ~ 'a'", "{0}::DECIMAL"),
    *("CAST({1} AS UUID)", "CAST({1} AS BLOB)", "list_value({0})", "[{0}]", "{{'a': {0}}}", "struct_pack(a := {0})"),
    *(
        "row_number() OVER ()",
        "lag({0}) OVER (ORDER BY {0})",
        "{0} IN (SELECT code FROM people)",
        "date_trunc('x', {2})",
    ),
    *("{2} + INTERVAL 1 DAY", "age({2})", "epoch({2})", "strftime({2}, '%Y')", "{2} - {2}", "dow({2})", "?", "$1"),
    *(
        "power({0}, 2)",
        "log({0})",
        "sin({0})",
        "gamma({0})",
        "factorial({0})",
        "x -> x + 1",
        "COLUMNS('*')",
        "people.*",
    ),
    *("other.code", "hidden", "person", "discreet_unit", "discreet_rank", "c0", "rowid", "{0} & 1", "{0}!", "@{0}"),
    *("CASE {1} WHEN {0} THEN {2} END", "coalesce({0}, {1})", "greatest({1}, {0})", "{1} + 1", "{0} LIKE 'a'", "-{1}"),
    *(
        "abs({1})",
        "lower({0})",
        "month({0})",
        "clamp({0}, 9, 1)",
        "clamp({1}, 0, 1)",
        "length({2})",
        "NOT {0}",
        "{1} IS {0}",
    ),
    *("sqrt()", "round({0}, 2)", "least()", "trim({1}, 'z')", "{0} BETWEEN {1} AND {2}", "if({3})", "{1} IN ({1})"),
)
TABLES = (
    *(
        "people p JOIN people q ON p.code = q.code",
        "people, people",
        "(SELECT * FROM people)",
        "prepared",
        "'people.csv'",
    ),
    *(
        "read_csv('people.csv')",
        "discreet_secret",
        "duckdb_tables()",
        "people TABLESAMPLE 5%",
        "people CROSS JOIN range(9)",
    ),
    *(
        "(VALUES (1)) t",
        "main.people",
        "query('SELECT 1')",
        "people NATURAL JOIN people",
        "glob('*')",
        "sqlite_master",
        '""',
    ),
)
WHOLE = (
    *(
        "SELECT * FROM people",
        "DROP TABLE people",
        "COPY people TO 'out.csv'",
        "ATTACH 'people.prepared'",
        "SUMMARIZE people",
    ),
    *(
        "WITH p AS (SELECT * FROM people) SELECT COUNT(*) FROM p",
        "DESCRIBE people",
        "PRAGMA database_list",
        "",
        " ",
        ";",
    ),
    *(
        "SELECT name FROM people LIMIT 1",
        "SELECT DISTINCT note FROM people",
        "SELECT COUNT(*) FROM people UNION SELECT 1",
    ),
    *(
        "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people",
        "EXPLAIN SELECT COUNT(*) FROM people",
        "\x00",
        "\ufeff",
    ),
    *(
        "SET memory_limit='1GB'",
        "INSERT INTO people VALUES (1)",
        "SELECT list(name) FROM people",
        "SELECT max(name) FROM people",
    ),
    *(
        "SELECT arg_max(name, code) FROM people",
        "SELECT any_value(note) FROM people",
        "SELECT string_agg(name) FROM people",
    ),
    *(
        "SELECT COUNT(*) FROM people WHERE " + "(" * 3000 + "1=1" + ")" * 3000,
        "SELECT " + "NOT " * 3500 + "TRUE FROM people",
    ),
    *(
        "SELECT COUNT(*) FROM people WHERE " + " AND ".join(["age > 1"] * 900),
        "SELECT COUNT(*) FROM people -- " + "x" * 70_000,
    ),
)
PIECES = (
    "'",
    '"',
    "(",
    ")",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "\x00",
    "\\",
    "%",
    "$",
    "::",
    "NULL",
    "ε",
    "\u202e",
    "0x1F",
    " ",
)
_COUNT = "SELECT COUNT(*) AS n FROM people "


def _nested(pattern: str, inside: str, times: int) -> str:
    for _ in range(times):
        inside = pattern.replace("{}", inside)
    return inside


HEAVY = (  # long, deep, or growing when written out: what a slow reader would be slow on
    *(_COUNT + "WHERE " + letter * 60_000 for letter in "([-~'"),
    *(letter * 60_000 for letter in ("'", '"', "$", ";", "*")),
    *(piece * 20_000 for piece in ("a.", "/*", "--\n", "👍")),
    "SELECT " + "," * 60_000,
    "SELECT " * 9_000,
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 3_000 + "people" + ")" * 3_000,
    "SELECT COUNT(*) FROM people " + "JOIN people " * 5_000,
    " UNION ".join(["SELECT 1"] * 4_000),
    "WITH " + ",".join(f"a{i} AS (SELECT 1)" for i in range(3_000)) + " SELECT COUNT(*) FROM people",
    "SELECT " + ", ".join(f"COUNT(*) AS n{i}" for i in range(3_000)) + " FROM people",
    "SELECT BIN(free, " + ", ".join(map(str, range(9_000))) + ") AS k, COUNT(*) AS n FROM people GROUP BY k",
    _COUNT + "WHERE age IN (" + ",".join(map(str, range(1_900))) + ") AND free > 'a'",
    _COUNT + "WHERE note LIKE '" + "%a" * 20_000 + "'",
    _COUNT + "WHERE " + "+".join(["age"] * 1_500) + " > 'a'",
    _COUNT + "WHERE " + "*".join(["9e30"] * 300) + " > age",
    _COUNT + "WHERE age > " + "9" * 60_000,
    _COUNT + "WHERE age > 1e-999999999",
    _COUNT + "HAVING " + " AND ".join(["n > 1"] * 900) + " AND m > 1",
    _COUNT + "WHERE " + "age" + "::BIGINT" * 5_000 + " > 'a'",
    _COUNT + "WHERE " + _nested("abs({})", "age", 22) + " > 'a'",
    _COUNT + "WHERE " + _nested("least({}, {})", "age", 10) + " > 'a'",
    _COUNT + "WHERE " + _nested("({} * {})", "99", 10) + " > note",
    _COUNT + "WHERE " + _nested("CASE WHEN {} > 1 THEN {} ELSE 2 END", "age", 8) + " > 'a'",
    _COUNT + "WHERE " + _nested("CASE WHEN {} BETWEEN 0 AND 1 THEN 1 END", "age", 20) + " > 'a'",
    _COUNT + "WHERE " + _nested("CASE {} WHEN 1 THEN 2 WHEN 2 THEN 1 END", "age", 20) + " > 'a'",
)
