"""Which way a request takes: the proxy and the certificates. Reads the environment and files; sends nothing."""

from __future__ import annotations

import base64
import errno
import ipaddress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from jupyter_mcp.errors import ConnectionFailed

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    import aiohttp
    import aiohttp.abc

    from jupyter_mcp.transport.http.options import HttpOptions


def basic_authorization(user: str) -> str:
    """The value of a header for `name:password` as it stands in a URL."""
    name, colon, password = user.partition(":")
    return "Basic " + base64.b64encode(f"{unquote(name)}{colon or ':'}{unquote(password)}".encode()).decode()


def proxy_for(url: str, options: HttpOptions) -> tuple[str | None, str]:
    """URL of the proxy to use for `url` without its user information, and that; None when there is none.

    The environment's proxy is never asked for this machine's own names, whatever NO_PROXY says.

    Raises:
        ConnectionFailed: what was given is not the URL of a proxy.
    """
    proxy = options.proxy
    if proxy is None or options.socket:
        return None, ""
    if proxy == "env":
        proxy = _from_environment(url)
        if proxy is None:
            return None, ""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    user, _, host = parts.netloc.rpartition("@")
    if not host or parts.scheme.lower() not in ("http", "https", "socks5", "socks5h", "socks4", "socks"):
        raise ConnectionFailed("The proxy is not a URL that can be used.", hint="Such as http://proxy.example:3128.")
    return urlunsplit((parts.scheme.lower(), host, "", "", "")), user


def _from_environment(url: str) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return proxies.get(parts.scheme) or proxies.get("all") or None


def is_loopback(host: str) -> bool:
    """Whether a name means this machine: to a proxy it would mean another one, which has no use for our credentials."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def socks_connector(proxy: str, user: str) -> Callable[..., aiohttp.BaseConnector]:
    """What makes connections through a SOCKS proxy, which also looks up the names.

    Raises:
        ConnectionFailed: the optional package for it is not there.
    """
    import importlib

    try:
        package = importlib.import_module("aiohttp_socks")
    except ImportError:
        raise ConnectionFailed(
            "A SOCKS proxy needs the package aiohttp-socks.", hint="%pip install aiohttp-socks, then connect again."
        ) from None
    scheme, _, host = proxy.partition("://")
    plain = "socks4" if scheme == "socks4" else "socks5"
    return partial(package.ProxyConnector.from_url, f"{plain}://{user}{'@' if user else ''}{host}", rdns=True)


def guarded_resolver(may_connect: Callable[[str], bool]) -> aiohttp.abc.AbstractResolver:
    """Looks up names as usual and leaves out addresses that may not be connected to.

    What is looked up is what is connected to, so a name that changes its mind in between (rebinding) gains nothing.
    """
    from aiohttp import ThreadedResolver

    class Guarded(ThreadedResolver):
        async def resolve(self, host: str, *args: Any, **kwargs: Any) -> list[aiohttp.abc.ResolveResult]:
            found = await super().resolve(host, *args, **kwargs)
            allowed = [one for one in found if may_connect(one["host"])]
            if not allowed:
                raise OSError(errno.EACCES, "its address is of a private network")
            return allowed

    return Guarded()


def ssl_context(options: HttpOptions) -> ssl.SSLContext:
    """What to trust and what to show. Raises `ConnectionFailed` naming the file that cannot be used."""
    import ssl
    from pathlib import Path

    ca, cert = options.ca, options.cert
    try:
        if ca is None:
            context = ssl.create_default_context()
        else:
            path = Path(ca).expanduser()
            folder = path.is_dir()
            context = ssl.create_default_context(cafile=None if folder else path, capath=path if folder else None)
    except (OSError, ValueError) as error:
        raise ConnectionFailed(f"The certificates in {ca} cannot be read: {_words(error)}.") from None
    if options.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert is not None:
        files = (cert,) if isinstance(cert, str) else cert
        try:
            context.load_cert_chain(*(Path(file).expanduser() for file in files), password=lambda: "")
        except (OSError, ValueError) as error:
            raise ConnectionFailed(f"The certificate {files[0]} cannot be used: {_words(error)}.") from None
    return context


def _words(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or getattr(error, "reason", None) or error)
