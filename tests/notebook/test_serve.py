"""The notebook as a server, from its own side: the magic, the object, the configurations, the card."""

from __future__ import annotations

import json
import shlex
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter

import jupyter_mcp as mcp
from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.host.policy import Deed
from jupyter_mcp.kernel import identity, serving, views
from jupyter_mcp.notebook.cards.endpoint import EndpointCard
from jupyter_mcp.notebook.objects import setups
from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.notebook.render.views import EndpointView
from jupyter_mcp.runtime import state, wait
from tests.notebook.page import button, capture, walk, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from tests.notebook.conftest import Cells

DOUBLE = "import jupyter_mcp as mcp\n@mcp.tool\ndef double(n: int) -> int:\n    'Twice a number.'\n    return 2 * n\n"
FILES = ("mcp.json", "cursor", "vscode")
MOVES = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "JUPYTER_PLATFORM_DIRS")


@pytest.fixture(autouse=True)
def runtime(cells: Cells, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Runtime files of this test's own, and nothing served afterwards (the next shell would go on with it)."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    yield
    found = serving.current()
    if found is not None:
        found.stop()


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def outside(endpoint: Endpoint) -> None:
    """A client that comes in by the door, as anybody would, and reads `x`."""
    mcp.connect("outside", endpoint.url, bearer=endpoint.token)
    mcp.servers["outside"].read(f"notebook://{endpoint.name}/variables/x")


# --- the magic -------------------------------------------------------------------------------------------------------


def test_one_line_serves_all_that_is_public_and_shows_how_to_reach_it(cells: Cells) -> None:
    cells.run("x = 1\napi_key = 'k'")
    cells.run("%mcp serve --name sales")
    assert cells.text.splitlines() == [
        "sales is served, for reading only.",
        "  command for an agent: …/jupyter-mcp-host stdio --notebook sales",
        "  URL and token: •••",
        "  variables: x; 1 hidden",
        "  code: not allowed",
        "Nobody has connected yet.",
    ]


def test_nothing_that_is_shown_holds_the_token_or_the_port(cells: Cells) -> None:
    end: Endpoint = cells.run("end = %mcp serve\nend")
    shown = json.dumps(cells.shown) + repr(end) + str(end) + json.dumps(bundle(end))
    assert end.token not in shown
    assert end.url.rsplit(":", 1)[1] not in shown
    for client in setups.CLIENTS:
        assert end.token in str(end.config(client.key, http=True))
        assert end.token not in repr(end.config(client.key, http=True))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("%mcp serve", {"x", "y", "z"}),
        ("%mcp serve x y", {"x", "y"}),
        ("%mcp serve x,y", {"x", "y"}),
        ("%mcp serve --except x", {"y", "z"}),
        ("%mcp serve --except x,y", {"z"}),
        ("%mcp serve --except x --except y --read-only", {"z"}),
    ],
)
def test_a_line_says_what_may_be_seen(cells: Cells, line: str, names: set[str]) -> None:
    cells.run("x, y, z = 1, 2, 3")
    end = cells.run(line)
    assert set(end.serving.book.exposed().names) == names


def test_the_last_line_counts_and_the_address_stays(cells: Cells) -> None:
    cells.run("x, y = 1, 2")
    first = cells.run("%mcp serve x")
    url, token = first.url, first.token
    again = cells.run("%mcp serve y --allow-code")
    assert (again.url, again.token) == (url, token)
    assert again.serving.book.exposed().names == ("y",)
    assert "code: each time you are asked first" in cells.text
    assert cells.run("%mcp serve").serving.book.choice.allow_code is False


