// Buttons that put a text onto the clipboard; the text comes when one is pressed.

function render({ model, el }) {
  const id = freshId("copy");
  const said = element("span", { role: "status", "aria-live": "polite", class: "jmcp-copy-said" });
  const row = element("div", { class: "jmcp-copy-row" });
  el.append(row);

  function draw() {
    const made = model.get("buttons").map(([key, label]) => {
      const button = element("button", { type: "button", class: "jmcp-copy-button jupyter-button", disabled: model.get("disabled") }, label);
      button.addEventListener("click", () => model.send({ type: "want", key, view: id }));
      return button;
    });
    row.replaceChildren(...made, said);
  }

  async function receive(message) {
    if (message.type !== "text" || message.view !== id) return;
    if (!message.fits) said.textContent = "It is too large for the clipboard; the object in the notebook holds it.";
    else if (!message.text) said.textContent = "There is nothing to copy.";
    else said.textContent = (await copyText(message.text)) ? "Copied." : "This page lets nothing be copied.";
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
