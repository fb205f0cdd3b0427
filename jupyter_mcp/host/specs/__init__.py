"""How to reach a server, as a value, and the ways people write it down (a line, a body, a configuration file)."""

from jupyter_mcp.host.specs.config import parse_body, read_config
from jupyter_mcp.host.specs.spec import NAME_RULE, ServerSpec, check_name, suggest_name

__all__ = ["NAME_RULE", "ServerSpec", "check_name", "parse_body", "read_config", "suggest_name"]
