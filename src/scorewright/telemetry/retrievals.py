"""What a trace searched for, and the passages that were found."""

from __future__ import annotations

import msgspec

from scorewright.telemetry.assembly import Trace, query_of
from scorewright.telemetry.span_facts import Document


class Retrieval(msgspec.Struct, frozen=True):
    """Queries and passages of all searches, in tree order."""

    queries: list[str]
    documents: list[Document]


class Search(msgspec.Struct):
    """One search: the span that it starts with, and what it and its parts looked for and found."""

    position: int
    query: str | None
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


def searches_of(trace: Trace) -> list[Search]:
    """List the outermost searches in tree order, each with what its parts say where it does not itself."""
    searches: list[Search] = []
    if all(facts.kind != "retriever" for facts in trace.facts):
        return searches
    # Of each span: the search it stands in, and whether documents were found on the way to it.
    inherited: list[tuple[Search | None, bool]] = []
    for position, facts in enumerate(trace.facts):
        parent = trace.tree.parents[position]
        search, found = inherited[parent] if parent >= 0 else (None, False)
        if facts.kind == "retriever":
            if search is None:
                search = Search(position, None, [])
                searches.append(search)
            if search.query is None:
                search.query = query_of(facts)
            if facts.documents and not found:
                search.documents.extend(facts.documents)
                found = True
        inherited.append((search, found))
    return searches
