"""The most memory that processes have held."""

import resource
import sys
from pathlib import Path


def peak(process: int | str = "self") -> int:
    """Bytes; on Linux not by getrusage, where a new process starts with the peak of the one it came from."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform == "linux" else 1)
    lines = status.read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
