"""`discreet survey serve`: collect randomised reports until Ctrl-C."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.drawing import unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, plain, require_new
from discreet.cli.survey_design import SurveyFile
from discreet.fix import command_line
from discreet.inert import visible
from discreet.operation import survey_serving as operation
from discreet.operation.survey import require_other
from discreet.operation.survey_serving import ServeCall

if TYPE_CHECKING:
    from discreet.operation.survey_serving import Serving

StoreFile = Annotated[Path, typer.Option(metavar="FILE", help="SQLite file of reports; goes on if it is there.")]
Tokens = Annotated[str | None, typer.Option(metavar="N", help="Number of new invitations, in each group.")]
Open = Annotated[bool, typer.Option("--open", help="Take reports without an invitation.")]
Invitations = Annotated[
    Path | None, typer.Option(metavar="CSV", help="New file of invitations; beside the store by default.")
]
Address = Annotated[
    str | None, typer.Option(metavar="URL", help="Address of the page in invitations; the server's by default.")
]
Host = Annotated[str, typer.Option(metavar="NAME", help="Address to listen on.")]
Port = Annotated[str, typer.Option(metavar="N", help="Port to listen on.")]
BehindProxy = Annotated[
    bool, typer.Option("--behind-proxy", help="Limit all clients together only: a proxy gives them one address.")
]


def serve(
    survey: SurveyFile,
    store: StoreFile,
    tokens: Tokens = None,
    open_to_all: Open = False,
    invitations: Invitations = None,
    address: Address = None,
    host: Host = "127.0.0.1",
    port: Port = "8080",
    behind_proxy: BehindProxy = False,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Serve a survey: hand out its page and collect randomised reports, one for each invitation.

    Runs until Ctrl-C and then counts what came. The server speaks plain HTTP: for others than this machine put a proxy
    with TLS before it, name its address with --address, and add --behind-proxy. The proxy then limits each client: this
    server reads no header about addresses.

    Example: discreet survey serve tax.toml --store answers.sqlite --tokens 500
    """
    call = ServeCall(survey, store, tokens, open_to_all, invitations, address, host, port, behind_proxy)
    require_new(output, yes, survey)
    for written in (output, store, invitations):
        require_other_file(written, survey)
    require_other(output, store, operation.invitations_file(call))
    reply = operation.serve(call, tell=_tell)
    data = reply.to_json(command_line)
    return Reply(data, lambda: unwrapped_text("\n".join(_lines(data))), output, replace=yes, toml=survey)


def require_other_file(written: Path | None, survey: Path) -> None:
    """Refuses to write over the survey's own file."""
    from discreet.errors import bad
    from discreet.outputs import is_same_file

    if written is not None and is_same_file(written, survey):
        raise bad("store", "must be another file than the survey", str(written), "Name another file.")


def _tell(serving: "Serving") -> None:
    """Show on stderr where the server listens."""
    lines = [f"Listening on {serving.url}", f"SHA-256 of the page {serving.page_digest}"]
    lines.append(f"Invitations: {serving.invited:,}")
    if serving.invitations is not None:
        lines.append(f"New ones are in {serving.invitations}: hand each out once, and keep no copy with names.")
    for line in [*lines, "Ctrl-C ends it."]:
        print(plain(visible(line), sys.stderr.encoding), file=sys.stderr, flush=True)


def _lines(data: dict[str, object]) -> list[str]:
    rejected = data["rejected"]
    assert isinstance(rejected, dict)
    listed = ", ".join(f"{reason} {number:,}" for reason, number in rejected.items() if number) or "none"
    counts = f"Invited {data['invited']:,}, accepted {data['accepted']:,}, rejected: {listed}."
    caveats, following = data["caveats"], data["next"]
    assert isinstance(caveats, list)
    assert isinstance(following, list)
    return [counts, *caveats, *following]
