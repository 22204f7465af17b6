"""Text that leaves: shown letter by letter wherever it lands, and run nowhere.

    visible   for terminals, pages, pictures and messages: what steers a reader's device is spelt out
    cell      for CSV and TSV: the same, and what a spreadsheet would take for a formula gets a ' before it
    markdown  for Markdown: the same, and no mark means anything
    in_json   for JSON that is looked at: hidden characters as JSON's own escapes, so that it reads back as it was

Keys come from rows and names from whoever asks, so both may hold escape sequences, marks that turn the direction of
writing, or formulas.
"""

import re
import unicodedata
from collections.abc import Container

_HIDDEN = re.compile(r"[^ -~\n]")  # what may need spelling out: everything beyond plain ASCII
_STEERING = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
_OPENERS = "=+-@"
_BEFORE = re.compile(r"[\s'\"`\u2018-\u201f\u00ab\u00bb\u2039\u203a\uff02\uff07]*")
_APART = re.compile("([;\t\r\n])")  # where a spreadsheet of another country or setting begins a new cell
_MARKS = re.compile(r"([\\`*\[\]<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")  # what means something to Markdown


def visible(text: str) -> str:
    r"""The text in one line, with control and format characters, line separators and lone surrogates as escapes.

    >>> visible("\x1b[31mred\n"), visible("abc\u202e123"), visible("naïve – 東京")
    ('\\x1b[31mred\\n', 'abc\\u202e123', 'naïve – 東京')
    """
    return visible_lines(text).replace("\n", r"\n")


def visible_lines(text: str) -> str:
    r"""The same for sentences of ours, whose line ends stay.

    >>> visible_lines("one\ntwo\x07")
    'one\ntwo\\x07'
    """
    return _HIDDEN.sub(_spelt_out, text)


def cell(text: str) -> str:
    """A text that a spreadsheet shows and never runs.  For texts only: a released number is written as it is.

    >>> cell("=1+1"), cell(' "@SUM(A1)'), cell("＝1+1"), cell("a;=1"), cell("Oslo")
    ("'=1+1", '\\' "@SUM(A1)', "'＝1+1", "a;'=1", 'Oslo')
    """
    parts = enumerate(_APART.split(text))  # every second part is a separator
    return visible("".join(part if index % 2 else _quoted(part) for index, part in parts))


def markdown(text: str) -> str:
    r"""The text as Markdown shows it, letter by letter.

    >>> print(markdown("a*b <i>|"))
    a\*b \<i\>\|
    """
    return _MARKS.sub(r"\\\1", visible(text))


def in_json(text: str) -> str:
    r"""JSON with every hidden character in its strings escaped; it reads back the same.

    >>> in_json('["a\u202eb\x7f"]')
    '["a\\u202eb\\u007f"]'
    """
    return _HIDDEN.sub(lambda match: _json_escape(match[0]) if is_hidden(match[0]) else match[0], text)


def unused_name(name: str, used: Container[str]) -> str:
    """The name, with _ appended until it is not among those used."""
    while name in used:
        name += "_"
    return name


def is_hidden(letter: str) -> bool:
    """Whether a character steers or separates instead of being seen: Unicode's Cc, Cf, Cs, Cn, Zl and Zp."""
    return unicodedata.category(letter) in _STEERING


def _spelt_out(match: re.Match[str]) -> str:
    letter = match[0]
    if not is_hidden(letter) or (letter in _JOINERS and _joins(match.string, match.start())):
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands between two letters of a script that may need it, as in Persian, Hindi and emoji."""
    sides = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    return all(side > "\x7f" and not is_hidden(side) for side in sides)


def _json_escape(letter: str) -> str:
    pair = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{pair[place : place + 4]}" for place in range(0, len(pair), 4))


def _quoted(part: str) -> str:
    """The part with a ' before it where its first letter, behind spaces and quotes, would open a formula."""
    seen = "".join(letter for letter in part if not is_hidden(letter))
    rest = _BEFORE.sub("", seen, count=1)
    opens = rest[:1] != "" and unicodedata.normalize("NFKC", rest[0])[:1] in _OPENERS
    return f"'{part}" if opens else part
