"""Searches in vector stores that were recorded as calls of a database: by OpenLLMetry, OpenLIT or OpenTelemetry."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import count, number, text, value
from scorewright.telemetry.container import container
from scorewright.telemetry.envelopes import python_object
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, Document, SpanFacts

_STORES: Final = frozenset(
    "astra astradb chroma chromadb lancedb marqo milvus pinecone qdrant turbopuffer vespa weaviate".split()
)
#: What a client's method or an operation is called that searches; all others write, delete or administer.
_SEARCHES: Final = frozenset(
    """
    query _query search hybrid_search similarity_search vector_search search_groups search_batch
    query_points query_points_groups query_batch_points query_batch discover discover_batch
    recommend recommend_groups recommend_batch near_text near_vector near_object bm25 hybrid
    fetch_objects retrieve
    """.split()
)
#: Weaviate's own names; its `get` of a schema is no search, so that they are told by the whole span's name.
_WEAVIATE_SPANS: Final = frozenset(
    {
        "db.weaviate.gql.get.do",
        "db.weaviate.gql.query.get.do",
        "db.weaviate.collections.query.get",
    }
)
_TOP_K: Final = (
    "db.vector.query.top_k",
    "db.chroma.query.n_results",
    "pinecone.query.top_k",
    "db.milvus.search.limit",
    "db.milvus.query.limit",
)
#: LanceDB's query stands under a name of Milvus's filter, which is none in Milvus's own spans.
_QUERIES: Final = {
    "lancedb": ("db.milvus.search.filter", "db.query.text"),
    "marqo": ("db.marqo.search.query", "db.query.text"),
}
_RESULTS: Final = {"db.query.result": "db.query.result.", "db.search.result": "db.search.result."}
_CONTENT: Final = ("document", "text", "content", "page_content", "pageContent", "chunk", "body")


def read(span: RawSpan) -> SpanFacts | None:
    """Read a search; of a call that is none, only which store it went to is told."""
    attributes = span.attributes
    store = text(attributes, "db.system.name", "db.system")
    store = None if store is None else store.lower()
    asks = attributes.get("db.vector.query.top_k") is not None
    if store is None or (store not in _STORES and not asks):
        return None
    if not asks and not _searches(span):
        return SpanFacts(vector_db=store)
    return SpanFacts(
        kind="retriever",
        vector_db=store,
        top_k=count(attributes, *_TOP_K),
        query=_query(attributes, store),
        documents=_documents(span),
    )


def _searches(span: RawSpan) -> bool:
    """Tell a search by its operation; by the span's name where clients record none."""
    operation = text(span.attributes, "db.operation.name", "db.operation")
    if operation is None:
        operation = span.name.rpartition(".")[2]
    return operation.lower() in _SEARCHES or span.name in _WEAVIATE_SPANS


def _query(attributes: JsonObject, store: str) -> str | None:
    """Return what was looked for where it is a text; a vector, or a count of vectors, is none."""
    said = text(attributes, *_QUERIES.get(store, ("db.query.text",)))
    if said is None or said[:1] in {"[", "{", "("} or said.startswith("embeddings="):
        return None
    if said.startswith("texts=["):  # OpenLIT writes Python's list of them
        found = python_object(f"{{'texts': {said.removeprefix('texts=')}}}")
        texts = found.get("texts") if isinstance(found, dict) else None
        return "\n".join(map(str, texts)) if isinstance(texts, list) and texts else None
    return None if said == "no query provided" else said


def _documents(span: RawSpan) -> tuple[Document, ...] | None:
    found = [
        _document(event.attributes, before)
        for event in span.events
        if (before := _RESULTS.get(event.name)) is not None
    ]
    return tuple(found) if found else None


def _document(attributes: JsonObject, before: str) -> Document:
    """Read one event; Marqo and Milvus write a record's own fields into it.

    A distance is no score: the smaller it is, the closer the passage.
    """
    found = value(attributes, f"{before}id", "_id", "id")
    content = text(attributes, f"{before}document", *_CONTENT)
    for name in (f"{before}metadata", f"{before}entity"):
        content = content or _content_within(attributes.get(name))
    return Document(
        None if found is None else str(found),
        content,
        number(attributes, f"{before}score", "_score"),
    )


def _content_within(raw: JsonValue) -> str | None:
    """Take the passage out of a record, which may be JSON or a Python dict, written as text."""
    found = (container(raw) or python_object(raw)) if isinstance(raw, str) else raw
    return text(found, *_CONTENT) if isinstance(found, dict) else None


CONVENTION: Final = Convention("vector stores", frozenset({"db"}), read)
