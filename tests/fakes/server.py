"""A fake MCP server on stdio with every kind of fault, chosen by one JSON object on the command line.

    python server.py '{"era": "dual", "noise": ["hello"], "ignore_eof": true}'

Standard library only; it shares no code with the package, so that both cannot be wrong in the same way.

Options (all may be left out):
    era           "legacy" (default), "modern", "dual", "half" (answers discover, then wants initialize),
                  "half lists" (the lists too, and once spoken to in the modern way it takes nothing else)
    revision      what initialize answers (default: what was offered);  capabilities: object;  instructions: text
    start         {"stdout": text, "stderr": text, "sleep": seconds, "exit": code}: before anything is read
    discover      "error" (default of legacy), "silent", "exit", "late" (answers after `late` seconds), "garbage"
    late          seconds (default 0.5);   init_sleep: seconds before the answer to initialize
    before_init   list of messages sent before the answer to initialize
    noise         lines written to stdout before each answer;   crlf, bom: true
    ids           "string": answers carry the id as text
    tools         list of tools as sent (added to the own ones unless `only` is true);   page: tools a page;
    cursor        "stuck" (the same page and cursor for ever), "endless" (new cursors), "bad" (the second page fails)
    children      list of "plain", "stubborn" (ignores TERM, holds stdout), "session" (own), "daemon" (double fork)
    ignore_eof, ignore_term, close_stdout_at_eof: true
Tools:
    echo text;  big n;  sleep seconds (cancellable);  env names;  seen (methods received);  pids (own and children's)
    raw lines     writes these lines as they are ($ID is the id of the call), then nothing
    last text     answers without a line end and exits at once
    die code stderr;  close_stdout;  close_stdin;   stderr text
    notify messages then answers;   ask method params -> the client's answer as text;  ask_many requests
    grow name burst: adds a tool and sends `burst` list_changed
    want rounds requests (modern): input_required that many times, then the answers as text
"""

# pyright: basic
import json
import os
import signal
import subprocess
import sys
import threading
import time

OPTIONS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
ERA = OPTIONS.get("era", "legacy")
MODERN = "2026-07-28"
LOCK = threading.Lock()
SEEN = []
RAW_SEEN = []
WAITING = {}
CANCELLED = {}
LISTENS = {}
KIDS = []
SCHEMA = {"type": "object"}
OWN = "echo big sleep env seen pids raw last die close_stdout close_stdin stderr notify ask ask_many grow want seen_raw"
TOOLS = ([] if OPTIONS.get("only") else [{"name": n, "inputSchema": SCHEMA} for n in OWN.split()]) + OPTIONS.get(
    "tools", []
)
CAPABILITIES = OPTIONS.get("capabilities", {"tools": {"listChanged": True}, "resources": {"subscribe": True}})
FIRST = [True]


def write(data):
    with LOCK:
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except (BrokenPipeError, ValueError):
            pass


def send(message):
    for line in OPTIONS.get("noise", []):
        write(line.encode() + b"\n")
    if OPTIONS.get("ids") == "string" and "id" in message and "method" not in message:
        message = {**message, "id": str(message["id"])}
    bom = b"\xef\xbb\xbf" if OPTIONS.get("bom") and FIRST[0] else b""
    FIRST[0] = False
    write(bom + json.dumps(message).encode() + (b"\r\n" if OPTIONS.get("crlf") else b"\n"))


def is_modern(message):
    return MODERN in str((message.get("params") or {}).get("_meta", {}))


def ok(message, result):
    if is_modern(message):
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def fail(message, code, text, data=None):
    error = {"code": code, "message": text}
    send({"jsonrpc": "2.0", "id": message["id"], "error": error if data is None else {**error, "data": data}})


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def notify(method, **params):
    send({"jsonrpc": "2.0", "method": method, "params": params})


def spawn_child(kind):
    sleep = "import time; time.sleep(120)"
    if kind == "stubborn":
        return subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(15, signal.SIG_IGN); " + sleep])
    if kind == "session":
        return subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True, stdout=subprocess.DEVNULL)
    if kind == "daemon":
        code = "import os, sys, time\nif os.fork(): os._exit(0)\nos.setsid()\npid = os.fork()\n"
        code += "if pid: print(pid, flush=True); os._exit(0)\nos.close(1); time.sleep(120)"
        out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        return type("Daemon", (), {"pid": int(out.stdout)})
    return subprocess.Popen([sys.executable, "-c", sleep], stdout=subprocess.DEVNULL)


# -- the protocol --


