"""JSON-RPC: what we send is strict, what we read is forgiving."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import LocalProtocolError
from jupyter_mcp.protocol import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Mapping

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_what_is_encoded_decodes_to_the_same(value: Any) -> None:
    assert jsonrpc.decode(jsonrpc.encode({"v": value})) == {"v": value}


@given(st.text(alphabet=st.characters(categories=["Cs", "Lu", "Cc"])))
def test_lone_surrogates_survive_the_wire_as_escapes(text: str) -> None:
    line = jsonrpc.encode({"text": text})
    line.decode()  # is UTF-8
    assert json.loads(line) == json.loads(json.dumps({"text": text}))
    assert jsonrpc.decode(line) == json.loads(line)


@given(json_values)
def test_a_message_is_one_line(value: Any) -> None:
    assert b"\n" not in jsonrpc.encode({"v": value})


def test_non_ascii_text_is_sent_as_utf8() -> None:
    assert jsonrpc.encode({"t": "é漢🎉"}) == '{"t":"é漢🎉"}'.encode()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"params": {"arguments": {"x": [1, 2, 3, float("nan")]}}}, "`params.arguments.x[3]` is NaN"),
        ({"a": float("inf")}, "`a` is Infinity"),
        ({"a": [{"b": float("-inf")}]}, "`a[0].b` is -Infinity"),
        ({"a": {1, 2}}, "`a` is of type set"),
        ({"a": b"x"}, "`a` is of type bytes"),
        ({"a": {(1, 2): 3}}, "`a` has a key of type tuple"),
        ({"a": (1, {"b": object()})}, "`a[1].b` is of type object"),
    ],
)
def test_what_json_cannot_hold_is_named_with_its_path(value: dict[str, Any], said: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        jsonrpc.encode(value)
    assert said in str(caught.value)


def test_a_cycle_and_great_depth_are_refused_in_words() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"k": deep}
    for value in ({"params": loop}, {"params": deep}):
        with pytest.raises(LocalProtocolError, match=r"nested too deeply|contains itself"):
            jsonrpc.encode(value)


def test_read_only_mappings_tuples_and_batches_are_encoded() -> None:
    frozen: Mapping[str, Any] = MappingProxyType({"a": (1, 2)})
    assert jsonrpc.encode(frozen) == b'{"a":[1,2]}'
    assert jsonrpc.encode([{"a": 1}, {"b": 2}]) == b'[{"a":1},{"b":2}]'


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":"\\ud800"}', {"a": "\ud800"}),
        (b'{"a":Infinity}', {"a": float("inf")}),
        (b"[" * 300 + b"]" * 300, None),
    ],
)
def test_what_servers_really_send_is_read(data: bytes, value: Any) -> None:
    decoded = jsonrpc.decode(data)
    assert value is None or decoded == value


def test_nan_is_read_as_a_float() -> None:
    read = jsonrpc.decode(b'{"sd":NaN}')["sd"]
    assert isinstance(read, float) and read != read


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "not JSON"),
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b'{"a":"\xff"}', "not UTF-8 at byte 6"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' + b"9" * 6000 + b"}", "too many digits"),
    ],
)
def test_what_cannot_be_read_is_a_value_error_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        jsonrpc.decode(data)


@pytest.mark.parametrize(
    ("obj", "kind"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "request"),
        ({"jsonrpc": "2.0", "id": 0, "method": "ping", "params": []}, "request"),
        ({"jsonrpc": "2.0", "id": "s1", "method": "ping"}, "request"),
        ({"jsonrpc": "2.0", "method": "notifications/x", "params": []}, "notification"),
        ({"jsonrpc": "2.0", "id": None, "method": "notifications/x"}, "notification"),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, "invalid"),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, "invalid"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, "invalid"),
        ({"method": "GET", "path": "/"}, "invalid"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, "response"),
        ({"id": 1, "result": {}}, "response"),
        ({"jsonrpc": "2.0", "id": 1, "error": None, "result": {}}, "response"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}, "result": {}}, "error"),
        ({"jsonrpc": "2.0", "id": 1, "result": None}, "error"),
        ({"jsonrpc": "2.0", "id": 1}, "error"),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}}, "error"),
        ({"level": 30, "msg": "log"}, "invalid"),
        ({"level": "error", "error": "boom"}, "invalid"),
        ([], "invalid"),
        (None, "invalid"),
        (5, "invalid"),
    ],
)
def test_the_shape_tells_the_kind(obj: object, kind: str) -> None:
    assert jsonrpc.kind(obj) == kind


@pytest.mark.parametrize(
    ("message", "code", "text"),
    [
        ({"error": {"code": "invalid_payload", "message": "quota"}}, -32603, "quota"),
        ({"error": {"code": -32000.0}}, -32000, "error -32000 without a message"),
        ({"error": "quota"}, -32603, "quota"),
        ({"error": {"code": 1, "message": "quota"}, "result": {}}, 1, "quota"),
        ({"result": None}, -32603, "empty reply"),
        ({}, -32603, "empty reply"),
        ({"error": {"code": "-32601", "message": "no"}}, -32601, "no"),
        ({"error": {"code": True, "message": ["a"]}}, -32603, '["a"]'),
        ({"error": {"code": float("nan"), "message": "m"}}, -32603, "m"),
        ({"error": []}, -32603, "[]"),
        ({"error": {"message": ""}}, -32603, "an error without a message"),
    ],
)
def test_a_broken_error_object_still_gives_a_code_and_a_text(message: dict[str, Any], code: int, text: str) -> None:
    error = jsonrpc.parse_error({"jsonrpc": "2.0", "id": 1, **message})
    assert (error.code, error.message) == (code, text)


def test_an_error_keeps_its_data() -> None:
    data = {"supported": ["2026-07-28"]}
    assert jsonrpc.parse_error({"error": {"code": -32022, "message": "m", "data": data}}).data is data


def test_an_id_matches_exactly_first_and_else_as_text_or_number() -> None:
    assert jsonrpc.match_id({1: "a", "1": "b"}, "1") == "1"
    assert jsonrpc.match_id({1: "a", "1": "b"}, 1) == 1
    assert jsonrpc.match_id({1: "a"}, "1") == 1
    assert jsonrpc.match_id({0: "a"}, "0") == 0
    assert jsonrpc.match_id({"7": "a"}, 7) == "7"
    assert jsonrpc.match_id({1: "a"}, 1.0) == 1


@pytest.mark.parametrize("id", [None, True, [], {}, "01", " 1", "1.0", "x", 2, "²", "9" * 5000, 1.5, float("nan")])
def test_a_foreign_id_matches_nothing(id: object) -> None:
    assert jsonrpc.match_id({1: "a"}, id) is None


def test_messages_have_the_shape_of_json_rpc() -> None:
    assert jsonrpc.request(1, "ping") == {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert jsonrpc.notification("n", {"a": 1}) == {"jsonrpc": "2.0", "method": "n", "params": {"a": 1}}
    assert jsonrpc.result("a", {}) == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert jsonrpc.error(None, -32700, "m") == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}}
    assert jsonrpc.error(1, 5, "m", [1])["error"]["data"] == [1]


EMPTY: tuple[Any, ...] = (None, False, 0, "", {}, [])


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"method": "tools/call", "params": {}, "result": {}}, "response"),
        ({"method": None, "params": None, "result": {}, "error": None}, "response"),
        ({"method": "tools/call", "error": {"code": 1, "message": "no"}}, "error"),
        ({"method": "tools/call", "params": {}, "result": None, "error": None}, "request"),
        *(({"result": {}, "error": empty}, "response") for empty in EMPTY),
        *(({"error": empty}, "error") for empty in EMPTY),
        ({"result": {}, "error": {"code": 0}}, "error"),
    ],
)
def test_what_an_answer_carries_beside_its_result_does_not_hide_it(message: dict[str, Any], kind: str) -> None:
    assert jsonrpc.kind({"jsonrpc": "2.0", "id": 3, **message}) == kind


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": -32000, "message": None, "data": "quota"}, "quota"),
        ({"code": "5", "data": {"message": "quota"}}, "quota"),
        ({"code": -32000, "detail": "quota"}, "quota"),
        ({"msg": "quota", "code": None}, "quota"),
        ({"error": {"why": "quota"}}, "quota"),
        ({"quota": "used up"}, "used up"),
        ("quota", "quota"),
    ],
)
def test_the_words_of_an_error_are_found_wherever_they_stand(error: Any, said: str) -> None:
    assert said in jsonrpc.parse_error({"jsonrpc": "2.0", "id": 1, "error": error}).message
