"""What is connected, offered, allowed and asked (layer 3).

`host.Host` is the one way in to servers: it owns the connections, decides what is allowed, asks the person through a
`questions.QuestionUI`, and keeps the journal. It imports `client`, `transport` and `protocol`, never a notebook.
"""