def test_a_line_that_only_gives_a_name_shows_no_more_than_before(cells: Cells) -> None:
    cells.run("x, y, z = 1, 2, 3")
    cells.run("%mcp serve x --except y")
    end = cells.run("%mcp serve --name other")
    assert (end.name, end.serving.book.exposed().names) == ("other", ("x",))
    assert mcp.serve(name="other").serving.book.exposed().names == ("x",)
    cells.run("del x")
    with pytest.raises(UsageError, match=r"Only x was served, and is not there any more\. Name what shall be served"):
        cells.run("%mcp serve --name third")
    assert cells.run("%mcp serve z --name third").serving.book.exposed().names == ("z",)
    cells.run("%mcp serve --except z")
    assert "z" not in cells.run("%mcp serve --name fourth --except y").serving.book.exposed().names
    assert "z" in cells.run("%mcp serve").serving.book.exposed().names, "the last line counts"


def test_what_takes_a_moment_to_look_into_does_not_hold_up_the_loop(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.run("x = {'a': 1}")
    end = cells.run("%mcp serve")
    looked: list[threading.Thread] = []
    usual = views.needs_main_thread

    def look(value: object, wanted: views.Wanted | None = None) -> bool:
        looked.append(threading.current_thread())
        return usual(value, wanted)

    async def read() -> tuple[threading.Thread, views.View]:
        return threading.current_thread(), await end.serving.book.view("x", views.Wanted())

    monkeypatch.setattr(views, "needs_main_thread", look)
    loop, found = wait.run(read, label="a read")
    assert "1" in (found.text or "")
    [thread] = looked
    assert thread not in (loop, threading.main_thread())


def test_the_card_says_what_becomes_of_code_after_each_decision(cells: Cells) -> None:
    end = cells.run("%mcp serve --name sales --allow-code")

    def said() -> str:
        [line] = [line for line in str(bundle(end)["text/plain"]).splitlines() if "code: " in line]
        return line.partition("code: ")[2]

    policy = state.get_host().policy
    asked = "each time you are asked first"
    assert said() == asked
    for tool in ("execute_code", "set_variable"):
        policy.remember(Deed("sales", "tools/call", tool, {}, "server"), client="Inspector")
    assert said() == f"{asked}, but not by Inspector"
    policy.forget("sales")
    policy.deny("sales.execute_code")
    assert said() == f"running code: never: a rule of yours denies it (%mcp policy); setting variables: {asked}"
    policy.reset()
    policy.allow("sales.*")
    assert said() == "without asking you, as you allowed (%mcp policy)"
    policy.reset()
    policy.allow("sales.set_variable", where={"name": {"equals": "x"}})
    assert said().endswith(f"setting variables: {asked}, and not where a rule of yours decides (%mcp policy)")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp serve nothing", "no variable 'nothing'"),
        ("%mcp serve --except nothing", "no variable 'nothing'"),
        ("%mcp serve api_key", "looks like a secret"),
        ("%mcp serve --read-only --allow-code", "contradict"),
        ("%mcp serve x --stop", "--stop goes alone"),
        ("%mcp serve --exept x", "did you mean --except"),
        ("%mcp connect me --self", "not served"),
        ("%mcp connect me --self demo", "one NAME and nothing else"),
    ],
)
def test_a_wrong_line_says_what_is_wrong_and_serves_nothing(cells: Cells, line: str, said: str) -> None:
    cells.run("x, api_key = 1, 'k'")
    with pytest.raises(UsageError, match=said):
        cells.run(line)
    assert serving.current() is None


def test_stop_ends_it_and_says_so(cells: Cells) -> None:
    end = cells.run("end = %mcp serve --name sales\nend")
    cells.run("%mcp serve --stop")
    assert cells.text == "sales is no longer served."
    assert (end.alive, end.url, end.token) == (False, "", "")
    assert "sales is no longer served." in bundle(end)["text/plain"]
    cells.run("%mcp serve --stop")
    assert cells.text == "This notebook is not served."
    with pytest.raises(UsageError, match="no longer served"):
        end.config()


def test_the_choice_survives_loading_the_extension_again(cells: Cells) -> None:
    cells.run("x, y = 1, 2")
    before = cells.run("%mcp serve x --name sales")
    url, token = before.url, before.token
    cells.run("%unload_ext jupyter_mcp")
    assert serving.current() is None
    cells.run("%load_ext jupyter_mcp")
    after = serving.current()
    assert after is not None
    assert (after.url, after.token, after.slug) == (url, token, "sales")
    assert after.book.exposed().names == ("x",)


