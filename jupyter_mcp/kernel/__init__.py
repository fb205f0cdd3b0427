"""The notebook as a server: its variables, functions and plots for any MCP client, while the kernel works (layer 4).

    identity  which notebook this is, its runtime file
    serving   an endpoint on the runtime's thread, from `serve` to `stop`
    book      what is offered: resources, tools, completion; who came and what they read
    changes   what a cell changed, told to those who watch
    plots     pictures, kept as they were displayed

It knows IPython and no widgets. Loading it imports nothing heavy.
"""
