"""What a person writes for a model, and what is said when it cannot be had. No library of a provider is needed here."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import NoModel, UsageError
from jupyter_mcp.models import providers, spec
from jupyter_mcp.models.function import FunctionModel
from jupyter_mcp.models.providers import PROVIDERS, states
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.models.spec import Options, Surroundings

if TYPE_CHECKING:
    from jupyter_mcp.models.base import Model, ModelRequest


def mine(request: ModelRequest) -> str:
    return "mine"


class Tools:
    answer = staticmethod(mine)
    number = 3


NOTEBOOK: dict[str, Any] = {"mine": mine, "tools": Tools, "number": 3}


def make(what: Any, environ: dict[str, str] | None = None, **options: Any) -> Model:
    return spec.make(what, Options(**options), Surroundings(environ or {}, NOTEBOOK.__getitem__, lambda: None))


def always(module: str) -> bool:
    return True


def never(module: str) -> bool:
    return False


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every library were there."""
    monkeypatch.setattr(providers, "_installed", always)


@pytest.mark.parametrize("text", ["human", "python:mine", "python:tools.answer", " human "])
def test_a_name_becomes_the_model_of_that_name(text: str) -> None:
    assert make(text).name == text.strip()


def test_a_model_is_taken_as_it_is_and_a_function_becomes_one() -> None:
    model = ScriptedModel([])
    assert make(model) is model
    made = make(mine)
    assert isinstance(made, FunctionModel)
    assert made.name == "python:mine"


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("opnai:gpt-5", "There is no provider 'opnai'. Did you mean openai?"),
        ("humen", "There is no provider 'humen'. Did you mean human?"),
        ("zzz:x", "There is no provider 'zzz'. There are openai, anthropic, google"),
        ("openai", "Which model of OpenAI?"),
        ("openai:", "Which model of OpenAI?"),
        ("human:me", "'human:me' is no model."),
        ("python", "'python' is no model."),
        ("python:nothing", "There is no function 'nothing' in this notebook."),
        ("python:tools.nothing", "There is no function 'tools.nothing' in this notebook."),
        ("python:number", "number is a int, not a function."),
        (3, "A int is no model."),
    ],
)
def test_what_is_no_model_is_told_with_the_nearest(what: Any, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(what)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    "options", [{"url": "http://localhost/v1"}, {"key": "k"}, {"url": "http://localhost/v1", "key": "k"}]
)
@pytest.mark.parametrize("what", ["human", "python:mine", mine])
def test_url_and_key_are_for_providers_only(what: Any, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="for models of a provider"):
        make(what, None, **options)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/y", "http://", "", "https://me:secret@host/v1"])
def test_a_url_is_http_and_holds_no_key(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        make("openai:m", url=url)
    assert "secret" not in str(caught.value)


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "_installed", never)
    with pytest.raises(NoModel, match=r'%pip install "jupyter-mcp-host\[models\]"'):
        make("openai:gpt-5-mini", {"OPENAI_API_KEY": "k"})


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", [name for name, one in PROVIDERS.items() if one.hosted])
def test_without_the_key_of_the_provider_it_is_said_which_and_no_other_is_taken(name: str) -> None:
    others = {key: "k" for one in PROVIDERS.values() for key in one.keys if one.name != name}
    with pytest.raises(NoModel, match=f"needs a key, and {' or '.join(PROVIDERS[name].keys)} is not set"):
        make(f"{name}:some-model", others)
    assert make(f"{name}:some-model", {PROVIDERS[name].keys[-1]: "k"}).name == f"{name}:some-model"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", [name for name, one in PROVIDERS.items() if not one.hosted])
def test_a_provider_on_this_machine_needs_no_key(name: str) -> None:
    assert make(f"{name}:some-model").name == f"{name}:some-model"


@pytest.mark.usefixtures("installed")
def test_a_variable_that_is_named_for_the_key_must_be_set() -> None:
    with pytest.raises(NoModel, match="The environment variable MY_KEY is not set"):
        make("openai:m", {"OPENAI_API_KEY": "k"}, key="${MY_KEY}")
    assert make("openai:m", {"MY_KEY": "k"}, key="${env:MY_KEY}").name == "openai:m"


def test_options_do_not_show_a_key() -> None:
    assert "sk-1" not in repr(Options(key="sk-1"))


def test_what_could_be_used_is_told_without_the_keys() -> None:
    found = {one.name: one for one in states({"GEMINI_API_KEY": "value-of-it", "OPENAI_API_KEY": ""})}
    assert list(found) == list(PROVIDERS)
    assert (found["google"].key_set, found["openai"].key_set) == ("GEMINI_API_KEY", "")
    assert "value-of-it" not in repr(found)
    assert all(not one.usable for one in found.values() if one.needs_key and not one.key_set)


def test_the_room_loads_no_library_before_a_model_is_asked() -> None:
    program = (
        "import sys; from jupyter_mcp.models.book import ModelBook; b = ModelBook(); b.set('human'); "
        "from jupyter_mcp.models.providers import states; states(); "
        "print(*sorted({n.partition('.')[0] for n in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert not {"pydantic_ai", "openai", "anthropic", "httpx", "httpx2", "xllamacpp", "anyio"} & set(
        done.stdout.split()
    )
