// A picture, a drawing or a sound: its bytes come when it is shown, and again when it is saved.

function render({ model, el }) {
  const id = freshId("media");
  const addresses = new Set();
  const said = element("span", { role: "status", "aria-live": "polite" });
  const save = element("button", { type: "button", class: "jmcp-media-button jupyter-button", "aria-label": `Save ${model.get("name")}` }, "Save");
  const caption = element("figcaption", { class: "jmcp-media-caption" }, element("span", {}, model.get("caption")), save, said);
  const place = element("div", { class: "jmcp-media-place" });
  const root = element("figure", { class: "jmcp-media" }, place, caption);
  el.append(root);

  const want = (why) => model.send({ type: "want", why, view: id });
  save.addEventListener("click", () => want("save"));

  function address(buffer, type) {
    const made = URL.createObjectURL(new Blob([buffer], { type }));
    addresses.add(made);
    return made;
  }

  function asData(buffer, type) {
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = reject;
      reader.readAsDataURL(new Blob([buffer], { type }));
    });
  }

  async function show(buffer) {
    const kind = model.get("kind");
    if (kind === "audio") {
      const player = element("audio", { controls: true, "aria-label": model.get("caption") });
      player.src = address(buffer, model.get("mime"));
      place.replaceChildren(player);
      return;
    }
    const picture = element("img", { alt: `image (${model.get("caption")})`, class: "jmcp-media-image" });
    picture.addEventListener("error", () => (said.textContent = "This browser cannot show it."));
    picture.src = kind === "drawing" ? await asData(buffer, "image/svg+xml") : address(buffer, model.get("mime"));
    place.replaceChildren(picture);
  }

  function receive(message, buffers) {
    if (message.type !== "bytes" || message.view !== id) return;
    if (!message.fits) said.textContent = "It is too large for the page; the object in the notebook holds it.";
    else if (message.why === "save") {
      const link = element("a", { href: address(buffers[0], "application/octet-stream"), download: model.get("name") });
      link.click();
      said.textContent = "Saved.";
    } else show(buffers[0]);
  }

  model.on("msg:custom", receive);
  want("show");
  return () => {
    model.off("msg:custom", receive);
    for (const made of addresses) URL.revokeObjectURL(made);
    root.remove();
  };
}

export default { render };