def on_discover(m):
    how = OPTIONS.get("discover", "error" if ERA == "legacy" else "answer")
    if how == "silent":
        return None
    if how == "exit":
        sys.stderr.write("unexpected request before initialize\n")
        sys.stderr.flush()
        os._exit(7)
    if how == "garbage":
        return send({"jsonrpc": "2.0", "id": m["id"], "error": "no"})
    if how == "error":
        return fail(m, -32601, "Method not found")
    if how == "late":
        time.sleep(OPTIONS.get("late", 0.5))
    info = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}}}
    supported = OPTIONS.get("supported", [MODERN])
    extra = {"instructions": OPTIONS["instructions"]} if "instructions" in OPTIONS else {}
    ok(m, {"supportedVersions": supported, "capabilities": CAPABILITIES, **info, **extra})
    return None


def on_initialize(m):
    if ERA == "modern":
        return fail(m, -32022, "Unsupported protocol version", {"supported": [MODERN], "requested": "x"})
    time.sleep(OPTIONS.get("init_sleep", 0))
    for message in OPTIONS.get("before_init", []):
        send(message)
    result = {"protocolVersion": OPTIONS.get("revision", m["params"]["protocolVersion"]), "capabilities": CAPABILITIES}
    result["serverInfo"] = {"name": "fake", "version": "1"}
    if "instructions" in OPTIONS:
        result["instructions"] = OPTIONS["instructions"]
    ok(m, result)
    return None


def on_list(m):
    cursor = (m.get("params") or {}).get("cursor")
    if OPTIONS.get("cursor") == "stuck":
        return ok(m, {"tools": TOOLS, "nextCursor": "8"})
    if OPTIONS.get("cursor") == "endless":
        n = int(cursor or 0)
        return ok(m, {"tools": [{"name": f"t{n}", "inputSchema": SCHEMA}], "nextCursor": str(n + 1)})
    page = OPTIONS.get("page")
    if not page:
        return ok(m, {"tools": TOOLS})
    if cursor and OPTIONS.get("cursor") == "bad":
        return fail(m, -32602, "Invalid cursor")
    start = int(cursor or 0)
    more = {"nextCursor": str(start + page)} if start + page < len(TOOLS) else {}
    ok(m, {"tools": TOOLS[start : start + page], **more})
    return None


def on_call(m):
    name, a = m["params"]["name"], m["params"].get("arguments") or {}
    tool = globals().get("tool_" + name)
    if tool is None:
        return (
            ok(m, text(name)) if any(t.get("name") == name for t in TOOLS) else fail(m, -32602, "Unknown tool: " + name)
        )
    if name in ("sleep", "ask", "ask_many"):
        return threading.Thread(target=tool, args=(m, a), daemon=True).start()
    tool(m, a)
    return None


def tool_echo(m, a):
    ok(m, text(a["text"]))


def tool_big(m, a):
    ok(m, text("x" * a["n"]))


def tool_sleep(m, a):
    token = (m["params"].get("_meta") or {}).get("progressToken")
    stop = CANCELLED.setdefault(m["id"], threading.Event())
    end, n = time.monotonic() + a["seconds"], 0
    while time.monotonic() < end:
        if stop.wait(a.get("step", 0.05)):
            return
        n += 1
        if token is not None:
            notify("notifications/progress", progressToken=token, progress=n)
    ok(m, text("slept"))


def tool_env(m, a):
    ok(m, text({n: os.environ.get(n) for n in a["names"]} if "names" in a else sorted(os.environ)))


def tool_seen(m, a):
    ok(m, text(SEEN))


def tool_seen_raw(m, a):
    ok(m, text(RAW_SEEN))


def tool_pids(m, a):
    ok(m, text([os.getpid(), *(k.pid for k in KIDS)]))


def tool_raw(m, a):
    for line in a["lines"]:
        write(line.replace('"$ID"', json.dumps(m["id"])).encode("utf-8", "surrogateescape") + b"\n")


def tool_last(m, a):
    write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": text(a["text"])}).encode())
    os._exit(0)


def tool_die(m, a):
    sys.stderr.write(a.get("stderr", ""))
    sys.stderr.flush()
    os._exit(a.get("code", 1))


def tool_close_stdout(m, a):
    os.close(1)


def tool_close_stdin(m, a):
    ok(m, text("closing"))
    os.close(0)
    time.sleep(5)
    os._exit(0)


def tool_stderr(m, a):
    sys.stderr.buffer.write(a["text"].encode("utf-8", "surrogateescape"))
    sys.stderr.buffer.flush()
    ok(m, text("written"))


def tool_notify(m, a):
    for message in a["messages"]:
        send(
            json.loads(
                json.dumps(message).replace(
                    '"$TOKEN"', json.dumps((m["params"].get("_meta") or {}).get("progressToken"))
                )
            )
        )
    ok(m, text("notified"))


