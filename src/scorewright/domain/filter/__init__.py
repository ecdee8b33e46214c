"""Filter expressions: `metrics.total_duration_ms > 2s and not output contains "sorry"`.

One grammar for every place that selects items: rows of a file in memory here, tables by SQL later. The tree is what
both follow; its meaning is written down in `docs/reference/filter.md`.

    expression   = conjunction { "or" conjunction }
    conjunction  = negation { "and" negation }
    negation     = "not" negation | "(" expression ")" | condition
    condition    = field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
                 | field [ "not" ] "in" "(" constant { "," constant } ")"
                 | field [ "not" ] "contains" constant
                 | field [ "not" ] "matches" text
                 | field [ "not" ] "exists"

A field is a path as `domain.field_path` reads it, whose names need `["…"]` where they hold a blank or a sign of this
grammar. A law: `parse_filter(print_filter(tree)) == tree`.
"""

from __future__ import annotations

from scorewright.domain.filter.matching import Predicate, compile_filter
from scorewright.domain.filter.parser import parse_filter
from scorewright.domain.filter.printing import print_filter
from scorewright.domain.filter.tree import Filter

__all__ = ["Filter", "Predicate", "compile_filter", "parse_filter", "print_filter"]
