"""Sampling: a server asks for a model's answer, and the host decides whether, by which model and in which words.

    well formed?  ->  policy  ->  consent of the person  ->  the model  ->  their look at the answer  ->  the server
      (request)                       (flow)                 (live)            (reply)

`limits` holds what may be answered without asking, `queue` keeps a flood out, `advertised` says what servers are told
that we can do. A request is a model call of its own: it sees nothing of a conversation or of another server. Nothing is
rendered here; cards and prompts are the notebook's and the runtime's. The rooms are imported where they are needed: a
kernel whose servers never ask loads none of it.
"""
