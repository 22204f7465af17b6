"""The table of the journeys, and a terminal at which somebody answers."""

import csv
import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

CANARY = "canary-4711"
REGIONS, TOWNS = ("north", "south", "east"), ("Ashford", "Brill")


def people_csv(file: Path) -> None:
    """600 rows, two a person; one person alone lives in a hamlet, and nobody declares the names."""
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["person_id", "region", "age", "income", "town", "name"])
        for row in range(600):
            town = f"hamlet {CANARY}" if row < 2 else TOWNS[row // 2 % 2]
            name = f"{CANARY} {row}"
            writer.writerow([f"p{row // 2}", REGIONS[row % 3], row % 90, row * 37 % 5000 + 0.5, town, name])


def on_a_terminal(
    command: str, answers: Sequence[tuple[str, str]], folder: Path, settings: Mapping[str, str]
) -> tuple[int, str]:
    """The exit code and all that was shown; each answer is typed once its prompt has appeared."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    child = subprocess.Popen(["sh", "-c", command], cwd=folder, env=settings, start_new_session=True, **streams)
    os.close(theirs)
    shown, seen, waiting, end = "", 0, list(answers), time.monotonic() + 60
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                new = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            shown += new.decode(errors="replace")
            if waiting and waiting[0][0] in shown[seen:] and shown.endswith(": "):
                seen = len(shown)
                os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
        assert not waiting, f"never asked {waiting[0][0]!r}:\n{shown}"
        return child.wait(30), shown.replace("\r\n", "\n")
    finally:
        child.kill()
        child.wait()
        os.close(ours)
