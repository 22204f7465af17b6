"""A command at a terminal: what it shows, and what somebody types."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path


def _owned() -> None:
    """The terminal on stdin becomes the child's own, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def typed(
    folder: Path, arguments: list[str], *, answer: bytes = b"", prompt: str = "leaves it: ", before: str = ""
) -> tuple[int, str]:
    """The exit code and all that was shown; `answer` is typed when the prompt appears, `before` is run first."""
    ours, theirs = pty.openpty()
    script = f"{before}\nfrom discreet.cli.main import run\nrun()"
    settings = {"TERM": "xterm", "COLUMNS": "120", "XDG_STATE_HOME": str(folder / "state")}
    child = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_owned,
        env={**os.environ, **settings},
    )
    os.close(theirs)
    shown, waiting, end = "", answer, time.monotonic() + 60
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 1)[0]:
                if prompt in shown and answer:  # a signal just before the child waits is seen only at the next one
                    os.write(ours, answer)
                continue
            try:
                new = os.read(ours, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                break
            if not new:
                break
            shown += new
            if waiting and shown.endswith(prompt):
                os.write(ours, waiting)
                waiting = b""
        return child.wait(30), shown
    finally:
        child.kill()
        child.wait()
        os.close(ours)
