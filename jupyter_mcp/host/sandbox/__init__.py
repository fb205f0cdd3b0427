"""Servers that may not do everything: a process with its own, smaller view of this machine (`connect --sandbox`).

Roots inform a server, a sandbox holds it to them. `confine.confine` is the door: it finds what this system can do, says
what is missing where it can do nothing, and gives back how a command is started inside. `rules` is what a person
writes, `places` the paths it means, `bubblewrap` (Linux) and `seatbelt` (macOS) the two ways of making it real.
"""
