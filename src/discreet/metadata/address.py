"""The address of a table in a PostgreSQL server, as `source` in the metadata: public, and without a password."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from discreet.errors import MetadataError

_SCHEMES = ("postgresql", "postgres")
_OPTIONS = ("table", "sslmode", "sslrootcert")
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LOCAL = ("", "localhost", "127.0.0.1", "::1")
_EXAMPLE = 'source = "postgresql://curator@db.example.org:5432/clinic?table=public.people"'


@dataclass(frozen=True)
class Address:
    """Where the table lies; the password comes from PGPASSWORD or .pgpass and is never held here."""

    host: str
    port: int
    user: str
    database: str
    table: tuple[str, ...]
    sslmode: str
    sslrootcert: str | None = None

    @property
    def shown(self) -> str:
        """The table's name as a message has it."""
        return ".".join(self.table)


def is_address(source: str) -> bool:
    """Whether the source is a table in a server; everything else with :// is none that can be read.

    >>> is_address("postgresql://me@localhost/db?table=people"), is_address("people.csv")
    (True, False)
    """
    return source.partition("://")[0].lower() in _SCHEMES and "://" in source


def parse(source: str) -> Address:
    """The address; refused without quoting it where it holds a password.

    >>> parse("postgresql://me@localhost/db?table=public.people").table
    ('public', 'people')
    """
    try:
        parts = urlsplit(source)
        port, options = parts.port or 5432, parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise _refusal("must be an address such as in the example") from None
    if parts.password is not None or any(name.lower() == "password" for name, _ in options):
        what, why = (
            "dataset.source must not hold a password.",
            "The metadata is public, and so is what is made from it.",
        )
        fix = "Leave it out and change it: it may have been seen. Put the new one into PGPASSWORD or ~/.pgpass."
        raise MetadataError(what, why, fix)
    named = dict(options)
    if len(named) < len(options) or not set(named) <= set(_OPTIONS) or parts.fragment:
        raise _refusal(f"may name {', '.join(_OPTIONS)} behind the ?, each once, and nothing else")
    host, user, database = parts.hostname or "", unquote(parts.username or ""), unquote(parts.path[1:])
    table = tuple(named.get("table", "").split("."))
    if not user or not database or "/" in database or len(table) > 2 or not all(table):
        raise _refusal("must name a user, a database and a table")
    if any("\0" in text for text in (host, user, database, *named.values())):
        raise _refusal("must not hold NUL")
    mode = named.get("sslmode", "prefer" if host in _LOCAL else "require")
    if mode not in _MODES:
        raise _refusal(f"may set sslmode to one of {', '.join(_MODES)}")
    return Address(host, port, user, database, table, mode, named.get("sslrootcert"))


def _refusal(rule: str) -> MetadataError:
    """The refusal; it does not quote the source, which may hold a password."""
    return MetadataError(f"dataset.source {rule}.", "What was given is not repeated here.", f"Write: {_EXAMPLE}")
