"""Feed damaged inputs to what reads traces and filters, for as long as is asked.

A finding is an exception that is no refusal, a result that is no JSON, or more than ten seconds for one input. It is
written to a folder and ends the run with exit code 1; giving the file's path repeats it.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib.util
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.mutation import MAX_BYTES, Mutator, seeds
from fuzz.targets import TARGETS

MAX_SECONDS: Final = 10
GUIDED: Final = Path(__file__).with_name("guided.py")
FINDINGS: Final = Path(__file__).parents[2] / "build" / "fuzz"


def main() -> int:
    """Run as the command line asks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--blind", action="store_true", help="do without atheris if it is there")
    parser.add_argument("file", nargs="?", type=Path, help="an input that was found, to repeat it")
    asked = parser.parse_args()
    if asked.file is not None:
        TARGETS[asked.file.name.partition("-")[0]](asked.file.read_bytes())
        return 0
    if not asked.blind and importlib.util.find_spec("atheris") is not None:
        return guided(asked.seconds, asked.seed)
    return blind(asked.seconds, asked.seed)


def blind(seconds: float, seed: int) -> int:
    """Try mutated seeds without regard to what they reach."""
    mutator, tried, ends = Mutator(seed), 0, time.monotonic() + seconds
    names = list(TARGETS)
    print(f"seed {seed}, {seconds:g} s, without coverage", flush=True)
    while time.monotonic() < ends:
        target = names[tried % len(names)]
        tried += 1
        if not passes(target, mutator.make(target)):
            return 1
    print(f"{tried:,} inputs, nothing found", flush=True)
    return 0


def guided(seconds: float, seed: int) -> int:
    """Let atheris choose inputs by the code that they reach, after as long of changing whole requests blindly."""
    if blind(seconds / 2, seed):
        return 1
    share = max(1, int(seconds / 2 / len(TARGETS)))
    for target in TARGETS:
        corpus = FINDINGS / f"{target}-corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(seeds()[target]):
            (corpus / f"seed-{number}").write_bytes(data)
        options = [
            f"-max_total_time={share}",
            f"-timeout={MAX_SECONDS}",
            f"-max_len={MAX_BYTES}",
            f"-seed={seed % 2**31 or 1}",
            f"-artifact_prefix={FINDINGS}/{target}-",
            "-verbosity=0",
        ]
        command = [sys.executable, GUIDED, target, *options, corpus]
        if subprocess.run(command, check=False).returncode:
            print(f"found in {target}: see {FINDINGS}", file=sys.stderr)
            return 1
    return 0


def passes(target: str, data: bytes) -> bool:
    """Try one input; what is found is printed and kept."""
    faulthandler.dump_traceback_later(MAX_SECONDS * 3, exit=True)
    began = time.monotonic()
    try:
        TARGETS[target](data)
    except Exception:  # noqa: BLE001 - whatever it is, it is the finding
        reason = traceback.format_exc()
    else:
        took = time.monotonic() - began
        reason = f"took {took:.1f} s" if took > MAX_SECONDS else ""
    faulthandler.cancel_dump_traceback_later()
    if reason:
        FINDINGS.mkdir(parents=True, exist_ok=True)
        path = FINDINGS / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        print(f"{reason}\nfound by {path}", file=sys.stderr)
    return not reason


if __name__ == "__main__":
    sys.exit(main())
