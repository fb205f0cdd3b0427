"""Which model answers, as a line and as Python; what the table of models tells, and what it never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import NoModel, UsageError
from jupyter_mcp.models import providers
from jupyter_mcp.models.base import ModelRequest
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.notebook import suggest
from jupyter_mcp.runtime import state

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def mine(request: ModelRequest) -> str:
    return "mine"


def rows(cells: Cells) -> dict[str, str]:
    """What `%mcp models` says: name -> state."""
    return {row[0]: row[1] for row in cells.run("t = %mcp models\nt")}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every provider's library were there."""

    def always(module: str) -> bool:
        return True

    monkeypatch.setattr(providers, "_installed", always)


def test_a_model_that_is_named_answers_from_then_on(cells: Cells):
    cells.run("%mcp model human")
    assert cells.text == "human answers from now on."
    cells.put(mine=mine)
    cells.run("%mcp model python:mine")
    assert rows(cells)["human"] == "configured"
    assert rows(cells)["python:mine"] == "answers"
    assert mcp.model() is mcp.host.model is state.get_host().models.choose().model


def test_a_model_may_be_kept_beside_the_present_one_and_forgotten(cells: Cells):
    cells.put(mine=mine)
    cells.run("%mcp model human")
    cells.run("%mcp model python:mine --speed 0.9 --cost 1 --keep")
    assert cells.text == "python:mine is configured; human answers from now on."
    assert "cost 1, speed 0.9" in str(cells.run("t = %mcp models\nt")[1])
    assert state.get_host().models.choose({"speedPriority": 1}).model.name == "python:mine"
    cells.run("%mcp model human --remove")
    assert cells.text == "python:mine answers from now on."
    cells.run("%mcp model python:mine --remove")
    assert cells.text == "No model is configured any more."
    assert mcp.model() is None


def test_objects_of_the_notebook_are_models_too(cells: Cells):
    cells.put(script=ScriptedModel(["hello"]))
    cells.run("%mcp model $script")
    assert mcp.model() is cells["script"]
    model: Any = mcp.model(mine, ranks={"cost": 1}, default=False)
    assert model.ranks.cost == 1
    assert mcp.model() is cells["script"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("model openia:gpt", "no provider 'openia'. Did you mean openai"),
        ("model python:nothing", "no function 'nothing'"),
        ("model openai:gpt --key sk-123", "saved with the notebook"),
        ("model human --cost much", "--cost is a number from 0 to 1, not 'much'"),
        ("model human --remove", "There is no model 'human'"),
        ("model human --remove --keep", "--remove stands alone"),
        ("model --keep", "Which model"),
    ],
)
def test_a_wrong_line_is_one_sentence(cells: Cells, line: str, says: str):
    with pytest.raises(UsageError, match=says):
        cells.run(f"%mcp {line}")
    assert "sk-123" not in "".join(cells.errors)


def test_ranks_are_those_that_are_declared(cells: Cells):
    with pytest.raises(UsageError, match="cost, speed and intelligence, not price"):
        mcp.model("human", ranks={"price": 1})


@pytest.mark.usefixtures("installed")
def test_the_table_tells_whether_a_key_is_set_and_never_the_key(cells: Cells, monkeypatch: pytest.MonkeyPatch):
    for provider in providers.PROVIDERS.values():
        for name in provider.keys:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "value-of-the-key")
    found = rows(cells)
    assert found["anthropic:MODEL"] == "ANTHROPIC_API_KEY is set"
    assert found["openai:MODEL"] == "needs OPENAI_API_KEY"
    assert found["ollama:MODEL"] == "needs no key"
    assert "value-of-the-key" not in str(cells.shown)
    with pytest.raises(NoModel, match="OPENAI_API_KEY is not set"):
        cells.run("%mcp model openai:gpt-5-mini")
    cells.run("%mcp model anthropic:claude-haiku-4-5")
    model: Any = mcp.model()
    assert "value-of-the-key" not in f"{model!r}{vars(model)}{cells.shown}"


@pytest.mark.usefixtures("installed")
def test_a_key_is_a_variable_of_the_environment_or_the_notebook(cells: Cells, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "from-the-environment")
    cells.put(my_key="from-the-notebook")
    for written, key in (("${MY_KEY}", "from-the-environment"), ("$my_key", "from-the-notebook")):
        cells.run(f"%mcp model openai:qwen3 --url http://localhost:9/v1 --key {written}")
        model: Any = mcp.model()
        assert model.access.key() == key


