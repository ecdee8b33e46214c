"""What a trace searched for, and the passages that were found."""

from __future__ import annotations

import msgspec

from scorewright.telemetry.assembly import Trace, query_of
from scorewright.telemetry.span_facts import Document


class Retrieval(msgspec.Struct, frozen=True):
    """Queries and passages of all searches, in tree order."""

    queries: list[str]
    documents: list[Document]


def retrieval_of(trace: Trace) -> Retrieval:
    """Gather the searches of a trace; one inside another is its part, and a reranking is none."""
    queries: list[str] = []
    documents: list[Document] = []
    # Of each span: the query, and whether documents, of the searches it stands in.
    inherited: list[tuple[str | None, bool]] = []
    for facts, parent in zip(trace.facts, trace.tree.parents, strict=True):
        query, found = inherited[parent] if parent >= 0 else (None, False)
        if facts.kind == "retriever":
            looked_for = query_of(facts)
            if looked_for is not None and looked_for != query:
                queries.append(looked_for)
                query = looked_for
            if facts.documents and not found:
                documents.extend(facts.documents)
                found = True
        inherited.append((query, found))
    return Retrieval(queries, documents)