def ask(method, params):
    key = f"s{len(WAITING)}"
    done = threading.Event()
    WAITING[key] = [done, None]
    send({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
    done.wait(10)
    return WAITING[key][1]


def tool_ask(m, a):
    ok(m, text(ask(a["method"], a.get("params", {})) or "no answer"))


def tool_ask_many(m, a):
    answers = [None] * len(a["requests"])

    def one(i, r):
        answers[i] = ask(r["method"], r.get("params", {}))

    threads = [threading.Thread(target=one, args=(i, r)) for i, r in enumerate(a["requests"])]
    [t.start() for t in threads]
    [t.join() for t in threads]
    ok(m, text(answers))


def tool_grow(m, a):
    TOOLS.append({"name": a["name"], "inputSchema": SCHEMA})
    changed()
    for _ in range(a.get("burst", 1) - 1):
        changed()
    ok(m, text("grown"))


def changed():
    if ERA == "legacy" or not LISTENS:
        return notify("notifications/tools/list_changed") if not LISTENS else None
    for key, wanted in LISTENS.items():
        if wanted.get("toolsListChanged"):
            notify("notifications/tools/list_changed", _meta={"io.modelcontextprotocol/subscriptionId": key})
    return None


def tool_want(m, a):
    state = json.loads(m["params"].get("requestState") or "[]")
    answers = m["params"].get("inputResponses")
    if answers is not None:
        state.append(answers)
    if len(state) < a.get("rounds", 1):
        result = {"resultType": "input_required", "inputRequests": a["requests"], "requestState": json.dumps(state)}
        return send({"jsonrpc": "2.0", "id": m["id"], "result": result})
    ok(m, text(state))
    return None


def on_listen(m):
    wanted = m["params"]["notifications"]
    LISTENS[m["id"]] = wanted
    notify(
        "notifications/subscriptions/acknowledged",
        notifications=wanted,
        _meta={"io.modelcontextprotocol/subscriptionId": m["id"]},
    )


def on_cancelled(m):
    CANCELLED.setdefault(m["params"].get("requestId"), threading.Event()).set()
    LISTENS.pop(m["params"].get("requestId"), None)


def on_read(m):
    ok(m, {"contents": [{"uri": m["params"]["uri"], "text": "exact"}]})


def handle(m):
    method = m.get("method")
    if method is None:
        waiting = WAITING.get(m.get("id"))
        if waiting:
            waiting[1] = {k: m[k] for k in ("result", "error") if k in m}
            waiting[0].set()
        return None
    if ERA == "half lists" and method != "server/discover" and "id" in m:
        if method == "subscriptions/listen":
            return fail(m, -32601, "Method not found")
        if is_modern(m) and not method.endswith("/list"):
            return fail(m, -32600, "initialize is required")
        if not is_modern(m) and method != "initialize" and "server/discover" in SEEN:
            return fail(m, -32602, "request _meta is missing")
    half = ERA == "half" and method not in ("initialize", "server/discover", "notifications/initialized")
    if half and "initialize" not in SEEN and "id" in m:
        return fail(m, -32600, "initialize is required")
    table = {
        "server/discover": on_discover,
        "initialize": on_initialize,
        "tools/list": on_list,
        "tools/call": on_call,
        "ping": lambda m: ok(m, {}),
        "subscriptions/listen": on_listen,
        "notifications/cancelled": on_cancelled,
        "resources/read": on_read,
        "resources/list": lambda m: ok(m, {"resources": OPTIONS.get("resources", [])}),
        "resources/templates/list": lambda m: ok(m, {"resourceTemplates": []}),
        "resources/subscribe": lambda m: ok(m, {}),
        "resources/unsubscribe": lambda m: ok(m, {}),
    }
    if method in table:
        table[method](m)
    elif "id" in m:
        fail(m, -32601, "Method not found")
    return None


def main():
    start = OPTIONS.get("start", {})
    if "stdout" in start:
        write(start["stdout"].encode("utf-8", "surrogateescape"))
    if "stderr" in start:
        sys.stderr.buffer.write(start["stderr"].encode("utf-8", "surrogateescape"))
        sys.stderr.buffer.flush()
    time.sleep(start.get("sleep", 0))
    if "exit" in start:
        sys.exit(start["exit"])
    if OPTIONS.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    KIDS.extend(spawn_child(kind) for kind in OPTIONS.get("children", []))
    for line in iter(sys.stdin.buffer.readline, b""):
        if not line.strip():
            continue
        m = json.loads(line)
        for one in m if isinstance(m, list) else [m]:
            SEEN.append(one.get("method", "reply:{}".format(one.get("id"))))
            RAW_SEEN.append(one)
            handle(one)
    if OPTIONS.get("close_stdout_at_eof"):
        os.close(1)
    if OPTIONS.get("ignore_eof"):
        time.sleep(120)
    os._exit(0)


if __name__ == "__main__":
    main()
