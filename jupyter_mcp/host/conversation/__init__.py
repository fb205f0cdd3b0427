"""Conversations: a person's question, a model, and everything that the connected servers offer as its tools.

    Conversation   asks (see `loop`)                     Turn, ModelCall   what came of it (`turn`)
    Limits         how much it may do (`limits`)         events            what is told meanwhile

`read_question` takes a question apart, `attach` and `propose` fetch what goes along. Stands above `host` and `models`;
knows nothing of notebooks.
"""

from __future__ import annotations

from jupyter_mcp.host.conversation.attaching import Attachment, attach, of_prompt, of_read, of_result, of_text
from jupyter_mcp.host.conversation.limits import Limits
from jupyter_mcp.host.conversation.loop import Conversation
from jupyter_mcp.host.conversation.mentions import Asked, read_question
from jupyter_mcp.host.conversation.proposing import propose
from jupyter_mcp.host.conversation.turn import ModelCall, Spent, Turn

__all__ = [
    "Asked",
    "Attachment",
    "Conversation",
    "Limits",
    "ModelCall",
    "Spent",
    "Turn",
    "attach",
    "of_prompt",
    "of_read",
    "of_result",
    "of_text",
    "propose",
    "read_question",
]
