"""Language models, as far as a host needs them: one request, one reply, content blocks in the shape of the protocol.

`base` says what a model is, `messages` checks what one is sent, `book` knows which are configured and chooses among
them, `spec` reads names such as `openai:gpt-5-mini`. The adapters: `gateway` (providers, through pydantic-ai), `local`
(a small model in this process), `human`, `scripted`, `function`. A library that a model needs is imported when that
model is first used. Conversations, consent and budgets are the host's.
"""
