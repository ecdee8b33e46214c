"""A `Trace` out of one dataset row."""

from __future__ import annotations

from scorewright.authoring.trace import Trace
from scorewright.authoring.value import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def trace_from_row(row: dict[str, Any]) -> Trace:
    """Make the trace that a trace-level evaluator sees of a dataset row.

    Args:
        row: The row. `input` or `inputs`, and `output` or `outputs`, are the application's input and
            output. `trace` may hold a recorded trace, as an object or as its JSON text, in the form
            `{"spans": {id: {…, "attributes": {"ag": …}, "children": […]}}}`.

    Returns:
        The recorded trace, with the row's input and output where it captured none; without one, a
        trace of no spans and unknown metrics. Parts of a recorded trace that are not in that form are
        left out: an author's evaluator never fails because of them.

    Source: contracts §4; agenta seed, "Accessing trace data".
    """
    given_input = row["input"] if "input" in row else row.get("inputs")
    given_output = row["output"] if "output" in row else row.get("outputs")
    recorded = row.get("trace")
    if recorded is None:
        return Trace(input=given_input, output=given_output)

    from scorewright.authoring.recorded import read_trace

    trace = read_trace(recorded) or Trace()
    if trace.input is None:
        trace.input = as_text(given_input)
    if trace.output is None:
        trace.output = as_text(given_output)
    return trace
