"""Predict with a model's file, describe it and verify it.  Reads no private table and charges nothing."""

import csv
import io
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import bad
from discreet.fix import Fix
from discreet.inert import cell, visible
from discreet.operation.dataset import fixes_about, require_metadata_file
from discreet.operation.reply import Reply, envelope
from discreet.outputs import is_same_file

if TYPE_CHECKING:
    from discreet.learn.fit import Fit
    from discreet.learn.saved.verification import Verification

NET = b"discreet net "  # begins the file of a net


@dataclass(frozen=True)
class ModelCall:
    """The file of a model; the rows to predict; the dataset whose ledger holds its charge; the file to write."""

    model_file: Path
    rows_file: Path | None = None
    charged_to: Path | None = None
    output: Path | None = None


@dataclass(frozen=True)
class Predictions:
    """A header and a row for each row: its number, its prediction and, of classes, their probabilities."""

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    unread: dict[str, int] = field(default_factory=dict)  # by feature, the cells that were empty or could not be read

    def unread_words(self) -> str:
        """What could not be read, in a sentence; empty if all could."""
        if not self.unread:
            return ""
        listed = ", ".join(f"{count:,} of {visible(name)}" for name, count in self.unread.items())
        return f"Cells that are empty, or no number or public value of their column: {listed}. They count as missing."

    def to_csv(self) -> bytes:
        """A CSV that no spreadsheet runs."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(cell, self.header))
        writer.writerows([cell(part) if isinstance(part, str) else part for part in row] for row in self.rows)
        return text.getvalue().encode()


def predict(call: ModelCall) -> Reply[Predictions]:
    """The predictions of a model for rows that the caller has; refused where the output is one of the two files."""
    from discreet.learn.input.file_rows import read_rows, unread_cells
    from discreet.learn.saved import file

    if call.rows_file is None:
        raise bad("rows", "must be given", None, "Give a CSV with the columns of the features.")
    require_other(call)
    fit = file.read(call.model_file)
    subject = fit.plan.subject
    encoded = subject.encoded(read_rows(call.rows_file, subject))
    unread = unread_cells(subject, encoded)
    predictions = replace(_predictions(fit, fit.scores(encoded)), unread=unread)
    rows = [dict(zip(predictions.header, row, strict=True)) for row in predictions.rows]
    data = _data(
        call, fit, "A prediction tells of people with the same features, not of one.", rows=rows, unread=unread
    )
    return Reply(data, predictions, next=(Fix("Next:", "learn card", {"model_file": str(call.model_file)}),))


def read_model(path: Path) -> Any:
    """The fit or the table net in a file."""
    from discreet.learn.saved import file

    stored = file.read_bytes(path)
    if not stored.startswith(NET):
        return file.from_bytes(stored)
    require_torch()
    from discreet.deep.table.saved import net_of

    return net_of(stored)


def require_torch() -> None:
    """Refuses where the extra is not installed."""
    if find_spec("torch") is None:
        raise bad("net", "needs the package torch", "no torch here", "Install discreet[deep].")


def require_other(call: ModelCall) -> None:
    """Refuses an output that is one of the inputs."""
    for given in (call.model_file, call.rows_file):
        if call.output is not None and given is not None and is_same_file(call.output, given):
            raise bad("output", "must not replace an input", str(call.output), "Give another name after -o.")


def card(call: ModelCall) -> Reply[str]:
    """The card of a model: data for programs, Markdown for people."""
    from discreet.learn.saved import file
    from discreet.learn.saved.card import card as card_of

    require_other(call)
    fit = file.read(call.model_file)
    return Reply(_data(call, fit, card=card_of(fit, "json")), card_of(fit))


def verify(call: ModelCall) -> "Reply[Verification]":
    """Recompute what the file states; raises IntegrityError for the first statement that does not hold."""
    from discreet.learn.saved import file
    from discreet.learn.saved.verification import verify as verify_file

    require_other(call)
    if call.charged_to is None:
        report = verify_file(call.model_file)
    else:
        require_metadata_file(call.charged_to)
        with fixes_about(call.charged_to):
            report = verify_file(call.model_file, call.charged_to)
    caveats = [] if call.charged_to is not None else ["Only the ledger can say that these numbers were paid for."]
    data = _data(call, file.read(call.model_file), *caveats, checks=list(report.checks))
    return Reply(data, report)


def _predictions(fit: "Fit", scores: Any) -> Predictions:
    from discreet.rehearsal import stamp

    classes = fit.plan.subject.classes
    header = ("row", "prediction", *(f"P({name})" for name in classes))
    rows: tuple[tuple[Any, ...], ...]
    if classes:
        rows = tuple((n, classes[int(line.argmax())], *map(float, line)) for n, line in enumerate(scores, 1))
    else:
        rows = tuple((n, float(line[0])) for n, line in enumerate(scores, 1))
    if fit.privacy.is_invented:
        return Predictions((stamp.COLUMN, *header), tuple((stamp.CELL, *row) for row in rows))
    return Predictions(header, rows)


def _data(call: ModelCall, fit: "Fit", *caveats: str, **parts: Any) -> dict[str, Any]:
    """What programs read of a reply about that model; the stamp of a rehearsal comes first, and is the first caveat."""
    from discreet.learn.learners import model_name
    from discreet.learn.privacy import INVENTED_WORDS

    privacy, is_invented = fit.privacy.to_json(), fit.privacy.is_invented
    return envelope(
        cost={name: privacy[name] for name in ("epsilon", "delta", "neighbours", "unit")},
        receipt=privacy["receipt"],
        file=str(call.model_file),
        model=model_name(fit.facts.learner, fit.facts.options),
        caveats=[*([INVENTED_WORDS] if is_invented else []), *caveats],
        **parts,
        **({"rehearsal": True} if is_invented else {}),
    )
