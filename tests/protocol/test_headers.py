"""Headers that say what the body says, and servers that check it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import LocalProtocolError
from jupyter_mcp.protocol import headers
from jupyter_mcp.protocol.headers import (
    LONGEST,
    ParamHeaders,
    check,
    decode_value,
    encode_value,
    for_request,
    read_param_headers,
)
from jupyter_mcp.protocol.jsonrpc import HEADER_MISMATCH, RpcError

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
text = st.text(st.characters(exclude_categories=["Cs"]))


def call(name: str = "book", method: str = "tools/call", **arguments: Any) -> dict[str, Any]:
    key = "uri" if method.startswith("resources") else "name"
    params = {key: name, "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def checked(message: dict[str, Any], sent: dict[str, str], params: ParamHeaders | None = None) -> RpcError | None:
    folded = {name.lower(): [value] for name, value in sent.items()}
    return check(lambda name: folded.get(name.lower(), []), message, params)


@given(text)
def test_any_text_travels_in_a_header_and_comes_back(value: str) -> None:
    sent = encode_value(value)
    assert all(" " <= char <= "~" for char in sent) and sent == sent.strip()
    assert decode_value(sent) == value


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("plain name", "plain name"),
        ("", ""),
        ("=?base64?", "=?base64?"),
        ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        (" edge", "=?base64?IGVkZ2U=?="),
        ("tab\tin", "=?base64?dGFiCWlu?="),
        ("naïve", "=?base64?bmHDr3Zl?="),
        ("two\nlines", "=?base64?dHdvCmxpbmVz?="),
        ("end\n", "=?base64?ZW5kCg==?="),
    ],
)
def test_only_what_a_header_cannot_carry_or_would_be_misread_is_wrapped(value: str, sent: str) -> None:
    assert encode_value(value) == sent


@pytest.mark.parametrize(
    "value", ["=?base64?e?=", "=?base64?eB==?=", "=?base64?/w==?=", "=?base64?e A=?=", "=?base64?é?="]
)
def test_a_wrapping_that_holds_nothing_readable_is_an_error(value: str) -> None:
    with pytest.raises(ValueError):
        decode_value(value)


@given(st.text(max_size=60))
def test_decoding_raises_nothing_but_value_errors(value: str) -> None:
    for candidate in (value, f"=?base64?{value}?="):
        try:
            decode_value(candidate)
        except ValueError:
            pass


def test_a_session_id_is_visible_ascii() -> None:
    assert headers.valid_session_id("ab~!-9")
    for bad in ("", "a b", "é", "a\n", "x" * 5000):
        assert not headers.valid_session_id(bad)


# --- annotations -----------------------------------------------------------------------------------------------------


def annotated(name: Any = "Region", kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


def test_annotated_arguments_are_found_at_every_depth_of_properties() -> None:
    schema = {
        "type": "object",
        "properties": {
            "region": annotated(),
            "where": {"type": "object", "properties": {"n": annotated("Count", "integer"), "x-mcp-header": {}}},
            "plain": {"type": "string", "default": {"x-mcp-header": 5}, "enum": [{"x-mcp-header": 6}]},
        },
    }
    found = read_param_headers(schema)
    assert found == ParamHeaders({("region",): "Region", ("where", "n"): "Count"})


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"properties": {"a": annotated("")}}, "not the name of a header"),
        ({"properties": {"a": annotated("a b")}}, "not the name of a header"),
        ({"properties": {"a": annotated("a\r\nb")}}, "not the name of a header"),
        ({"properties": {"a": annotated("naïve")}}, "not the name of a header"),
        ({"properties": {"a": annotated(5)}}, "not a string"),
        ({"properties": {"a": annotated(None)}}, "not a string"),
        ({"properties": {"a": annotated("A", "number")}}, "type string, integer or boolean"),
        ({"properties": {"a": annotated("A", "object")}}, "type string, integer or boolean"),
        ({"properties": {"a": annotated("A", ["string", "null"])}}, "type string, integer or boolean"),
        ({"properties": {"a": {"x-mcp-header": "A"}}}, "type string, integer or boolean"),
        ({"properties": {"a": annotated("A"), "b": annotated("a")}}, "both a and b"),
        ({"properties": {"a": {"type": "array", "items": annotated()}}}, "no argument has a fixed place"),
        ({"oneOf": [{"properties": {"a": annotated()}}]}, "no argument has a fixed place"),
        ({"properties": {"a": {"anyOf": [annotated()]}}}, "no argument has a fixed place"),
        ({"if": {"properties": {"a": annotated()}}}, "no argument has a fixed place"),
        ({"$defs": {"a": annotated()}, "properties": {"a": {"$ref": "#/$defs/a"}}}, "no argument has a fixed place"),
        ({"patternProperties": {"^a": annotated()}}, "no argument has a fixed place"),
        ({"additionalProperties": annotated()}, "no argument has a fixed place"),
        ({"type": "object", "x-mcp-header": "A"}, "no argument has a fixed place"),
    ],
)
def test_an_invalid_annotation_is_named(schema: dict[str, Any], why: str) -> None:
    found = read_param_headers(schema)
    assert isinstance(found, str) and why in found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["properties", "items", "x-mcp-header", "type", "a", "oneOf"]), inner, max_size=3
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_no_schema_whatsoever_makes_it_raise(schema: Any) -> None:
    assert isinstance(read_param_headers(schema), (str, ParamHeaders))


def test_a_very_deep_schema_is_read() -> None:
    schema: dict[str, Any] = annotated()
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
    found = read_param_headers(schema)
    assert isinstance(found, ParamHeaders) and [len(path) for path in found.names] == [5000]


# --- what is sent, what is checked -----------------------------------------------------------------------------------

PARAMS = ParamHeaders({("region",): "Region", ("n",): "Count", ("where", "on"): "On"})


def test_a_request_repeats_its_revision_method_name_and_annotated_arguments() -> None:
    sent = for_request(call("naïve", region="eu-1", n=42.0, where={"on": True}, other="x"), PARAMS)
    assert sent == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?bmHDr3Zl?=",
        "Mcp-Param-Region": "eu-1",
        "Mcp-Param-Count": "42",
        "Mcp-Param-On": "true",
    }


def test_a_resource_is_named_by_its_uri_and_a_list_by_nothing() -> None:
    assert for_request(call("file:///a b", method="resources/read"))["Mcp-Name"] == "file:///a b"
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    assert for_request(listing) == {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


def test_absent_null_and_unfit_arguments_have_no_header() -> None:
    assert set(for_request(call(region=None, n=[1], where=7), PARAMS)) == {
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
    }


def test_an_integer_that_a_header_may_not_carry_is_refused_before_sending() -> None:
    with pytest.raises(LocalProtocolError, match=r"`n` is beyond"):
        for_request(call(n=2**53), PARAMS)


scalars = st.none() | text | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1)


@given(text, scalars, scalars, scalars)
def test_a_server_accepts_what_a_client_sends(name: str, region: Any, n: Any, on: Any) -> None:
    message = call(name, region=region, n=n, where={"on": on})
    assert checked(message, for_request(message, PARAMS), PARAMS) is None


GOOD = call("book", region="eu", n=42)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"MCP-Protocol-Version": None}, "MCP-Protocol-Version is missing"),
        ({"MCP-Protocol-Version": "2025-11-25"}, "MCP-Protocol-Version differs"),
        ({"Mcp-Method": None}, "Mcp-Method is missing"),
        ({"Mcp-Method": "TOOLS/CALL"}, "Mcp-Method differs"),
        ({"Mcp-Name": None}, "Mcp-Name is missing"),
        ({"Mcp-Name": "other"}, "Mcp-Name differs"),
        ({"Mcp-Name": "=?base64?!?="}, "Mcp-Name cannot be read"),
        ({"Mcp-Param-Region": None}, "Mcp-Param-Region is missing"),
        ({"Mcp-Param-Region": "us"}, "Mcp-Param-Region differs"),
        ({"Mcp-Param-Count": "43"}, "Mcp-Param-Count differs"),
        ({"Mcp-Param-Count": "nan"}, "Mcp-Param-Count differs"),
        ({"Mcp-Param-Count": "9" * 5000}, "Mcp-Param-Count differs"),
        ({"Mcp-Param-On": "true"}, "Mcp-Param-On says what the body does not"),
    ],
)
def test_a_header_that_is_missing_or_says_something_else_is_an_error(change: dict[str, str | None], says: str) -> None:
    sent = {name: value for name, value in {**for_request(GOOD, PARAMS), **change}.items() if value is not None}
    error = checked(GOOD, sent, PARAMS)
    assert error is not None and error.code == HEADER_MISMATCH and says in error.message


@pytest.mark.parametrize("change", [{"Mcp-Param-Count": "42.0"}, {"Mcp-Param-Other": "x"}, {"Mcp-Name": " book "}])
def test_the_same_number_in_other_digits_and_headers_of_others_are_fine(change: dict[str, str]) -> None:
    assert checked(GOOD, {**for_request(GOOD, PARAMS), **change}, PARAMS) is None


def test_a_repeated_header_is_refused_even_when_both_are_right() -> None:
    sent = for_request(GOOD)
    error = check(lambda name: [sent[name]] * (2 if name == headers.NAME else 1), GOOD)
    assert error is not None and "2 times" in error.message


def test_a_name_in_the_header_only_is_a_mismatch() -> None:
    message = call("book")
    sent = for_request(message)
    del message["params"]["name"]
    error = checked(message, sent)
    assert error is not None and error.code == HEADER_MISMATCH


@pytest.mark.parametrize(
    ("method", "params"),
    [("tasks/result", {"taskId": "t"}), ("resources/subscribe", {"uri": "x://y"}), ("no/such", {"name": "n"})],
)
def test_a_method_that_this_era_has_not_needs_no_name_so_that_it_is_answered_as_unknown(
    method: str, params: dict[str, Any]
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    sent = for_request(message)
    assert "Mcp-Name" not in sent
    assert checked(message, sent) is None and checked(message, {**sent, "Mcp-Name": "anything"}) is None


def test_a_name_that_no_head_holds_is_an_error_that_says_which() -> None:
    long = "file:///" + "x" * (LONGEST - 200)
    assert len(for_request(call(long, method="resources/read"))["Mcp-Name"]) == len(long)
    with pytest.raises(LocalProtocolError) as caught:
        for_request(call(long + "y" * 200, method="resources/read"))
    sentence = "its header Mcp-Name would be 60,008 bytes long, and those of one HTTP request hold 60,000 in all."
    assert str(caught.value) == sentence
    with pytest.raises(LocalProtocolError, match=r"its header Mcp-Param-Region would be 70,000 bytes"):
        for_request(call("naive", region="r" * 70_000), PARAMS)
