"""Serve a survey: invite people, collect their randomised reports until told to stop, and count them."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts, durable, outputs
from discreet.engine.files import cannot_write
from discreet.errors import CannotWrite, bad
from discreet.fix import Fix
from discreet.inert import cell
from discreet.operation.reply import Reply, envelope
from discreet.operation.survey import cost_of, read, require_other

if TYPE_CHECKING:
    from discreet.survey.server import Server
    from discreet.survey.spec import Survey
    from discreet.survey.store import Store

_MOST_VECTORS, _VECTOR_BYTES = 100, 1_000_000
_MOST_TOKENS = 1_000_000
_ADDRESS = re.compile(r"https?://[!-\"$-~]+")  # without a fragment, which is for the token
Invitations = Sequence[tuple[str | None, str]]


@dataclass(frozen=True)
class ServeCall:
    """The survey, its store, who may answer, and where the server listens; amounts as they were typed."""

    survey_file: Path
    store: Path
    tokens: str | None = None
    is_open: bool = False
    invitations: Path | None = None
    address: str | None = None  # of the page, as people reach it
    host: str = "127.0.0.1"
    port: str = "8080"
    is_behind_proxy: bool = False  # all clients have one address, so that limits of one would be those of all


@dataclass(frozen=True)
class Serving:
    """What a server that listens has to say about itself."""

    url: str
    page_digest: str
    invited: int
    invitations: Path | None  # the file of those invited now


def serve(call: ServeCall, *, tell: Callable[[Serving], None] = lambda serving: None) -> Reply[dict[str, Any]]:
    """Serve until interrupted; `tell` is called once the server listens.  The reply counts what came."""
    from discreet.survey import page as pages
    from discreet.survey.limits import Limits
    from discreet.survey.server import Patience
    from discreet.survey.server import serve as serve_until_stopped
    from discreet.survey.store import read_rejected, read_totals

    require_other(invitations_file(call), call.store, flag="invitations")
    survey = read(call.survey_file)
    port = amounts.whole(call.port, "port", 0, 65535, such_as=8080)
    file, new = invitations_file(call), _new_invitations(call, survey)
    text = pages.page(survey)
    digest = pages.page_digest(text)

    def ready(server: "Server") -> None:
        # the server's own store: whoever closes a file a second time in one process gives up SQLite's locks on it
        if new:
            _invite(server.store, survey, new, file, call.address or server.url)
        tell(Serving(server.url, digest, server.store.invitations(), file if new else None))

    serve_until_stopped(
        survey,
        call.store,
        call.host,
        port,
        page=text,
        vectors=vectors_text(survey),
        open_to_all=call.is_open,
        limits=Limits(per_address=None) if call.is_behind_proxy else None,
        patience=Patience(per_address=None) if call.is_behind_proxy else None,
        ready=ready,
    )
    invited, accepted = read_totals(call.store, survey)
    counts = {"invited": invited, "accepted": accepted, "rejected": read_rejected(call.store, survey)}
    facts = {"survey": survey.digest, "sha256": digest, "store": str(call.store)}
    listed = str(file) if new else None
    data = envelope(cost=cost_of(survey), **facts, invitations=listed, **counts, caveats=_caveats(call, survey))
    following = {"metadata": str(call.survey_file), "rows_file": str(call.store)}
    return Reply(data, counts, next=(Fix("Next:", "survey estimate", following),))


def vectors_text(survey: "Survey") -> str:
    """The vectors of a survey in JSON: at least one, and as many as fit into a document of about 1 MB.

    Vectors of a survey have the same number of words, so that one tells how long the others are.
    """
    from discreet.survey.vectors import vectors

    length = len(json.dumps(vectors(survey, 1)))
    count = max(1, min(_MOST_VECTORS, _VECTOR_BYTES // length))
    return json.dumps({"survey": survey.digest, "vectors": vectors(survey, count)})


def _new_invitations(call: ServeCall, survey: "Survey") -> int:
    """How many to draw now; refused where nobody could answer, or anybody could beside those invited."""
    from discreet.survey.store import Store

    if outputs.input_kind(call.store) != outputs.STORE:
        outputs.require_harmless(call.store, flag="store")
    groups = 1 if survey.groups is None else len(survey.groups[1])
    largest = _MOST_TOKENS // groups
    each = 0 if call.tokens is None else amounts.whole(call.tokens, "tokens", 1, largest, such_as=min(500, largest))
    if call.is_open and each:
        raise bad("open", "must be given without --tokens", True, "Choose one of them.")
    if call.address is not None and not _ADDRESS.fullmatch(call.address):
        fix = "Write, for example: --address https://survey.example/"
        raise bad("address", "must be the web address of the page", call.address, fix)
    if not call.is_open and not each and not call.store.exists():
        raise _nobody(call)
    if each:
        _require_new(invitations_file(call))
    with Store.open_or_create(call.store, survey) as store:
        invited = store.invitations()
    if call.is_open and invited:
        fix = "Leave --open out, or name another store."
        raise bad("open", "must be left out where people were invited", str(call.store), fix)
    if not call.is_open and not each and not invited:
        raise _nobody(call)
    return each * groups


def _invite(store: "Store", survey: "Survey", count: int, file: Path, address: str) -> None:
    """Draw tokens, store their hashes, and write the links once."""
    from discreet.survey.invitations import invite

    _write_invitations(file, invite(store, count, None if survey.groups is None else survey.groups[1]), address)


def _nobody(call: ServeCall) -> Exception:
    rule = "must be given for a store without invitations, or --open instead"
    return bad("tokens", rule, call.tokens, "Write --tokens 500 for that many invitations, or --open.")


def invitations_file(call: ServeCall) -> Path:
    """Where invitations go: as typed, or beside the store."""
    return call.invitations or call.store.with_name(f"{call.store.stem}-invitations.csv")


def _require_new(file: Path) -> None:
    outputs.require_harmless(file, flag="invitations")
    if file.exists() or file.is_symlink():
        fix = "Move it away, or name another file with --invitations."
        raise bad("invitations", "must be a file that is not there yet", str(file), fix)
    if not file.parent.is_dir():
        raise bad("invitations", "must lie in a folder that exists", str(file), "Make the folder first.")


def _write_invitations(file: Path, invitations: Invitations, address: str) -> None:
    """Write each link once, for its owner alone; the token is behind #, which no browser sends."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["group", "link"])
    writer.writerows(["" if group is None else cell(group), f"{address}#t={token}"] for group, token in invitations)
    try:
        durable.write(file, text.getvalue().encode(), mode=0o600, new=True)
    except FileExistsError:
        what, why = f"{file} cannot be made.", "A file of that name is there now."
        raise CannotWrite(what, why, "Name another file with --invitations.") from None
    except OSError:
        raise cannot_write(file) from None


def _caveats(call: ServeCall, survey: "Survey") -> list[str]:
    sentences = {
        "Anybody could answer as often as they liked: nothing tells two reports of a person apart.": call.is_open,
        "Reports without an invitation belong to no group.": call.is_open and survey.groups is not None,
    }
    return [sentence for sentence, applies in sentences.items() if applies]
