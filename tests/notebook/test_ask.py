"""`%%mcp ask` and `mcp.ask` in cells: the answer, the conversation that goes on, what goes along, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp
from jupyter_mcp.errors import NoModel, ProviderError, UsageError
from jupyter_mcp.models.base import ModelReply, Usage
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.notebook.objects import conversation
from jupyter_mcp.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.notebook.conftest import Cells


@pytest.fixture(autouse=True)
def _nothing_begun() -> Iterator[None]:
    conversation.forget()
    yield
    conversation.forget()


def use(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"id-{name}", "name": name, "input": arguments}


def model(cells: Cells, *replies: Any) -> ScriptedModel:
    """A scripted model, configured as the default one."""
    made = ScriptedModel(list(replies))
    state.get_host().models.set(made)
    cells.run("import jupyter_mcp as mcp")
    return made


def said(made: ScriptedModel, request: int = -1) -> list[str]:
    """The texts of the messages of a request."""
    return [
        "\n".join(block.get("text", "") for block in message["content"]) for message in made.requests[request].messages
    ]


def test_the_answer_is_shown_with_the_calls_folded(served: Cells) -> None:
    model(served, ["I add.", use("s__add", a=40, b=2)], "It is **42**.")
    served.run("%mcp allow s.*")
    served.run("%%mcp ask\nWhat is 40 + 2?")
    assert served.text == "I add.\n▸ s.add(a=40, b=2): 42\nIt is **42**.\nscripted, 2 rounds, 1 call"
    [shown] = [bundle["text/html"] for bundle in served.shown]
    assert "<strong>42</strong>" in shown
    assert "<details><summary><code>s.add(a=40, b=2)</code>" in shown


def test_the_cell_returns_the_transcript(served: Cells) -> None:
    model(served, [use("s__echo", city="Paris")], "done")
    served.run("%mcp allow s.*")
    served.run("answer = mcp.ask('go')")
    answer = served["answer"]
    assert (answer.text, answer.data, answer.cost, answer.stop) == ("done", {"city": "Paris"}, None, "answered")
    assert [call.full_name for call in answer.calls] == ["s.echo"]
    assert [message["role"] for message in answer.messages] == ["user", "assistant", "user", "assistant"]
    assert repr(answer) == "<Conversation with scripted, 1 call: done>"
    assert served.text == ""


def test_data_is_the_answers_own_json_when_it_is_some(served: Cells) -> None:
    model(served, 'Here:\n```json\n{"a": 1}\n```\n')
    served.run("answer = mcp.ask('go')")
    assert served["answer"].data == {"a": 1}


def test_tokens_and_cost_are_shown_where_they_are_known(served: Cells) -> None:
    model(served, ModelReply([{"type": "text", "text": "hi"}], "m", "endTurn", Usage(1_000, 24, 0.0125)))
    served.run("answer = mcp.ask('go')\nanswer")
    assert served.text.endswith("scripted, 1 round, 1,024 tokens, $0.0125")
    assert served["answer"].cost == 0.0125


def test_the_next_cell_goes_on_and_new_begins_anew(served: Cells) -> None:
    made = model(served, "one", "two", "three")
    for cell in ("%%mcp ask\nfirst", "%%mcp ask\nsecond", "%%mcp ask --new\nthird"):
        served.run(cell)
    assert said(made, 1) == ["first", "one", "second"]
    assert said(made, 2) == ["third"]


def test_an_earlier_answer_stays_what_it_was_and_can_be_gone_on_from(served: Cells) -> None:
    made = model(served, "one", "other", "more")
    served.run("first = mcp.ask('a')\nother = mcp.ask('b', new=True)\nagain = first.ask('c')")
    assert (served["first"].text, served["other"].text, served["again"].text) == ("one", "other", "more")
    assert said(made) == ["a", "one", "c"]


def test_options_choose_tools_and_rounds(served: Cells) -> None:
    made = model(served, [use("s__add", a=1)], "two")
    served.run("%mcp allow s.*")
    served.run("%%mcp ask --servers s --tools add,s.f* --max-rounds 2\ngo")
    assert [tool["name"] for tool in made.requests[0].tools] == ["s__add", "s__fail"]
    assert dict(made.requests[1].tool_choice or {}) == {"mode": "none"}


def test_a_variable_goes_along_as_it_shows_itself(served: Cells) -> None:
    made = model(served, "I see")
    served.put(prices={"apple": 3, "pear": 4}, note="Ada pays.")
    served.run("%%mcp ask --context prices,note\nWho pays?")
    [text] = said(made)
    assert text.startswith("Attached by the person: the notebook's variable prices\n\ndict of 2")
    assert '{"apple":3,"pear":4}' in text
    assert "variable note\n\nAda pays." in text
    assert text.endswith("\nWho pays?")
    assert "Attached: prices (" in served.text


def test_in_python_objects_go_along_under_their_names(served: Cells) -> None:
    made = model(served, "I see", "and so")
    served.put(rows=[1, 2, 3])
    served.run("mcp.ask('go', context=[rows, 'some text'])\nmcp.ask('go', context={'named': rows})")
    first, _, second = said(made)
    assert "variable rows\n\nlist of 3" in first
    assert "variable attachment 2\n\nsome text" in first
    assert "variable named\n\nlist of 3" in second


def test_a_secret_does_not_go_along(served: Cells) -> None:
    made = model(served, "never")
    served.put(api_key="sk-abcdefghijklmnop1234")
    with pytest.raises(UsageError, match="api_key looks like a secret"):
        served.run("%%mcp ask --context api_key\ngo")
    assert made.requests == []


def test_a_variable_that_is_not_there_is_an_error_with_the_nearest(served: Cells) -> None:
    model(served)
    served.put(prices=1)
    with pytest.raises(UsageError, match="did you mean"):
        served.run("%%mcp ask --context price\ngo")


def test_a_result_and_a_read_resource_go_along(served: Cells) -> None:
    made = model(served, "ok")
    served.run("r = mcp.servers['s'].tools.add(a=1)\nt = mcp.servers['s'].read('text://hello')")
    served.run("mcp.ask('go', context=[r, t])")
    [text] = said(made)
    assert "what s.add returned\n2" in text
    assert "the resource s:text://hello (5 characters)\n\nhello" in text


def test_a_resource_is_attached_by_its_mention(served: Cells) -> None:
    made = model(served, "ok")
    served.run("%%mcp ask\nWhat does @s:text://hello say?")
    [text] = said(made)
    assert text.endswith("\n\nhello\nWhat does @s:text://hello say?")
    assert served.text.startswith("Attached: s:text://hello (text/plain, 5 characters)\n")


def test_a_prompt_is_inserted_by_its_line(served: Cells) -> None:
    made = model(served, "ok")
    served.run("%%mcp ask\n/s.review language=python\nBe quick.")
    assert said(made) == ["Review this python code; be kind.\nBe quick."]


def test_missing_arguments_of_a_prompt_are_asked_for_in_a_form(served: Cells) -> None:
    made = model(served, "ok")
    served.run("mcp.answer({'language': 'perl', 'style': 'harsh'}, server='this notebook')")
    served.run("%%mcp ask\n/review")
    assert said(made) == ["Review this perl code; be harsh."]


def test_where_nobody_can_fill_the_form_in_the_error_says_how_to_write_it(served: Cells) -> None:
    model(served)
    with pytest.raises(UsageError, match=r"/s\.review needs language\. Write /s\.review language=…"):
        served.run("%%mcp ask\n/review")


def test_a_slash_alone_lists_all_prompts(served: Cells) -> None:
    made = model(served)
    served.run("%%mcp ask\n/")
    assert "review" in served.text
    assert made.requests == []


@pytest.mark.parametrize(
    ("cell", "said_"),
    [
        ("%%mcp ask\n\n", "The question is missing"),
        ("%mcp ask", "The question is missing"),
        ('%%mcp ask "one"\nother', "not in both"),
        ("%%mcp ask --max-rounds 1.5\ngo", "whole number"),
        ("%%mcp ask --servers nobody\ngo", "no server 'nobody'"),
        ("%%mcp ask\n@t:text://hello", "names no connected server"),
        ("%%mcp ask\n/s.reviw language=python", r"no prompt /s\.reviw"),
    ],
)
def test_a_mistake_is_an_error_and_nothing_is_asked(served: Cells, cell: str, said_: str) -> None:
    made = model(served)
    with pytest.raises(UsageError, match=said_):
        served.run(cell)
    assert made.requests == []


def test_a_question_on_the_line_stands_in_quotes(served: Cells) -> None:
    made = model(served, "ok")
    served.run('%mcp ask "What is new?"')
    assert said(made) == ["What is new?"]


def test_without_a_model_the_error_says_how_to_configure_one(served: Cells) -> None:
    with pytest.raises(NoModel, match="%mcp model"):
        served.run("%%mcp ask\ngo")


def test_another_model_can_answer_one_question(served: Cells) -> None:
    made = model(served, "default")
    served.put(other=ScriptedModel(["other"], name="other"))
    served.run("r = mcp.ask('go', model=other)\nq = mcp.ask('go')")
    assert (served["r"].model, served["q"].model) == ("other", "scripted")
    assert said(made) == ["go", "other", "go"]


@pytest.mark.anyio
async def test_the_awaitable_twin_answers_too(served: Cells) -> None:
    model(served, "ok")
    answer = await jupyter_mcp.aio.ask("go")
    assert answer.text == "ok"


def test_secrets_that_the_model_sends_are_masked_in_the_picture(served: Cells) -> None:
    model(served, [use("s__echo", password="hunter2-hunter2")], "done")
    served.run("%mcp allow s.*")
    served.run("%%mcp ask\ngo")
    assert served.text.startswith('▸ s.echo(password="•••")')
    assert "hunter2" not in str(served.shown)


# --- what is switched for one conversation ---------------------------------------------------------------------------


def tools(made: ScriptedModel, request: int = -1) -> set[str]:
    """The tools that a request described, of the server s."""
    return {tool["name"].removeprefix("s__") for tool in made.requests[request].tools}


def test_a_tool_is_switched_off_for_a_conversation_and_a_new_one_has_it_again(served: Cells) -> None:
    made = model(served, "one", "two", "three")
    served.run("%mcp ask one")
    assert "add" in tools(made)
    served.run("%mcp disable s.add --conversation")
    assert served.text == "disable s.add (this conversation)"
    served.run("%mcp policy")
    assert "disable  s.add        conversation  said here" in served.text
    served.run("%mcp ask two")
    assert "add" not in tools(made)
    assert state.get_host().policy.disabled("s", "add") is None, "nothing else is touched"
    served.run("%mcp ask --new three")
    assert "add" in tools(made)
    served.run("%mcp policy")
    assert "conversation" not in served.text


def test_before_the_first_question_it_is_for_the_conversation_that_begins(served: Cells) -> None:
    made = model(served, "one", "two")
    served.run('mcp.disable("s.*", scope="conversation")\nmcp.enable("s.add", scope="conversation")')
    served.run("%mcp ask one")
    assert tools(made) == {"add"}
    served.run("%mcp ask two")
    assert tools(made) == {"add"}


def test_what_is_off_elsewhere_can_be_on_for_a_conversation_and_its_calls_are_made(served: Cells) -> None:
    made = model(served, [use("s__add", a=1, b=2)], "three")
    served.run("%mcp allow s.*")
    served.run("%mcp disable s.add")
    served.run("%mcp enable s.add --scope conversation")
    served.run("answer = mcp.ask('go')")
    assert "add" in tools(made)
    assert [(call.outcome, call.result.data) for call in served["answer"].calls] == [("ok", 3)]


def test_of_a_server_that_is_off_what_was_switched_on_by_itself_is_there(served: Cells) -> None:
    made = model(served, [use("s__add", a=1, b=2)], "three")
    served.run("%mcp allow s.*")
    served.run("%mcp disable s")
    served.run("%mcp enable s.add")
    served.run("answer = mcp.ask('go')")
    assert tools(made) == {"add"}
    assert [call.outcome for call in served["answer"].calls] == ["ok"]


def test_a_deny_is_not_lifted_by_a_conversation(served: Cells) -> None:
    model(served, [use("s__add", a=1, b=2)], "no")
    served.run("%mcp deny s.add")
    served.run("%mcp enable s.add --conversation")
    served.run("answer = mcp.ask('go')")
    assert [call.outcome for call in served["answer"].calls] == ["denied"]


def test_what_was_switched_for_a_conversation_is_taken_back(served: Cells) -> None:
    made = model(served, "one", "two")
    served.run("%mcp disable s.add s.echo --conversation")
    served.run("%mcp ask one")
    served.run("%mcp policy reset s.add --scope conversation")
    served.run("%mcp ask two")
    assert "add" in tools(made)
    assert "echo" not in tools(made)
    with pytest.raises(UsageError, match=r"Nothing was said about s\.add \(this conversation\)"):
        served.run("%mcp policy reset s.add --scope conversation")


def test_two_scopes_at_once_are_a_mistake(served: Cells) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        served.run("%mcp disable s.add --conversation --scope user")


def test_a_resource_that_is_off_in_a_conversation_is_not_proposed(served: Cells) -> None:
    model(served, "one")
    served.run("%mcp disable s --conversation")
    served.run("answer = mcp.ask('notes today', auto_context=True)")
    assert served["answer"].attached == []
    assert "no resource fits" in served["answer"].__mcp_view__().notes[0]


# --- what an interrupted or failed question leaves --------------------------------------------------------------------


def test_a_question_whose_model_failed_leaves_its_transcript(served: Cells) -> None:
    class Failing(ScriptedModel):
        async def generate(self, *args: Any, **options: Any) -> ModelReply:
            if self.requests:
                raise ProviderError("It broke.")
            return await super().generate(*args, **options)

    served.run("import jupyter_mcp as mcp")
    assert served.run("mcp.host.conversation") is None
    state.get_host().models.set(Failing([["I add.", use("s__add", a=1, b=2)]]))
    served.run("%mcp allow s.*")
    with pytest.raises(ProviderError, match="It broke"):
        served.run("%mcp ask go")
    left = served.run("mcp.host.conversation")
    assert (left.question, left.text, left.stop) == ("go", "I add.", "failed")
    assert [call.result.data for call in left.calls] == [3]


def test_a_slip_in_the_name_of_a_server_is_said_and_holds_for_no_other_question(served: Cells) -> None:
    made = model(served, "first", "second")
    served.run("mcp.ask('one')")
    for slip in ("mcp.ask('two', servers=['nope'], new=True)", "%mcp ask --servers s,nope 'two'"):
        with pytest.raises(UsageError, match="There is no server 'nope'"):
            served.run(slip)
    served.run("%mcp connect t $echo_server ;\n%mcp disconnect t")
    with pytest.raises(UsageError, match=r"t is not connected\. %mcp reconnect t"):
        served.run("mcp.ask('two', servers=['t'])")
    served.run("mcp.ask('three')")
    assert [len(request.messages) for request in made.requests] == [1, 3], "the conversation goes on"
    assert made.requests[1].tools