def test_tab_offers_the_variables_that_may_be_served(cells: Cells) -> None:
    cells.run("sales_2027, sales_2028, api_key = 1, 2, 'k'")

    def offered(line: str) -> set[str]:
        with provisionalcompleter():
            return {one.text for one in cells.shell.Completer.completions(line, len(line)) if one.text.strip("-")}

    assert {"sales_2027", "sales_2028"} <= offered("%mcp serve ")
    assert "api_key" not in offered("%mcp serve ")
    assert "sales_2027" not in offered("%mcp serve sales_2027 ")
    assert "sales_2028" in offered("%mcp serve --except sales_2027,sales")
    assert "--allow-code" in offered("%mcp serve --")


# --- being one's own client ------------------------------------------------------------------------------------------


def test_the_notebook_is_its_own_client_without_a_deadlock(cells: Cells) -> None:
    cells.run(f"{DOUBLE}x = 20")
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;")
    assert cells.run("r = %mcp call me.double n=21\nr.text") == "42"
    cells.run("r = %mcp call me.read_variable notebook=sales name=x;")
    assert "20" in cells["r"].text
    cells.run(DOUBLE.replace("2 * n", "3 * n"))
    assert cells.run("r = %mcp call me.double n=2\nr.text") == "6"


def test_a_call_that_asks_back_is_told_once(cells: Cells) -> None:
    cells.run(
        "import jupyter_mcp as mcp\n@mcp.tool\ndef sure(ctx: mcp.Context) -> str:\n"
        "    return ctx.elicit('Sure?', {'type': 'object', 'properties': {}}).action\n"
    )
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;\nmcp.answer('accept', match='Sure')")
    assert cells.run("r = %mcp call me.sure\nr.text") == "accept"
    end = cells.run("%mcp serve --name sales")
    told = [(act.kind, act.what, act.outcome) for act in end.serving.book.reads()]
    assert told == [("call", "sure", ""), ("asked", "by sure: “Sure?”", "accepted")]
    assert "asked by sure: “Sure?”" in cells.text and "accepted" in cells.text


def test_its_card_says_what_it_is_by_name(cells: Cells) -> None:
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self")
    assert "  is: this notebook, served as sales" in cells.text
    assert "Endpoint" not in cells.text
    cells.run("from jupyter_mcp.server import Server\nshop = Server('shop')")
    cells.run("%mcp connect shop $shop")
    assert "  is: Server object in memory" in cells.text


CALL = "r = %mcp call me.read_variable notebook=sales name=x\nr.text"


def test_after_the_stop_its_calls_say_so_and_work_again_when_it_is_served_again(cells: Cells) -> None:
    cells.run("x = 7")
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;")
    for again in ("%mcp serve --stop", "%mcp reconnect me"):  # the second leaves it failed
        if again.endswith("me"):
            cells.run("%mcp serve --stop")
            with pytest.raises(ConnectionFailed, match="no longer served"):
                cells.run(again)
        else:
            cells.run(again)
        for line in (CALL, "%mcp read me notebook://sales/variables/x"):
            with pytest.raises(ConnectionFailed) as said:
                cells.run(line)
            assert str(said.value) == "This notebook is no longer served. Serve it again: %mcp serve"
        cells.run("%mcp serve --name sales;")
        assert cells.run(CALL) == "7"


def test_it_follows_the_notebook_to_another_name(cells: Cells) -> None:
    cells.run("x = 7")
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;")
    cells.run("%mcp serve --name garden;")
    me = mcp.servers["me"]
    me.reconnect()
    assert cells.run(CALL.replace("sales", "garden")) == "7"
    assert me.entry.spec.describe() == "this notebook, served as garden"


