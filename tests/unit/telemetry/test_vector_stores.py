"""Searches in vector stores are retrievals, though their spans call themselves a database's."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_requests import decoded, span, typed

from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.conventions import read_facts
from scorewright.telemetry.span_facts import Document, SpanFacts
from scorewright.telemetry.summary import summarise


def call(name: str, attributes: dict[str, object], *results: dict[str, object]) -> dict[str, Any]:
    """Make the span of one call; each result is an event whose name its first attribute starts with."""
    events = [
        {
            "name": ".".join(next(iter(result)).split(".")[:3]),
            "attributes": [{"key": key, "value": typed(value)} for key, value in result.items()],
        }
        for result in results
    ]
    return span(1, name=name, attributes=attributes, events=events)


def facts(name: str, attributes: dict[str, object], *results: dict[str, object]) -> SpanFacts:
    (read,) = decoded(call(name, attributes, *results))
    return read_facts(read)


def test_chroma_s_results_are_documents_and_their_distances_no_scores():
    found = facts(
        "chroma.query",
        {"db.system": "chroma", "db.operation": "query", "db.chroma.query.n_results": 2},
        {
            "db.query.result.id": "d1",
            "db.query.result.distance": 0.25,
            "db.query.result.document": "passage",
            "db.query.result.metadata": '{"page": 3}',
        },
        {"db.query.result.id": "d2", "db.query.result.document": "another"},
    )

    assert (found.kind, found.vector_db, found.top_k) == ("retriever", "chroma", 2)
    assert found.documents == (Document("d1", "passage", None), Document("d2", "another", None))


def test_pinecone_s_passages_are_taken_out_of_their_metadata():
    found = facts(
        "pinecone.query",
        {"db.system": "Pinecone", "pinecone.query.top_k": 3},
        {
            "db.query.result.id": "d1",
            "db.query.result.score": -0.5,
            "db.query.result.metadata": "{'text': \"the shop's hours\", 'page': 3.0}",
        },
        {
            "db.query.result.id": "d2",
            "db.query.result.score": 0.0,
            "db.query.result.metadata": '{"content": "passage"}',
        },
        {"db.query.result.id": "d3", "db.query.result.metadata": "None"},
    )

    assert (found.kind, found.vector_db, found.top_k) == ("retriever", "pinecone", 3)
    assert found.documents == (
        Document("d1", "the shop's hours", -0.5),
        Document("d2", "passage", 0.0),
        Document("d3", None, None),
    )


def test_milvus_s_results_hold_entities():
    found = facts(
        "milvus.search",
        {"db.system": "milvus", "db.operation": "search", "db.milvus.search.limit": 1},
        {
            "db.search.result.id": 7,
            "db.search.result.distance": "0.25",
            "db.search.result.entity": "{'text': 'passage'}",
        },
    )

    assert found.documents == (Document("7", "passage", None),)
    assert found.top_k == 1


def test_marqo_s_hits_are_documents_and_its_query_is_the_query():
    attributes = {"db.system": "marqo", "db.operation": "search", "db.marqo.search.query": "hours"}
    told = summarise(
        assemble(
            decoded(
                span(
                    1,
                    attributes=attributes,
                    events=[
                        {
                            "name": "db.query.result",
                            "attributes": [
                                {"key": "_id", "value": {"stringValue": "d1"}},
                                {"key": "_score", "value": {"doubleValue": 0.5}},
                                {"key": "text", "value": {"stringValue": "passage"}},
                            ],
                        }
                    ],
                )
            )
        )[0]
    )

    assert told.retrieval.queries == ["hours"]
    assert told.retrieval.documents == [Document("d1", "passage", 0.5)]


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("qdrant.query_points", {"db.system": "Qdrant", "db.vector.query.top_k": 5}),
        ("qdrant.search_groups", {"db.system": "Qdrant"}),
        ("lancedb.search", {"db.system": "lancedb", "db.operation": "search"}),
        ("db.weaviate.gql.get.do", {"db.system": "weaviate", "db.operation": "do"}),
        ("db.weaviate.collections.query.get", {"db.system": "weaviate", "db.operation": "get"}),
        (
            "db.weaviate.collections.query.fetch_objects",
            {"db.system": "weaviate", "db.operation": "fetch_objects"},
        ),
        ("GET docs", {"db.system.name": "chroma", "db.operation.name": "GET", "db.vector.query.top_k": 5}),
        ("SEARCH docs", {"db.system.name": "milvus", "db.operation.name": "SEARCH"}),
        ("nearest", {"db.system.name": "postgresql", "db.vector.query.top_k": 5}),
    ],
)  # fmt: skip
def test_a_search_is_one_whatever_the_client_calls_it(name: str, attributes: dict[str, object]):
    assert facts(name, attributes).kind == "retriever"


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("chroma.add", {"db.system": "chroma", "db.operation": "add"}),
        ("chroma.upsert", {"db.system": "chroma", "db.operation": "upsert"}),
        ("chroma.delete", {"db.system": "chroma", "db.operation": "delete"}),
        ("chroma.get", {"db.system": "chroma", "db.operation": "get"}),
        ("pinecone.upsert", {"db.system": "Pinecone"}),
        ("qdrant.upload_points", {"db.system": "Qdrant"}),
        ("db.weaviate.schema.get", {"db.system": "weaviate", "db.operation": "get"}),
        ("milvus.create_collection", {"db.system": "milvus", "db.operation": "create_collection"}),
        ("SELECT orders", {"db.system": "postgresql", "db.operation": "SELECT"}),
        ("query", {"db.system.name": "mysql", "db.operation.name": "query"}),
        ("search", {"db.operation": "search"}),
    ],
)
def test_what_writes_or_asks_another_database_is_no_search(
    name: str, attributes: dict[str, object]
):
    assert facts(name, attributes).kind is None


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("opening hours", "opening hours"),
        ("texts=['opening hours']", "opening hours"),
        ("texts=['opening', \"shop's\"]", "opening\nshop's"),
        ("texts=[", None),
        ("embeddings=1 vectors", None),
        ("[0.1, 0.2]", None),
        ("no query provided", None),
    ],
)
def test_a_query_is_read_where_it_is_a_text(said: str, query: str | None):
    attributes: dict[str, object] = {
        "db.system.name": "chroma",
        "db.operation.name": "QUERY",
        "db.query.text": said,
    }

    assert facts("QUERY docs", attributes).query == query
