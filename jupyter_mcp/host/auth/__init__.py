"""Logging in to servers, from the host's side: who is asked, where the browser comes back, where a login is kept.

    logins      the logins of one host: what lets each server's requests in
    asking      a page of an authorization server, put to the person; pasted addresses and tokens
    places      where the browser comes back: this machine, the Jupyter Server, or a person's clipboard
    waiting     who waits for what a browser brings back
    loopback    a listener of this machine for one answer
    stores      where logins are kept: the system's keyring, files of the person alone, memory

The flows themselves (OAuth 2.1) are `client.auth`'s. Nothing here is loaded before a server refuses a request.
"""

from __future__ import annotations
