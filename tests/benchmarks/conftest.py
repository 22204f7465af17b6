"""`benchmarks` is not installed: it is imported from the project's root."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