def test_a_call_that_is_given_up_at_its_question_does_not_hold_the_cell(cells: Cells) -> None:
    cells.run(
        "import jupyter_mcp as mcp\ncame = []\n@mcp.tool\ndef sure(ctx: mcp.Context) -> str:\n"
        "    try:\n        return ctx.elicit('Sure?', int).action\n"
        "    except mcp.Cancelled as error:\n        came.append(error)\n        raise\n"
    )
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;\nmcp.answer({'value': 'many'}, match='Sure')")
    with pytest.raises(UsageError, match="scripted answer does not fit"):
        cells.run("%mcp call me.sure")
    assert "was given up: it held up a cell whose own call was over" in str(cells["came"][0])
    cells.run("mcp.host.answers.clear()\nmcp.answer({'value': 3}, match='Sure')")
    assert cells.run("r = %mcp call me.sure\nr.text") == "accept"


def test_the_python_names_do_the_same(cells: Cells) -> None:
    cells.run(f"{DOUBLE}x = 5")
    end = cells.run("end = mcp.serve('double', name='sales')\nend")
    me = mcp.connect("me", end)
    assert me.tools.double(n=4).text == "8"
    end.stop()
    end.stop()
    assert serving.current() is None


def test_an_object_shows_itself_as_its_view_says(cells: Cells) -> None:
    cells.run("class Order:\n    total = 12\norder = Order()\nimport jupyter_mcp as mcp")
    cells.run("@mcp.view(Order)\ndef show(order, wanted):\n    return {'total': order.total}\n")
    cells.run("%mcp serve --name sales;")
    cells.run("%mcp connect me --self;")
    assert cells.run("%mcp call me.read_variable notebook=sales name=order").text == '{"total":12}'


# --- configurations --------------------------------------------------------------------------------------------------


def test_the_line_for_a_terminal_is_by_absolute_path(cells: Cells) -> None:
    end = cells.run("%mcp serve --name sales")
    line = shlex.split(end.config("claude-code"))
    assert line[:5] == ["claude", "mcp", "add", "sales", "--"]
    assert line[-4].startswith(sys.prefix)
    assert line[-3:] == ["stdio", "--notebook", "sales"]


def test_the_line_tells_an_agent_of_a_runtime_folder_that_was_moved(
    cells: Cells, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    end = cells.run("%mcp serve --name sales")
    assert shlex.split(end.config("claude-code"))[5:7] == ["env", f"JUPYTER_RUNTIME_DIR={tmp_path}"]
    assert "env JUPYTER" not in cells.text
    for name in MOVES:
        monkeypatch.delenv(name, raising=False)
    assert setups.agent_command("sales") == setups.bridge_command("sales")


@pytest.mark.parametrize("name", MOVES)
def test_whatever_moves_the_runtime_folder_the_line_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    for other in MOVES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, "1" if name == "JUPYTER_PLATFORM_DIRS" else "moved")
    first, said, *bridge = setups.agent_command("sales")
    assert (first, bridge) == ("env", setups.bridge_command("sales"))
    folder = Path(said.removeprefix("JUPYTER_RUNTIME_DIR="))
    assert folder.is_absolute()
    assert folder == identity.folder().parent.absolute()


@pytest.mark.parametrize("client", FILES)
def test_a_file_of_a_client_is_json_that_this_host_reads_too(cells: Cells, client: str) -> None:
    cells.run("x = 7")
    end = cells.run("%mcp serve --name sales")
    key = "servers" if client == "vscode" else "mcpServers"
    command = json.loads(end.config(client))[key]["sales"]
    assert [command["command"], *command["args"]] == setups.agent_command("sales")
    entry = json.loads(end.config(client, http=True))[key]["sales"]
    assert entry["url"] == end.url
    assert entry["headers"] == {"Authorization": f"Bearer {end.token}"}
    mcp.connect_all(json.loads(end.config(client, http=True)))
    assert "list_variables" in mcp.servers["sales"].tools


