// Buttons that put a text into a new cell, or on the clipboard where nobody makes one.

function render({ model, el }) {
  const id = freshId("newcell");
  const row = element("div", { class: "jmcp-newcell" });
  const said = element("span", { role: "status", "aria-live": "polite", class: "jmcp-newcell-said" });
  el.append(row);

  function draw() {
    const made = model.get("buttons").map(([key, label]) => {
      const button = element("button", { type: "button", class: "jmcp-newcell-button jupyter-button", disabled: model.get("disabled") }, label);
      button.addEventListener("click", () => model.send({ type: "want", key, view: id }));
      return button;
    });
    row.replaceChildren(...made, said);
  }

  async function receive(message) {
    if (message.type !== "cell" || message.view !== id || !message.source) return;
    const detail = { source: message.source, kind: message.kind };
    const event = new CustomEvent("jupyter-mcp:new-cell", { detail, bubbles: true, cancelable: true });
    if (!row.dispatchEvent(event)) said.textContent = "Inserted below.";
    else said.textContent = (await copyText(message.source)) ? "Copied; paste it into a cell." : "It could not be copied.";
  }

  model.on("msg:custom", receive);
  model.on("change:buttons change:disabled", draw);
  draw();
  return () => {
    model.off("msg:custom", receive);
    model.off("change:buttons change:disabled", draw);
    row.remove();
  };
}

export default { render };
