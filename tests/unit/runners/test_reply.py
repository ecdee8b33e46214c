"""The host's check of what workers send: all that the harness sends passes, and as it was."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.convention import Convention
from scorewright.domain.json_copy import MAX_INT, MIN_INT
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored
from scorewright.domain.returned import Reading, interpret
from scorewright.runners.process import WorkerLostError
from scorewright.runners.reply import decode_loaded, decode_results

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(MIN_INT, MAX_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda parts: (
        st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=8), parts, max_size=4)
    ),
    max_leaves=20,
)
READING = Reading(convention=Convention.INPUTS_OUTPUTS_TRACE)
HOST_CODES = (FailureCode.SANDBOX_UNAVAILABLE, FailureCode.JUDGE_ERROR, FailureCode.CANCELLED)
WORKER_CODES = [code for code in FailureCode if code not in HOST_CODES]


def sent(*outcomes: ItemOutcome) -> bytes:
    return msgspec.msgpack.encode(outcomes)


@given(st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=5), min_size=1, max_size=5))
def test_whatever_the_funnel_makes_passes_unchanged(returned: list[object]):
    outcomes = [ItemOutcome(interpret(value, READING), "printed", 7) for value in returned]

    assert decode_results(sent(*outcomes)) == outcomes


@pytest.mark.parametrize("code", WORKER_CODES)
def test_a_worker_may_say_what_the_authors_code_did(code: FailureCode):
    outcome = ItemOutcome(Failed(code, "message", "Error", 3, "traceback"))

    assert decode_results(sent(outcome)) == [outcome]


@pytest.mark.parametrize("code", HOST_CODES)
def test_a_worker_may_not_speak_for_the_host(code: FailureCode):
    failure = Failed(code, "message")

    with pytest.raises(WorkerLostError, match=f"claimed {code}"):
        decode_results(sent(ItemOutcome(failure)))
    with pytest.raises(WorkerLostError, match=f"claimed {code}"):
        decode_loaded(msgspec.msgpack.encode({"failure": failure}))


def test_a_metric_may_be_as_deep_as_the_funnel_lets_it_be_and_no_deeper():
    deep: object = 1
    for _ in range(64):
        deep = [deep]

    assert decode_results(sent(ItemOutcome(Scored(metrics={"m": deep}))))  # type: ignore[dict-item]
    with pytest.raises(WorkerLostError, match="nested deeper"):
        decode_results(sent(ItemOutcome(Scored(metrics={"m": [[deep]]}))))  # type: ignore[dict-item, list-item]
