"""Names of a notebook that may be seen, and those that may not."""

from __future__ import annotations

import math
import types
from typing import TYPE_CHECKING, Any

import pydantic
import pytest

from jupyter_mcp.kernel import exposure
from jupyter_mcp.kernel.exposure import exposed, redact
from tests.shared import shared_path

if TYPE_CHECKING:
    from pathlib import Path


class Touchy:
    """Every way to ask it something fails loudly."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")

    def __repr__(self) -> str:
        raise AssertionError("repr")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("eq")

    def __hash__(self) -> int:
        raise AssertionError("hash")

    def __len__(self) -> int:
        raise AssertionError("len")


class LyingMeta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(f"class asked for {name}")

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("class eq")

    def __hash__(cls) -> int:
        raise AssertionError("class hash")

    def __instancecheck__(cls, instance: object) -> bool:
        raise AssertionError("isinstance")


class Lying(metaclass=LyingMeta):
    pass


def make_lying() -> object:
    return object.__new__(Lying)


def test_public_names_are_exposed_in_their_order() -> None:
    assert exposed({"b": 1, "a": "text", "_c": 2, "__d": 3}).names == ("b", "a")


def test_modules_and_names_that_are_no_identifiers_are_left_out_uncounted() -> None:
    namespace: dict[Any, Any] = {"math": math, "fake": types.ModuleType("x"), "my var": 1, 7: 1, "\ud800": 1, "ok": 1}
    assert exposed(namespace) == exposure.Exposed(("ok",), 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "anything"),
        ("password", 1234),
        ("innocent", "sk-demo-0123456789abcdef0123456789abcdef"),
        ("db_url", "postgresql://ann:hunter2secret@db.example.org/x"),
        ("pem", "-----BEGIN PRIVATE KEY-----\nMIIBdemo\n-----END PRIVATE KEY-----"),
        ("raw", b"-----BEGIN PRIVATE KEY-----\nMIIBdemo\n-----END PRIVATE KEY-----"),
        ("held", pydantic.SecretStr("x")),
    ],
)
def test_a_secret_is_counted_and_not_named(name: str, value: Any) -> None:
    assert exposed({name: value, "rest": 1}) == exposure.Exposed(("rest",), 1)
    assert exposed({name: value}, only=[name]).names == ()


@pytest.mark.parametrize("name", ["harmless_tokenizer", "keyboard", "monkey", "token_count"])
def test_names_that_only_look_alike_stay(name: str) -> None:
    assert exposed({name: "wordpiece"}).names == (name,)


def test_the_value_of_a_secret_environment_variable_is_a_secret_under_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "plain words 77")
    assert exposed({"x": "plain words 77", "y": "other words"}) == exposure.Exposed(("y",), 1)
    assert redact({"seen": "it says plain words 77 here"}) == {"seen": "it says ••• here"}


@pytest.mark.parametrize("value", ["production", "Disabled", "12345", "------", "0101010101", ""])
def test_an_everyday_word_in_such_a_variable_masks_nothing(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", value)
    assert exposed({"x": value}) == exposure.Exposed(("x",), 0)
    assert redact(f"it says {value} here") == f"it says {value} here"


def test_a_path_that_is_there_is_no_secret_whatever_its_variable_is_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("PWD", "OLDPWD", "SERVICE_CREDENTIALS"):
        monkeypatch.setenv(name, str(tmp_path))
    assert redact(f"saved in {tmp_path}/a.csv") == f"saved in {tmp_path}/a.csv"
    assert exposed({"folder": str(tmp_path)}) == exposure.Exposed(("folder",), 0)
    monkeypatch.setenv("SERVICE_CREDENTIALS", "slashes/in/a/77+secret")
    assert redact("it says slashes/in/a/77+secret here") == "it says ••• here"


def test_only_and_besides() -> None:
    namespace = {"a": 1, "b": 2, "c": 3}
    assert exposed(namespace, only=["a", "b", "zz"], besides=["b"]) == exposure.Exposed(("a",), 1)


def test_what_the_kernel_put_there_is_left_out_until_the_person_binds_the_name_anew() -> None:
    own: dict[str, Any] = {"In": [], "exit": object()}
    namespace = {**own, "x": 1}
    assert exposed(namespace, baseline=own).names == ("x",)
    assert exposed({**namespace, "exit": 5}, baseline=own).names == ("exit", "x")
    assert exposed({**namespace, "exit": 5}, baseline=list(own)).names == ("x",)


def test_no_code_of_a_value_or_of_its_class_runs() -> None:
    assert exposed({"a": Touchy(), "b": make_lying(), "c": Lying}).names == ("a", "b", "c")


def test_objects_of_this_package_are_never_exposed() -> None:
    from jupyter_mcp.server import Server

    assert exposed({"server": Server("x"), "x": 1}) == exposure.Exposed(("x",), 0)


def test_the_secrets_of_the_recorded_case_never_leave() -> None:
    path = shared_path("cases/69-nb-secrets.py")
    space: dict[str, Any] = {"__name__": "case"}
    exec(path.read_text(encoding="utf-8"), space)
    shown = exposed(space)
    assert {"harmless_tokenizer", "keyboard", "monkey", "config"} <= set(shown.names)
    assert not {"OPENAI_API_KEY", "db_url", "private_key"} & set(shown.names)
    text = str(redact({name: space[name] for name in shown.names if name in ("config", "headers")}))
    assert [secret for secret in space["SECRETS"] if secret in text] == []
