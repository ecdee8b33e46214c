"""Records to measure with: a third prose, a third prose around a number, a third JSON documents.

    python benchmarks/records.py FILE [--rows 10000] [--output-bytes 500]

Deterministic, and written as it is made: a million rows need no more memory than ten.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

ROWS = 10_000
SMALL_BYTES = 500
LARGE_BYTES = 2_048

_WORDS = (
    "parcel depot customs tracking label courier scale pallet manifest route dock carrier fuel "
    "toll handover seal weight volume insurance claim signature doorstep neighbour locker return "
    "window slot morning evening weekend holiday backlog sorting belt scanner barcode driver van "
    "bicycle harbour freight container invoice duty refund voucher complaint answer promise delay"
)


class _Prose:
    """Cuts texts out of one long run of random words: a cut costs one random number, not one a word."""

    def __init__(self, rng: Random) -> None:
        words = _WORDS.split()
        self._rng = rng
        self._text = " ".join(rng.choice(words) for _ in range(40_000))

    def cut(self, size: int) -> str:
        start = self._rng.randrange(len(self._text) - size)
        return self._text[start : start + size].strip()


def records(output_bytes: int) -> Iterator[dict[str, str]]:
    """Make records without end.

    Args:
        output_bytes: about how long each output is.

    Yields:
        `id`, `question`, `expected` and `output`, all of them text.
    """
    rng = Random(output_bytes)
    prose = _Prose(rng)
    makers = (_text, _number, _document)
    number = 0
    while True:
        expected, output = makers[number % 3](rng, prose, output_bytes)
        question = f"{prose.cut(70)}?"
        yield {"id": f"r{number}", "question": question, "expected": expected, "output": output}
        number += 1


def write_records(path: Path, *, rows: int = ROWS, output_bytes: int = SMALL_BYTES) -> Path:
    """Write the first `rows` records as JSON Lines and return the path."""
    with path.open("w", encoding="utf-8") as file:
        for record in islice(records(output_bytes), rows):
            file.write(json.dumps(record) + "\n")
    return path


def _text(rng: Random, prose: _Prose, size: int) -> tuple[str, str]:
    """Prose that equals its reference in six cases of ten."""
    expected = prose.cut(size)
    return expected, expected if rng.random() < 0.6 else prose.cut(size)


def _number(rng: Random, prose: _Prose, size: int) -> tuple[str, str]:
    """Prose with an amount in the middle: exact, within the tolerance, or too far off."""
    amount = round(rng.uniform(10, 100_000), 2)
    named = amount * rng.choice((1, 1, 1, 1.0004, 1.03))
    half = size // 2 - 12
    return f"{amount:.2f}", f"{prose.cut(half)} you owe {named:,.2f} in all {prose.cut(half)}"


def _document(rng: Random, prose: _Prose, size: int) -> tuple[str, str]:
    """A JSON document: as its reference, without a field, or cut in the middle."""
    lines = [
        (rng.randrange(10_000), rng.randrange(1, 10), rng.randrange(100, 50_000))
        for _ in range(size // 90)
    ]
    document: dict[str, object] = {
        "title": prose.cut(25),
        "items": [
            {"article": f"B{n}", "count": count, "cents": cents} for n, count, cents in lines
        ],
        "total": sum(count * cents for _, count, cents in lines),
    }
    document["remark"] = prose.cut(max(size - len(json.dumps(document)) - 15, 1))
    expected = json.dumps(document)
    chance = rng.random()
    if chance < 0.1:
        del document[rng.choice(("title", "items", "total"))]
    output = json.dumps(document)
    return expected, output[: len(output) // 2] if chance > 0.95 else output


def main() -> None:
    parser = argparse.ArgumentParser(description="Write deterministic records as JSON Lines.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--output-bytes", type=int, default=SMALL_BYTES)
    options = parser.parse_args()
    write_records(options.file, rows=options.rows, output_bytes=options.output_bytes)


if __name__ == "__main__":
    main()
