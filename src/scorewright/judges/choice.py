"""Which model judges, and whether what it costs is known."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonValue
from scorewright.judges.connection import VENDORS, Connection, find_connection, read_connections
from scorewright.telemetry.prices import CallTokens, price_of_call


def connection_of(
    evaluator: Evaluator, params: Mapping[str, JsonValue], environ: Mapping[str, str]
) -> tuple[Connection, str]:
    """Return where a judge's model is, and the model's own name.

    Args:
        evaluator: The judge.
        params: What is set for the run.
        environ: Says which connections there are.

    Raises:
        UsageError: The caller's: no model is named, or it cannot be reached.
    """
    default = next((param.default for param in evaluator.params if param.key == "model"), None)
    model = params.get("model", default)
    if model is None or model is msgspec.UNSET:
        raise UsageError(
            "a judge needs a model; name one in its definition, or with --param model=connection/model"
        )
    return find_connection(str(model), read_connections(environ))


def check_price(connection: Connection, model: str) -> None:
    """Refuse a model whose cost could not be held to a bound.

    Raises:
        UsageError: The caller's: its price is not known.
    """
    price = price_of_call(VENDORS.get(connection.kind), model, CallTokens(1, 1), datetime.now(UTC))
    if price is None:
        raise UsageError(
            f"model {connection.name}/{model}: no price is known for it, so its cost cannot be bounded; "
            "leave --max-cost-usd out, or use another model"
        )
