from helpdesk import QUESTION
from langchain_agent import agent
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
LangchainInstrumentor().instrument()

agent.invoke(
    {"messages": [("user", QUESTION)]}, config={"metadata": {"session_id": "conversation-1"}}
)
provider.shutdown()
