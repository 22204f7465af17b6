"""Limit how fast requests come: in all and from each address, by buckets that fill steadily.

Addresses are held in memory only, no more of them than a fixed number, and never written anywhere.  They are those of
the connections: a header that names another address is anybody's to write, and is not read.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MOST_ADDRESSES = 10_000
_NETWORK_BITS = 64  # of IPv6: one household has 2⁶⁴ addresses or more


@dataclass(frozen=True)
class Rate:
    """So many requests each second for long, and `burst` at once."""

    per_second: float
    burst: int


OVERALL = Rate(2_000, 4_000)
PER_ADDRESS = Rate(500, 2_000)  # a whole university behind one address may answer within an hour


class Bucket:
    """A bucket that holds `burst` requests and fills at its rate."""

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate, self._level, self._since = rate, float(rate.burst), now

    def take(self, now: float) -> bool:
        """Take one request out; False if there is none."""
        self._level = min(self._rate.burst, self._level + (now - self._since) * self._rate.per_second)
        self._since = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


class Limits:
    """The limits of one server; without a rate for each address, only the one of all counts."""

    def __init__(
        self,
        overall: Rate = OVERALL,
        per_address: Rate | None = PER_ADDRESS,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._per_address = clock, per_address
        self._overall = Bucket(overall, clock())
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def admit(self, address: str) -> bool:
        """Whether one more request from this address is within the limits; it is counted if so."""
        now, network = self._clock(), network_of(address)
        if self._per_address is None:
            return self._overall.take(now)
        bucket = self._buckets.pop(network, None) or Bucket(self._per_address, now)
        self._buckets[network] = bucket  # the last used is the last to be forgotten
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket.take(now) and self._overall.take(now)


def network_of(address: str) -> str:
    """An IPv4 address itself, and of an IPv6 address the network of its household.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8:1:2::', '192.0.2.7')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _NETWORK_BITS), strict=False).network_address)
