"""Parse the address of a table in a PostgreSQL server, the `source` of its metadata: public and without password."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from discreet.errors import MetadataError

_SCHEMES = ("postgresql", "postgres")
_OPTIONS = ("table", "sslmode", "sslrootcert")  # what may be set behind the ?
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LOCAL = ("", "localhost", "127.0.0.1", "::1")  # hosts that are this machine
_EXAMPLE = 'source = "postgresql://curator@db.example.org:5432/clinic?table=public.people"'


@dataclass(frozen=True)
class Address:
    """Where the table lies; the driver reads the password from PGPASSWORD or ~/.pgpass, never from here."""

    host: str
    port: int
    user: str
    database: str
    table: tuple[str, ...]  # ("people",), or ("public", "people") with its schema
    sslmode: str
    sslrootcert: str | None = None

    @property
    def shown(self) -> str:
        """The table's name for messages, such as public.people."""
        return ".".join(self.table)


def is_address(source: str) -> bool:
    """Whether the source begins as the address of a PostgreSQL server does; `parse` checks the rest.

    >>> is_address("postgresql://me@localhost/db?table=people"), is_address("people.csv")
    (True, False)
    """
    return source.partition("://")[0].lower() in _SCHEMES and "://" in source


def parse(source: str) -> Address:
    """The parts of what `is_address` says is one; MetadataError if it breaks a rule or holds a password.

    No error quotes it.  The default port is 5432.  The default sslmode is prefer on this machine and require on others.

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
        raise _refusal("must name a user, a database and a table, as name or schema.name")
    if any("\0" in text for text in (host, user, database, *named.values())):
        raise _refusal("must not hold NUL")
    mode = named.get("sslmode", "prefer" if host in _LOCAL else "require")
    if mode not in _SSL_MODES:
        raise _refusal(f"may set sslmode to one of {', '.join(_SSL_MODES)}")
    return Address(host, port, user, database, table, mode, named.get("sslrootcert"))


def _refusal(rule: str) -> MetadataError:
    """The refusal; it does not quote the source, which may hold a password."""
    return MetadataError(f"dataset.source {rule}.", "What was given is not repeated here.", f"Write: {_EXAMPLE}")
