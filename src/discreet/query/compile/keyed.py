"""Two keyed hashes of 64 bits that any engine can compute: ids of units, and the order of groups and wide rows.

    id64(m)      the first 8 bytes of SHA-256(m), most significant first, as a signed integer
    order64(m)   the last 8 bytes of MD5(m), least significant first, as an unsigned integer

m is UTF-8 text that begins with a key, one for each purpose (`Secret.key_for`): 32 hexadecimal digits for ids, 16 for
orders, so that most messages of a row fill one block.  Then come the parts, with a | between them.  A part is

    a whole number   its decimal digits, with a leading - if negative
    a flag           1 or 0
    a double         the whole number that its 64 bits mean in two's complement, so that no engine's digits matter
    a text           its length in bytes, a colon, and the text; a unit's key, alone in its message, is the text
    NULL             nothing

Only the last part and a text after its colon may hold a |, so no two lists of as many parts have one message.

Ids need a hash that nobody can steer, and are made once a unit.  An order needs evenness alone, and MD5 takes
about half the time of SHA-256.  Rows of few cells are ordered without either: `engine.mixing`.
"""

from collections.abc import Sequence

from discreet.query.compile.piece import Kind


def id64(key: str, parts: Sequence[str]) -> str:
    """SQL of an id, from SQL of the key and of the parts of its message."""
    return f"CAST(CAST(unhex(left(sha256({message(key, parts)}), 16)) AS BIT) AS BIGINT)"


def order64(key: str, parts: Sequence[str]) -> str:
    """SQL of a number to order by, from SQL of the key and of the parts of its message."""
    return f"CAST(md5_number({message(key, parts)}) >> 64 AS UBIGINT)"


def message_part(name: str, kind: Kind) -> str:
    """SQL of a value as a part of a message; concat takes NULL for nothing."""
    match kind:
        case Kind.TEXT:
            return f"strlen({name}) || ':' || {name}"
        case Kind.REAL:
            return f"CAST(CAST({name} AS BIT) AS BIGINT)"
        case Kind.FLAG:
            return f"CAST({name} AS INTEGER)"
        case _:
            return name


def message(key: str, parts: Sequence[str]) -> str:
    """SQL of a message."""
    joined = ", '|', ".join(parts)
    return f"concat({key}, {joined})"
