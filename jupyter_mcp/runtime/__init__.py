"""The background thread, the waiting cell and the pump (layer 3).

    thread    one asyncio loop on one thread, started at first use; everything that talks to servers runs there
    wait      how a cell (or a thread, or an awaiting cell) waits for work on that loop; interrupts
    pump      how widget messages are handled while the main thread waits, for ipykernel 6.29 … 7.4
    place     which cell an act belongs to, so that its forms appear there
    jobs      the queue of things to do on the main thread (whatever creates or displays output)
    cells     is a cell running, which was the last one
    desk      puts a server's question before the person: a form, `input()`, or nobody at all
    prompts   the dialogue in text; announce: a line in a cell that has already ended
    frontend  what kind of front end this is; whereabouts: which notebook this is, where its person's files are
    state     the one `Host` of this kernel

It knows IPython and ipykernel, and no widgets: the form is drawn by a presenter that `notebook` sets. It imports
nothing heavy: a kernel that never connects to a server pays nothing.
"""
