"""A command at a terminal: what it shows, and what somebody types."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path


def _own_terminal() -> None:
    """Make the terminal on stdin the child's own, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run_at_terminal(
    folder: Path, arguments: list[str], reply: Callable[[str, bool], bytes], *, before: str = ""
) -> tuple[int, str]:
    """Run a command at a terminal, after the script `before`; the exit code and all that was shown.

    `reply` returns the bytes to type. It is called with all that was shown so far, and with whether nothing was added
    for a second: a signal sent just before the child waits for a line is seen only at the next one.
    """
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
        preexec_fn=_own_terminal,
        env={**os.environ, **settings},
    )
    os.close(theirs)
    shown, end = "", time.monotonic() + 60
    try:
        while time.monotonic() < end:
            is_idle = not select.select([ours], [], [], 1)[0]
            if not is_idle:
                try:
                    new = os.read(ours, 4096).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
                if not new:
                    break
                shown += new
            if letters := reply(shown, is_idle):
                os.write(ours, letters)
        return child.wait(30), shown
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def type_answer(
    folder: Path, arguments: list[str], *, answer: bytes = b"", prompt: str = "leaves it: ", before: str = ""
) -> tuple[int, str]:
    """Run a command at a terminal and type `answer` when the prompt appears; the exit code and all that was shown."""
    is_typed = False

    def reply(shown: str, is_idle: bool) -> bytes:
        nonlocal is_typed
        if prompt in shown if is_idle else shown.endswith(prompt) and not is_typed:
            is_typed = True
            return answer
        return b""

    return run_at_terminal(folder, arguments, reply, before=before)
