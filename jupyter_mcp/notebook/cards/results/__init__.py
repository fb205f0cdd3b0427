"""Live views of what acts return: sorted tables, JSON trees, pictures, players, links that are read on a click.

    view    ResultView(result, runner).root              a tool's result
            read_view(read, runner), prompt_view(prompt) what a resource or a prompt gave
            block_view(block, server, runner)            one content block (contents_view: one part of a resource)
    card    deserves_card(result), result_card(result)   a result in a cell

What there is to show is decided by `render.sections`, the same for the static form. `part` makes the widget of one
section; `table`, `text`, `links` and `fold` are those it is made of.
"""
