"""Packages beyond the core that an attack needs, and the threads that they may use."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec

from discreet.errors import BadValue

EXTRAS = {  # which extra installs it
    "numba": "release",
    "ortools": "release",
    "pyarrow": "frames",
    "sklearn": "learn",
    "torch": "deep",
}
_TITLES = {"sklearn": "scikit-learn"}


def require(*packages: str) -> None:
    """Refuses where one of the packages is not installed, and names the extra that holds it."""
    absent = [package for package in packages if find_spec(package) is None]
    if absent:
        names = " and ".join(_TITLES.get(package, package) for package in absent)
        extras = ",".join(sorted({EXTRAS[package] for package in absent}))
        what = f"This needs the package{'s' * (len(absent) > 1)} {names}."
        raise BadValue(what, "It is not installed here, and nothing was computed.", f"Install discreet[{extras}].")


@contextmanager
def one_thread(packages: Iterable[str]) -> Iterator[None]:
    """One thread for numbers, and as many as before afterwards.

    The arrays of an attack are small: where cores are shared, threads wait for each other ten times as long as they
    compute.  The packages are imported first, since only what is loaded can be limited.
    """
    for package in packages:
        import_module(package)
    with ExitStack() as stack:
        if find_spec("threadpoolctl") is not None:  # comes with scikit-learn
            from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

            stack.enter_context(threadpool_limits(1))
        torch = sys.modules.get("torch")
        if torch is not None:
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield
