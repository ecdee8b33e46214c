"""An agent of LangChain with a tool and a retriever, without any tracing."""

from helpdesk import INSTRUCTIONS, MODEL, order_status
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI


class Handbook(BaseRetriever):
    """Finds what the shop promises."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(id="returns", page_content="Returns are accepted for 30 days.")]


def search_handbook(query: str) -> str:
    """Search the shop's handbook."""
    return "\n".join(document.page_content for document in Handbook().invoke(query))


agent = create_agent(
    ChatOpenAI(model=MODEL),
    [order_status, search_handbook],
    system_prompt=INSTRUCTIONS,
    name="helpdesk",
)
