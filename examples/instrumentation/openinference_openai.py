from helpdesk import QUESTION, answer
from openinference.instrumentation import TracerProvider, using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
OpenAIInstrumentor().instrument(tracer_provider=provider)
tracer = provider.get_tracer("helpdesk")

with using_session("conversation-1"):
    with tracer.start_as_current_span("helpdesk", openinference_span_kind="agent") as span:
        span.set_attribute("agent.name", "helpdesk")
        span.set_input(QUESTION)
        span.set_output(answer(QUESTION))
provider.shutdown()