def test_what_is_missing_is_told_with_how_to_get_it(cells: Cells, monkeypatch: pytest.MonkeyPatch):
    def never(module: str) -> bool:
        return False

    monkeypatch.setattr(providers, "_installed", never)
    found = rows(cells)
    assert found["local"] == 'needs "jupyter-mcp-host[local]"'
    assert found["openai:MODEL"] == 'needs "jupyter-mcp-host[models]"'


def test_names_are_completed(cells: Cells):
    cells.run("%mcp model human")
    names = [name for name, _ in suggest.for_line(" model ").items]
    assert names[0] == "human"
    assert {"local", "python:", "openai:", "ollama:"} <= set(names)
    assert [name for name, _ in suggest.for_line(" model ant").items] == ["anthropic:"]


def test_models_are_let_go_of_when_the_extension_is(cells: Cells):
    closed: list[bool] = []

    class Held(ScriptedModel):
        async def aclose(self) -> None:
            closed.append(True)

    held = Held(["hello"])
    mcp.model(held)
    mcp.run(held.generate(ModelRequest([{"role": "user", "content": {"type": "text", "text": "hello"}}])))
    cells.run("%unload_ext jupyter_mcp")
    assert closed == [True]
    cells.run("%load_ext jupyter_mcp")


def test_a_model_with_limits_says_what_is_left_and_a_wrong_limit_is_one_sentence(cells: Cells):
    cells.put(mine=mine)
    cells.run("%mcp model python:mine --calls 3 --tokens 500 --spend 1.5 --per-minute 2")
    meter = state.get_host().limits.model("python:mine")
    assert str(meter) == "0 of 3 calls, 0 of 500 tokens, 0.0000 of 1.5 USD, at most 2 a minute"
    assert str(meter) in str(cells.run("t = %mcp models\nt")[0])
    mcp.model(mine, limit={"calls": 1})
    assert meter.allowance.calls == 1
    with pytest.raises(UsageError, match="limits are calls, tokens, cost and per_minute, not words"):
        mcp.model(mine, limit={"words": 1})
    with pytest.raises(UsageError, match="calls is a number above 0"):
        mcp.model(mine, limit={"calls": 0})


# --- what ranks resources --------------------------------------------------------------------------------------------


class Mine:
    """An embedding model of one's own."""

    name, place, batch, longest = "mine", "this machine", 8, 100

    async def embed(self, texts: Any, *, query: bool = False, on_note: Any = None) -> Any:
        raise NotImplementedError


@pytest.mark.usefixtures("installed")
def test_naming_an_embedding_model_says_what_will_go_where(cells: Cells, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-in-the-environment")
    cells.run("%mcp model --embeddings openai:text-embedding-3-small")
    assert cells.text == (
        "openai:text-embedding-3-small ranks resources for --auto-context from now on: their names, descriptions and "
        "texts, and the question, are sent to OpenAI (api.openai.com) when you use it."
    )
    assert rows(cells)["openai:text-embedding-3-small"] == "ranks resources"
    cells.run("%mcp model --embeddings ollama:nomic-embed-text")
    assert "and the question, stay on this machine when you use it." in cells.text
    assert "openai:text-embedding-3-small" not in rows(cells)
    cells.run("%mcp model --embeddings off")
    assert cells.text == "Resources are ranked by their words alone; nothing is sent anywhere for it."
    assert "ranks resources" not in rows(cells).values()


def test_in_python_it_may_be_an_object_and_the_model_that_answers_stays():
    mcp.model("human")
    answering = mcp.model()
    assert mcp.model(embeddings=Mine()) is answering
    vectors = state.get_host().models.vectors
    assert vectors is not None
    assert vectors.embedder.name == "mine"
    mcp.model(embeddings="off")
    assert state.get_host().models.vectors is None


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "line", ["human --embeddings local", "--embeddings ollama:x --cost 1", "--embeddings ollama:x --keep"]
)
def test_an_embedding_model_is_named_on_a_line_of_its_own(cells: Cells, line: str):
    with pytest.raises(UsageError, match="on a line of its own"):
        cells.run(f"%mcp model {line}")
    with pytest.raises(UsageError, match="on a line of its own"):
        mcp.model("human", embeddings="ollama:x")
    assert state.get_host().models.vectors is None


@pytest.mark.usefixtures("installed")
def test_a_key_for_it_is_not_typed_either(cells: Cells):
    with pytest.raises(UsageError, match="saved with the notebook"):
        cells.run("%mcp model --embeddings openai:x --key sk-typed")


def test_completion_offers_embedding_models_after_the_option():
    found = [name for name, _ in suggest.for_line(" model --embeddings ").items]
    assert {"openai:text-embedding-3-small", "ollama:nomic-embed-text", "local", "off"} <= set(found)
    assert not [name for name in found if name.startswith("anthropic")]