def test_the_file_of_codex_is_toml(cells: Cells) -> None:
    end = cells.run("%mcp serve --name sales")
    assert tomllib.loads(end.config("codex"))["mcp_servers"]["sales"]["args"][-3:] == ["stdio", "--notebook", "sales"]
    entry = tomllib.loads(end.config("codex", http=True))["mcp_servers"]["sales"]
    assert entry == {"url": end.url, "http_headers": {"Authorization": f"Bearer {end.token}"}}


def test_a_name_that_a_client_keeps_for_itself_is_not_given() -> None:
    assert setups.find("claude-code").text("workspace", ["x"]) == "claude mcp add workspace-notebook -- x"


def test_an_unknown_client_is_told_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cursor'"):
        setups.find("curser")


# --- the card --------------------------------------------------------------------------------------------------------


@pytest.fixture
def card(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A live card, its page and its endpoint."""
    page = capture(monkeypatch)
    cells.run("x = 1")
    end = cells.run("end = %mcp serve --name sales\nend")
    made = EndpointCard(end)
    made.card.show()
    return made, page, end


class Told:
    """What the card's page is sent beside the state of widgets."""

    def __init__(self, made: Any) -> None:
        self.messages: list[dict[str, Any]] = []
        self._widget = made._secret.widget
        self._widget.send = self._send

    def _send(self, message: dict[str, Any], buffers: object = None) -> None:
        self.messages.append(message)

    def ask(self) -> None:
        """A page that shows the card from now on."""
        self._widget._handlers["ask"]({"type": "ask"})

    @property
    def shown(self) -> str:
        """What a page shows that has been there from the beginning."""
        last = self.messages[-1] if self.messages else {"type": "hide"}
        return json.dumps(last) if last["type"] == "show" else ""


def test_url_and_token_are_there_when_asked_for_and_gone_again(card: Any) -> None:
    made, page, end = card
    told = Told(made)
    told.ask()
    assert not told.messages, "nobody has asked for them"
    button(made.card.root, "Show URL and token").click()
    assert end.token in told.shown
    assert end.url in told.shown
    told.ask()
    assert len(told.messages) == 2
    button(made.card.root, "Hide URL and token").click()
    assert not told.shown
    told.ask()
    assert not told.shown
    button(made.card.root, "Show URL and token").click()
    made.card.redraw()
    outside(end)
    until(lambda: "variables/x" in words(made.card.root), "the card follows who reads")
    made.card.finish()
    assert not told.shown
    assert end.token not in json.dumps(page.outputs)


def test_no_widgets_state_holds_them_so_that_saving_it_cannot(card: Any) -> None:
    made, _, end = card
    button(made.card.root, "Show URL and token").click()
    states = json.dumps([widget.get_state() for widget in walk(made.card.root)], default=str)
    assert "Hide URL and token" in states
    assert end.token not in states
    assert end.url not in states


def test_they_go_by_themselves(card: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _, _ = card
    told = Told(made)
    monkeypatch.setattr("jupyter_mcp.notebook.cards.endpoint.REVEALED_SECONDS", 0.05)
    button(made.card.root, "Show URL and token").click()
    until(lambda: not told.shown, "hidden again")
    button(made.card.root, "Show URL and token")


def test_it_follows_the_variables_after_a_cell(card: Any, cells: Cells) -> None:
    made, _, _ = card
    cells.run("another = 2")
    until(lambda: "another" in words(made.card.root), "a new variable")


def test_it_ends_with_the_serving_and_listens_no_longer(card: Any) -> None:
    made, page, end = card
    listeners = end.serving.book.visitors.on_event
    button(made.card.root, "Stop serving").click()
    until(lambda: made.card.over and not listeners, "over")
    assert serving.current() is None
    assert any("no longer served" in output.get("text/plain", "") for output in page.outputs.values())


def test_what_a_client_says_of_itself_is_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    view = EndpointView("sales", "sales.ipynb", clients=[(evil, evil)], acts=[(evil, "read", evil, evil)], names=[evil])
    assert "<img" not in bundle(view)["text/html"]
