"""Rows of a data file, or of memory, as JSON objects: read strictly, refused clearly, streamed.

Opening is the first pass: it reads all of the file, so that a file is either wholly good or refused
before anything ran. `Dataset.items` is the second pass. Neither keeps the rows.
The rules that authors see are in `docs/reference/datasets.md`.
"""

from __future__ import annotations

from scorewright.domain.json_text import decode_object
from scorewright.sources.dataset.model import (
    Column,
    ColumnType,
    Dataset,
    Format,
    inspect,
)
from scorewright.sources.dataset.opening import open_dataset
from scorewright.sources.dataset.rows import Rows, from_rows

__all__ = [
    "Column",
    "ColumnType",
    "Dataset",
    "Format",
    "Rows",
    "decode_object",
    "from_rows",
    "inspect",
    "open_dataset",
]
