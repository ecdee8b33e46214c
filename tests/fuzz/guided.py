"""One target under atheris: `guided.py TARGET OPTION…`, with libFuzzer's options; `run.py` calls this."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

# By name, as it is there only where somebody fuzzes.
atheris: Any = importlib.import_module("atheris")

with atheris.instrument_imports(include=["scorewright"]):
    from fuzz.targets import TARGETS

if __name__ == "__main__":
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()
