// A plain text area with line numbers: the browser's own editing, undo and screen reader support, and no library.
// What is typed stays as it is typed; the kernel is told after a pause, and changes it only when it is asked to.

const PAUSE = 150; // ms without a key

function render({ model, el }) {
  const id = freshId("code");
  const area = element("textarea", {
    id,
    class: "jmcp-code-text",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    "data-lm-suppress-shortcuts": "true", // in JupyterLab a key that is typed here is no command of the notebook
    "aria-label": model.get("description"),
    "aria-describedby": `${id}-keys`,
  });
  const numbers = element("div", { class: "jmcp-code-numbers", "aria-hidden": "true" });
  const keys = element("span", { id: `${id}-keys`, class: "jmcp-code-keys" }, "Tab leaves the text.");
  const frame = element("div", { class: "jmcp-code-frame" }, numbers, area);
  el.append(frame, keys);

  let waiting = null;
  let mine = model.get("value");

  function number() {
    const count = area.value.split("\n").length;
    const wrong = model.get("line");
    const lines = [];
    for (let at = 1; at <= count; at += 1) {
      lines.push(element("span", { class: at === wrong ? "jmcp-code-wrong" : null }, String(at)));
    }
    numbers.replaceChildren(...lines);
    follow();
  }

  function follow() {
    numbers.scrollTop = area.scrollTop;
  }

  function send() {
    clearTimeout(waiting);
    waiting = null;
    if (mine === area.value) return;
    mine = area.value;
    model.set("value", mine);
    model.save_changes();
  }

  function typed() {
    number();
    clearTimeout(waiting);
    waiting = setTimeout(send, PAUSE);
  }

  function told() {
    const value = model.get("value");
    // An echo of what this page has sent is old news: the person may have typed on.
    if (value === mine || waiting !== null) return;
    mine = value;
    if (area.value !== value) area.value = value;
    number();
  }

  function state() {
    area.disabled = model.get("disabled");
    area.rows = model.get("rows");
    area.setAttribute("aria-invalid", model.get("line") > 0 ? "true" : "false");
    number();
  }

  area.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") event.stopPropagation(); // Escape belongs to the card
  });
  area.addEventListener("input", typed);
  area.addEventListener("blur", send);
  area.addEventListener("scroll", follow);
  model.on("change:value", told);
  model.on("change:line change:disabled change:rows", state);
  area.value = mine;
  state();
  return () => {
    clearTimeout(waiting);
    model.off("change:value", told);
    model.off("change:line change:disabled change:rows", state);
  };
}

export default { render };
