"""The explorer: everything that all servers offer, in one list with one search, and a pane for what is chosen.

    index       what is offered, what a search finds of it, what is new since a list changed (pure)
    lines       how a thing stands in the list: its words, badges and marks (pure)
    tree        resources as a tree by their addresses (pure)
    source      where the explorer looks: the host's lists, servers, logs, open questions
    card        the card: search, tabs, list, pane
    serverpane  one server: state, latency, log, the buttons
    collect     several resources read into one variable
    waiting     what waits for an answer
    icons       pictures of tools and servers, by the specification's rules

The panes of tools, resources and prompts are `cards.toolpanel`, `cards.resources` and `cards.prompts`.
"""
