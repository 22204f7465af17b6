"""Workers forked by a process that has loaded the engine already: the same code in a tenth of the time."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from discreet.engine import process
from faults.common import forked


class Worker:
    """A worker that another process forked, with the face of Popen that its owner uses."""

    def __init__(self, pid, handle):
        self.pid, self.returncode, self._handle = pid, None, handle

    def poll(self):
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self._gone()
        return self.returncode

    def kill(self):
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self):
        if self.returncode is None:
            select.select([self._handle], [], [])
            self._gone()
        return self.returncode

    def _gone(self):
        self.returncode = 0
        os.close(self._handle)


class Nursery:
    """A process that forks workers for whoever asks; `hold` names a file that the next worker makes when it computes,
    to do nothing more."""

    def __init__(self):
        self._name = f"\0discreet-faults-{os.getpid()}"
        server = socket.socket(socket.AF_UNIX)
        server.bind(self._name)
        server.listen(200)
        self.pid = forked(lambda: _raised(server))
        server.close()
        self.hold, self.uid = "", os.geteuid()

    def use(self):
        """Workers are forked from now on, in this process and its children."""
        process.subprocess = SimpleNamespace(Popen=self._popen, DEVNULL=subprocess.DEVNULL)

    def leave(self):
        """Workers are started as ever."""
        process.subprocess = subprocess

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _popen(self, command, *, pass_fds, **_):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self._name)
            wanted = json.dumps([*command[-2:], self.hold, self.uid]).encode()
            socket.send_fds(line, [wanted], list(pass_fds))
            said, handles, _, _ = socket.recv_fds(line, 100, 1)
        return Worker(int(said), handles[0])


def _raised(server):
    """Serves for as long as its parent lives."""
    parent = os.getppid()
    os.environ |= {"TZ": "UTC", "OPENBLAS_NUM_THREADS": "1"}
    import duckdb

    from discreet.engine import worker

    with duckdb.connect(":memory:", config={"threads": 1}) as connection:  # loads what is loaded late
        connection.execute("SELECT 1 AS a").fetchnumpy()
    assert len(os.listdir("/proc/self/task")) == 1  # a fork takes one thread along
    server.settimeout(1)
    while os.getppid() == parent:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        with contextlib.suppress(OSError), server.accept()[0] as line:
            line.settimeout(5)
            said, handles, _, _ = socket.recv_fds(line, 1000, 1)
            if handles:  # whoever asked may be dead by now
                _born(server, line, worker, handles[0], said)


def _born(server, line, worker, channel, said):
    """A worker forked, and told of."""
    pid = os.fork()
    if pid == 0:
        server.close()
        _work(worker, channel, *json.loads(said))
    os.close(channel)
    handle = os.pidfd_open(pid)
    try:
        socket.send_fds(line, [str(pid).encode()], [handle])
    finally:
        os.close(handle)


def _work(worker, handle, memory, threads, hold, uid):
    for stream in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    if os.geteuid() != uid:
        os.setuid(uid)
    if hold:

        def computing(*_):
            Path(hold).touch()
            signal.pause()

        worker._columns = computing
    sys.argv = ["worker", str(handle), memory, threads]
    worker.main()
    os._exit(0)
