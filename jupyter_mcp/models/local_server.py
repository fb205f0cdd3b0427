"""The program of the local model's process: loads one file, listens on loopback, ends when its stdin does.

It is run by its path, by `local`, and imports nothing of this package. The first line of stdin is a JSON object with
`path`, `name`, `key`, `template` and `embeddings`; the line `listening URL` on stdout is the answer.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

CONTEXT = 8192  # tokens
TEXT = 2048  # tokens of a text of which a vector is made: it has to fit into one batch


def main() -> None:
    """Load, listen, wait."""
    wanted = json.loads(sys.stdin.readline())
    llama = import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path = wanted["path"]
    settings.model_alias = {wanted["name"]}  # else each reply tells the path
    settings.api_keys = [wanted["key"]]
    settings.n_ctx = CONTEXT
    settings.cache_ram_mib = 0
    settings.verbosity = 0  # errors only
    settings.warmup = False
    settings.offline = True
    settings.ui = False
    settings.endpoint_slots = False
    if wanted["template"]:
        settings.chat_template = wanted["template"]
    if wanted["embeddings"]:
        settings.embedding = True
        settings.n_ctx = settings.n_batch = settings.n_ubatch = TEXT
        settings.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = llama.Server(settings)
    sys.stdout.write(f"listening {server.listening_address}\n")
    sys.stdout.flush()
    os.dup2(2, 1)  # nobody reads stdout any more
    sys.stdin.read()  # until the other side is gone
    os._exit(0)  # nothing is left to be saved


if __name__ == "__main__":
    main()
