// The frame of an MCP App and the bar above it. The frame's document comes from the kernel and is ours; the page of the
// server is inside it (relay.js). Messages are taken from that frame's window alone and passed to the kernel, which
// answers each of them; nothing of the page is ever put into this document.

const SANDBOX = "allow-scripts";
const LEAST_HEIGHT = 60;
const FIRST_HEIGHT = 240;

function render({ model, el }) {
  const view = `${freshId("app")}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const send = (type, more = {}) => model.send({ type, view, ...more });
  const parts = build(model, send);
  el.append(parts.root);
  let frame = null;
  let queue = Promise.resolve();

  const inline = () => parts.root.dataset.mode !== "fullscreen";
  const room = () =>
    inline()
      ? { width: parts.stage.clientWidth, maxHeight: Math.max(400, Math.round(window.innerHeight * 0.8)) }
      : { width: parts.stage.clientWidth, height: parts.stage.clientHeight };
  const context = () => ({ ...look(parts.root), containerDimensions: room() });

  function put({ allow, csp }, [html]) {
    if (frame) frame.remove();
    frame = element("iframe", {
      class: "jmcp-app-frame",
      sandbox: SANDBOX,
      referrerpolicy: "no-referrer",
      allow: allow || "",
      csp: csp || null,
      title: model.get("title"),
    });
    frame.style.height = `${FIRST_HEIGHT}px`;
    frame.srcdoc = new TextDecoder().decode(html);
    parts.stage.replaceChildren(frame);
    parts.say("");
  }

  async function pass({ zipped }, [data]) {
    const text = zipped ? await unzip(data) : new TextDecoder().decode(data);
    if (frame && frame.contentWindow) frame.contentWindow.postMessage(JSON.parse(text), "*");
  }

  function resize({ height }) {
    if (!frame || typeof height !== "number") return;
    frame.style.height = `${Math.min(Math.max(height, LEAST_HEIGHT), room().maxHeight || 10_000)}px`;
  }

  function mode({ mode: wanted, number }) {
    // only when somebody has just pressed or typed something in it: no page takes the window by itself
    const used = document.activeElement === frame && navigator.userActivation && navigator.userActivation.isActive;
    const may = wanted === "inline" || used;
    if (may) showAs(wanted);
    send("mode", { number, mode: inline() ? "inline" : "fullscreen" });
  }

  function showAs(wanted) {
    const whole = wanted === "fullscreen";
    if (whole === !inline()) return;
    parts.root.close();
    parts.root.dataset.mode = whole ? "fullscreen" : "inline";
    if (whole) parts.root.showModal();
    else parts.root.show();
    parts.whole.textContent = whole ? "Back to the notebook" : "Fill the window";
  }

  function stop({ reason }) {
    if (!inline()) showAs("inline");
    if (frame) frame.remove();
    frame = null;
    parts.ask.replaceChildren();
    parts.root.dataset.over = "";
    parts.say(reason ? `The app was ended: ${reason}.` : "The app is closed.");
  }

  const heard = {
    frame: put,
    message: pass,
    size: resize,
    mode,
    stop,
    confirm: (message, buffers) => confirm(parts.ask, send, message, buffers),
    withdraw: ({ number }) => withdraw(parts.ask, number),
    about: (message) => parts.about(message),
    shared: (message) => parts.shared(message),
    opened: ({ name }) => frame && name && frame.setAttribute("title", `${model.get("title")}: ${name}`),
    failed: ({ text }) => parts.say(text, true),
  };

  function receive(message, buffers) {
    if (message.view !== view || !Object.hasOwn(heard, message.type)) return;
    // one after the other: unpacking takes a moment, and order is part of the protocol
    queue = queue.then(() => heard[message.type](message, buffers)).catch((error) => console.warn("jupyter_mcp", error));
  }

  function listen(event) {
    if (!frame || event.source !== frame.contentWindow) return;
    const data = event.data;
    if (typeof data === "object" && data !== null && data.jsonrpc === "2.0") send("message", { message: data });
  }

  let told = "";
  function changed() {
    const now = context();
    const text = JSON.stringify(now);
    if (text === told || !parts.stage.clientWidth) return;
    told = text;
    send("context", { context: now });
  }

  parts.whole.addEventListener("click", () => {
    showAs(inline() ? "fullscreen" : "inline");
    send("mode", { mode: inline() ? "inline" : "fullscreen" });
  });
  parts.root.addEventListener("cancel", (event) => {
    event.preventDefault();
    parts.whole.click();
  });
  const themes = new MutationObserver(() => requestAnimationFrame(changed));
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  const sizes = new ResizeObserver(changed);
  sizes.observe(parts.stage);
  window.addEventListener("message", listen);
  model.on("msg:custom", receive);
  told = JSON.stringify(context());
  send("open", { context: context() });

  return () => {
    try {
      send("gone");
    } catch {
      // the kernel, or the widget there, is gone first
    }
    themes.disconnect();
    sizes.disconnect();
    window.removeEventListener("message", listen);
    model.off("msg:custom", receive);
    parts.root.remove();
  };
}

async function unzip(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}

// --- the bar ---------------------------------------------------------------------------------------------------------

function button(label, press, look = "") {
  const made = element("button", { type: "button", class: `jmcp-app-button ${look}` }, label);
  made.addEventListener("click", press);
  return made;
}

function build(model, send) {
  const whole = button("Fill the window", () => {});
  const close = button("Close app", () => send("close"));
  const tick = element("input", { type: "checkbox" });
  const share = element("label", { class: "jmcp-app-share", hidden: true }, tick, element("span"));
  const report = element("details", { class: "jmcp-app-report", hidden: true }, element("summary", {}, "What it reports"), element("pre"));
  const facts = element("details", { class: "jmcp-app-facts" }, element("summary", {}, "About this app"), element("div"));
  const ask = element("div", { class: "jmcp-app-ask", "aria-live": "assertive" });
  const stage = element("div", { class: "jmcp-app-stage" });
  const status = element("p", { class: "jmcp-app-status", role: "status", "aria-live": "polite" }, "Loading the app…");
  const name = element("span", { class: "jmcp-app-name" }, element("b", {}, model.get("title")), ` ${model.get("tool")}`);
  const from = element("span", { class: "jmcp-app-badge" }, `app of the server ${model.get("server")}`);
  const bar = element("div", { class: "jmcp-app-bar" }, name, from, element("span", { class: "jmcp-app-gap" }), share, whole, close);
  const root = element(
    "dialog",
    { class: "jmcp-app", open: true, "aria-label": `App of ${model.get("tool")}` },
    bar,
    element("div", { class: "jmcp-app-more" }, facts, report),
    ask,
    stage,
    status,
  );
  root.dataset.mode = "inline";
  tick.addEventListener("change", () => send("share", { on: tick.checked }));

  return {
    root,
    stage,
    ask,
    whole,
    say(text, wrong = false) {
      status.textContent = text;
      status.hidden = !text;
      status.classList.toggle("jmcp-error", wrong);
    },
    about({ lines, wants }) {
      const list = element("ul", {}, ...lines.map((line) => element("li", {}, line)));
      const asks = wants.map(({ name: key, words }) =>
        element("p", {}, `It asks to use ${words}. `, button("Allow", () => send("permit", { name: key }))),
      );
      facts.querySelector("div").replaceChildren(list, ...asks);
    },
    shared({ characters, text }) {
      share.hidden = report.hidden = !characters;
      share.querySelector("span").textContent = ` Tell models what it reports (${characters.toLocaleString("en")} characters)`;
      report.querySelector("pre").textContent = text;
    },
  };
}

// --- what the person is asked ----------------------------------------------------------------------------------------

function confirm(place, send, message, buffers) {
  const answer = (yes) => {
    withdraw(place, message.number);
    send("answer", { number: message.number, yes });
  };
  const accept = () => {
    if (message.url) window.open(message.url, "_blank", "noopener,noreferrer");
    message.files.forEach((file, at) => save(file.name, buffers[at]));
    answer(true);
  };
  const yes = button(message.yes, accept, "jmcp-app-yes");
  yes.disabled = true; // a click that was meant for the app, where this question appeared, decides nothing
  setTimeout(() => (yes.disabled = false), 600);
  const made = element(
    "div",
    { class: "jmcp-app-question", role: "group", "aria-label": message.question, "data-number": message.number },
    element("p", {}, message.question),
    element("pre", { tabindex: "0" }, message.detail.join("\n")),
    ...message.warnings.map((warning) => element("p", { class: "jmcp-app-warning" }, `Warning: ${warning}`)),
    element("div", { class: "jmcp-app-bar" }, yes, button("No", () => answer(false))),
  );
  place.append(made);
}

function withdraw(place, number) {
  place.querySelector(`[data-number="${Number(number)}"]`)?.remove();
}

function save(name, data) {
  const address = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// --- what the page is told of the notebook's looks -------------------------------------------------------------------

const TONES = { info: "info", danger: "error", success: "success", warning: "warn" };

/** Theme, styles, language and input of this page, from JupyterLab's variables where it has them. */
function look(node) {
  const styles = getComputedStyle(node);
  const told = document.body.dataset.jpThemeLight;
  const dark = told === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : told === "false";
  return {
    theme: dark ? "dark" : "light",
    styles: variables((name, light, otherwise) => styles.getPropertyValue(name).trim().replaceAll("\n", " ") || (dark ? otherwise : light)),
    locale: document.documentElement.lang || navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: matchMedia("(any-pointer: coarse)").matches,
    hover: matchMedia("(hover: hover)").matches,
  };
}

/** All of `McpUiStyleVariableKey`. `of(name, light, dark)` is a variable of JupyterLab's, or what stands for it. */
function variables(of) {
  const made = {};
  const back = { primary: of("--jp-layout-color1", "#fff", "#111"), secondary: of("--jp-layout-color2", "#eee", "#222") };
  const text = of("--jp-ui-font-color1", "rgba(0,0,0,.87)", "rgba(255,255,255,.87)");
  const line = of("--jp-border-color1", "#bdbdbd", "#616161");
  Object.assign(made, {
    "--color-background-primary": back.primary,
    "--color-background-secondary": back.secondary,
    "--color-background-tertiary": of("--jp-layout-color3", "#e0e0e0", "#333"),
    "--color-background-inverse": of("--jp-inverse-layout-color1", "#212121", "#fff"),
    "--color-background-ghost": "transparent",
    "--color-background-disabled": back.secondary,
    "--color-text-primary": text,
    "--color-text-secondary": of("--jp-ui-font-color2", "rgba(0,0,0,.6)", "rgba(255,255,255,.6)"),
    "--color-text-tertiary": of("--jp-ui-font-color2", "rgba(0,0,0,.6)", "rgba(255,255,255,.6)"),
    "--color-text-inverse": of("--jp-ui-inverse-font-color1", "#fff", "#111"),
    "--color-text-ghost": of("--jp-ui-font-color2", "rgba(0,0,0,.6)", "rgba(255,255,255,.6)"),
    "--color-text-disabled": of("--jp-ui-font-color3", "rgba(0,0,0,.38)", "rgba(255,255,255,.38)"),
    "--color-border-primary": line,
    "--color-border-secondary": of("--jp-border-color2", "#e0e0e0", "#424242"),
    "--color-border-tertiary": of("--jp-border-color3", "#eee", "#212121"),
    "--color-border-inverse": of("--jp-inverse-border-color", "#616161", "#bdbdbd"),
    "--color-border-ghost": "transparent",
    "--color-border-disabled": of("--jp-border-color3", "#eee", "#212121"),
    "--color-ring-primary": of("--jp-brand-color1", "#1976d2", "#64b5f6"),
    "--color-ring-secondary": line,
    "--color-ring-inverse": of("--jp-ui-inverse-font-color1", "#fff", "#111"),
    "--font-sans": of("--jp-ui-font-family", "sans-serif", "sans-serif"),
    "--font-mono": of("--jp-code-font-family", "monospace", "monospace"),
    "--border-width-regular": "1px",
    "--border-radius-full": "9999px",
    "--shadow-hairline": `0 0 0 1px ${line}`,
    "--shadow-sm": "0 1px 2px rgba(0,0,0,.16)",
    "--shadow-md": "0 2px 6px rgba(0,0,0,.2)",
    "--shadow-lg": "0 6px 18px rgba(0,0,0,.24)",
  });
  for (const [tone, name] of Object.entries(TONES)) {
    const colour = of(`--jp-${name}-color1`, "#1976d2", "#64b5f6");
    made[`--color-background-${tone}`] = `color-mix(in srgb, ${colour} 14%, ${back.primary})`;
    made[`--color-text-${tone}`] = made[`--color-border-${tone}`] = made[`--color-ring-${tone}`] = colour;
  }
  const base = parseFloat(of("--jp-ui-font-size1", "13px", "13px")) || 13;
  const sizes = { xs: -2, sm: -1, md: 0, lg: 2 };
  for (const [name, more] of Object.entries(sizes)) scale(made, `--font-text-${name}`, base + more, 1.5);
  const heads = { xs: 0, sm: 1, md: 3, lg: 6, xl: 9, "2xl": 13, "3xl": 19 };
  for (const [name, more] of Object.entries(heads)) scale(made, `--font-heading-${name}`, base + more, 1.25);
  const weights = { normal: 400, medium: 500, semibold: 600, bold: 700 };
  for (const [name, weight] of Object.entries(weights)) made[`--font-weight-${name}`] = String(weight);
  const radii = { xs: 1, sm: 2, md: 4, lg: 6, xl: 10 };
  for (const [name, radius] of Object.entries(radii)) made[`--border-radius-${name}`] = `${radius}px`;
  return made;
}

function scale(made, name, size, height) {
  made[`${name}-size`] = `${size}px`;
  made[`${name}-line-height`] = String(height);
}

export default { render };
