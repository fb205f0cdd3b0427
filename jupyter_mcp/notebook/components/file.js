// A file that the kernel holds: shown when it is a PDF, saved on a button. The bytes come when they are asked for.

function render({ model, el }) {
  const id = freshId("file");
  const addresses = new Set();
  const said = element("span", { role: "status", "aria-live": "polite" });
  const save = element("button", { type: "button", class: "jmcp-file-button jupyter-button" }, `Save ${model.get("name")} (${model.get("told")})`);
  const show = element("button", { type: "button", class: "jmcp-file-button jupyter-button", "aria-expanded": "false" }, "Show the PDF here");
  const place = element("div", { class: "jmcp-file-place" });
  const root = element("div", { class: "jmcp-file" }, element("div", { class: "jmcp-file-row" }, save, said), place);
  if (model.get("pdf")) save.before(show);
  el.append(root);

  const want = (why) => model.send({ type: "want", why, view: id });
  save.addEventListener("click", () => want("save"));
  show.addEventListener("click", () => {
    if (place.firstChild) fold();
    else want("show");
  });

  function fold() {
    place.replaceChildren();
    show.setAttribute("aria-expanded", "false");
    show.textContent = "Show the PDF here";
  }

  function address(buffer, type) {
    const made = URL.createObjectURL(new Blob([buffer], { type }));
    addresses.add(made);
    return made;
  }

  function receive(message, buffers) {
    if (message.type !== "bytes" || message.view !== id) return;
    if (!message.fits) said.textContent = "It is too large for the page; the value in the notebook holds it.";
    else if (message.why === "save") {
      const link = element("a", { href: address(buffers[0], "application/octet-stream"), download: model.get("name") });
      link.click();
      said.textContent = "Saved.";
    } else if (message.why === "show" && model.get("pdf")) {
      const shown = { class: "jmcp-file-pdf", type: "application/pdf", data: address(buffers[0], "application/pdf") };
      place.replaceChildren(element("object", { ...shown, "aria-label": model.get("name") }, "This page shows no PDF; save it instead."));
      show.setAttribute("aria-expanded", "true");
      show.textContent = "Hide the PDF";
    }
  }

  model.on("msg:custom", receive);
  return () => {
    model.off("msg:custom", receive);
    for (const made of addresses) URL.revokeObjectURL(made);
    root.remove();
  };
}

export default { render };
