// Rows of text with a Copy button. They come by message, live in this page's elements only, and go when told to.

function line({ label, text, what, folded }) {
  const shown = element("pre", {}, text);
  const button = element("button", { type: "button", class: "jmcp-copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    if (!(await copyText(text))) return;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const head = label && !folded ? element("span", { class: "jmcp-help" }, label) : null;
  const row = element("div", { class: "jmcp-copied" }, head, shown, button);
  return folded ? element("details", {}, element("summary", {}, label), row) : row;
}

export default {
  render({ model, el }) {
    const place = element("div", { class: "jmcp-secret", role: "region", "aria-label": "URL and token", hidden: true });
    el.append(place);
    const told = (message) => {
      if (message.type === "hide") {
        place.replaceChildren();
        place.hidden = true;
      } else if (message.type === "show") {
        place.replaceChildren(element("p", { class: "jmcp-secret-note" }, message.note), ...message.lines.map(line));
        place.hidden = false;
      }
    };
    model.on("msg:custom", told);
    model.send({ type: "ask" }); // shown before this view was there
    return () => {
      model.off("msg:custom", told);
      place.replaceChildren();
    };
  },
};
