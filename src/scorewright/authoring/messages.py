"""The messages of a conversation with a model."""

from __future__ import annotations

from scorewright.authoring.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ToolCall(Value):
    """A model's wish to have a tool called."""

    __slots__ = ("arguments", "id", "name")

    def __init__(
        self,
        id: str | None,  # noqa: A002 - the field's name in every protocol
        name: str,
        *,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.name = name
        self.arguments: dict[str, Any] = {} if arguments is None else arguments


class ToolDefinition(Value):
    """A tool that was offered to a model."""

    __slots__ = ("description", "name", "parameters")

    def __init__(
        self, name: str, description: str | None = None, *, parameters: dict[str, Any] | None = None
    ) -> None:
        self.name = name
        self.description = description
        #: JSON schema of the arguments, as it was sent.
        self.parameters: dict[str, Any] = {} if parameters is None else parameters


class Message(Value):
    """One message; its class says who speaks."""

    __slots__ = ("content",)

    #: Who speaks, in the words of the protocols.
    role: str = ""

    def __init__(self, content: str = "") -> None:
        self.content = content


class SystemMessage(Message):
    """Instructions to the model."""

    __slots__ = ()
    role = "system"


class UserMessage(Message):
    """What the user, or the application in the user's name, said."""

    __slots__ = ()
    role = "user"


class AssistantMessage(Message):
    """What the model said, and the tools it wanted called."""

    __slots__ = ("tool_calls",)
    role = "assistant"

    def __init__(self, content: str = "", *, tool_calls: list[ToolCall] | None = None) -> None:
        super().__init__(content)
        self.tool_calls: list[ToolCall] = [] if tool_calls is None else tool_calls


class ToolMessage(Message):
    """What a tool answered."""

    __slots__ = ("tool_call_id",)
    role = "tool"

    def __init__(self, content: str = "", *, tool_call_id: str | None = None) -> None:
        super().__init__(content)
        self.tool_call_id = tool_call_id
