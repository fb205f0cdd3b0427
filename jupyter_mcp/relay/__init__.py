"""What stands between a client and live notebooks, and hands on what one says to the other.

The bridge of the command line and the one address of a Jupyter Server for all its notebooks are both servers of their
own, in both eras, and clients of notebooks in the modern one. They share this: RULES

- `upstream` is the way to one notebook.
- `relay` takes a request there and back, questions, progress and log messages included.
- `listening` hears of what changes there.
- `shaping` writes what comes back as an older client can read it.
- `usual` knows the tools that every notebook has.

Which notebook is meant is not known here.
"""
