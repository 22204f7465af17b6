"""One environment per peer, `.venv-NAME` beside `.venv`, made when first asked for."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class PeerUnavailable(Exception):
    """The peer's environment could not be made; the others are still measured."""


def requirements(peer: str) -> Path:
    """The file with the peer's pins."""
    return ROOT / "benchmarks" / "peers" / peer / "requirements.txt"


def python_of(peer: str) -> Path:
    """The interpreter of the peer's environment, which is made afresh whenever its pins have changed."""
    home = ROOT / f".venv-{peer}"
    python, stamp = home / "bin" / "python", home / ".ok"
    pins = requirements(peer).read_text()
    if not stamp.exists() or stamp.read_text() != pins:
        print(f"Setting up {peer} in {home.name} …", file=sys.stderr)
        _run(peer, [sys.executable, "-m", "venv", "--clear", str(home)])
        _run(peer, [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements(peer))])
        stamp.write_text(pins)
    return python


def _run(peer: str, command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise PeerUnavailable(f"{peer} could not be set up: {last}")
