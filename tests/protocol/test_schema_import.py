"""What the first schema check costs a kernel."""

from __future__ import annotations

import subprocess
import sys


def test_the_first_check_does_not_compile_the_grammar_of_a_format_nobody_uses() -> None:
    code = """
import sys
from jupyter_mcp.protocol import schema
assert [issue.path for issue in schema.check({"type": "object", "required": ["a"]}, {})]
print([name for name in ("lark", "rfc3987_syntax") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "[]\n", done.stderr
