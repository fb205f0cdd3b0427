// The script of the outer document of an app's frame (host/apps/sandbox.py): it makes the inner frame, which holds the
// page, and passes messages on between that and whoever embeds this document, as the sandbox proxy of MCP Apps does.
// It knows two windows and listens to no other; what is no JSON-RPC message, too large or too much goes no further.
(() => {
  const LONGEST = 4 << 20; // characters of one message of the page
  const RATE = 50; // messages a second in the long run
  const BURST = 200;
  const PREFIX = "ui/notifications/sandbox-"; // between the embedder and this document alone
  const FEATURES = {
    camera: "camera",
    microphone: "microphone",
    geolocation: "geolocation",
    clipboardWrite: "clipboard-write",
  };
  const host = window.parent;
  let inner = null;
  let left = BURST;
  let then = performance.now();

  function load({ html, permissions }) {
    if (inner) inner.remove();
    inner = document.createElement("iframe");
    inner.setAttribute("sandbox", "allow-scripts");
    inner.setAttribute("referrerpolicy", "no-referrer");
    const allowed = Object.keys(FEATURES).filter((name) => permissions && permissions[name]);
    inner.setAttribute("allow", allowed.map((name) => FEATURES[name]).join("; "));
    inner.title = "App";
    inner.srcdoc = String(html);
    document.body.append(inner);
  }

  function mayPass() {
    const now = performance.now();
    left = Math.min(BURST, left + ((now - then) / 1000) * RATE);
    then = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  }

  function refuse(data, message) {
    const asks = typeof data.method === "string" && (typeof data.id === "string" || typeof data.id === "number");
    if (asks) inner.contentWindow.postMessage({ jsonrpc: "2.0", id: data.id, error: { code: -32000, message } }, "*");
  }

  function fromPage(data) {
    if (typeof data !== "object" || data === null || data.jsonrpc !== "2.0") return;
    if (typeof data.method === "string" && data.method.startsWith(PREFIX)) return;
    if (!mayPass()) return refuse(data, "Too many messages; send fewer, later.");
    let text;
    try {
      text = JSON.stringify(data);
    } catch {
      return refuse(data, "This is no JSON.");
    }
    if (text.length > LONGEST) return refuse(data, `A message may have ${LONGEST} characters, not ${text.length}.`);
    host.postMessage(JSON.parse(text), "*");
  }

  function fromHost(data) {
    if (typeof data !== "object" || data === null) return;
    if (data.method === `${PREFIX}resource-ready`) load(data.params);
    else if (inner) inner.contentWindow.postMessage(data, "*");
  }

  window.addEventListener("message", (event) => {
    if (event.source === host) fromHost(event.data);
    else if (inner && event.source === inner.contentWindow) fromPage(event.data);
  });
  document.documentElement.lang = "en";
  host.postMessage({ jsonrpc: "2.0", method: `${PREFIX}proxy-ready`, params: {} }, "*");
})();
