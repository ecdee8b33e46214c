"""Which items a sample takes: a pure function of each item's key, so that every run takes the same ones.

What is taken at one rate is taken at every higher rate. Source: style §5, rule 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

#: The same for all runs, so that two of them see the same items; a monitor has its own.
DEFAULT_SALT: Final = "scorewright"
_HASH_BYTES: Final = 8


def make_sampler(rate: float, *, salt: str = DEFAULT_SALT) -> Callable[[str], bool]:
    """Return the function that tells, by its key, whether an item is in the sample.

    Args:
        rate: The probability that an item is, 0 to 1; 0 takes none, 1 takes all.
        salt: Samples of different salts are independent of each other.
    """
    end = math.ceil(rate * 256**_HASH_BYTES)
    salted = blake2b(salt.encode(), digest_size=_HASH_BYTES)
    salted.update(b"\0")

    def is_taken(key: str) -> bool:
        state = salted.copy()
        state.update(key.encode())
        return int.from_bytes(state.digest()) < end

    return is_taken
