"""Arrays of numbers as bytes: little-endian, whatever machine wrote them."""

from __future__ import annotations

import sys
from array import array
from typing import Any, Final

_IS_OTHER: Final = sys.byteorder == "big"


def pack(numbers: array[Any]) -> bytes:
    """Return an array's bytes."""
    if _IS_OTHER:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def unpack(typecode: str, packed: bytes) -> array[Any]:
    """Return the array of a type that bytes were made of."""
    numbers: array[Any] = array(typecode)
    numbers.frombytes(packed)
    if _IS_OTHER:
        numbers.byteswap()
    return numbers
