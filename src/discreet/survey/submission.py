"""Parse and check the body of one POST /report.

A submission has exactly one form, and all that it can hold is one randomised report for every question.  Whatever is
not of that form is refused with an HTTP status and a reason from a closed list; nothing of the body is repeated.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from discreet.survey.question import ASKED
from discreet.survey.spec import Survey

MALFORMED, TOO_LARGE, TOO_FAST = "malformed", "too large", "too fast"
USED, OTHER_DRAW, UNKNOWN_TOKEN, CLOSED = "used", "another draw", "unknown token", "closed"
STATUS = {MALFORMED: 400, TOO_LARGE: 413, TOO_FAST: 429, USED: 409, OTHER_DRAW: 409, UNKNOWN_TOKEN: 403, CLOSED: 403}
REASONS = tuple(STATUS)  # what rejected submissions are counted by

_KEYS = {"v", "survey", "token", "reports"}
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_SPARE_BYTES = 256  # of white space


class Rejected(Exception):
    """A submission that is not taken: one `reason` of REASONS, and the HTTP `status` that goes with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, STATUS[reason]


@dataclass(frozen=True)
class Submission:
    """A token and one randomised report for every question, in the order of the questions."""

    token: str
    reports: Mapping[str, bytes]

    @property
    def token_hash(self) -> bytes:
        """What is stored of the token."""
        return token_hash(self.token)

    @property
    def joined(self) -> bytes:
        """The reports one after the other; their lengths are those of the questions."""
        return b"".join(self.reports.values())


def submission_of(body: bytes, survey: Survey) -> Submission:
    """The submission that a body holds; Rejected if the body is anything else than the JSON of one.

    Duplicate keys, numbers other than a plain 1, a base64 text of another spelling and a report that no answer could
    have led to are refused like all that is no JSON.
    """
    document = _document(body)
    if not isinstance(document, dict) or set(document) != _KEYS:
        raise Rejected(MALFORMED)
    if type(document["v"]) is not int or document["v"] != 1 or document["survey"] != survey.digest:
        raise Rejected(MALFORMED)
    token, reports = document["token"], document["reports"]
    if not isinstance(token, str) or not _TOKEN.fullmatch(token) or not isinstance(reports, dict):
        raise Rejected(MALFORMED)
    if set(reports) != {question.name for question in survey.questions}:
        raise Rejected(MALFORMED)
    decoded = {question.name: _bytes_of(reports[question.name]) for question in survey.questions}
    if not all(question.is_report(decoded[question.name]) for question in survey.questions):
        raise Rejected(MALFORMED)
    if survey.mode == "sampled" and sum(report[0] == ASKED for report in decoded.values()) != 1:
        raise Rejected(MALFORMED)  # each person is asked exactly one question
    return Submission(token, decoded)


def body_of(survey: Survey, token: str, reports: Mapping[str, bytes]) -> bytes:
    """The body that holds these reports."""
    texts = {name: _text_of(report) for name, report in reports.items()}
    return json.dumps({"v": 1, "survey": survey.digest, "token": token, "reports": texts}).encode()


def largest_body(survey: Survey) -> int:
    """Bytes of the longest body that is read: every character of a name escaped, and some white space."""
    reports = {question.name: bytes(question.report_bytes) for question in survey.questions}
    escapes = sum(12 * len(name) for name in reports)
    return len(body_of(survey, "-" * 22, reports)) + escapes + _SPARE_BYTES


def token_hash(token: str) -> bytes:
    """The SHA-256 of a token."""
    return hashlib.sha256(token.encode()).digest()


def _document(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_int=_version,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        raise Rejected(MALFORMED) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Rejected(MALFORMED)
    return members


def _version(digits: str) -> int:
    """The only number in a submission."""
    if digits != "1":
        raise Rejected(MALFORMED)
    return 1


def _refuse(_: str) -> NoReturn:
    raise Rejected(MALFORMED)


def _bytes_of(text: object) -> bytes:
    """The bytes of a base64url text without padding, in its one canonical spelling."""
    try:
        if isinstance(text, str) and text.isascii():
            decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            if _text_of(decoded) == text:
                return decoded
    except ValueError:
        pass
    raise Rejected(MALFORMED)


def _text_of(report: bytes) -> str:
    return base64.urlsafe_b64encode(report).decode().rstrip("=")
