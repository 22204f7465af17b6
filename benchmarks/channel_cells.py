"""Single cells, each put into a table through the real prepare: which refuse the source, which change its rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.channel_tables import folder, limits, metadata
from benchmarks.report import Table

ROWS = 50  # of a table that holds one such cell, each of a person of its own
KEPT = f"{ROWS} rows"
CONTENTS: dict[str, bytes] = {
    "é in Latin-1": b"caf\xe9",
    "UTF-16 mark": b"\xff\xfe",
    "lone continuation": b"\x80",
    "overlong": b"\xc0\xaf",
    "surrogate": b"\xed\xa0\x80",
    "beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "cut short": b"\xf0\x9f\x98",
    "CR without quotes": b"a\rb",
    "CR in quotes": b'"a\rb"',
    "LF in quotes": b'"a\nb"',
    "LF without quotes": b"a\nb",
    "quote never closed": b'"abc',
    "quote inside": b'ab"c',
    "text behind a quote": b'"a"b',
    "doubled quotes": b'"a""b"',
    "empty": b"",
    "NUL": b"a\0b",
    "emoji": "😀".encode(),
    "byte order mark": b"\xef\xbb\xbfx",
    "U+2028": "a\u2028b".encode(),
    "U+0085": "a\u0085b".encode(),
    "form feed": b"a\x0cb",
    "Ctrl-Z": b"\x1a",
    "escape": b"\x1b[31m",
    "backslash": b'\\"',
    "one comma": b"a,b",
    "100 commas": b"," * 100,
    "semicolon": b"a;b",
    "tab": b"a\tb",
    "pipe": b"a|b",
    "formula": b"=1+1",
    "NaN": b"NaN",
    "-inf": b"-inf",
    "1e400": b"1e400",
    "5,000 digits": b"9" * 5000,
    "10⁴ accents": ("e" + "\u0301" * 10**4).encode(),
    "1 MiB": b"x" * 2**20,
    "70 MiB": b"x" * (70 * 2**20),
    "10⁴ lines in quotes": b'"' + b"x\n" * 10**4 + b'"',
}


def refused(contents: dict[str, bytes]) -> Table:
    """What becomes of a CSV and of a Parquet file with each content in one text cell."""
    csv, parquet = outcomes("csv", write_csv, contents), outcomes("parquet", write_parquet, contents)
    odd = [name for name in contents if {csv[name], parquet[name]} != {KEPT}]
    fine = ", ".join(name for name in contents if name not in odd)
    meaning = f"{len(contents)} contents, each in one cell of {ROWS} rows. All rows are kept with: {fine}."
    rows = tuple((name, csv[name], parquet[name]) for name in odd)
    return Table("Single cells that refuse a source or change its rows", meaning, ("cell", "CSV", "Parquet"), rows)


def outcomes(ending: str, write: Callable[[Path, bytes], object], contents: dict[str, bytes]) -> dict[str, str]:
    """What preparing makes of the source with each content: the rows it keeps, or its refusal."""
    from discreet.dataset import open_dataset

    with folder() as home:
        toml = home / "people.toml"
        toml.write_text(metadata(ending=ending))
        replies = {}
        with open_dataset(toml, limits=limits(2**30)) as dataset:
            for name, content in contents.items():
                write(toml.with_suffix(f".{ending}"), content)
                replies[name] = _outcome(dataset)
    return replies


def _outcome(dataset: Any) -> str:
    from discreet.errors import DiscreetError

    try:
        dataset.prepare()
    except DiscreetError as error:
        return f"refused: {error.what}"
    (columns,) = dataset.table.engine.run(["SELECT count(*) AS p0 FROM prepared"])
    return f"{int(columns['p0'][0])} rows"


def write_csv(path: Path, content: bytes) -> None:
    """The CSV with that cell, written as it is."""
    lines = [b"person_id,region,age,note", *(b"%d,north,30,%s" % (i, _note(i, content)) for i in range(ROWS))]
    path.write_bytes(b"\n".join(lines) + b"\n")


def write_parquet(path: Path, content: bytes) -> None:
    """The same as a Parquet file, by a writer that checks nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    notes = pa.array([_note(i, content) for i in range(ROWS)], type=pa.binary())
    text = pa.Array.from_buffers(pa.string(), ROWS, notes.buffers())
    whole = {"person_id": range(ROWS), "region": ["north"] * ROWS, "age": [30] * ROWS, "note": text}
    pq.write_table(pa.table(whole), path)


def _note(row: int, content: bytes) -> bytes:
    return content if row == ROWS // 2 else b"note %d" % row
