"""Writes spans into a file that Scorewright reads, without any server."""

from google.protobuf.json_format import MessageToJson
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class FileSpanExporter(SpanExporter):
    """Appends each batch of spans to a file, as a line of OTLP/JSON."""

    def __init__(self, path):
        self._path = path

    def export(self, spans):
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(MessageToJson(encode_spans(spans), indent=None) + "\n")
        return SpanExportResult.SUCCESS
