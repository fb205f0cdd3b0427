"""What an older SDK writes about our probe takes one line of a log, and nothing else is lost."""

from __future__ import annotations

from jupyter_mcp.host.echo import REMARK, Echo

LINK = "    For further information visit https://errors.pydantic.dev/2/v/x"
PROBE = "_meta': {'io.modelconte...form': {}, 'url': {}}}}}, input_type=dict]"
HEAD = "WARNING:root:Failed to validate request: 31 validation errors for ClientRequest"


def folded(*lines: str) -> list[str]:
    echo = Echo()
    return [kept for line in lines for kept in echo.fold(line)]


def test_a_report_about_the_probe_becomes_one_remark():
    report = [
        HEAD,
        "PingRequest.method",
        "  Input should be 'ping' [type=literal_error, input_value='server/discover', input_type=str]",
        LINK,
        "InitializeRequest.params.capabilities",
        f"  Field required [type=missing, input_value={{'{PROBE}",
        LINK,
    ]
    assert folded("start", *report, "INFO: ready", "one") == ["start", HEAD, REMARK, "INFO: ready", "one"]


def test_a_report_about_anything_else_stays_whole():
    report = [
        HEAD,
        "CallToolRequest.params.name",
        "  Field required [type=missing, input_value={'arguments': {}}, input_type=dict]",
        LINK,
    ]
    assert folded(*report, "INFO: after") == [*report, "INFO: after"]
    assert folded("PingRequest.method", LINK) == ["PingRequest.method", LINK]
