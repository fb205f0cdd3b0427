"""One connection to one server, over both eras (layer 2).

`connection.Connection` is the way in, `peer.ServerPeer` the seam to the host above, `options.ConnectOptions` what may
be set. It speaks through any `transport.base.Transport` and asks `protocol` what to say; it shows nothing and decides
nothing for a person.
"""
