"""A PostgreSQL server of our own: loopback only, its own folder and port, ended by its own process id."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

_STARTED = 60  # seconds
_LOGGED = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_error_verbosity": "verbose",
    "log_line_prefix": "",
    "logging_collector": "off",
    # parallel plans wherever the server allows one, however small the table
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
}


def binaries() -> Path:
    """Where initdb and postgres lie."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres")) or [shutil.which("postgres") or ""]
    assert programs[-1], "install Debian's package postgresql"
    return Path(os.path.realpath(programs[-1])).parent


@dataclass
class Server:
    """A running server; `pid` is its postmaster's."""

    folder: Path
    port: int
    pid: int

    def connect(self):
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="curator", dbname="postgres", autocommit=True, connect_timeout=10
        )

    def url(self, table: str) -> str:
        return f"postgresql://curator@127.0.0.1:{self.port}/postgres?table={table}"

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")

    def kill(self) -> None:
        """At once, as a crash would."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGQUIT)


@contextlib.contextmanager
def running(*, logged: bool = True):
    """A new server with an empty database, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-", dir="/tmp"))
    account = _account()
    own = {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    if account is not None:
        os.chown(folder, account.pw_uid, account.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    data, process = folder / "data", None
    try:
        options = ["-D", str(data), "-U", "curator", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
        subprocess.run(
            [binaries() / "initdb", *options],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, env=environment, timeout=_STARTED, **own,
        )  # fmt: skip
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "port": str(port)}
        settings |= {"shared_buffers": "64MB", **(_LOGGED if logged else {})}
        given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                [binaries() / "postgres", "-D", str(data), *given],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, env=environment, **own,
            )  # fmt: skip
        server = Server(folder, port, process.pid)
        _wait(server)
        yield server
    finally:
        if process is not None:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)  # a fast shutdown
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def _account():
    """Whom to run as: the server refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("there is no unprivileged user")


def _wait(server: Server) -> None:
    until = time.monotonic() + _STARTED
    while time.monotonic() < until:
        with contextlib.suppress(psycopg.OperationalError):
            server.connect().close()
            return
        time.sleep(0.1)
    raise AssertionError("the server did not start")
