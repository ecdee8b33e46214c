"""Spans and log records over OTLP: all of a request is stored before it is answered, or nothing."""
