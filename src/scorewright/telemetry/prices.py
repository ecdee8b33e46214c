"""What calls cost: as their spans report it, or else by the price table of the library genai-prices.

The table is the one that the installed version brings along; nothing is ever fetched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import msgspec

from scorewright.telemetry.frameworks import framework_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    _Price: TypeAlias = Decimal | TieredPrices | None

#: Vendors that the table knows by another name, or would take for somebody else.
_VENDORS: Final = {
    "azure.ai.openai": "azure",
    "az.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "az.ai.inference": "azure",
    "fireworks_ai": "fireworks",
    "x_ai": "x-ai",
}
_MILLION: Final = 1_000_000


class Costs(msgspec.Struct, frozen=True):
    """The costs that make up a trace's; None is unknown."""

    reported: tuple[float, ...]
    calculated: tuple[float | None, ...]
    #: Models of the calls whose cost is unknown; a call that names none is left out.
    unpriced_models: tuple[str, ...]

    @property
    def total(self) -> float | None:
        """Add everything up; what is unknown in part is unknown as a whole, as is a sum too large for a number."""
        known = [cost for cost in (*self.reported, *self.calculated) if cost is not None]
        if not known or len(known) < len(self.reported) + len(self.calculated):
            return None
        try:
            return math.fsum(known)
        except OverflowError:
            return None


def costs_of(spans: Sequence[RawSpan], parents: Sequence[int], facts: Sequence[SpanFacts]) -> Costs:
    """Find what each call of a tree cost, each once.

    A reported cost holds for all that stands below its span, unless a span there reports one as well. Calls
    that no reported cost holds for are priced: the leaf-most spans that carry tokens.

    Args:
        spans: In tree order, parents before their children.
        parents: Positions of the parents; -1 for none.
        facts: Of each span.
    """
    reporting = [one.cost_usd is not None for one in facts]
    above_reports, above_usage = (
        _with_some_below(parents, marked)
        for marked in (reporting, [one.usage is not None for one in facts])
    )
    reported: list[float] = []
    unpriced: list[int] = []
    is_covered: list[bool] = []
    for position, one in enumerate(facts):
        covered = parents[position] >= 0 and is_covered[parents[position]]
        if one.cost_usd is not None and not above_reports[position]:
            reported.append(one.cost_usd)
            covered = True
        elif (
            one.usage is not None
            and not covered
            and not above_usage[position]
            and not above_reports[position]
        ):
            unpriced.append(position)
        is_covered.append(covered)
    calculated = [price_of(spans[position], facts[position]) for position in unpriced]
    models = [
        model
        for position, cost in zip(unpriced, calculated, strict=True)
        if cost is None and (model := facts[position].model) is not None
    ]
    return Costs(tuple(reported), tuple(calculated), tuple(dict.fromkeys(models)))


def _with_some_below(parents: Sequence[int], marked: Sequence[bool]) -> list[bool]:
    """Tell of each position whether a marked one stands below it."""
    found = [False] * len(marked)
    for position in range(len(marked) - 1, 0, -1):
        if parents[position] >= 0 and (marked[position] or found[position]):
            found[parents[position]] = True
    return found


def price_of(span: RawSpan, facts: SpanFacts) -> float | None:
    """Calculate what a call cost at the prices of the day it started.

    Returns:
        US dollars; None when the start, the tokens or the model's price are not known.
    """
    usage = facts.usage
    if usage is None or facts.model is None or span.start_ns is None:
        return None
    tokens_in, tokens_out = usage.input, usage.output
    if facts.kind == "embedding":
        tokens_in, tokens_out = usage.total if tokens_in is None else tokens_in, tokens_out or 0
    cached = facts.cached_tokens or 0
    if tokens_in is None or tokens_out is None or cached > tokens_in:
        return None
    model = _model(facts.vendor, facts.model)
    if model is None:
        return None
    when = datetime.fromtimestamp(span.start_ns / 1e9, tz=UTC)
    return _price(model.get_prices(when), tokens_in, cached, tokens_out)


@lru_cache(maxsize=1024)
def _model(vendor: str | None, name: str) -> ModelInfo | None:
    """Look a model up; a framework or a gateway in the vendor's place says nothing of who sold the call."""
    from genai_prices.data_snapshot import get_snapshot

    vendor = None if vendor is None else _VENDORS.get(vendor.lower(), vendor)
    if vendor is not None and framework_of(vendor, None) is not None:
        vendor = None
    try:
        return get_snapshot().find_provider_model(name, None, vendor, None)[1]
    except LookupError:
        return None


def _price(prices: ModelPrice, tokens_in: int, cached: int, tokens_out: int) -> float | None:
    from genai_prices.types import calc_unit_price

    # The library's own sum takes ten times as long: it looks at two dozen further units.
    known = cast("dict[str, _Price]", vars(prices))
    per_input, per_output = known.get("input_mtok"), known.get("output_mtok")
    if (per_input is None and tokens_in) or (per_output is None and tokens_out):
        return None
    per_cached = known.get("cache_read_mtok")
    parts = (
        (per_input, tokens_in - cached, _MILLION),
        (per_input if per_cached is None else per_cached, cached, _MILLION),
        (per_output, tokens_out, _MILLION),
        (known.get("requests_kcount"), 1, 1000),
    )
    costs = [
        calc_unit_price(price, count, tokens_in, per)
        for price, count, per in parts
        if count and price is not None
    ]
    return float(sum(costs))


def notices_of_costs(costs: Costs) -> list[str]:
    """Tell how a trace's cost came about, where it was not reported."""
    priced = sum(cost is not None for cost in costs.calculated)
    calls = len(costs.reported) + len(costs.calculated)
    unpriced = len(costs.calculated) - priced
    if unpriced and unpriced < calls:
        models = ", ".join(map(repr, costs.unpriced_models[:3])) or "no model named"
        return [
            f"cost unknown: of {calls} calls {unpriced} have neither a cost nor a price ({models})"
        ]
    if priced:
        from genai_prices import __version__

        plural = "" if priced == 1 else "s"
        return [
            f"cost of {priced} model call{plural} from the price table of genai-prices {__version__}"
        ]
    return []
