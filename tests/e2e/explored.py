"""A server in the notebook's own kernel for the explorer's tests: resources of many types, icons, many tools."""

SETUP = '''
%load_ext jupyter_mcp
import base64, zlib
from jupyter_mcp.server import Server, user, assistant
from jupyter_mcp.demo import chart

lab = Server("lab", title="Laboratory", icons=[{"src": "data:image/svg+xml;base64," + base64.b64encode(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" onload="window.iconRan=1">'
    b'<script>window.iconRan=1</script><circle cx="8" cy="8" r="7" fill="teal"/></svg>').decode()}])
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 120]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F 24 Tf 30 50 Td (Report of March) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>"""
FILES = {
    "lab://runs/2027/march/readings.csv": ("text/csv", "day,degrees\\nMonday,20.5\\nTuesday,9\\nWednesday,11"),
    "lab://runs/2027/march/settings.json": ("application/json", '{"rate": 3, "units": {"length": "mm"}}'),
    "lab://runs/2027/march/protocol.md": ("text/markdown", "# Protocol\\n\\nWarm up, **then** measure.\\n"),
    "lab://runs/2027/march/fit.py": ("text/x-python", "def fit(x):\\n    return 2 * x\\n"),
    "lab://runs/2027/march/report.pdf": ("application/pdf", PDF),
    "lab://runs/2027/march/chart.png": ("image/png", chart.bar_chart([3, 5, 2], ["A", "B", "C"])),
}
def add(uri, kind, body):
    @lab.resource(uri, name=uri.rpartition("/")[2], mime_type=kind)
    def read():
        return body
for uri, (kind, body) in FILES.items():
    add(uri, kind, body)

READS, WRITES = {"readOnlyHint": True}, {"destructiveHint": True, "readOnlyHint": False}
@lab.tool(title="Measure once", annotations=READS)
def measure(sensor: str, times: int = 1) -> str:
    """Read a sensor."""
    return f"{sensor}: {times}"

@lab.tool(annotations=WRITES)
def wipe(sensor: str) -> str:
    """Delete all readings of a sensor."""
    return "wiped"
'''

MANY = """
%load_ext jupyter_mcp
from jupyter_mcp.server import Server
many = Server("many")
def make(number):
    def tool(a: int = 1, b: str = "x") -> str:
        return str(number)
    many.add_tool(tool, name=f"tool_{number}", description=f"Does the thing number {number}. " * 5)
for number in range(2_000):
    make(number)
"""
