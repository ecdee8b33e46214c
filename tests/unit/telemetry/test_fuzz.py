"""Damaged inputs, a few seconds of them; `make fuzz` goes on for as long as one likes."""

from __future__ import annotations

import pytest

from fuzz.mutation import Mutator, seeds
from fuzz.run import passes
from fuzz.targets import TARGETS

#: The same inputs every time.
NUMBER = 20_260_601
INPUTS = 250


@pytest.mark.parametrize("target", TARGETS)
def test_good_inputs_are_read(target: str):
    good = seeds()[target]

    assert len(good) >= 5
    for data in good:
        TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
def test_damaged_inputs_are_read_or_refused_by_name(target: str):
    mutator = Mutator(NUMBER)

    for _ in range(INPUTS):
        assert passes(target, mutator.make(target))
