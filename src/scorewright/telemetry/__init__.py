"""OpenTelemetry traces: decoded, understood whatever wrote them, and put together; no files here."""
